//! One reconcile pass: `kind: Reconcile`.
//!
//! Every field but the object may be missing: from the object and the clock alone it still
//! answers.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::document;
use crate::finding::Fault;
use crate::json::Json;
use crate::profile::Text;
use crate::rule::View;
use crate::time;

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
    /// The work queue.
    #[serde(default)]
    pub queue: Option<QueueFacts<'a>>,
    /// What queued the pass: `watch`, `timer`, `error`, `requeue`, `start`.
    #[serde(default)]
    pub trigger: Text<'a>,
    /// Failures in a row so far.
    #[serde(default)]
    pub failures: Option<u32>,
    /// The present, RFC 3339.
    #[serde(default)]
    pub now: Option<Text<'a>>,
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
    /// it.
    pub requeue_after: Text<'a>,
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
    pub flavour: Flavour,
    /// The version of the runtime.
    pub version: Text<'a>,
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

impl Returned<'_> {
    /// `requeueAfter` in milliseconds; 0 if not given.
    pub fn after(&self) -> i64 {
        time::duration(&self.requeue_after).unwrap_or(0)
    }

    /// Neither requeue, nor a delay, nor an error.
    pub fn is_empty(&self) -> bool {
        !self.requeue && self.after() <= 0 && self.error.is_empty()
    }

    /// As a controller author reads it.
    pub fn text(&self) -> String {
        if !self.error.is_empty() {
            let terminal = if self.terminal { "terminal " } else { "" };
            return format!("{terminal}error `{}`", self.error);
        }
        match (self.requeue, self.after()) {
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
    if let Some(returned) = &document.spec.result
        && !returned.requeue_after.is_empty()
        && time::duration(&returned.requeue_after).is_none()
    {
        return Err(Fault::Malformed(format!(
            "pass: spec.result.requeueAfter: `{}` is no duration such as 30s",
            returned.requeue_after
        )));
    }
    if !matches!(document.spec.object, Json::Object(_)) {
        return Err(Fault::Malformed("pass: spec.object: a Kubernetes object is needed".into()));
    }
    Ok(document)
}

/// What rules of scope pass see.
#[derive(Debug)]
pub struct Pass<'a> {
    /// The object as the pass left it.
    pub view: View<'a>,
    /// The sources as the cache showed them.
    pub sources: &'a [View<'a>],
    /// What came of it, given or read from the object.
    pub outcome: Option<OutcomeType>,
    /// What cancelled it, or what is waited for.
    pub by: &'a str,
    /// What the controller is about to return.
    pub returned: Option<&'a Returned<'a>>,
    /// The work queue.
    pub flavour: Flavour,
    /// Failures in a row so far.
    pub failures: Option<u32>,
    /// What must happen next.
    pub action: crate::finding::Action,
}
