//! The shape of a profile: what a kind's conventions are.
//!
//! `build.rs` reads this file too, so that the built-in profiles are checked when they are built.

extern crate alloc;

#[path = "contract.rs"]
mod contract;
#[path = "language.rs"]
mod language;
#[path = "text.rs"]
mod text;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use self::contract::{Deadline, Finish, Instances, Mirror, Reference, Revision};
pub use self::language::Test;
pub use self::text::Text;

/// What is known about one kind, or about several kinds of one group that agree.
///
/// Field paths are written as kubectl users write them: `status.history[0].version`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Profile<'a> {
    /// API group; empty for the core group. `*.suffix` stands for every group that ends so.
    pub group: Text<'a>,
    /// The kinds; `*` stands for every kind of the group.
    pub kinds: Vec<Text<'a>>,
    /// Where these conventions are written down.
    #[serde(skip_serializing_if = "is_default")]
    pub reference: Text<'a>,
    /// For kinds whose group is anyone's (`group: "*"`, and any name as the kind): tests that all
    /// hold for an object of such a kind. Only asked where no profile names the kind.
    #[serde(skip_serializing_if = "is_default")]
    pub shape: Vec<Test<'a>>,

    /// Field paths of the condition lists, the main one first; `status.conditions` if empty.
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<Text<'a>>,
    /// Whether the schema of the conditions is `metav1.Condition`.
    #[serde(skip_serializing_if = "is_default")]
    pub metav1: bool,
    /// Condition types that may stand more than once in a list; `*` for all.
    #[serde(skip_serializing_if = "is_default")]
    pub repeats: Vec<Text<'a>>,
    /// Condition types that must all be True for the object to be ready, the summary first.
    #[serde(skip_serializing_if = "is_default")]
    pub happy: Vec<Text<'a>>,
    /// Condition types that are bad news when True.
    #[serde(skip_serializing_if = "is_default")]
    pub abnormal: Vec<Text<'a>>,
    /// Condition types that mean work under way when True.
    #[serde(skip_serializing_if = "is_default")]
    pub progress: Vec<Text<'a>>,
    /// Condition types that mean a failure which only a new spec can cure when True.
    #[serde(skip_serializing_if = "is_default")]
    pub stalled: Vec<Text<'a>>,
    /// Whether the kind promises the first happy condition on each object that it has reconciled.
    #[serde(skip_serializing_if = "is_default")]
    pub summary: bool,
    /// Condition types that the summary follows from: it is True only while each of these that is
    /// present is True.
    #[serde(skip_serializing_if = "is_default")]
    pub dependents: Vec<Text<'a>>,
    /// Whether the summary is True as soon as all of `dependents` are present and True.
    #[serde(skip_serializing_if = "is_default")]
    pub conjunction: bool,
    /// Whether the summary is never True beside an abnormal condition that is True.
    #[serde(skip_serializing_if = "is_default")]
    pub exclusive: bool,
    /// Whether the summary, while it is False, repeats the reason of the first of `abnormal` that
    /// is True, or of the first of `dependents` that is False.
    #[serde(skip_serializing_if = "is_default")]
    pub copies_reason: bool,
    /// Whether the summary stays Unknown, and is not False, until something has failed.
    #[serde(skip_serializing_if = "is_default")]
    pub tri_state: bool,
    /// Whether the kind has no status that says anything, and exists once it exists.
    #[serde(skip_serializing_if = "is_default")]
    pub statusless: bool,
    /// Whether a happy condition that became True or False never changes again (bounded work).
    #[serde(skip_serializing_if = "is_default")]
    pub terminal: bool,

    /// How bounded work shows that it has come to its end.
    #[serde(skip_serializing_if = "is_default")]
    pub finish: Vec<Finish<'a>>,
    /// How many instances the object needs to be ready.
    #[serde(skip_serializing_if = "is_default")]
    pub instances: Vec<Instances<'a>>,

    /// Where the observed generation stands.
    #[serde(skip_serializing_if = "is_default")]
    pub generation: Generation<'a>,
    /// When `lastTransitionTime` of a condition moves; nothing if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transitions: Option<Transitions>,
    /// Tests of which any one means that the object is suspended or paused.
    #[serde(skip_serializing_if = "is_default")]
    pub suspended: Vec<Test<'a>>,
    /// Whether a suspended object is not deleted either.
    #[serde(skip_serializing_if = "is_default")]
    pub suspend_blocks_delete: bool,
    /// The annotation that asks for a reconcile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poke: Option<Poke<'a>>,
    /// Annotations that ask for more than a reconcile; they count only where their value is that of
    /// `poke`.
    #[serde(skip_serializing_if = "is_default")]
    pub poke_more: Vec<Poke<'a>>,
    /// How long things take.
    #[serde(skip_serializing_if = "is_default")]
    pub timing: Timing<'a>,
    /// What reasons of the happy condition mean when it is not True.
    #[serde(skip_serializing_if = "is_default")]
    pub reasons: Reasons<'a>,
    /// Tests of which any one means that the work itself runs, so that nothing is waited for.
    #[serde(skip_serializing_if = "is_default")]
    pub acting: Vec<Test<'a>>,
    /// What must not last.
    #[serde(skip_serializing_if = "is_default")]
    pub deadlines: Vec<Deadline<'a>>,
    /// Other objects that this one names.
    #[serde(skip_serializing_if = "is_default")]
    pub references: Vec<Reference<'a>>,
    /// Lists in the status whose items stand for items of the spec.
    #[serde(skip_serializing_if = "is_default")]
    pub mirrors: Vec<Mirror<'a>>,
    /// What a happy condition at False means where its reason does not tell; `failed` if not
    /// written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unready: Option<PhaseName>,

    /// Texts that repeat the value of a field.
    #[serde(skip_serializing_if = "is_default")]
    pub witnesses: Vec<Witness<'a>>,
    /// What always holds.
    #[serde(skip_serializing_if = "is_default")]
    pub invariants: Vec<Invariant<'a>>,
    /// How to tell the phase; the first that matches counts, before the general conventions.
    #[serde(skip_serializing_if = "is_default")]
    pub phases: Vec<PhaseRule<'a>>,
}

