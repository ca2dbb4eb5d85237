//! Moves and states in words.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use plumb_queue::{Returned, Runtime};
use serde::Serialize;

use super::{
    model::{Answer, Informer, Kind, Model, Op, listing, phase},
    moves::{CANCELED, CONFLICT, Edge, Verb},
    reader::Span,
    state::State,
};

/// Who acts, and upon whom; the columns of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// Objects that are not reconciled, and whoever changes them.
    Source,
    /// Caches.
    Watch,
    /// Map functions and predicates.
    Handler,
    /// The work queue.
    Queue,
    /// Passes.
    Worker,
    /// The object that is reconciled.
    Object,
}

impl Lane {
    /// All, from left to right.
    pub const ALL: [Self; 6] =
        [Self::Source, Self::Watch, Self::Handler, Self::Queue, Self::Worker, Self::Object];

    /// The heading of the column.
    pub fn word(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Watch => "watch",
            Self::Handler => "handler",
            Self::Queue => "queue",
            Self::Worker => "worker",
            Self::Object => "object",
        }
    }
}

/// One step of a trace, and the state after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceStep {
    /// From 1.
    pub step: usize,
    /// Who acts.
    pub lane: Lane,
    /// Upon whom, if somebody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Lane>,
    /// Whether what was sent got lost on the way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// What happens, as one sentence without a final stop.
    pub text: String,
    /// The state after it: what, and how it is.
    pub state: Vec<Part>,
}

/// One part of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// What.
    pub name: String,
    /// How it is.
    pub value: String,
}

struct Words {
    lane: Lane,
    to: Option<Lane>,
    lost: bool,
    text: String,
}

impl Words {
    fn new(lane: Lane, to: Option<Lane>, text: String) -> Self {
        Self { lane, to, lost: false, text }
    }
}

impl Model {
    /// Tells one move.
    pub(super) fn describe<const N: usize>(
        &self,
        step: usize,
        before: &State<N>,
        edge: &Edge,
        after: &State<N>,
    ) -> TraceStep {
        let words = self.words_of(before, edge, after);
        TraceStep {
            step,
            lane: words.lane,
            to: words.to,
            lost: words.lost,
            text: words.text,
            state: self.parts(after),
        }
    }

    fn words_of<const N: usize>(&self, before: &State<N>, edge: &Edge, after: &State<N>) -> Words {
        let step = edge.step;
        let (who, key) = (usize::from(step.who), step.key);
        match step.verb {
            Verb::World => self.world_words(who, before, after),
            Verb::Deliver | Verb::Handle | Verb::List => {
                self.event_words(&self.informers[who], step.verb, key, before, after)
            }
            Verb::MapOld | Verb::MapNew => {
                self.map_words(&self.informers[who], step.verb, key, before, after)
            }
            Verb::AddOld | Verb::AddNew => {
                self.add_words(&self.informers[who], step.verb, key, before, after)
            }
            Verb::Fire => {
                let controller = &self.controllers[who];
                let timer = edge.timer.unwrap_or(0);
                let name = self.key_name(controller.kind, key);
                let effect = self.queue_effect(who, key, before, after);
                Words::new(
                    Lane::Queue,
                    None,
                    format!("the timer of {} fires: {name} {effect}", Span(timer)),
                )
            }
            Verb::Get => {
                let name = self.key_name(self.controllers[who].kind, key);
                Words::new(Lane::Queue, Some(Lane::Worker), format!("a worker takes {name}"))
            }
            Verb::Pass => self.pass_words(who, key, step.branch, before, after),
        }
    }

    /// The name of an object, with its key's number if there are several.
    pub(super) fn key_name(&self, kind: usize, key: u8) -> String {
        let kind = &self.kinds[kind];
        if kind.per_key && self.keys > 1 {
            format!("{}-{}", kind.name, key + 1)
        } else {
            kind.name.clone()
        }
    }

    fn world_words<const N: usize>(
        &self,
        who: usize,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let world = &self.world[who];
        let changes = self.all_changes(before, after);
        let reconciled = |kind: &usize| self.controllers.iter().any(|c| c.kind == *kind);
        let to = changes.iter().any(|(kind, _)| reconciled(kind)).then_some(Lane::Object);
        let text = if changes.is_empty() {
            world.name.clone()
        } else {
            let changes: Vec<String> = changes.into_iter().map(|(_, text)| text).collect();
            format!("{}: {}", world.name, changes.join("; "))
        };
        Words::new(Lane::Source, to, text)
    }

