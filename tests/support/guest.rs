//! Policies written by hand, for what a policy in Rust would not do.
#![expect(clippy::missing_panics_doc, reason = "a test panics where it fails")]

use std::path::Path;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The contract, read from `wit/`.
pub fn contract() -> Resolve {
    let mut resolve = Resolve::default();
    resolve
        .push_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit"))
        .expect("the contract parses");
    resolve
}

/// A component of the contract's world whose `check` runs the instructions `body` if the object is
/// empty, and else answers with an empty verdict. `functions` stand beside it in the module.
///
/// In `body`, falling off the end leaves an address: where the answer stands.
pub fn policy(body: &str, functions: &str) -> Vec<u8> {
    component(&module(body, functions), &contract())
}

/// The core module of such a component, as text.
pub fn module(body: &str, functions: &str) -> String {
    // The arguments of `check`, flat: object, old, history, related, now, settings. A result
    // stands in memory; all zeros is `ok` of a verdict whose strings and lists are empty.
    let name = |function| format!("plumb:policy/evaluator@0.1.0#{function}");
    let strings = |function, count| {
        format!(
            r#"(func (export "{}") {} (result i32) i32.const 1024)"#,
            name(function),
            "(param i32 i32)".repeat(count)
        )
    };
    format!(
        r#"(module
            (memory (export "memory") 2)
            (global $top (mut i32) (i32.const 4096))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
                (global.set $top (i32.add (local.get $at) (local.get 3)))
                (local.get $at))
            {functions}
            (func (export "{check}")
                (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                (global.set $top (i32.const 4096))
                (if (result i32) (i32.eqz (local.get 1)) (then {body}) (else i32.const 1024)))
            {}
            {}
            {}
            {}
            {}
            {}
            {})"#,
        strings("decide", 2),
        strings("trace", 2),
        strings("rules", 0),
        strings("profiles", 1),
        strings("validate", 1),
        strings("infer", 1),
        strings("evaluate-json", 1),
        check = name("check"),
    )
}

/// A module in text form as a core module.
pub fn core(module: &str) -> Vec<u8> {
    wat::parse_str(module).expect("the module is well-formed")
}

/// A module in text form as a component of the only world in `resolve`.
pub fn component(module: &str, resolve: &Resolve) -> Vec<u8> {
    let mut module = core(module);
    let (world, _) = resolve.worlds.iter().next().expect("there is a world");
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8)
        .expect("the world can be encoded");
    ComponentEncoder::default()
        .module(&module)
        .and_then(|encoder| encoder.validate(true).encode())
        .expect("the module is of the world")
}