/// Where the observed generation stands, and how far it can be believed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Generation<'a> {
    /// Field path; `status.observedGeneration` if empty.
    #[serde(skip_serializing_if = "is_default")]
    pub field: Text<'a>,
    /// The kind has no such field, by design.
    #[serde(skip_serializing_if = "is_default")]
    pub absent: bool,
    /// The field is no generation (a hash, say), and is not to be compared.
    #[serde(skip_serializing_if = "is_default")]
    pub opaque: bool,
    /// The field is written as a string.
    #[serde(skip_serializing_if = "is_default")]
    pub text: bool,
    /// Conditions carry `observedGeneration` of their own, which says what they speak of.
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: bool,
    /// Every condition must carry it, by the kind's contract.
    #[serde(skip_serializing_if = "is_default")]
    pub required: bool,
    /// The field moves only when the object is ready or stalled: behind is normal while failing.
    #[serde(skip_serializing_if = "is_default")]
    pub at_rest: bool,
}

/// When `lastTransitionTime` moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Transitions {
    /// When `status` changes (apimachinery's `SetStatusCondition`).
    Status,
    /// When any of `status`, `reason` and `message` changes (Flux, Knative).
    State,
    /// As `State`, or when `observedGeneration` changes (Crossplane).
    Generation,
    /// At every write.
    Write,
}

/// The annotation that asks for a reconcile, and where it is answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Poke<'a> {
    /// The annotation's key.
    pub annotation: Text<'a>,
    /// Field path at which the controller repeats the value; empty if it does not.
    pub handled: Text<'a>,
}

/// How long things take: each a field path, a duration such as `30s`, or several of these of which
/// the first counts that is there: `spec.retryInterval|spec.interval`, `spec.timeout|5m`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Timing<'a> {
    /// Between two reconciles of a healthy object.
    #[serde(skip_serializing_if = "is_default")]
    pub interval: Text<'a>,
    /// Tests of which any one means that a healthy object is not looked at again, whatever its
    /// interval says.
    #[serde(skip_serializing_if = "is_default")]
    pub once: Vec<Test<'a>>,
    /// Between two reconciles of a failing one; the queue's back-off says when if there is none.
    #[serde(skip_serializing_if = "is_default")]
    pub retry: Text<'a>,
    /// For one reconcile; the interval if empty.
    #[serde(skip_serializing_if = "is_default")]
    pub timeout: Text<'a>,
    /// While waiting for another object.
    #[serde(skip_serializing_if = "is_default")]
    pub dependency: Text<'a>,
    /// The longest back-off of the controller's queue.
    #[serde(skip_serializing_if = "is_default")]
    pub backoff: Text<'a>,
    /// Field paths of times that every run moves, also one that changes nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub runs: Vec<Text<'a>>,
}

