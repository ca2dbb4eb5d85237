//! The native host of plumb's policy component.

pub mod admission;
pub mod cli;
pub mod conformance;
pub mod engine;
pub mod error;
pub mod exit;
pub mod explore;
pub mod input;
pub mod output;
pub mod profiles;
pub mod replay;
pub mod rules;
pub mod testing;
pub mod webhook;
pub mod yaml;
