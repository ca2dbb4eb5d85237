//! Makes policies of component bytes: refuses what is none, compiles what is.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker};
use wasmtime::{Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

#[cfg(unix)]
use super::cache::Cache;
use super::identity::{self, Identity, Sections};
use super::limits::{
    COMPONENT_BYTES, MEMORY_MAX, RESIDENT_BYTES, RESIDENT_BYTES_BLIND, SLOTS, TABLE_ELEMENTS,
};
use super::{About, LoadError, Policy, Refusal, bindings, config};

/// The interface that the host calls.
const EVALUATOR: &str = "plumb:policy/evaluator@0.1.0";

/// The world that a policy is of.
const WORLD: &str = "plumb:policy/policy@0.1.0";

/// The component that is part of this program, made of `policy/` by the build script.
pub static EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/policy.wasm"));

/// The same as native code; empty where the build script could not compile for the target.
static CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/policy.cwasm"));

/// Runs policies: a set of memory slots, and a compiler.
///
/// Cloning is cheap and shares the slots.
///
/// ```
/// use plumb_host::engine::Engine;
///
/// let engine = Engine::new(4)?;
/// let policy = engine.embedded()?;
/// assert!(policy.about().imports.is_empty());
/// // Any component of the world in `wit/policy.wit`; what is none is refused.
/// assert!(engine.load_bytes(b"(component)").is_err());
/// # Ok::<(), plumb_host::engine::LoadError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Engine {
    wasmtime: wasmtime::Engine,
}

impl Engine {
    /// An engine in which so many evaluations can be under way at a time; one more is
    /// [`Error::Busy`](super::Error::Busy).
    ///
    /// Where the machine refuses the 4 GiB of address space that each slot reserves (a limit on
    /// virtual memory), memory is mapped anew for each evaluation instead, which is slower.
    pub fn new(slots: u32) -> Result<Self, LoadError> {
        let mut pooled = config::code();
        pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(slots)));
        let wasmtime = wasmtime::Engine::new(&pooled)
            .or_else(|_| wasmtime::Engine::new(&config::code()))
            .map_err(|error| LoadError {
                origin: "(any)".to_owned(),
                reason: Refusal::Engine(format!("{error:#}")),
            })?;
        Ok(Self { wasmtime })
    }

    /// The policy that is part of this program.
    pub fn embedded(&self) -> Result<Policy, LoadError> {
        let code = if CODE.is_empty() { None } else { deserialize(&self.wasmtime, CODE) };
        code.map_or_else(|| compile(&self.wasmtime, EMBEDDED), Ok)
            .and_then(|component| {
                let sha256 = env!("PLUMB_POLICY_SHA256").to_owned();
                self.policy(&component, EMBEDDED, sha256)
            })
            .map_err(|reason| LoadError { origin: "(embedded)".to_owned(), reason })
    }

    /// The policy in a file: any component of the world in `wit/policy.wit`.
    ///
    /// Its native code is kept in the user's cache folder, so that only the first run compiles.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Policy, LoadError> {
        let path = path.as_ref();
        read(path)
            .and_then(|bytes| self.cached(&bytes))
            .map_err(|reason| LoadError { origin: path.display().to_string(), reason })
    }

    /// The policy in a buffer; always compiled.
    pub fn load_bytes(&self, bytes: &[u8]) -> Result<Policy, LoadError> {
        check_header(bytes)
            .and_then(|()| compile(&self.wasmtime, bytes))
            .and_then(|component| self.policy(&component, bytes, identity::digest(bytes)))
            .map_err(|reason| LoadError { origin: "(bytes)".to_owned(), reason })
    }

    #[cfg(unix)]
    fn cached(&self, bytes: &[u8]) -> Result<Policy, Refusal> {
        check_header(bytes)?;
        let sha256 = identity::digest(bytes);
        let cache = Cache::open();
        let kept = cache.as_ref().and_then(|cache| cache.get(&self.wasmtime, &sha256));
        if let Some(component) = kept.and_then(|code| deserialize(&self.wasmtime, &code)) {
            return self.policy(&component, bytes, sha256);
        }
        let component = compile(&self.wasmtime, bytes)?;
        let policy = self.policy(&component, bytes, sha256)?;
        if let (Some(cache), Ok(code)) = (cache, component.serialize()) {
            cache.put(&self.wasmtime, &policy.identity().sha256, &code);
        }
        Ok(policy)
    }

    #[cfg(not(unix))]
    fn cached(&self, bytes: &[u8]) -> Result<Policy, Refusal> {
        check_header(bytes)?;
        let component = compile(&self.wasmtime, bytes)?;
        self.policy(&component, bytes, identity::digest(bytes))
    }

    fn policy(
        &self,
        component: &Component,
        bytes: &[u8],
        sha256: String,
    ) -> Result<Policy, Refusal> {
        check_world(&self.wasmtime, component)?;
        let type_ = component.component_type();
        let Sections { description, licence, source, .. } = Sections::read(bytes);
        let about = About {
            identity: Identity::new(bytes, sha256),
            bytes: bytes.len(),
            world: WORLD.to_owned(),
            exports: type_.exports(&self.wasmtime).map(|(name, _)| name.to_owned()).collect(),
            imports: type_.imports(&self.wasmtime).map(|(name, _)| name.to_owned()).collect(),
            description,
            licence,
            source,
        };
        Linker::new(&self.wasmtime)
            .instantiate_pre(component)
            .and_then(bindings::PolicyPre::new)
            .map(|pre| Policy::new(pre, about))
            .map_err(|error| Refusal::Mismatch(format!("{error:#}")))
    }
}

