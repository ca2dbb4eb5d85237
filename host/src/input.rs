//! Reads what tools print: YAML and JSON, single objects, Lists, watch streams, AdmissionReviews,
//! audit logs, reconcile passes, controllers' logs, queue traces.
//!
//! ```text
//! arguments ─▶ source ─▶ split ─▶ yaml ─▶ redact ─▶ recognise ─▶ Document ─▶ locate
//!              files     bytes    JSON    Secrets   items                    positions,
//!              stdin     to text  text    blanked                            on demand
//! ```

mod locate;
mod read;
mod recognise;
mod redact;
mod source;
mod split;
mod yaml;

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

pub use locate::{Location, Locator, locate};
pub use read::Documents;
pub(crate) use recognise::add_type;
pub use source::{Source, sources};

/// One document of an input, with the text that it was read from.
#[derive(Debug, Clone)]
pub struct Document {
    /// The input's name as shown to the user: a path, or `-` for standard input.
    pub input: Arc<str>,
    /// 1-based number of the document within the input; a fixture header counts.
    pub number: usize,
    /// 1-based line of the input at which `text` begins.
    pub line: usize,
    /// The text of this document alone; what Secrets hold is blanked.
    pub text: Arc<str>,
    /// Whether `text` is JSON (one value) or YAML.
    pub syntax: Syntax,
    /// What the document holds, in order. A List or an AdmissionReview holds several.
    pub items: Vec<Item>,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// JSON (RFC 8259).
    Json,
    /// YAML, read as Kubernetes reads it.
    Yaml,
}

/// One thing to judge, or one thing that says how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// JSON Pointer from the document's root to this item: `""`, `/object`, `/items/3`,
    /// `/request/object`.
    pub base: String,
    /// What it is.
    pub kind: ItemKind,
}

/// What an item is; JSON text in the order of the source's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// A Kubernetes object as it was after this event. One that says neither `apiVersion` nor
    /// `kind` is of the kind of an earlier object with its uid.
    Object(String),
    /// A Kubernetes object as it was just before the next `Object` of the same uid
    /// (`oldObject` of an AdmissionReview).
    OldObject(String),
    /// The object is gone (a DELETED event): its history ends.
    Deleted(String),
    /// A watch bookmark: the resourceVersion that was reached; nothing to judge.
    Bookmark,
    /// Nothing to judge, and why; not an error.
    Skipped(String),
    /// An error inside a watch stream (`type: ERROR`): history is broken here; the message.
    WatchError(String),
    /// A line of a controller's log, JSON.
    Log(String),
    /// `kind: Fixture`.
    Fixture(String),
    /// `kind: Reconcile`.
    Pass(String),
    /// `kind: QueueTrace`.
    Trace(String),
    /// `kind: Scenario`.
    Scenario(String),
    /// `kind: Settings`.
    Settings(String),
}

/// Something that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The input's name.
    pub input: Arc<str>,
    /// 1-based number of the document, if known.
    pub document: Option<usize>,
    /// 1-based line of the input, if known.
    pub line: Option<usize>,
    /// What is wrong and what was expected.
    pub message: String,
}

impl Display for Unreadable {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.input)?;
        if let Some(document) = self.document {
            write!(formatter, "#{document}")?;
        }
        if let Some(line) = self.line {
            write!(formatter, ", line {line}")?;
        }
        write!(formatter, ": {}", self.message)
    }
}

impl std::error::Error for Unreadable {}
