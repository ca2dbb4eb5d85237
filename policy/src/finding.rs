//! What a policy answers, in the shape of `wit/policy.wit`.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; never a reason to fail.
    Info,
    /// Wrong by a convention of the field, or a hint that something will go wrong.
    Warning,
    /// A consumer that trusts this status does the wrong thing.
    Error,
}

/// What a rule needs to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One object.
    State,
    /// Two consecutive states of one object.
    Transition,
    /// Several consecutive states of one object.
    Series,
    /// An object beside the objects that it names.
    Set,
    /// One reconcile pass.
    Pass,
    /// A recorded history of queue events.
    Trace,
}

/// The answer to "is it truly ready?".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// All that the current spec asks is done, and the status says so coherently.
    Settled,
    /// Work is under way.
    Progressing,
    /// The controller has failed.
    Failed,
    /// Suspended or paused: the status describes the past.
    Suspended,
    /// Being deleted.
    Terminating,
    /// The object does not tell.
    Unknown,
}

/// Whether the parts of a status can be true at once. The order is from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Coherence {
    /// No two parts disagree.
    Coherent,
    /// The object carries too little to judge.
    Unknown,
    /// Parts disagree, and lag explains it.
    Stale,
    /// Parts disagree, and no lag explains it.
    Incoherent,
}

/// A place beside the finding's own, and what is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The document: `object`, `old`, `history/N`, `related/N`, `event/N`.
    pub origin: String,
    /// JSON Pointer.
    pub path: String,
    /// What is there.
    pub message: String,
}

/// One fault, at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// As set by the settings.
    pub severity: Severity,
    /// What the rule had to see.
    pub scope: Scope,
    /// JSON Pointer.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The other places that disagree with `path`.
    pub related: Vec<Note>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Finding {
    /// The finding with one more place in the judged object itself.
    #[must_use]
    pub fn beside(self, path: impl Into<String>, message: impl Into<String>) -> Self {
        self.elsewhere("object", path, message)
    }

    /// The finding with one more place in the document `origin`.
    #[must_use]
    pub fn elsewhere(
        mut self,
        origin: impl Into<String>,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        self.related.push(Note {
            origin: origin.into(),
            path: path.into(),
            message: message.into(),
        });
        self
    }

    /// The finding with a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// What is thought of one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Is it truly ready?
    pub phase: Phase,
    /// Why that phase.
    pub reason: String,
    /// Can all parts of the status be true at once?
    pub coherence: Coherence,
    /// Whether a profile for the object's kind was known.
    pub profiled: bool,
    /// Ordered by rule, then path.
    pub findings: Vec<Finding>,
    /// JSON Patch over `/status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", content = "message", rename_all = "lowercase")]
pub enum Fault {
    /// The input is not what it should be.
    Malformed(String),
    /// The input asks for something unknown.
    Unsupported(String),
    /// A bug.
    Internal(String),
}

/// What must happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "action", content = "delay", rename_all = "lowercase")]
pub enum Action {
    /// As soon as the queue allows.
    Requeue,
    /// After this many milliseconds.
    After(u32),
    /// Wait for a change; an event will come.
    Await,
    /// Never again by itself.
    Stop,
}

/// What a controller should return from one reconcile pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// What must happen next.
    #[serde(flatten)]
    pub action: Action,
    /// From a closed list.
    pub reason: String,
    /// One sentence.
    pub message: String,
    /// What is wrong with the proposed result.
    pub findings: Vec<Finding>,
}

/// How a recorded queue history ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// Nothing is owed.
    Settled,
    /// A timer will do what is owed.
    Asleep,
    /// Nothing will do what is owed.
    Stuck,
    /// The same work is done again and again without cause.
    Hot,
}

/// What is thought of one recorded queue history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How it ends.
    pub state: Ending,
    /// When the timer fires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Index of the event at which the wake-up was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u32>,
    /// One paragraph.
    pub message: String,
    /// Ordered by rule, then path.
    pub findings: Vec<Finding>,
}
