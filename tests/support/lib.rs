//! What the tests share.

pub mod generated;
pub mod guest;
pub mod native;
