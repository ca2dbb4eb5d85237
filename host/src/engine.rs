//! The WebAssembly engine: loads a policy component and calls it within limits.

pub mod bindings;
mod names;

pub use bindings::exports::plumb::policy::evaluator::{
    Action, Coherence, Decision, Ending, Fault, Finding, Note, Observation, Phase, Profile, Report,
    Rule, Scope, Severity, Verdict,
};