/// What reasons of the happy condition mean when it is not True.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Reasons<'a> {
    /// The work was cut off and must be taken up again.
    #[serde(skip_serializing_if = "is_default")]
    pub canceled: Vec<Text<'a>>,
    /// Another object is waited for.
    #[serde(skip_serializing_if = "is_default")]
    pub waiting: Vec<Text<'a>>,
    /// Parts of the message that say so too, where the reason is one that failures have as well.
    #[serde(skip_serializing_if = "is_default")]
    pub waiting_messages: Vec<Text<'a>>,
    /// Only a new spec can help.
    #[serde(skip_serializing_if = "is_default")]
    pub terminal: Vec<Text<'a>>,
    /// Work is under way.
    #[serde(skip_serializing_if = "is_default")]
    pub progressing: Vec<Text<'a>>,
    /// It failed, even where the kind's False means progress.
    #[serde(skip_serializing_if = "is_default")]
    pub failed: Vec<Text<'a>>,
}

/// A text that repeats the value of a field.
///
/// A template's placeholders: `{status.artifact.revision}` stands for the field's value, `{*}` for
/// a word without white space or quotes, `{**}` for any text, also none. A filter takes a part of
/// the field's value, or compares it by its meaning:
///
/// - `{path|hash}` is what follows its last `:`, else its last `/`, else all of it;
/// - `{path|lower}` is all of it in lower case;
/// - `{path|count}` is the number of a list's elements, none if it is missing;
/// - `{path|revision}` is a revision: `main/<hash>` and `main@sha1:<hash>` are the same one, and
///   digests of two algorithms are not compared;
/// - `{path|version}` is a version whose build metadata (`+…`) does not count.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Witness<'a> {
    /// The condition whose message is the text.
    #[serde(skip_serializing_if = "is_default")]
    pub condition: Text<'a>,
    /// The condition's status; `True` if empty.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Text<'a>,
    /// The condition's reason is one of these; any if empty.
    #[serde(skip_serializing_if = "is_default")]
    pub reasons: Vec<Text<'a>>,
    /// Or the field path whose value is the text.
    #[serde(skip_serializing_if = "is_default")]
    pub field: Text<'a>,
    /// The templates, of which one may match.
    pub text: Vec<Text<'a>>,
    /// Tests that must all hold for the witness to speak.
    #[serde(skip_serializing_if = "is_default")]
    pub when: Vec<Test<'a>>,
    /// A field that is missing is fine. Else it is a mismatch too, unless the object is only an
    /// excerpt: one without uid, resource version, generation and observed generation.
    #[serde(skip_serializing_if = "is_default")]
    pub optional: bool,
    /// The text names what the field does not hold so far: to agree is the fault.
    #[serde(skip_serializing_if = "is_default")]
    pub outdated: bool,
    /// How bad a disagreement is; an error if not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}

/// How bad a disagreement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Wrong, but nobody acts on it.
    Warning,
    /// Who trusts it does the wrong thing.
    Error,
}

/// What holds whenever the controller is at rest: where all of `when` hold, all of `must` hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Invariant<'a> {
    /// When it is asked.
    pub when: Vec<Test<'a>>,
    /// What must hold then.
    pub must: Vec<Test<'a>>,
    /// What is wrong otherwise, as one sentence without a final stop; `{path}` stands for the
    /// field's value.
    pub message: Text<'a>,
    /// It also holds while work is under way, or while the object is suspended.
    #[serde(skip_serializing_if = "is_default")]
    pub always: bool,
    /// How bad it is otherwise; an error if not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}

/// How to tell a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub struct PhaseRule<'a> {
    /// The phase.
    pub is: PhaseName,
    /// Tests that must all hold; always if empty.
    #[serde(default)]
    pub when: Vec<Test<'a>>,
    /// It counts whatever generation the status speaks of: no controller writes it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub any_generation: bool,
    /// Why, as one sentence without a final stop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub because: Text<'a>,
}

/// A phase by name; see `phase` in `wit/policy.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhaseName {
    /// Done.
    Settled,
    /// Work is under way.
    Progressing,
    /// Failed.
    Failed,
    /// Suspended or paused.
    Suspended,
    /// Being deleted.
    Terminating,
    /// The object does not tell.
    Unknown,
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
