//! The document: `kind: QueueTrace`. What may stand in it, and nothing of what it means.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::pass::OutcomeType;
use crate::trace::scalar::{Moment, Span, Truth};

/// A recorded history of queue events.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    /// `plumb.dev/v1alpha1`.
    pub api_version: String,
    /// `QueueTrace`.
    pub kind: String,
    /// Read by no rule.
    #[serde(default)]
    pub metadata: Option<IgnoredAny>,
    /// The history.
    pub spec: Spec,
}

/// The history.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// For the reader.
    #[serde(default)]
    pub description: Option<IgnoredAny>,
    /// Which queue, and how it was set up.
    pub queue: QueueSpec,
    /// The instant that durations in `at` count from; RFC 3339.
    #[serde(default)]
    pub start: Option<String>,
    /// Until when nothing more happened. Without it, the last event's time.
    #[serde(default)]
    pub end: Option<Moment>,
    /// Not every event was recorded: the order of the keys is not checked, and a key may be handed
    /// out although nothing is known to have added it.
    #[serde(default)]
    pub partial: bool,
    /// What the controller reads.
    #[serde(default)]
    pub sources: Vec<SourceSpec>,
    /// What the controller reconciles, one per key.
    #[serde(default)]
    pub objects: Vec<ObjectSpec>,
    /// What happened, in order.
    pub events: Vec<EventSpec>,
}

/// Which queue, and how it was set up.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QueueSpec {
    /// The state machine.
    pub flavour: FlavourName,
    /// For the reader, and to tell the orders of the priority queue before v0.23 apart.
    #[serde(default)]
    pub version: Option<String>,
    /// Whose worker loop reads the results.
    #[serde(default)]
    pub runtime: Option<RuntimeName>,
    /// The per-key limiter.
    #[serde(default)]
    pub rate_limiter: Option<RateLimiterSpec>,
    /// kube-rs: every request is put off by this long.
    #[serde(default)]
    pub debounce: Option<Span>,
    /// kube-rs: what the error policy answers: a delay, or `await`.
    #[serde(default)]
    pub error_policy: Option<String>,
    /// How many workers there are.
    #[serde(default)]
    pub workers: Option<u32>,
    /// How long a ready key may wait for a worker while other keys are served.
    #[serde(default)]
    pub patience: Option<Span>,
}

/// The state machine.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlavourName {
    /// client-go's work queue.
    Classic,
    /// controller-runtime's priority queue.
    Priority,
    /// kube-rs's scheduler.
    KubeRs,
}

/// Whose worker loop reads the results.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeName {
    /// controller-runtime.
    ControllerRuntime,
    /// A loop by hand: it calls the queue itself, and `return` only ends the run.
    ClientGo,
    /// kube-rs.
    KubeRs,
}

/// `base · 2ⁿ`, at most `max`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateLimiterSpec {
    /// The delay after the first failure.
    pub base: Span,
    /// The longest delay.
    pub max: Span,
}

/// What the controller reads: a source, a dependency, a child, as far as a key depends on it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceSpec {
    /// Any name; `Kind/namespace/name` reads well.
    pub name: String,
    /// What identifies its state: a revision, a resourceVersion, `Ready`.
    #[serde(default)]
    pub revision: Option<String>,
    /// Each single revision has to be seen by a run, not only the newest one.
    #[serde(default)]
    pub every_revision: bool,
    /// Its changes are delivered as events. Without that, runs read it as it is.
    #[serde(default = "yes")]
    pub watched: bool,
}

fn yes() -> bool {
    true
}

/// What is known of one key at the start.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectSpec {
    /// The key.
    pub key: String,
    /// The sources that it depends on. Without it: all of them if there is but one key, else those
    /// that the events name.
    #[serde(default)]
    pub sources: Option<Vec<String>>,
    /// The object has to be reconciled at least this often.
    #[serde(default)]
    pub interval: Option<Span>,
    /// The object has to be reconciled at or after this time: an expiry, a renewal.
    #[serde(default)]
    pub due: Option<Moment>,
    /// `metadata.generation`.
    #[serde(default)]
    pub generation: Option<i64>,
    /// The token of a request to reconcile.
    #[serde(default)]
    pub request: Option<String>,
    /// Suspended or paused.
    #[serde(default)]
    pub suspended: bool,
    /// What its status says.
    #[serde(default)]
    pub status: StatusSpec,
    /// What the queue holds for it.
    #[serde(default)]
    pub queue: EntrySpec,
}

