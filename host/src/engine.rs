//! The WebAssembly engine: loads a policy component and calls it within limits.
//!
//! ```text
//!  component bytes ──load──▶ Policy ──check, decide, trace, …──▶ Verdict, Decision, Report, …
//!  embedded or a file          │                                  or Error, never a pass
//!                              └─ per evaluation: an instance in a slot of the Engine's memory,
//!                                 fuel, memory and answer bounded by the size of the input
//! ```
//!
//! The same input gives the same answer, and the same failure: nothing here reads a clock.

pub mod bindings;
#[cfg(unix)]
mod cache;
mod config;
mod error;
mod identity;
pub mod limits;
mod load;
mod names;
mod policy;

pub use bindings::exports::plumb::policy::evaluator::{
    Action, Coherence, Decision, Ending, Fault, Finding, Note, Observation, Phase, Profile, Report,
    Rule, Scope, Severity, Verdict,
};
pub use error::{Error, LoadError, Refusal};
pub use identity::{About, Identity};
pub use load::{EMBEDDED, Engine};
pub use policy::{Isolation, Policy};
