//! The native host of plumb's policy component.

pub mod engine;
pub mod input;
pub mod replay;