    /// Every object that differs, with what differs.
    fn all_changes<const N: usize>(
        &self,
        before: &State<N>,
        after: &State<N>,
    ) -> Vec<(usize, String)> {
        let mut changes = vec![];
        for (index, kind) in self.kinds.iter().enumerate() {
            for key in 0..self.instances(kind.per_key) {
                let (old, new) = (kind.whole.get(before, key), kind.whole.get(after, key));
                if old != new {
                    let name = self.key_name(index, key);
                    changes.push((index, format!("{name} {}", difference(kind, old, new))));
                }
            }
        }
        changes
    }

    fn event_words<const N: usize>(
        &self,
        informer: &Informer,
        verb: Verb,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let name = self.key_name(informer.kind, key);
        let kind = &self.kinds[informer.kind];
        let mask = informer.history.first().map_or(0, |view| view.mask);
        let seen = fields(kind, self.cached(informer, after, key) & mask, mask);
        let seen = if seen.is_empty() { "an update".to_owned() } else { seen };
        let cache =
            if informer.name == kind.name { name } else { format!("{name} ({})", informer.name) };
        let begins = match verb {
            Verb::Deliver => format!("the cache of {cache} sees {seen}"),
            Verb::Handle => format!("the handler of {cache} takes the next event"),
            _ => match informer.listing.get(before, key) {
                listing::CREATES => format!("the first list brings {cache} with {seen}"),
                _ => format!("a resync brings {cache} again, unchanged"),
            },
        };
        if !informer.wakes || (verb == Verb::Deliver && informer.backlog > 0) {
            return Words::new(Lane::Watch, None, begins);
        }
        let is_started = informer.handler.as_ref().is_some_and(|handler| {
            handler.phase.get(before, key) == phase::IDLE
                && handler.phase.get(after, key) != phase::IDLE
        });
        if is_started {
            return Words::new(
                Lane::Watch,
                Some(Lane::Handler),
                format!("{begins}; its handler starts"),
            );
        }
        let who = informer.controller;
        let controller = &self.controllers[who];
        let (old, new) = (controller.slot.get(before, key), controller.slot.get(after, key));
        let target = self.key_name(controller.kind, key);
        if informer.handler.is_none() && self.was_added(informer, verb, key, before) {
            let effect = if old == new {
                "is queued already".to_owned()
            } else {
                self.queue_effect(who, key, before, after)
            };
            let text = format!("{begins}; {target} {effect}");
            return Words::new(Lane::Watch, Some(Lane::Queue), text);
        }
        let text = format!("{begins}; the predicate drops the event");
        Words { lost: true, ..Words::new(Lane::Watch, Some(Lane::Handler), text) }
    }

    /// Whether an event passed the predicate of a watch without a map function.
    fn was_added<const N: usize>(
        &self,
        informer: &Informer,
        verb: Verb,
        key: u8,
        before: &State<N>,
    ) -> bool {
        let now = self.cached(informer, before, key);
        let (old, new) = if verb == Verb::List {
            (now, now)
        } else {
            let mut copy = *before;
            self.shift(informer, &mut copy, key)
        };
        let given = super::model::Given { event: new, old, new };
        if let (Verb::List, listing::CREATES) = (verb, informer.listing.get(before, key)) {
            self.holds(&informer.creates, before, key, &given)
        } else {
            let passes = informer.passes.as_ref();
            passes.is_none_or(|passes| self.holds(passes, before, key, &given))
        }
    }

