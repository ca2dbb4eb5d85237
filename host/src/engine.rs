//! The WebAssembly engine: loads a policy component and calls it within limits.

pub mod bindings;
