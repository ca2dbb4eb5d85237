//! A scenario as its author wrote it (`kind: Scenario`).

use std::collections::BTreeMap;

use plumb_queue::{Backoff, Flavour, Millis, Returned, Runtime};
use serde_json::Value;

use super::expression::{Ast, Atom};

/// What to explore, and what is expected of it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// `metadata.name`.
    pub name: String,
    /// Where it was seen.
    pub source: Option<String>,
    /// What it is about.
    pub story: Option<String>,
    /// The queue unless the caller chooses another.
    pub queue: Flavour,
    /// What is expected.
    pub expect: Expectations,
    pub(super) runtime: Option<Runtime>,
    pub(super) keys: u8,
    pub(super) checks: Vec<Check>,
    /// A key that sleeps longer than this while something is owed counts as stuck.
    pub(super) patience: Option<Millis>,
    /// Timers up to this long do not interrupt a hot loop.
    pub(super) hot: Millis,
    /// Longer timers are there, but the story ends before they fire.
    pub(super) long_timers_wait: bool,
    pub(super) backoff: Backoff,
    /// How many failures in a row are counted one by one.
    pub(super) counted: u8,
    pub(super) on_error: Option<Millis>,
    pub(super) objects: Vec<Object>,
    pub(super) memory: Vec<Field>,
    pub(super) start: Vec<(String, String, Atom, String)>,
    pub(super) owed: Vec<Owed>,
    pub(super) coherent: Vec<Coherent>,
    pub(super) dependents: Vec<(String, String)>,
    pub(super) doubled: Option<Doubled>,
    pub(super) world: Vec<WorldStep>,
    pub(super) controllers: Vec<Controller>,
    pub(super) decide: Option<Value>,
    pub(super) record: Record,
}

/// How traces are recorded: which fields tell what a queue trace speaks of.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    /// Of each source, the field that tells its states apart. Without it all fields do.
    pub(super) sources: Vec<(String, String, String)>,
    /// Sources of which every state has to be seen by a pass, not only the newest.
    pub(super) every: Vec<(String, String)>,
    /// What the status says. Without it, the fields of these names.
    pub(super) status: Vec<(String, Ast, String)>,
}

/// A property that a scenario asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Something is owed and nothing will do it.
    Stuck,
    /// The same work again and again without cause.
    Lasso,
    /// A reader gets a status of which the parts disagree.
    TornRead,
    /// A second pass does what is done already.
    Doubled,
}

/// How an exploration ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing was found within the bounds.
    Clean,
    /// See [`Check::Stuck`].
    Stuck,
    /// See [`Check::Lasso`].
    Lasso,
    /// See [`Check::TornRead`].
    TornRead,
    /// See [`Check::Doubled`].
    Doubled,
}

impl Verdict {
    /// The word in outputs and in `spec.expect`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Stuck => "stuck",
            Self::Lasso => "lasso",
            Self::TornRead => "torn-read",
            Self::Doubled => "doubled",
        }
    }

    /// Whether a queue trace that ends in this state shows the same: what sleeps beyond the
    /// scenario's patience is stuck here and asleep there, and the others have no state of their
    /// own.
    pub fn is_end(self, state: &str) -> bool {
        match self {
            Self::Stuck => matches!(state, "stuck" | "asleep"),
            Self::Lasso => state == "hot",
            Self::Clean | Self::TornRead | Self::Doubled => true,
        }
    }
}

/// What is expected of a scenario, for every queue and for single ones.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    pub(super) always: Expectation,
    pub(super) queues: BTreeMap<Flavour, Expectation>,
}

/// What is expected under one queue; what is absent is not judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The verdict; `clean` if nothing is said.
    pub verdict: Option<Verdict>,
    /// The length of the shortest trace.
    pub steps: Option<usize>,
    /// The longest sleep while something is owed; zero if there is none.
    pub asleep: Option<Millis>,
}