/// What a status says, as far as requeue decisions need it. What is left out is unknown or, in a
/// write, unchanged.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StatusSpec {
    /// The status of the happy condition.
    pub ready: Option<Truth>,
    /// Its reason.
    pub reason: Option<String>,
    /// Work is under way.
    pub reconciling: Option<bool>,
    /// Failed, and no retry will help.
    pub stalled: Option<bool>,
    /// The revision that was tried last.
    pub attempted: Option<String>,
    /// The revision that was applied last.
    pub applied: Option<String>,
    /// `status.observedGeneration`.
    pub observed_generation: Option<i64>,
    /// The token of the last request that was answered.
    pub handled: Option<String>,
}

/// What the queue holds for a key at the start.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct EntrySpec {
    /// There is an entry.
    pub ready: bool,
    /// A timer fires then.
    pub due: Option<Moment>,
    /// The entry's priority.
    pub priority: i16,
}

/// One event. Which fields may be set depends on what happened.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventSpec {
    /// When: a duration since the start, milliseconds, or RFC 3339. Without it, at once.
    #[serde(default)]
    pub at: Option<Moment>,
    /// What happened.
    pub event: EventName,
    /// The key. May be left out if there is but one.
    #[serde(default)]
    pub key: Option<Box<str>>,
    /// The source; on what a handler does, whose event it handles.
    #[serde(default)]
    pub source: Option<Box<str>>,
    /// The source's revision.
    #[serde(default)]
    pub revision: Option<Box<str>>,
    /// The object's resourceVersion.
    #[serde(default)]
    pub resource_version: Option<Box<str>>,
    /// Which object of an update was mapped.
    #[serde(default)]
    pub side: Option<Side>,
    /// What the handler's filter or predicate did.
    #[serde(default)]
    pub filter: Option<Filter>,
    /// The priority of an add.
    #[serde(default)]
    pub priority: Option<i16>,
    /// The delay of `addAfter`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// The worker, for the reader.
    #[serde(default)]
    pub worker: Option<IgnoredAny>,
    /// What a write says.
    #[serde(default)]
    pub status: Option<Box<StatusSpec>>,
    /// What a write changed beside that.
    #[serde(default)]
    pub fields: Option<Box<[String]>>,
    /// The API server refused the write: a conflict, an admission webhook.
    #[serde(default)]
    pub refused: Option<bool>,
    /// `Result.Requeue`.
    #[serde(default)]
    pub requeue: Option<bool>,
    /// `Result.RequeueAfter`, `Action::requeue`.
    #[serde(default)]
    pub requeue_after: Option<Span>,
    /// The error's text; empty if none.
    #[serde(default)]
    pub error: Option<Box<str>>,
    /// The error was terminal.
    #[serde(default)]
    pub terminal: Option<bool>,
    /// How the run ended.
    #[serde(default)]
    pub outcome: Option<OutcomeType>,
    /// The new `metadata.generation`.
    #[serde(default)]
    pub generation: Option<i64>,
    /// The new token of a request to reconcile.
    #[serde(default)]
    pub request: Option<Box<str>>,
    /// Suspended or resumed.
    #[serde(default)]
    pub suspended: Option<bool>,
    /// The object is gone, or about to be.
    #[serde(default)]
    pub deleted: Option<bool>,
    /// For the reader.
    #[serde(default)]
    pub note: Option<IgnoredAny>,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventName {
    /// A source changes at the API server.
    Commit,
    /// The object itself changes at the API server, not by its own controller.
    Change,
    /// An informer updates its store and calls its handlers.
    Watch,
    /// The informer calls its handlers although nothing changed.
    Resync,
    /// A handler maps an object to the key.
    Map,
    /// A handler cancels the run that listens for the key.
    Dispatch,
    /// A handler would add the key, but has done so for the same event.
    Skip,
    /// The key is added.
    Add,
    /// The key is added after a delay.
    AddAfter,
    /// The key is added after the delay of the limiter.
    AddRateLimited,
    /// The key is handed out to a worker: a run starts.
    Get,
    /// The run begins to listen for cancellation.
    Listen,
    /// The run reads a source from the cache.
    Read,
    /// The run is cancelled by other means than `dispatch`.
    Cancel,
    /// The run writes the object.
    Write,
    /// The run returns.
    Return,
    /// The worker gives the key back.
    Done,
    /// The failure count of the key is reset.
    Forget,
    /// The key's timer fires.
    Tick,
    /// The controller restarts: queue, timers and runs are lost.
    Restart,
}

/// Which object of an update was mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The object before.
    Old,
    /// The object after.
    New,
}

/// What the handler's filter or predicate did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// The event passes.
    Keep,
    /// The event is dropped.
    Drop,
}
