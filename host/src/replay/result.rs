//! What a replay finds, in the shape of its JSON output (`plumb.dev/replay/v1`).

use std::sync::Arc;

use serde::Serialize;

use crate::engine::{Coherence, Finding, Phase, Scope};
use crate::input::Document;

/// The value of [`Report::schema`].
pub const SCHEMA: &str = "plumb.dev/replay/v1";

/// One replay: all results and their sum.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The component that judged.
    pub policy: PolicyIdentity,
    /// The time that was taken for the present.
    pub clock: Clock,
    /// In the order of the inputs.
    pub results: Vec<Judged>,
    /// The inputs with a header, in order.
    pub fixtures: Vec<Fixture>,
    /// What could not be read or judged, in order.
    pub errors: Vec<InputError>,
    /// What was passed over because it holds nothing to judge, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// The files that were given new expectations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<String>,
    /// The sum.
    pub summary: Summary,
}

/// What happens during a replay, in order, for output that does not wait for the end. A replay
/// hands these to `&mut dyn FnMut(Event<'_>) -> io::Result<()>` and ends early where that fails.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// An input begins; with its header, if it has one.
    Opened {
        /// The input's name.
        input: &'a str,
        /// What the header says of the fixture; its `unmet` is empty so far.
        fixture: Option<&'a Fixture>,
    },
    /// Something was judged.
    Judged(&'a Judged),
    /// Something could not be read or judged.
    Failed(&'a InputError),
    /// An input is at its end.
    Closed {
        /// The input's name.
        input: &'a str,
        /// What became of its expectations, if it has a header.
        fixture: Option<&'a Fixture>,
    },
}

/// An input with a header (`kind: Fixture`).
#[derive(Debug, Clone, Default, Serialize)]
pub struct Fixture {
    /// The input's name.
    pub input: String,
    /// `metadata.name`.
    pub name: String,
    /// `spec.source`: where it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `spec.story`: what it shows. Such fixtures are told in full even if all is as expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<String>,
    /// Expectations that met no result, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<String>,
}

/// The time that a replay takes for the present.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Clock {
    /// `given` (`--now` or a header's `spec.now`), `stream` (the newest time in each input) or
    /// `real`.
    pub source: &'static str,
    /// RFC 3339, where it is one for all inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// Which component judged.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyIdentity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of the component's bytes, lower-case hexadecimal.
    pub sha256: String,
}

/// One judged object, pair, pass or trace.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// `FILE#DOC`.
    pub input: String,
    /// What was judged.
    pub scope: Scope,
    /// Whether the kind has a profile.
    pub profiled: bool,
    /// Of the object; empty for passes and traces without one.
    pub api_version: String,
    /// Of the object.
    pub kind: String,
    /// Of the object.
    pub namespace: String,
    /// Of the object.
    pub name: String,
    /// Of the object.
    pub uid: String,
    /// Of the object.
    pub resource_version: String,
    /// The time taken for the present, RFC 3339; without it nothing was judged by age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Is it truly ready?
    pub phase: Phase,
    /// Why that phase.
    pub reason: String,
    /// Can all parts be true at once?
    pub coherence: Coherence,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What must happen next; for passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decided>,
    /// How it ends; for traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// JSON Patch over `/status`; see `wit/policy.wit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<serde_json::Value>,
    /// Whether the fixture's header expected this.
    pub expectation: Expectation,
    /// How the expectation was missed, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<String>,
    /// Where the judged thing stands: `object`, and `old`, `history/N`, `related/N` by the
    /// `origin` of findings' notes.
    #[serde(skip)]
    pub places: Vec<Place>,
}

/// A document that findings point into.
#[derive(Debug, Clone)]
pub struct Place {
    /// `object`, `old`, `history/N`, `related/N`.
    pub origin: String,
    /// The document.
    pub document: Arc<Document>,
    /// JSON Pointer from the document's root to the object.
    pub base: String,
}

/// What must happen next.
#[derive(Debug, Clone, Serialize)]
pub struct Decided {
    /// `requeue`, `after`, `await` or `stop`.
    pub action: &'static str,
    /// Milliseconds; for `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<u32>,
    /// From a closed list.
    pub reason: String,
    /// One sentence.
    pub message: String,
}

/// How a trace ends.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct End {
    /// `settled`, `asleep`, `stuck` or `hot`.
    pub state: &'static str,
    /// When the timer fires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Index of the event at which the wake-up was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_at: Option<u32>,
    /// What happened, as one paragraph.
    pub message: String,
}

/// Whether a result is what the fixture's header expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expectation {
    /// The input has no header, or it expects nothing.
    None,
    /// As expected.
    Met,
    /// Not as expected.
    Unmet,
}

/// Something that could not be read or judged.
#[derive(Debug, Clone, Serialize)]
pub struct InputError {
    /// The input's name.
    pub input: String,
    /// 1-based document number, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    /// 1-based line, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// `unreadable` (bad input) or `evaluation` (the policy failed).
    pub kind: &'static str,
    /// What is wrong and what was expected.
    pub message: String,
}

/// Something that holds nothing to judge: a read in an audit log, a review's response, an error
/// inside a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The input's name.
    pub input: String,
    /// 1-based number of the first document of this sort.
    pub document: usize,
    /// How many there are in the input.
    pub count: usize,
    /// Why there is nothing to judge.
    pub message: String,
}

/// How much was judged and what came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Documents read.
    pub documents: usize,
    /// Distinct objects.
    pub objects: usize,
    /// States judged.
    pub states: usize,
    /// Transitions judged.
    pub transitions: usize,
    /// Passes judged.
    pub passes: usize,
    /// Traces judged.
    pub traces: usize,
    /// Distinct objects whose kind has a profile.
    pub profiled: usize,
    /// Distinct objects whose kind has none.
    pub unprofiled: usize,
    /// Findings by severity.
    pub findings: FindingCounts,
    /// Results that are not as expected, and expectations that met no result.
    pub unmet: usize,
    /// Documents that could not be read.
    pub unreadable: usize,
    /// Evaluations in which the policy failed.
    pub failed: usize,
    /// States that were seen before, unchanged, and not judged again.
    pub repeated: usize,
    /// Parts of documents that hold nothing to judge.
    pub skipped: usize,
}

/// Findings by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FindingCounts {
    /// Severity error.
    pub error: usize,
    /// Severity warning.
    pub warning: usize,
    /// Severity info.
    pub info: usize,
}
