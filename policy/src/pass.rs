//! One reconcile pass: `kind: Reconcile`.
//!
//! Every field but the object may be missing: from the object and the clock alone it still
//! answers.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Backoff, Runtime, Step};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::decide::Next;
use crate::document;
use crate::finding::Fault;
use crate::json::Json;
use crate::profile::Text;
use crate::rule::View;
use crate::time::{self, Time};
use crate::trace::scalar::Span;

/// The document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub struct Document<'a> {
    /// `plumb.dev/v1alpha1`.
    pub api_version: Text<'a>,
    /// `Reconcile`.
    pub kind: Text<'a>,
    /// Ignored, but for its name.
    #[serde(default)]
    pub metadata: Option<serde::de::IgnoredAny>,
    /// The pass.
    pub spec: Spec<'a>,
}

/// What is known of the pass.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub struct Spec<'a> {
    /// The object as the pass left it.
    pub object: Json<'a>,
    /// The objects that it reads.
    #[serde(default)]
    pub sources: Vec<Source<'a>>,
    /// What came of the pass.
    #[serde(default)]
    pub outcome: Option<Outcome<'a>>,
    /// What the controller is about to return.
    #[serde(default)]
    pub result: Option<Returned<'a>>,
    /// What the parts of the controller returned of which the result was made.
    #[serde(default)]
    pub parts: Vec<Part<'a>>,
    /// The work queue.
    #[serde(default)]
    pub queue: Option<QueueFacts<'a>>,
    /// What queued the pass.
    #[serde(default)]
    pub trigger: Option<Trigger>,
    /// Failures in a row so far, as the queue's limiter counts them.
    #[serde(default)]
    pub failures: Option<u32>,
    /// Any text that changes when what the pass works on does: a generation, revisions.
    #[serde(default)]
    pub input: Text<'a>,
    /// The passes of the same object before this one, oldest first.
    #[serde(default)]
    pub earlier: Vec<Earlier<'a>>,
    /// The present, RFC 3339.
    #[serde(default)]
    pub now: Option<Moment>,
}

/// What a part of the controller returned.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub struct Part<'a> {
    /// Whose it is.
    pub name: Text<'a>,
    /// What it returned.
    #[serde(default)]
    pub result: Returned<'a>,
}

/// A pass of the same object before this one.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Earlier<'a> {
    /// When it returned.
    pub at: Option<Moment>,
    /// What came of it.
    pub outcome: Option<OutcomeType>,
    /// What it returned.
    pub result: Returned<'a>,
    /// As `input` of the pass itself.
    pub input: Text<'a>,
}

/// What queued a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trigger {
    /// An event of the object or of one that it depends on.
    Watch,
    /// `RequeueAfter` of an earlier pass.
    Timer,
    /// The limiter's retry after an error.
    Error,
    /// `Requeue` of an earlier pass.
    Requeue,
    /// The controller's start.
    Start,
    /// Somebody asked for it, by annotation.
    Request,
}

/// A time, RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub Time);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        Time::parse(&text)
            .map(Moment)
            .ok_or_else(|| D::Error::custom(format!("`{text}` is not an RFC 3339 time")))
    }
}

/// An object that the pass reads.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Source<'a> {
    /// As the controller's cache showed it.
    pub cached: Option<Json<'a>>,
    /// As the API server has it, if known.
    pub server: Option<Json<'a>>,
    /// Whether a change of it wakes the object by itself; assumed if not given.
    pub watched: Option<bool>,
}

/// What came of the pass.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub struct Outcome<'a> {
    /// What it is.
    #[serde(rename = "type")]
    pub type_: OutcomeType,
    /// What cancelled it, or what is waited for, as `Kind/namespace/name`.
    #[serde(default)]
    pub by: Text<'a>,
    /// In the controller's words.
    #[serde(default)]
    pub message: Text<'a>,
}

/// What can come of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OutcomeType {
    /// The desired state is reached.
    Succeeded,
    /// It failed, and may work another time.
    Failed,
    /// It failed, and only a new spec can help.
    Terminal,
    /// It was cut off before its end.
    Canceled,
    /// Another object is waited for.
    Waiting,
    /// The object is suspended.
    Suspended,
    /// The object is being deleted, and something is left to do.
    Deleting,
    /// The object is being deleted, and its finalizer is gone.
    Deleted,
    /// A finalizer was added, and nothing else was done.
    FinalizerAdded,
    /// A step was done, and the next one is to follow at once.
    Unfinished,
    /// The object is gone.
    NotFound,
}

/// What the controller is about to return.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Returned<'a> {
    /// controller-runtime's `Requeue`.
    pub requeue: bool,
    /// controller-runtime's `RequeueAfter`, kube-rs's `Action::requeue`: a duration as Go writes
    /// it, or milliseconds.
    pub requeue_after: Option<Span>,
    /// The error's text; empty if none.
    pub error: Text<'a>,
    /// Whether the error is a `TerminalError`.
    pub terminal: bool,
    /// kube-rs's `Action::await_change`.
    pub await_change: bool,
}

/// The work queue.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct QueueFacts<'a> {
    /// Which machine.
    pub flavour: Option<Flavour>,
    /// The version of the runtime.
    pub version: Text<'a>,
    /// Whose worker loop reads the result.
    pub runtime: Option<RuntimeName>,
    /// The per-key limiter.
    pub rate_limiter: Option<Limiter>,
}

/// A per-key limiter: `base · 2ⁿ`, at most `max`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limiter {
    /// The delay after the first failure.
    pub base: Span,
    /// The longest delay.
    pub max: Span,
}

