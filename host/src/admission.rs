//! What a cluster is told about plumb: which writes its API server asks the webhook about, and the
//! same hold as admission policies for clusters that want no server.
//!
//! ```text
//!  component ──profiles──▶ kinds: group, kind, plural
//!                            │
//!                            ├─▶ expression: witnesses as CEL ──▶ webhooks: configurations, RBAC
//!                            │                              └───▶ policies: v1, with bindings
//!                            └─▶ sample: a torn object, which the component must find torn
//! ```
//!
//! All that is said of a kind comes from its profile, as the component tells it. The host knows how
//! a template becomes CEL, and no kind, condition or rule.

pub mod expression;
pub mod kinds;
pub mod policies;
pub mod profile;
pub mod sample;
pub mod webhooks;