    fn map_words<const N: usize>(
        &self,
        informer: &Informer,
        verb: Verb,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let Some(handler) = &informer.handler else {
            return Words::new(Lane::Handler, None, String::new());
        };
        let controller = &self.controllers[informer.controller];
        let kind = &self.kinds[informer.kind];
        let (age, event, mask) = match verb {
            Verb::MapOld => ("old", handler.old.get(before, key), handler.old.mask),
            _ => {
                if let Some(view) = &handler.new {
                    ("new", view.get(before, key), view.mask)
                } else {
                    let mask = informer.history.first().map_or(0, |view| view.mask);
                    ("new", self.cached(informer, before, key) & mask, mask)
                }
            }
        };
        let shown = match &*fields(kind, event, mask) {
            "" => String::new(),
            fields => format!(" ({fields})"),
        };
        let object = format!("the {age} {}{shown}", self.key_name(informer.kind, key));
        let mut mapped = vec![];
        let mut canceled = vec![];
        for target in self.targets(informer, key) {
            let name = self.key_name(controller.kind, target);
            if handler.mapped.is_set(after, target) {
                mapped.push(name.clone());
            }
            if !controller.canceled.is_set(before, target)
                && controller.canceled.is_set(after, target)
            {
                canceled.push(name);
            }
        }
        if mapped.is_empty() {
            let text = format!("the handler maps {object}; its filter drops it");
            return Words { lost: true, ..Words::new(Lane::Handler, Some(Lane::Queue), text) };
        }
        let text = format!("the handler maps {object} to {}", mapped.join(", "));
        if canceled.is_empty() {
            return Words::new(Lane::Handler, None, text);
        }
        let text = format!("{text} and cancels the pass of {}", canceled.join(", "));
        Words::new(Lane::Handler, Some(Lane::Worker), text)
    }

    fn add_words<const N: usize>(
        &self,
        informer: &Informer,
        verb: Verb,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let controller = &self.controllers[informer.controller];
        let name = self.key_name(controller.kind, key);
        let was_seen = informer.handler.as_ref().is_some_and(|h| h.seen.is_set(before, key));
        if was_seen {
            let which = if verb == Verb::AddNew { "old" } else { "new" };
            let kind = &self.kinds[informer.kind].name;
            let text =
                format!("the add of {name} is skipped: this event added it for the {which} {kind}");
            return Words { lost: true, ..Words::new(Lane::Handler, Some(Lane::Queue), text) };
        }
        let effect = self.queue_effect(informer.controller, key, before, after);
        let mut text = format!("the handler adds {name}: it {effect}");
        if !controller.canceled.is_set(before, key) && controller.canceled.is_set(after, key) {
            text.push_str(", and its pass is canceled");
        }
        Words::new(Lane::Handler, Some(Lane::Queue), text)
    }

