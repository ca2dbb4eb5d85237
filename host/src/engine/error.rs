//! Why a policy does not load, and why an evaluation has no answer.

use std::io;

use thiserror::Error;
use wasmtime::{PoolConcurrencyLimitError, Trap, WasmBacktrace};

use super::Fault;
use super::limits::{COMPONENT_BYTES, Guard};

/// Why an evaluation has no answer. None of these is ever a pass.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// The input is not what it should be; the policy says where and what was expected.
    #[error("malformed input: {0}")]
    Malformed(String),
    /// The input asks for something that the policy does not know.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The policy reports a bug of its own.
    #[error("internal error of the policy: {0}")]
    Internal(String),
    /// The policy did not end within its fuel, which depends on nothing but the input's size.
    #[error("the policy ran out of time (fuel {fuel})")]
    OutOfTime {
        /// What it was given.
        fuel: u64,
    },
    /// The policy wanted more memory than [`limits`](super::limits) allow for the input's size.
    #[error("the policy ran out of memory (limit {limit_bytes} bytes)")]
    OutOfMemory {
        /// What it was given.
        limit_bytes: usize,
    },
    /// The policy calls itself too deeply.
    #[error("the policy's stack overflowed")]
    StackOverflow,
    /// The policy crashed; the message says how and, if its functions have names, where.
    #[error("the policy trapped: {0}")]
    Trapped(String),
    /// The policy's answer cannot be read as what the contract promises, or is larger than
    /// [`REPLY_BYTES`](super::limits::REPLY_BYTES).
    #[error("the policy breaks the contract: {0}")]
    Contract(String),
    /// As many evaluations as the engine has slots are under way.
    #[error("all of the engine's slots are taken")]
    Busy,
}

impl Error {
    /// A stable name for metrics and machine output.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Unsupported(_) => "unsupported",
            Self::Internal(_) => "internal",
            Self::OutOfTime { .. } => "out-of-time",
            Self::OutOfMemory { .. } => "out-of-memory",
            Self::StackOverflow => "stack-overflow",
            Self::Trapped(_) => "trapped",
            Self::Contract(_) => "contract",
            Self::Busy => "busy",
        }
    }

    /// What wasmtime's error means; `fuel` is what the evaluation was given.
    pub(super) fn from_wasmtime(error: &wasmtime::Error, guard: &Guard, fuel: u64) -> Self {
        if guard.refused {
            return Self::OutOfMemory { limit_bytes: guard.limit_bytes };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Self::OutOfTime { fuel },
            Some(Trap::StackOverflow) => Self::StackOverflow,
            Some(trap) => Self::Trapped(match place(error) {
                Some(place) => format!("{trap} in {place}"),
                None => trap.to_string(),
            }),
            None if error.is::<PoolConcurrencyLimitError>() => Self::Busy,
            None => Self::Contract(format!("{error:#}")),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed(message) => Self::Malformed(message),
            Fault::Unsupported(message) => Self::Unsupported(message),
            Fault::Internal(message) => Self::Internal(message),
        }
    }
}

/// The innermost function of a trap that has a name.
fn place(error: &wasmtime::Error) -> Option<String> {
    let backtrace = error.downcast_ref::<WasmBacktrace>()?;
    backtrace.frames().iter().find_map(|frame| frame.func_name()).map(str::to_owned)
}

/// Why a policy does not load.
#[derive(Debug, Error)]
#[error("failed to load the policy {origin}: {reason}")]
pub struct LoadError {
    /// The file, or `(embedded)`.
    pub origin: String,
    /// What is wrong with it.
    pub reason: Refusal,
}

/// What is wrong with something that should be a policy.
#[derive(Debug, Error)]
pub enum Refusal {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// It is larger than [`COMPONENT_BYTES`].
    #[error("it has {bytes} bytes, more than the {COMPONENT_BYTES} that are allowed")]
    TooLarge {
        /// How large it is.
        bytes: u64,
    },
    /// It is not WebAssembly.
    #[error("it is not WebAssembly: {0}")]
    NotWasm(&'static str),
    /// It is a core module, not a component.
    #[error(
        "it is a core WebAssembly module; a component is needed: \
         `wasm-tools component new` makes one of a module built against wit/policy.wit"
    )]
    CoreModule,
    /// It is a component of a binary format that this wasmtime does not know, or a broken one.
    #[error("it is not a valid component: {0}")]
    Invalid(String),
    /// It needs something from its host.
    #[error("it imports {}; a policy imports nothing", .0.join(", "))]
    Imports(Vec<String>),
    /// It exports the evaluator of another version of the contract.
    #[error("it exports {found}; this host speaks {wanted}")]
    OtherVersion {
        /// What it exports.
        found: String,
        /// What the host would call.
        wanted: &'static str,
    },
    /// It is of another world.
    #[error("it does not export {wanted}; {}", exports(.found))]
    OtherWorld {
        /// What it exports.
        found: Vec<String>,
        /// What the host would call.
        wanted: &'static str,
    },
    /// It exports the evaluator under the right name, but not the functions of the contract.
    #[error("its evaluator is not that of wit/policy.wit: {0}")]
    Mismatch(String),
    /// This machine cannot run the engine.
    #[error("the WebAssembly engine does not start: {0}")]
    Engine(String),
}

fn exports(names: &[String]) -> String {
    if names.is_empty() {
        "it exports nothing".to_owned()
    } else {
        format!("it exports {}", names.join(", "))
    }
}
