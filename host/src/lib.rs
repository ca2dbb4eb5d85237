//! The native host of plumb's policy component.

pub mod engine;
pub mod exit;
pub mod input;
pub mod output;
pub mod replay;
pub mod rules;