impl Expectations {
    /// What is expected under `queue`.
    pub fn under(&self, queue: Flavour) -> Expectation {
        let own = self.queues.get(&queue);
        let always = &self.always;
        let verdict = own.and_then(|own| own.verdict);
        Expectation {
            verdict: verdict.or(always.verdict),
            // A trace of another verdict has another length.
            steps: own.map_or(always.steps, |own| {
                own.steps.or(if verdict.is_none() { always.steps } else { None })
            }),
            asleep: own.and_then(|own| own.asleep).or(always.asleep),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) name: String,
    /// One for each key instead of one for all.
    pub(super) per_key: bool,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) domain: Domain,
    pub(super) path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Domain {
    Numbers { low: u8, high: u8 },
    Labels(Vec<String>),
}

#[derive(Debug, Clone)]
pub(super) struct Owed {
    pub(super) name: String,
    pub(super) when: Ast,
    pub(super) path: String,
}

#[derive(Debug, Clone)]
pub(super) struct Coherent {
    pub(super) object: String,
    pub(super) holds: Ast,
    pub(super) path: String,
}

#[derive(Debug, Clone)]
pub(super) struct Doubled {
    pub(super) at: String,
    pub(super) when: Ast,
    pub(super) woken_by: Option<Cause>,
    pub(super) path: String,
}

/// What put a key into the queue; a later one in this list wins where entries merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Cause {
    /// A timer set by a pass that had done all it knew of: the interval. Or a list.
    Period,
    /// The result of a pass that had more to do.
    Requeue,
    /// A watch event.
    Event,
}

#[derive(Debug, Clone)]
pub(super) struct WorldStep {
    pub(super) name: String,
    /// The first action, and those that follow it one by one, each when its condition holds.
    pub(super) actions: Vec<(Option<Ast>, WorldAction)>,
    /// `None` is without limit.
    pub(super) times: Option<u8>,
    /// It will happen, sooner or later.
    pub(super) sure: bool,
    /// It happens within this time; implies `sure`.
    pub(super) within: Option<Millis>,
    pub(super) path: String,
}

#[derive(Debug, Clone)]
pub(super) enum WorldAction {
    Set(Vec<Assignment>),
    Touch(String),
    Restart(String),
    Resync { controller: String, object: String },
    Add(String),
}

#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub(super) object: String,
    pub(super) field: String,
    pub(super) value: Assigned,
    pub(super) path: String,
}

#[derive(Debug, Clone)]
pub(super) enum Assigned {
    Value(Atom),
    /// `next`
    Next,
}

#[derive(Debug, Clone)]
pub(super) struct Controller {
    pub(super) name: String,
    pub(super) reconciles: String,
    pub(super) workers: u8,
    pub(super) starts: Starts,
    pub(super) watches: Vec<Watch>,
    pub(super) steps: Vec<Step>,
    pub(super) results: BTreeMap<String, Answer>,
    pub(super) path: String,
}

/// How a controller's keys begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Starts {
    Idle,
    Queued,
    After(Millis),
}

#[derive(Debug, Clone)]
pub(super) struct Watch {
    pub(super) name: String,
    pub(super) of: String,
    /// How many writes the cache may be behind the server.
    pub(super) lag: u8,
    /// How many events the handler may be behind the cache.
    pub(super) backlog: u8,
    /// Whether events wake anything; else it is a cache to read from.
    pub(super) wakes: bool,
    pub(super) passes: Option<Ast>,
    pub(super) creates: Creates,
    /// Runs a map function for these; empty: the event's own key is added.
    pub(super) maps: Vec<Which>,
    pub(super) filter: Option<Ast>,
    pub(super) dedupe: bool,
    pub(super) cancels: Cancels,
    pub(super) path: String,
}

#[derive(Debug, Clone)]
pub(super) enum Creates {
    Pass,
    Drop,
    When(Ast),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Old,
    New,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancels {
    Never,
    InMap,
    WithAdd,
}

/// One step of a reconcile.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) when: Option<Ast>,
    pub(super) action: Action,
    pub(super) path: String,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Read { object: String, from: ReadFrom },
    Write(Write),
    Set(Vec<Assignment>),
    Work { name: String, ends: Vec<End>, canceled: Option<Vec<Step>> },
    If { condition: Ast, then: Vec<Step>, otherwise: Vec<Step> },
    Return(String),
}

#[derive(Debug, Clone)]
pub(super) struct Write {
    pub(super) name: Option<String>,
    pub(super) to: Option<String>,
    pub(super) patches: Vec<Vec<Assignment>>,
    /// It changes something each time, be it a time stamp.
    pub(super) touch: bool,
    /// What happens if the object has changed since it was read; without it there is no check.
    pub(super) conflict: Option<Vec<Step>>,
}

#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) name: String,
    /// The world allows this end while this holds.
    pub(super) when: Option<Ast>,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadFrom {
    Cache,
    Server,
    Watch(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Fixed(Returned),
    Decide,
}
