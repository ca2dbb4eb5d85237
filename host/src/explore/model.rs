//! A scenario, compiled: what there is, where it lies in a state, and how conditions are read.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use plumb_queue::{Flavour, Millis, Returned, Settings};

use super::{
    decide::FieldName,
    expression::Comparison,
    record::Manner,
    scenario::{Cancels, Cause, Check, Domain, Verdict},
    slots::Slots,
    state::{Place, State},
};

/// A scenario that can be explored.
#[derive(Debug)]
pub struct Model {
    pub(super) scenario: String,
    pub(super) flavour: Flavour,
    pub(super) keys: u8,
    pub(super) key_words: usize,
    pub(super) words: usize,
    pub(super) bits: u32,
    pub(super) checks: Vec<Check>,
    pub(super) patience: Option<Millis>,
    pub(super) hot: Millis,
    pub(super) long_timers_wait: bool,
    pub(super) kinds: Vec<Kind>,
    pub(super) informers: Vec<Informer>,
    pub(super) controllers: Vec<Controller>,
    pub(super) world: Vec<World>,
    pub(super) owed: Vec<Owed>,
    pub(super) doubled: Option<Doubled>,
    pub(super) stale: Vec<StaleFlag>,
    pub(super) results: Vec<Returned>,
    pub(super) questions: Vec<Question>,
    pub(super) bounds: Vec<String>,
    /// How queues are set up, as a history says it.
    pub(super) settings: Settings,
    pub(super) manner: Manner,
}

/// Objects of one kind, or the memory of the controllers.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) per_key: bool,
    pub(super) fields: Vec<Field>,
    /// All fields as they are on the server, side by side.
    pub(super) whole: Place,
    pub(super) initial: u64,
    /// Every field's first value: what a restart makes of memory.
    pub(super) first: u64,
    /// Caches of it.
    pub(super) informers: Vec<usize>,
    /// The condition that a reader relies on.
    pub(super) coherent: Option<Condition>,
    /// Whether somebody outside reads it.
    pub(super) has_dependents: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) domain: Domain,
    pub(super) shift: u8,
    pub(super) mask: u64,
}

impl Kind {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    /// Its bits within the whole.
    pub(super) fn bits(&self) -> u64 {
        self.mask << self.shift
    }

    pub(super) fn get(&self, whole: u64) -> u8 {
        ((whole >> self.shift) & self.mask) as u8
    }

    /// A value as the user writes it.
    pub(super) fn word(&self, value: u8) -> String {
        match &self.domain {
            Domain::Numbers { .. } => value.to_string(),
            Domain::Labels(labels) => labels[usize::from(value)].clone(),
        }
    }
}

/// A copy of some fields of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub(super) place: Place,
    /// The fields, in the position that they have in the whole.
    pub(super) mask: u64,
    pub(super) low: u8,
}

impl View {
    #[inline]
    pub(super) fn get<const N: usize>(&self, state: &State<N>, key: u8) -> u64 {
        self.place.get(state, key) << self.low
    }

    #[inline]
    pub(super) fn set<const N: usize>(&self, state: &mut State<N>, key: u8, whole: u64) {
        self.place.set(state, key, (whole & self.mask) >> self.low);
    }
}

/// The cache of one kind in one controller, with the handler behind it.
#[derive(Debug)]
pub(super) struct Informer {
    pub(super) name: String,
    pub(super) controller: usize,
    pub(super) kind: usize,
    pub(super) lag: u8,
    pub(super) backlog: u8,
    pub(super) wakes: bool,
    /// Writes that the cache has not seen.
    pub(super) behind: Place,
    /// Events that the cache has seen and the handler has not.
    pub(super) ahead: Place,
    /// What was before those, oldest first.
    pub(super) history: Vec<View>,
    pub(super) passes: Option<Condition>,
    pub(super) creates: Condition,
    pub(super) cancels: Cancels,
    /// The map function; without one the event's own key is added.
    pub(super) handler: Option<Handler>,
    /// An initial list or a resync is to be delivered.
    pub(super) listing: Place,
}

