//! plumb's rules: pure functions over Kubernetes objects, reconcile passes and queue traces.
//!
//! ```text
//!  component.rs (WIT)   evaluate.rs (JSON)          the two ways in
//!            \             /
//!   verdict.rs · decide.rs · trace.rs               one function each
//!        |           |          |
//!   object.rs · pass.rs         |                   typed, lossy views of JSON
//!        |           |          |
//!   profile.rs (what is known of a kind) × rules/ (what is wrong)
//! ```
//!
//! Nothing here reads a clock, a file, the environment or the network. A rule sees a typed view
//! and a profile, and says what it finds by JSON Pointers; it knows no line numbers.
#![cfg_attr(all(target_arch = "wasm32", target_os = "unknown"), no_std)]

extern crate alloc;

pub mod catalogue;
pub mod change;
pub mod decide;
pub mod document;
pub mod evaluate;
pub mod finding;
pub mod generation;
pub mod infer;
pub mod json;
pub mod learned;
pub mod manifest;
pub mod object;
pub mod pass;
pub mod phase;
pub mod pointer;
pub mod polarity;
pub mod profile;
pub mod record;
pub mod reference;
pub mod registry;
pub mod repair;
pub mod revision;
pub mod rule;
pub(crate) mod rules;
pub mod settings;
pub mod template;
pub mod time;
pub mod trace;
pub mod verdict;
pub mod witness;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod component;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod memory;
