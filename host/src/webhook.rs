//! The admission webhook: the same rules at the API server's door.
//!
//! ```text
//!  API server ──TLS──▶ routes ──body, media type, in-flight limit──▶ review: what is asked
//!                        │                                             │
//!                        │                                     pool: evaluation threads
//!                        │                                     behind a bounded queue
//!                        ◀── answer with the request's uid ◀── engine: a fresh instance
//!
//!  kubelet, Prometheus ──plain──▶ /healthz /readyz /metrics
//! ```
//!
//! An evaluation that fails is never a pass: it answers by the configured failure mode, says so in
//! a warning, is logged with the request's uid and counted under its own outcome.

pub mod answer;
pub mod config;
pub mod manage;
pub mod metrics;
pub mod pool;
pub mod review;
pub mod routes;
pub mod server;
pub mod tls;
