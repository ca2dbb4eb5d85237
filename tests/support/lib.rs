//! What the tests share.

pub mod cel;
pub mod generated;
pub mod guest;
pub mod manifests;
pub mod native;
pub mod recorded;
pub mod requests;
pub mod schema;
pub mod server;
pub mod torn;
pub mod validate;
