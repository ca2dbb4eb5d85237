//! The work queues of controller runtimes as exact, pure state machines.
//!
//! ```text
//!   watch handler ── add ───────────┐                 ┌── get ──▶ worker
//!                                   ▼                 │             │
//!   timers ──────── advance ──▶   Queue   ──ready─────┘             │ after_return, then done
//!                                   ▲                               │
//!                                   └───────────────────────────────┘
//! ```
//!
//! Three flavours, each transcribed from its source and nothing else:
//!
//! | flavour | upstream | file here |
//! |---|---|---|
//! | [`Flavour::Classic`] | `k8s.io/client-go/util/workqueue` v0.36 | `classic.rs` |
//! | [`Flavour::Priority`] | `sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue`, the default since v0.23 | `priority.rs` |
//! | [`Flavour::KubeRs`] | `kube-runtime` 4.2, `scheduler.rs` and `controller/runner.rs` | `scheduler.rs` |
//!
//! That they do what the real queues do is tested against recordings of these
//! (`tests/recorded.rs`) and beside a naive model (`tests/reference.rs`), and what must always hold
//! in every state that two keys can reach (`tests/reachable.rs`).
//!
//! Nothing here reads a clock: the caller says what time it is, in milliseconds since a point that
//! the caller chooses, and calls [`Queue::advance`] when time passes. Keys are small integers and
//! states are plain values (`Copy`, `Eq`, `Ord`, `Hash`), so that a search can hold millions.
//!
//! What is not modelled: shut-down; the token bucket (10 per second, burst of 100) that client-go's
//! default limiter has over all keys; the buffers between an add and the queue, which delay an
//! entry but neither drop nor reorder those of one key.
#![no_std]

mod backoff;
mod classic;
mod line;
mod priority;
mod queue;
mod returned;
mod scheduler;
mod timer;

pub use crate::{
    backoff::Backoff,
    classic::WorkQueue,
    priority::PriorityQueue,
    queue::{Change, Flavour, Queue, Ready, Refusal, View},
    returned::{Returned, Runtime, Step},
    scheduler::Scheduler,
};

/// A key, as its index in the caller's list of keys.
pub type Key = u8;

/// Milliseconds: a point in time since the caller's zero, or a span.
pub type Millis = u64;

/// A priority of controller-runtime's queue; higher goes first. The other queues ignore it.
pub type Priority = i16;

/// What controller-runtime gives to the objects of an initial list and to updates that changed
/// nothing (`pkg/handler/eventhandler.go`, `LowPriority`).
pub const LOW_PRIORITY: Priority = -100;

/// How a queue was set up. Constant over a run, hence not part of [`Queue`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Whose worker loop reads the result of a pass.
    pub runtime: Runtime,
    /// The per-key limiter behind `AddRateLimited`.
    pub backoff: Backoff,
    /// kube-rs only: every request is put off by this long.
    pub debounce: Millis,
    /// kube-rs only: what `error_policy` answers; `None` is `Action::await_change`.
    pub on_error: Option<Millis>,
}

impl Settings {
    /// The defaults of a runtime: client-go's limiter, no debounce, and an error policy of five
    /// seconds, as in the examples of kube-rs, which has no default.
    pub const fn new(runtime: Runtime) -> Self {
        Self { runtime, backoff: Backoff::CLIENT_GO, debounce: 0, on_error: Some(5_000) }
    }
}