    /// What an add or a timer did to a key.
    fn queue_effect<const N: usize>(
        &self,
        who: usize,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> String {
        let controller = &self.controllers[who];
        let old = controller.slots.info(controller.slot.get(before, key));
        let new = controller.slots.info(controller.slot.get(after, key));
        let consumed = match (old.due, new.due) {
            (Some(due), None) if new.entry && !old.entry => {
                format!("; its timer of {} is consumed", Span(due))
            }
            _ => String::new(),
        };
        let base = match (old.entry, new.entry) {
            (true, true) => "was queued already",
            (false, true) if new.processing => "will be queued again when its pass is done",
            (false, true) => "is queued",
            _ => "is not queued",
        };
        format!("{base}{consumed}")
    }

    fn pass_words<const N: usize>(
        &self,
        who: usize,
        key: u8,
        branch: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let controller = &self.controllers[who];
        let name = self.key_name(controller.kind, key);
        let text = match &controller.steps[controller.pc.get(before, key) as usize - 1] {
            Op::Read { kind, source, view, .. } => {
                let object = self.object(*source, before, key, &super::model::Given::default());
                let mask = view.map_or(0, |view| view.mask);
                let seen = fields(&self.kinds[*kind], object & mask, mask);
                let what = self.key_name(*kind, key);
                let stale = match source {
                    super::model::Source::Cache(informer) => {
                        match self.informers[*informer].behind.get(before, key) {
                            0 => String::new(),
                            count => format!(", {}", behind(count)),
                        }
                    }
                    _ => String::new(),
                };
                return Words::new(
                    Lane::Worker,
                    None,
                    match &*seen {
                        "" => format!("the pass of {name} reads {what}{stale}"),
                        seen => format!("the pass of {name} reads {what}: {seen}{stale}"),
                    },
                );
            }
            Op::Write { name: step, kind, .. } => {
                if branch == CONFLICT {
                    let text = format!("the pass of {name} may not {step}: the object has changed");
                    return Words {
                        lost: true,
                        ..Words::new(Lane::Worker, Some(Lane::Object), text)
                    };
                }
                let place = self.kinds[*kind].whole;
                let (old, new) = (place.get(before, key), place.get(after, key));
                let change = if old == new {
                    "nothing changes".to_owned()
                } else {
                    difference(&self.kinds[*kind], old, new)
                };
                let target = self.key_name(*kind, key);
                let text = format!("the pass of {name} does `{step}`: {target} {change}");
                let lane = if *kind == controller.kind { Lane::Object } else { Lane::Source };
                return Words::new(Lane::Worker, Some(lane), text);
            }
            Op::Set { .. } => {
                let changes = self.all_changes(before, after);
                let changes: Vec<String> = changes.into_iter().map(|(_, text)| text).collect();
                match changes.is_empty() {
                    true => format!("the pass of {name} notes what it knew"),
                    false => format!("the pass of {name} notes: {}", changes.join("; ")),
                }
            }
            Op::Work { name: step, ends, .. } => match ends.get(usize::from(branch)) {
                _ if branch == CANCELED => format!("the pass of {name}: `{step}` is canceled"),
                Some(end) if !end.name.is_empty() => {
                    format!("the pass of {name}: `{step}` ends `{}`", end.name)
                }
                _ => format!("the pass of {name} does `{step}`"),
            },
            Op::Return { outcome } => {
                return self.return_words(who, *outcome, key, before, after);
            }
            Op::Branch { .. } => String::new(),
        };
        Words::new(Lane::Worker, None, text)
    }

    fn return_words<const N: usize>(
        &self,
        who: usize,
        outcome: usize,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let controller = &self.controllers[who];
        let name = self.key_name(controller.kind, key);
        let outcome = &controller.outcomes[outcome];
        let result = match outcome.answer {
            Answer::Fixed(result) => Some(result),
            Answer::Decide(question) => self.answer(question, before, key).ok(),
        };
        let returned = result.map_or(Returned::EMPTY, |result| self.results[result]);
        let info = controller.slots.info(controller.slot.get(after, key));
        let old = controller.slots.info(controller.slot.get(before, key));
        let effect = match (info.entry, info.due) {
            (true, _) if old.entry => "it is queued again, as it was added meanwhile".to_owned(),
            (true, _) => "it is queued again".to_owned(),
            (false, Some(due)) if old.due == Some(due) => {
                format!("the timer of {} that was there stays", Span(due))
            }
            (false, Some(due)) => format!("again after {}", Span(due)),
            (false, None) => "nothing is scheduled".to_owned(),
        };
        let answer = returned_words(&returned, self.runtime());
        let text =
            format!("the pass of {name} ends `{}` and returns {answer}: {effect}", outcome.name);
        let lost = !info.entry && info.due.is_none();
        Words { lost, ..Words::new(Lane::Worker, Some(Lane::Queue), text) }
    }

    fn runtime(&self) -> Runtime {
        match self.flavour {
            plumb_queue::Flavour::KubeRs => Runtime::KubeRs,
            _ => Runtime::ControllerRuntime,
        }
    }

    /// The whole state.
    pub(super) fn parts<const N: usize>(&self, state: &State<N>) -> Vec<Part> {
        let mut parts = vec![];
        let mut push = |name: String, value: String| parts.push(Part { name, value });
        for (index, kind) in self.kinds.iter().enumerate() {
            if kind.fields.is_empty() {
                continue;
            }
            for key in 0..self.instances(kind.per_key) {
                let whole = kind.whole.get(state, key);
                push(self.key_name(index, key), fields(kind, whole, u64::MAX));
            }
        }
        for informer in &self.informers {
            let kind = &self.kinds[informer.kind];
            for key in 0..self.instances(kind.per_key) {
                let count = informer.behind.get(state, key);
                if count == 0 {
                    continue;
                }
                let mask = informer.history[0].mask;
                let seen = fields(kind, self.cached(informer, state, key) & mask, mask);
                let name = if informer.name == kind.name {
                    format!("cache of {}", self.key_name(informer.kind, key))
                } else {
                    format!("cache {} of {}", informer.name, self.key_name(informer.kind, key))
                };
                push(
                    name,
                    if seen.is_empty() {
                        behind(count)
                    } else {
                        format!("{seen}, {}", behind(count))
                    },
                );
            }
        }
        for controller in &self.controllers {
            for key in 0..self.instances(controller.per_key) {
                let name = match self.controllers.len() {
                    1 if self.keys == 1 => String::new(),
                    1 => format!(" of {}", self.key_name(controller.kind, key)),
                    _ if self.keys == 1 => format!(" of {}", controller.name),
                    _ => format!(
                        " of {} for {}",
                        controller.name,
                        self.key_name(controller.kind, key)
                    ),
                };
                push(format!("queue{name}"), queue_words(controller, state, key));
                let pc = controller.pc.get(state, key);
                if pc != 0 {
                    let at = match &controller.steps[pc as usize - 1] {
                        Op::Read { kind, .. } => {
                            format!("before reading {}", self.kinds[*kind].name)
                        }
                        Op::Write { name, .. } | Op::Work { name, .. } => {
                            format!("before `{name}`")
                        }
                        Op::Set { .. } => "before noting".to_owned(),
                        Op::Return { outcome } => {
                            format!("before returning `{}`", controller.outcomes[*outcome].name)
                        }
                        Op::Branch { .. } => String::new(),
                    };
                    let canceled = controller.canceled.is_set(state, key);
                    let canceled = if canceled { ", canceled" } else { "" };
                    push(format!("pass{name}"), format!("{at}{canceled}"));
                }
            }
        }
        let owed = self.owed_words(state);
        if !owed.is_empty() {
            push("owed".to_owned(), owed);
        }
        parts
    }

    fn owed_words<const N: usize>(&self, state: &State<N>) -> String {
        let mut words = vec![];
        for owed in &self.owed {
            let keys = self.instances(owed.per_key);
            let open =
                |key: &u8| self.holds(&owed.when, state, *key, &super::model::Given::default());
            let open: Vec<String> =
                (0..keys).filter(open).map(|key| format!("{}", key + 1)).collect();
            match (open.is_empty(), keys) {
                (true, _) => {}
                (false, 1) => words.push(owed.name.clone()),
                (false, _) => words.push(format!("{} (key {})", owed.name, open.join(", "))),
            }
        }
        words.join("; ")
    }
}

fn queue_words<const N: usize>(
    controller: &super::model::Controller,
    state: &State<N>,
    key: u8,
) -> String {
    let info = controller.slots.info(controller.slot.get(state, key));
    let mut words = vec![];
    if info.processing {
        words.push("running".to_owned());
    }
    if info.entry {
        words.push(if info.processing { "added again" } else { "ready" }.to_owned());
    }
    if let Some(due) = info.due {
        words.push(format!("timer {}", Span(due)));
    }
    if words.is_empty() {
        words.push("nothing".to_owned());
    }
    words.join(", ")
}

fn behind(count: u64) -> String {
    format!("{count} write{} behind", if count == 1 { "" } else { "s" })
}

/// The fields under `mask` as `revision 2, ready false`.
fn fields(kind: &Kind, whole: u64, mask: u64) -> String {
    let shown = kind.fields.iter().filter(|field| field.bits() & mask != 0);
    let words = shown.map(|field| format!("{} {}", field.name, field.word(field.get(whole))));
    words.collect::<Vec<_>>().join(", ")
}

fn difference(kind: &Kind, old: u64, new: u64) -> String {
    let changed = kind.fields.iter().filter(|field| field.get(old) != field.get(new));
    let words = changed.map(|field| {
        format!("{} {} → {}", field.name, field.word(field.get(old)), field.word(field.get(new)))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A result as the runtime's users write it.
fn returned_words(returned: &Returned, runtime: Runtime) -> String {
    let after = |after: i64| {
        let sign = if after < 0 { "-" } else { "" };
        format!("{sign}{}", Span(after.unsigned_abs()))
    };
    if runtime == Runtime::KubeRs {
        return match returned {
            Returned { error: true, .. } => "an error".to_owned(),
            Returned { after: Some(delay), .. } => format!("Action::requeue({})", after(*delay)),
            Returned { requeue: true, .. } => "Action::requeue(0s)".to_owned(),
            _ => "Action::await_change()".to_owned(),
        };
    }
    match returned {
        Returned { terminal: true, .. } => "a terminal error".to_owned(),
        Returned { error: true, .. } => "an error".to_owned(),
        Returned { after: Some(delay), .. } => format!("{{RequeueAfter: {}}}", after(*delay)),
        Returned { requeue: true, .. } => "{Requeue: true}".to_owned(),
        _ => "{}".to_owned(),
    }
}
