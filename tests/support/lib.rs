//! What the tests share.

pub mod cel;
pub mod generated;
pub mod guest;
pub mod manifests;
pub mod native;
pub mod recorded;
pub mod server;
pub mod torn;