/// A map function and what it does with the keys it returns.
#[derive(Debug)]
pub(super) struct Handler {
    pub(super) maps_old: bool,
    pub(super) maps_new: bool,
    pub(super) filter: Option<Condition>,
    pub(super) dedupe: bool,
    pub(super) phase: Place,
    pub(super) low: Place,
    pub(super) old: View,
    /// Only with a backlog; else the cache has it.
    pub(super) new: Option<View>,
    /// Keys that the running map call returned, and that are not added yet.
    pub(super) mapped: Place,
    /// Keys that this event has added.
    pub(super) seen: Place,
}

/// Where a handler is within one event.
pub(super) mod phase {
    pub(crate) const IDLE: u64 = 0;
    pub(crate) const MAP_OLD: u64 = 1;
    pub(crate) const ADD_OLD: u64 = 2;
    pub(crate) const MAP_NEW: u64 = 3;
    pub(crate) const ADD_NEW: u64 = 4;
}

/// What an informer has to deliver besides watch events.
pub(super) mod listing {
    pub(crate) const NOTHING: u64 = 0;
    pub(crate) const CREATES: u64 = 1;
    pub(crate) const RESYNC: u64 = 2;
}

#[derive(Debug)]
pub(super) struct Controller {
    pub(super) name: String,
    pub(super) kind: usize,
    pub(super) per_key: bool,
    pub(super) workers: u8,
    pub(super) slots: Slots,
    pub(super) slot: Place,
    pub(super) rank: Place,
    /// The next step of the pass, from 1; 0 without a pass.
    pub(super) pc: Place,
    pub(super) steps: Vec<Op>,
    pub(super) entry: u16,
    pub(super) canceled: Place,
    /// What a pass holds in its hands, and at which steps it still matters.
    pub(super) registers: Vec<Place>,
    pub(super) live: Vec<u64>,
    /// The register of `canceled`.
    pub(super) canceled_bit: u64,
    pub(super) outcomes: Vec<Outcome>,
}

#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) answer: Answer,
}

#[derive(Debug)]
pub(super) enum Answer {
    /// Index into the results.
    Fixed(usize),
    /// Index into the questions.
    Decide(usize),
}

/// What the component is asked at a return: a template, and the values that fill it.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) outcome: String,
    pub(super) values: Vec<(FieldName, Operand, Field)>,
    /// Known answers, by the values: indices into the results.
    pub(super) answers: std::collections::BTreeMap<Vec<u8>, usize>,
}

#[derive(Debug)]
pub(super) enum Op {
    Read {
        kind: usize,
        source: Source,
        view: Option<View>,
        next: u16,
    },
    Write {
        name: String,
        kind: usize,
        values: Vec<Assign>,
        touch: bool,
        conflict: Option<Conflict>,
        next: u16,
    },
    Set {
        values: Vec<Assign>,
        next: u16,
    },
    Work {
        name: String,
        ends: Vec<WorkEnd>,
        canceled: Option<u16>,
    },
    Branch {
        condition: Condition,
        yes: u16,
        no: u16,
    },
    Return {
        outcome: usize,
    },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Conflict {
    /// Set if the object has changed since it was read.
    pub(super) flag: Place,
    pub(super) next: u16,
}

#[derive(Debug)]
pub(super) struct WorkEnd {
    pub(super) name: String,
    pub(super) when: Option<Condition>,
    pub(super) next: u16,
}

/// A flag of a pass that tells whether an object has changed since it was read.
#[derive(Debug)]
pub(super) struct StaleFlag {
    pub(super) controller: usize,
    pub(super) kind: usize,
    pub(super) place: Place,
}

/// One field gets a value.
#[derive(Debug)]
pub(super) struct Assign {
    pub(super) kind: usize,
    pub(super) shift: u8,
    pub(super) mask: u64,
    pub(super) value: AssignedValue,
}

#[derive(Debug)]
pub(super) enum AssignedValue {
    Operand(Operand),
    /// One more, up to this.
    Next {
        high: u8,
    },
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) name: String,
    pub(super) per_key: bool,
    /// Which action is next; 0 if none is under way.
    pub(super) position: Place,
    /// How often it may still begin.
    pub(super) left: Option<Place>,
    pub(super) times: Option<u8>,
    pub(super) sure: bool,
    pub(super) within: Option<Millis>,
    pub(super) actions: Vec<(Option<Condition>, WorldAct)>,
}

#[derive(Debug)]
pub(super) enum WorldAct {
    Write { kind: Option<usize>, values: Vec<Assign>, touch: bool },
    Restart(usize),
    Resync(usize),
    Add(usize),
}