/// Which queue a controller runs on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum Flavour {
    /// client-go's work queue; controller-runtime's default before 0.23.
    #[serde(rename = "classic")]
    Classic,
    /// controller-runtime's priority queue, its default since 0.23.
    #[default]
    #[serde(rename = "priority")]
    Priority,
    /// kube-rs's scheduler.
    #[serde(rename = "kube-rs")]
    KubeRs,
}

/// Whose worker loop reads the result of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeName {
    /// controller-runtime.
    ControllerRuntime,
    /// A loop by hand over client-go's queue.
    ClientGo,
    /// kube-rs.
    KubeRs,
}

impl Returned<'_> {
    /// `requeueAfter` in milliseconds; 0 if not given.
    pub fn after(&self) -> i64 {
        self.requeue_after.map_or(0, |span| span.0)
    }

    /// An error that is retried.
    pub fn fails(&self) -> bool {
        !self.error.is_empty() && !self.terminal
    }

    /// Neither requeue, nor a delay, nor an error.
    pub fn is_empty(&self) -> bool {
        !self.requeue && self.after() == 0 && self.error.is_empty() && !self.terminal
    }

    /// As the queue reads it.
    pub fn raw(&self) -> plumb_queue::Returned {
        plumb_queue::Returned {
            requeue: self.requeue,
            after: self.requeue_after.map(|span| span.0),
            error: !self.error.is_empty() || self.terminal,
            terminal: self.terminal,
        }
    }

    /// As a controller author reads it.
    pub fn text(&self) -> String {
        if !self.error.is_empty() || self.terminal {
            let terminal = if self.terminal { "terminal " } else { "" };
            return match &*self.error {
                "" => format!("a {terminal}error"),
                error => format!("{terminal}error `{error}`"),
            };
        }
        match (self.requeue, self.after()) {
            (false, 0) if self.requeue_after.is_some() => "RequeueAfter 0".to_string(),
            (_, after) if after != 0 => format!("RequeueAfter {}", time::readable(after)),
            (true, _) => "Requeue".to_string(),
            (false, _) => "an empty result".to_string(),
        }
    }
}

/// The document in `text`.
///
/// # Errors
/// [`Fault::Malformed`] names the field.
pub fn read(text: &str) -> Result<Document<'_>, Fault> {
    let document: Document<'_> =
        document::read(text).map_err(|wrong| Fault::Malformed(format!("pass: {wrong}")))?;
    if document.api_version != "plumb.dev/v1alpha1" || document.kind != "Reconcile" {
        return Err(Fault::Unsupported(format!(
            "pass: `{} {}` is not `plumb.dev/v1alpha1 Reconcile`",
            document.api_version, document.kind
        )));
    }
    is_object(&document.spec.object, "spec.object")?;
    for (index, source) in document.spec.sources.iter().enumerate() {
        for (name, copy) in [("cached", &source.cached), ("server", &source.server)] {
            if let Some(copy) = copy {
                is_object(copy, &format!("spec.sources[{index}].{name}"))?;
            }
        }
    }
    Ok(document)
}

fn is_object(json: &Json<'_>, place: &str) -> Result<(), Fault> {
    if matches!(json, Json::Object(_)) {
        return Ok(());
    }
    Err(Fault::Malformed(format!("pass: {place}: a Kubernetes object is needed")))
}

/// What rules of scope pass see.
#[derive(Debug)]
pub struct Pass<'a> {
    /// The object as the pass left it.
    pub view: View<'a>,
    /// The sources, in the order of the document.
    pub sources: &'a [SourceView<'a>],
    /// What came of it, given or read from the object.
    pub outcome: Option<OutcomeType>,
    /// Whether the outcome was given.
    pub told: bool,
    /// What cancelled it, or what is waited for.
    pub by: &'a str,
    /// What the controller is about to return.
    pub returned: Option<&'a Returned<'a>>,
    /// The rest of the document.
    pub spec: &'a Spec<'a>,
    /// The work queue.
    pub flavour: Flavour,
    /// Whose worker loop reads the result.
    pub runtime: Runtime,
    /// What must happen next.
    pub next: Next,
}

/// A source as the rules see it.
#[derive(Debug)]
pub struct SourceView<'a> {
    /// As the cache showed it.
    pub cached: Option<View<'a>>,
    /// As the server has it.
    pub server: Option<View<'a>>,
    /// Whether a change of it wakes the object, if known.
    pub watched: Option<bool>,
}

impl<'a> Pass<'a> {
    /// What the runtime does with a result.
    pub fn step(&self, returned: &Returned<'_>) -> Step {
        // What an error policy answers is the controller's own affair; that it answers is assumed.
        returned.raw().step(self.runtime, Some(Backoff::CLIENT_GO.base))
    }

    /// The result, and what the runtime does with it.
    pub fn proposed(&self) -> Option<(&'a Returned<'a>, Step)> {
        self.returned.map(|returned| (returned, self.step(returned)))
    }
}

impl QueueFacts<'_> {
    /// The machine and the loop before it; each by the other where only one is told.
    pub fn machine(&self) -> (Flavour, Runtime) {
        let flavour = self.flavour.unwrap_or(match self.runtime {
            Some(RuntimeName::ClientGo) => Flavour::Classic,
            Some(RuntimeName::KubeRs) => Flavour::KubeRs,
            Some(RuntimeName::ControllerRuntime) | None => Flavour::Priority,
        });
        let runtime = match (self.runtime, flavour) {
            (Some(RuntimeName::ClientGo), _) => Runtime::ClientGo,
            (Some(RuntimeName::KubeRs), _) | (None, Flavour::KubeRs) => Runtime::KubeRs,
            (Some(RuntimeName::ControllerRuntime), _)
            | (None, Flavour::Classic | Flavour::Priority) => Runtime::ControllerRuntime,
        };
        (flavour, runtime)
    }
}