impl Policy {
    /// The policy that is part of this program, in an [`Engine`] of its own.
    pub fn embedded() -> Result<Self, LoadError> {
        Engine::new(SLOTS)?.embedded()
    }

    /// The policy in a file, in an [`Engine`] of its own.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Engine::new(SLOTS)?.load(path)
    }
}

/// The memory of all evaluations: reserved once, kept warm, put back to the component's own
/// image between evaluations by rewriting only the pages that were touched.
///
/// A component may be made of several core modules: a language's runtime, and stubs for what the
/// world does not give it.
fn pool(slots: u32) -> PoolingAllocationConfig {
    const MODULES: u32 = 16;
    const MEMORIES: u32 = 2;
    const TABLES: u32 = 4;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(MODULES))
        .total_memories(slots.saturating_mul(MEMORIES))
        .total_tables(slots.saturating_mul(TABLES))
        .max_core_instances_per_component(MODULES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_memory_size(MEMORY_MAX)
        .table_elements(TABLE_ELEMENTS)
        .table_keep_resident(16 << 10)
        .max_unused_warm_slots(slots);
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.pagemap_scan(Enabled::Yes).linear_memory_keep_resident(RESIDENT_BYTES);
    } else {
        pool.linear_memory_keep_resident(RESIDENT_BYTES_BLIND);
    }
    pool
}

fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let file = File::open(path).map_err(Refusal::Unreadable)?;
    let length = file.metadata().map_err(Refusal::Unreadable)?.len();
    let mut bytes = Vec::new();
    file.take(COMPONENT_BYTES + 1).read_to_end(&mut bytes).map_err(Refusal::Unreadable)?;
    if bytes.len() as u64 > COMPONENT_BYTES {
        return Err(Refusal::TooLarge { bytes: length.max(bytes.len() as u64) });
    }
    Ok(bytes)
}

/// Tells a component from whatever else a user may name.
fn check_header(bytes: &[u8]) -> Result<(), Refusal> {
    if bytes.len() as u64 > COMPONENT_BYTES {
        return Err(Refusal::TooLarge { bytes: bytes.len() as u64 });
    }
    // Magic, version, layer: https://webassembly.github.io/component-model/ (Binary.md, preamble).
    match bytes {
        [] => Err(Refusal::NotWasm("the file is empty")),
        [b'\0', b'a', b's', b'm', 13, 0, 1, 0, ..] => Ok(()),
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => Err(Refusal::CoreModule),
        [b'\0', b'a', b's', b'm', ..] => {
            Err(Refusal::Invalid("its binary format is of another version".to_owned()))
        }
        _ if wasmtime::Engine::detect_precompiled(bytes).is_some() => {
            Err(Refusal::NotWasm("it is native code; give the component that it was made of"))
        }
        _ if bytes.trim_ascii_start().starts_with(b"(") => {
            Err(Refusal::NotWasm("it looks like the text format; `wasm-tools parse` encodes it"))
        }
        _ => Err(Refusal::NotWasm("it does not begin with `\\0asm`")),
    }
}

fn compile(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Component, Refusal> {
    Component::from_binary(engine, bytes).map_err(|error| Refusal::Invalid(format!("{error:#}")))
}

/// The component of native code, if it was made for this engine and machine.
fn deserialize(engine: &wasmtime::Engine, code: &[u8]) -> Option<Component> {
    #[expect(
        unsafe_code,
        reason = "the code is part of this executable, or comes from a folder that only this user \
                  can write to, and with its digest intact"
    )]
    // SAFETY: wasmtime itself made these bytes of a component, see above.
    unsafe { Component::deserialize(engine, code) }.ok()
}

/// Whether the component exports the evaluator and imports nothing.
fn check_world(engine: &wasmtime::Engine, component: &Component) -> Result<(), Refusal> {
    let type_ = component.component_type();
    let imports: Vec<String> = type_.imports(engine).map(|(name, _)| name.to_owned()).collect();
    if !imports.is_empty() {
        return Err(Refusal::Imports(imports));
    }
    if component.get_export_index(None, EVALUATOR).is_some() {
        return Ok(());
    }
    let found: Vec<String> = type_
        .exports(engine)
        .map(|(name, item)| match item.ty {
            ComponentItem::ComponentFunc(_) => format!("the function {name}"),
            _ => name.to_owned(),
        })
        .collect();
    let interface = EVALUATOR.split('@').next();
    match found.iter().find(|name| name.split('@').next() == interface) {
        Some(other) => Err(Refusal::OtherVersion { found: other.clone(), wanted: EVALUATOR }),
        None => Err(Refusal::OtherWorld { found, wanted: EVALUATOR }),
    }
}