#[derive(Debug)]
pub(super) struct Owed {
    pub(super) name: String,
    pub(super) when: Condition,
    pub(super) per_key: bool,
}

#[derive(Debug)]
pub(super) struct Doubled {
    pub(super) controller: usize,
    pub(super) at: String,
    pub(super) when: Condition,
    pub(super) woken_by: Option<Cause>,
}

/// A condition with its names resolved.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    Always(bool),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Compare(Operand, Comparison, Operand),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Operand {
    Constant(u8),
    Field { source: Source, shift: u8, mask: u64 },
}

/// Where a condition finds an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// As the server has it now.
    Server(usize),
    /// As this informer has it now.
    Cache(usize),
    /// As the pass has read it.
    Local(View),
    /// The three that the caller gives.
    Event,
    Old,
    New,
}

/// Objects that a condition may speak of beside the state, as wholes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Given {
    pub(super) event: u64,
    pub(super) old: u64,
    pub(super) new: u64,
}

impl Model {
    /// The whole object, or those of its fields that the source has.
    #[inline]
    pub(super) fn object<const N: usize>(
        &self,
        source: Source,
        state: &State<N>,
        key: u8,
        given: &Given,
    ) -> u64 {
        match source {
            Source::Server(kind) => self.kinds[kind].whole.get(state, key),
            Source::Cache(informer) => self.cached(&self.informers[informer], state, key),
            Source::Local(view) => view.get(state, key),
            Source::Event => given.event,
            Source::Old => given.old,
            Source::New => given.new,
        }
    }

    #[inline]
    pub(super) fn cached<const N: usize>(
        &self,
        informer: &Informer,
        state: &State<N>,
        key: u8,
    ) -> u64 {
        if !informer.behind.is_set(state, key) {
            return self.kinds[informer.kind].whole.get(state, key);
        }
        informer.history[informer.ahead.get(state, key) as usize].get(state, key)
    }

    #[inline]
    pub(super) fn value<const N: usize>(
        &self,
        operand: &Operand,
        state: &State<N>,
        key: u8,
        given: &Given,
    ) -> u8 {
        match operand {
            Operand::Constant(value) => *value,
            Operand::Field { source, shift, mask } => {
                ((self.object(*source, state, key, given) >> shift) & mask) as u8
            }
        }
    }

    pub(super) fn holds<const N: usize>(
        &self,
        condition: &Condition,
        state: &State<N>,
        key: u8,
        given: &Given,
    ) -> bool {
        match condition {
            Condition::Always(value) => *value,
            Condition::Not(inner) => !self.holds(inner, state, key, given),
            Condition::All(parts) => parts.iter().all(|c| self.holds(c, state, key, given)),
            Condition::Any(parts) => parts.iter().any(|c| self.holds(c, state, key, given)),
            Condition::Compare(left, comparison, right) => comparison
                .holds(self.value(left, state, key, given), self.value(right, state, key, given)),
        }
    }

    /// The keys for which something is owed, as bits.
    pub(super) fn owed<const N: usize>(&self, state: &State<N>) -> u8 {
        let mut keys = 0;
        for owed in &self.owed {
            let count = if owed.per_key { self.keys } else { 1 };
            for key in 0..count {
                if keys & (1 << key) == 0 && self.holds(&owed.when, state, key, &Given::default()) {
                    keys |= 1 << key;
                }
            }
        }
        keys
    }

    /// How many instances of something there are.
    #[inline]
    pub(super) fn instances(&self, per_key: bool) -> u8 {
        if per_key { self.keys } else { 1 }
    }

    /// The name under which a scenario is reported.
    pub fn name(&self) -> &str {
        &self.scenario
    }

    /// How many words of 64 bits a state takes.
    pub fn words(&self) -> usize {
        self.words
    }

    /// How many bits of these are used.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The bounds that the scenario sets, in words.
    pub fn bounds(&self) -> &[String] {
        &self.bounds
    }
}

impl From<Check> for Verdict {
    fn from(check: Check) -> Self {
        match check {
            Check::Stuck => Self::Stuck,
            Check::Lasso => Self::Lasso,
            Check::TornRead => Self::TornRead,
            Check::Doubled => Self::Doubled,
        }
    }
}
