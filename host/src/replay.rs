//! Judges recorded objects, passes and traces.

pub mod result;
