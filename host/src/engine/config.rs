//! What decides the native code of a policy. Shared by the host and by its build script, which
//! compiles the embedded component ahead of time: the two must agree, or the artefact is refused.

use wasmtime::Config;

/// Native stack that a policy may use, in bytes. JSON parsers stop at a nesting of 128, which
/// takes far less; the smallest thread that calls a policy is a tokio worker with 2 MiB.
const STACK_BYTES: usize = 512 << 10;

/// The settings that decide the code. Fuel rather than epochs: as cheap, and the answer to a
/// given input never depends on how busy the machine is.
pub(crate) fn code() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .max_wasm_stack(STACK_BYTES)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .wasm_memory64(false)
        .concurrency_support(false);
    config
}
