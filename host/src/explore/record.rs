//! A trace as a history of queue events (`kind: QueueTrace`), which replay can judge.
//!
//! The search knows no clock; a history has one. Each step takes [`STEP`], and where a timer fires
//! the clock goes on to its time, which the state machine of the queue tells.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

mod yaml;

use plumb_queue::{Millis, Queue};
use serde_json::{Map, Value, json};

use super::{
    compile::{Names, Scope},
    document::{API_VERSION, STATUS},
    expression::{Ast, Atom},
    model::{Answer, Condition, Controller, Field, Given, Model, Op, Operand},
    moves::{CONFLICT, Edge, Verb},
    reader::{Result, Span},
    run::Exploration,
    scenario::{Cancels, Domain, Scenario},
    state::{MAX_KEYS, State},
};

/// How long a step takes.
const STEP: Millis = 10;

/// How often a cycle is told: often enough to be seen as one.
pub(super) const ROUNDS: usize = 8;

/// What a queue trace says of the start, and of each move.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recording {
    queue: Value,
    sources: Vec<Value>,
    objects: Vec<Value>,
    events: Vec<Value>,
}

/// One part of a status, and how it is found.
#[derive(Debug)]
pub(super) enum Said {
    Condition(Condition),
    Value(Operand, Field),
}

/// How a model's traces are recorded.
#[derive(Debug, Default)]
pub(super) struct Manner {
    /// Of each kind, the fields that tell its states apart, as bits.
    sources: Vec<u64>,
    /// The kinds of which every state counts.
    every: Vec<usize>,
    status: Vec<(String, Said)>,
}

impl Manner {
    pub(super) fn new(scenario: &Scenario, names: &Names<'_>) -> Result<Self> {
        let mut sources: Vec<u64> = names
            .kinds
            .iter()
            .map(|kind| kind.fields.iter().fold(0, |bits, field| bits | field.bits()))
            .collect();
        for (object, field, path) in &scenario.record.sources {
            let (_, field) = names.resolve(object, field, Scope::Server, path)?;
            sources[names.kind(object, path)?] = field.bits();
        }
        let mut declared = scenario.record.status.clone();
        if let (true, [controller]) = (declared.is_empty(), &*scenario.controllers) {
            let own = &names.kinds[names.kind(&controller.reconciles, &controller.path)?];
            let known = STATUS.iter().filter(|(name, _)| own.field(name).is_some());
            declared.extend(known.map(|(name, _)| {
                let atom = Atom::Field(own.name.clone(), (*name).to_owned());
                ((*name).to_owned(), Ast::Test(atom), controller.path.clone())
            }));
        }
        let mut status = vec![];
        for (name, ast, path) in declared {
            let is_condition = STATUS.iter().any(|(known, condition)| *known == name && *condition);
            let said = match &ast {
                Ast::Test(Atom::Field(object, field)) if !is_condition => {
                    let (source, field) = names.resolve(object, field, Scope::Server, &path)?;
                    let operand = Operand::Field { source, shift: field.shift, mask: field.mask };
                    Said::Value(operand, field.clone())
                }
                _ => Said::Condition(names.condition(&ast, Scope::Server, &path)?),
            };
            status.push((name, said));
        }
        let every = scenario.record.every.iter().map(|(object, path)| names.kind(object, path));
        Ok(Self { sources, every: every.collect::<Result<_>>()?, status })
    }
}

/// A value as a history names it: revisions are no numbers.
fn word(field: &Field, value: u8) -> String {
    match field.domain {
        Domain::Numbers { .. } => format!("v{value}"),
        Domain::Labels(_) => field.word(value),
    }
}

struct Recorder<'m> {
    model: &'m Model,
    controller: &'m Controller,
    queue: Queue<MAX_KEYS>,
    now: Millis,
    /// The key that each worker has.
    workers: Vec<Option<u8>>,
    events: Vec<Value>,
    /// Whether the next event is the first of its step.
    is_first: bool,
}

impl Model {
    /// The history of a trace.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn recording<const N: usize>(
        &self,
        moves: &[(Edge, State<N>)],
    ) -> std::result::Result<Recording, String> {
        let [controller] = &*self.controllers else {
            return Err("a queue trace tells of one controller".to_owned());
        };
        let initial: State<N> = self.initial();
        let mut recorder = Recorder {
            model: self,
            controller,
            queue: Queue::new(self.flavour),
            now: 0,
            workers: vec![None; usize::from(controller.workers)],
            events: vec![],
            is_first: true,
        };
        let sources = recorder.sources(&initial);
        let mut objects = recorder.objects(&initial);
        let mut claims = Claims::default();
        let mut before = initial;
        for (edge, after) in moves {
            recorder.is_first = true;
            recorder.tell(&before, edge, after)?;
            claims.note(edge, self.owed(after), recorder.now);
            before = *after;
        }
        for (object, since) in objects.iter_mut().zip(claims.since) {
            if let Some(since) = since {
                object["due"] = Value::from(Span(since).to_string());
            }
        }
        let settings = &self.settings;
        let mut queue = json!({
            "flavour": self.flavour.to_string(),
            "rateLimiter": {
                "base": Span(settings.backoff.base).to_string(),
                "max": Span(settings.backoff.max).to_string(),
            },
            "workers": controller.workers,
        });
        if self.flavour == plumb_queue::Flavour::KubeRs {
            let policy = settings.on_error.map_or("await".to_owned(), |d| Span(d).to_string());
            queue["errorPolicy"] = Value::from(policy);
        }
        Ok(Recording { queue, sources, objects, events: recorder.events })
    }
}

/// Since when each key owes what no pass has begun after: a history that knows nothing of it can
/// still say that the key is due then.
#[derive(Default)]
struct Claims {
    since: [Option<Millis>; MAX_KEYS],
}

impl Claims {
    fn note(&mut self, edge: &Edge, owed: u8, now: Millis) {
        for (key, since) in self.since.iter_mut().enumerate() {
            let is_taken = edge.step.verb == Verb::Get && usize::from(edge.step.key) == key;
            if owed & (1 << key) == 0 || is_taken {
                *since = None;
            } else if edge.step.verb == Verb::World {
                since.get_or_insert(now);
            }
        }
    }
}

impl Recorder<'_> {
    /// The kinds that passes read or events tell of, and which are not reconciled.
    fn is_source(&self, kind: usize) -> bool {
        let kind_of = &self.model.kinds[kind];
        kind != self.controller.kind
            && !kind_of.fields.is_empty()
            && self.model.manner.sources[kind] != 0
            && kind + 1 != self.model.kinds.len()
    }

    fn revision(&self, kind: usize, whole: u64) -> String {
        let mask = self.model.manner.sources[kind];
        let kind = &self.model.kinds[kind];
        let shown: Vec<&Field> = kind.fields.iter().filter(|f| f.bits() & mask != 0).collect();
        match &*shown {
            [field] => word(field, field.get(whole)),
            fields => {
                let words = fields.iter().map(|f| format!("{}={}", f.name, f.word(f.get(whole))));
                words.collect::<Vec<_>>().join(",")
            }
        }
    }

    fn sources<const N: usize>(&self, state: &State<N>) -> Vec<Value> {
        let mut sources = vec![];
        for kind in (0..self.model.kinds.len()).filter(|kind| self.is_source(*kind)) {
            let of = &self.model.kinds[kind];
            let is_watched = of.informers.iter().any(|i| self.model.informers[*i].wakes);
            for key in 0..self.model.instances(of.per_key) {
                let mut source = json!({
                    "name": self.model.key_name(kind, key),
                    "revision": self.revision(kind, of.whole.get(state, key)),
                });
                if !is_watched {
                    source["watched"] = Value::from(false);
                }
                if self.model.manner.every.contains(&kind) {
                    source["everyRevision"] = Value::from(true);
                }
                sources.push(source);
            }
        }
        sources
    }

    fn objects<const N: usize>(&mut self, state: &State<N>) -> Vec<Value> {
        let mut objects = vec![];
        for key in 0..self.model.instances(self.controller.per_key) {
            let mut object = json!({ "key": self.key(key) });
            let status = self.status(state, key);
            if !status.is_empty() {
                object["status"] = Value::Object(status);
            }
            let info = self.controller.slots.info(self.controller.slot.get(state, key));
            let mut queue = Map::new();
            if info.entry {
                queue.insert("ready".to_owned(), Value::from(true));
                queue.insert("priority".to_owned(), Value::from(info.priority));
                self.queue.add(key, info.priority, 0, &self.model.settings);
            }
            if let Some(due) = info.due {
                queue.insert("due".to_owned(), Value::from(Span(due).to_string()));
                let due = i64::try_from(due).unwrap_or(i64::MAX);
                self.queue.add_after(key, due, 0, 0, &self.model.settings);
            }
            if !queue.is_empty() {
                object["queue"] = Value::Object(queue);
            }
            objects.push(object);
        }
        objects
    }

    fn key(&self, key: u8) -> String {
        self.model.key_name(self.controller.kind, key)
    }

    fn status<const N: usize>(&self, state: &State<N>, key: u8) -> Map<String, Value> {
        let mut status = Map::new();
        let given = Given::default();
        for (name, said) in &self.model.manner.status {
            let value = match said {
                Said::Condition(condition) => {
                    let holds = self.model.holds(condition, state, key, &given);
                    match &**name {
                        "ready" if holds => Value::from("True"),
                        "ready" => Value::from("False"),
                        _ => Value::from(holds),
                    }
                }
                Said::Value(operand, field) => {
                    Value::from(word(field, self.model.value(operand, state, key, &given)))
                }
            };
            status.insert(name.clone(), value);
        }
        status
    }

    fn push(&mut self, name: &str, fields: Value) {
        let mut event = Map::new();
        if self.is_first {
            event.insert("at".to_owned(), Value::from(Span(self.now).to_string()));
            self.is_first = false;
        }
        event.insert("event".to_owned(), Value::from(name));
        if let Value::Object(fields) = fields {
            event.extend(fields);
        }
        self.events.push(Value::Object(event));
    }

    fn tell<const N: usize>(
        &mut self,
        before: &State<N>,
        edge: &Edge,
        after: &State<N>,
    ) -> std::result::Result<(), String> {
        let (who, key) = (usize::from(edge.step.who), edge.step.key);
        if edge.step.verb == Verb::Fire {
            return self.fire(key);
        }
        let now = self.now + STEP;
        if self.queue.next_due().is_some_and(|due| due <= now) {
            return Err("the timers of this trace fit no clock".to_owned());
        }
        self.now = now;
        match edge.step.verb {
            Verb::World => self.world(who, key, before, after),
            Verb::Deliver | Verb::Handle | Verb::List => {
                self.event(who, edge.step.verb, key, before, after);
            }
            Verb::MapOld => self.map(who, "old", before, after),
            Verb::MapNew => self.map(who, "new", before, after),
            Verb::AddOld | Verb::AddNew => {
                let handler = self.model.informers[who].handler.as_ref();
                if handler.is_some_and(|handler| handler.seen.is_set(before, key)) {
                    self.push("skip", json!({ "key": self.key(key) }));
                } else {
                    self.add(key, before, after, self.model.informers[who].cancels);
                }
            }
            Verb::Fire => {}
            Verb::Get => {
                let free = self.workers.iter().position(Option::is_none).unwrap_or(0);
                self.workers[free] = Some(key);
                // The model takes only what the queue hands out.
                let _ = self.queue.get(key);
                self.push("get", json!({ "key": self.key(key), "worker": free + 1 }));
                let cancels = |i: &super::model::Informer| i.cancels != Cancels::Never;
                if self.model.informers.iter().any(cancels) {
                    self.push("listen", json!({ "key": self.key(key), "worker": free + 1 }));
                }
            }
            Verb::Pass => self.pass(key, edge, before, after),
        }
        Ok(())
    }

    fn fire(&mut self, key: u8) -> std::result::Result<(), String> {
        let due = self.queue.view(key).due;
        let Some(due) = due.filter(|due| self.queue.next_due() == Some(*due)) else {
            return Err("the timers of this trace fit no clock".to_owned());
        };
        self.now = self.now.max(due);
        self.queue.advance(self.now);
        self.is_first = false;
        self.push("tick", json!({ "key": self.key(key) }));
        Ok(())
    }

    fn add<const N: usize>(
        &mut self,
        key: u8,
        before: &State<N>,
        after: &State<N>,
        cancels: Cancels,
    ) {
        if cancels == Cancels::WithAdd && self.is_canceled_now(key, before, after) {
            self.push("dispatch", json!({ "key": self.key(key) }));
        }
        self.queue.add(key, 0, self.now, &self.model.settings);
        self.push("add", json!({ "key": self.key(key) }));
    }

    fn is_canceled_now<const N: usize>(
        &self,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> bool {
        let canceled = self.controller.canceled;
        !canceled.is_set(before, key) && canceled.is_set(after, key)
    }

    fn world<const N: usize>(&mut self, who: usize, key: u8, before: &State<N>, after: &State<N>) {
        let world = &self.model.world[who];
        let note = world.name.clone();
        for (index, kind) in self.model.kinds.iter().enumerate() {
            for instance in 0..self.model.instances(kind.per_key) {
                let (old, new) =
                    (kind.whole.get(before, instance), kind.whole.get(after, instance));
                if old == new {
                    continue;
                }
                if self.is_source(index) {
                    let source = self.model.key_name(index, instance);
                    let revision = self.revision(index, new);
                    self.push(
                        "commit",
                        json!({ "source": source, "revision": revision, "note": note }),
                    );
                } else if index == self.controller.kind {
                    let mut change = json!({ "key": self.key(instance), "note": note });
                    for field in kind.fields.iter().filter(|f| f.get(old) != f.get(new)) {
                        let value = field.get(new);
                        match &*field.name {
                            "generation" => change["generation"] = Value::from(value),
                            "suspended" | "deleted" => {
                                change[&*field.name] = Value::from(field.word(value) == "true");
                            }
                            _ => {}
                        }
                    }
                    self.push("change", change);
                }
            }
        }
        let position = world.position.get(before, key) as usize;
        match world.actions.get(position).map(|(_, act)| act) {
            Some(super::model::WorldAct::Restart(_)) => {
                self.queue = Queue::new(self.model.flavour);
                self.workers.fill(None);
                self.push("restart", json!({}));
            }
            Some(super::model::WorldAct::Add(_)) => self.add(key, before, after, Cancels::Never),
            _ => {}
        }
    }

    fn event<const N: usize>(
        &mut self,
        who: usize,
        verb: Verb,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) {
        let informer = &self.model.informers[who];
        if !informer.wakes || (verb == Verb::Deliver && informer.backlog > 0) {
            return;
        }
        let whole = self.model.cached(informer, after, key);
        if informer.kind == self.controller.kind {
            self.push("watch", json!({ "key": self.key(key) }));
        } else {
            let source = self.model.key_name(informer.kind, key);
            // The cache shows only what somebody looks at; the server knows the rest.
            let revision = match informer.behind.get(after, key) {
                0 => Some(self.revision(
                    informer.kind,
                    self.model.kinds[informer.kind].whole.get(after, key),
                )),
                _ if informer.history.first().is_some_and(|v| {
                    v.mask & self.model.manner.sources[informer.kind]
                        == self.model.manner.sources[informer.kind]
                }) =>
                {
                    Some(self.revision(informer.kind, whole))
                }
                _ => None,
            };
            let mut event = json!({ "source": source });
            if let Some(revision) = revision {
                event["revision"] = Value::from(revision);
            }
            self.push("watch", event);
        }
        match &informer.handler {
            None if self.model.was_added(informer, verb, key, before) => {
                self.add(key, before, after, informer.cancels);
            }
            Some(handler) if handler.phase.is_set(after, key) => {}
            _ => {
                for target in self.model.targets(informer, key) {
                    self.push("map", json!({ "key": self.key(target), "filter": "drop" }));
                }
            }
        }
    }

    fn map<const N: usize>(&mut self, who: usize, side: &str, before: &State<N>, after: &State<N>) {
        let informer = &self.model.informers[who];
        let Some(handler) = &informer.handler else { return };
        let keys = self.model.instances(self.controller.per_key);
        for target in 0..keys {
            if !handler.mapped.is_set(after, target) {
                self.push(
                    "map",
                    json!({ "key": self.key(target), "side": side, "filter": "drop" }),
                );
                continue;
            }
            self.push("map", json!({ "key": self.key(target), "side": side }));
            if informer.cancels == Cancels::InMap {
                let mut dispatch = json!({ "key": self.key(target) });
                if self.is_canceled_now(target, before, after) {
                    dispatch["note"] = Value::from("cancels the run");
                }
                self.push("dispatch", dispatch);
            }
        }
    }

    fn pass<const N: usize>(&mut self, key: u8, edge: &Edge, before: &State<N>, after: &State<N>) {
        let worker = self.workers.iter().position(|w| *w == Some(key)).unwrap_or(0);
        let name = self.key(key);
        match &self.controller.steps[self.controller.pc.get(before, key) as usize - 1] {
            Op::Read { kind, source, view, .. } if self.is_source(*kind) => {
                let whole = self.model.object(*source, before, key, &Given::default());
                let mask = self.model.manner.sources[*kind];
                let mut read = json!({ "key": name, "source": self.model.key_name(*kind, key) });
                if view.is_some_and(|view| view.mask & mask == mask) {
                    read["revision"] = Value::from(self.revision(*kind, whole));
                }
                self.push("read", read);
            }
            Op::Write { kind, name: note, touch, .. } if *kind == self.controller.kind => {
                if edge.step.branch == CONFLICT {
                    self.push("write", json!({ "key": name, "refused": true, "note": note }));
                    return;
                }
                let old = self.status(before, key);
                let mut status = self.status(after, key);
                status.retain(|field, value| old.get(field) != Some(value));
                let mut write = json!({ "key": name, "note": note });
                let own = &self.model.kinds[*kind];
                let (was, is) = (own.whole.get(before, key), own.whole.get(after, key));
                let moved = own.fields.iter().filter(|f| f.get(was) != f.get(is));
                let mut moved: Vec<&str> = moved.map(|f| &*f.name).collect();
                moved.retain(|field| !STATUS.iter().any(|(known, _)| known == field));
                if *touch && moved.is_empty() {
                    moved.push("time");
                }
                if !moved.is_empty() && status.is_empty() {
                    write["fields"] = json!(moved);
                }
                if !status.is_empty() {
                    write["status"] = Value::Object(status);
                }
                self.push("write", write);
            }
            Op::Write { kind, .. } if self.is_source(*kind) => {
                let of = &self.model.kinds[*kind];
                let (old, new) = (of.whole.get(before, key), of.whole.get(after, key));
                if old != new {
                    let source = self.model.key_name(*kind, key);
                    let revision = self.revision(*kind, new);
                    self.push(
                        "commit",
                        json!({ "source": source, "revision": revision, "note": "by this run" }),
                    );
                }
            }
            Op::Return { outcome } => {
                let outcome = &self.controller.outcomes[*outcome];
                let result = match outcome.answer {
                    Answer::Fixed(result) => result,
                    Answer::Decide(question) => {
                        self.model.answer(question, before, key).unwrap_or_default()
                    }
                };
                let returned = self.model.results[result];
                let mut event = json!({ "key": name, "worker": worker + 1 });
                if returned.requeue {
                    event["requeue"] = Value::from(true);
                }
                if let Some(after) = returned.after {
                    let sign = if after < 0 { "-" } else { "" };
                    event["requeueAfter"] =
                        Value::from(format!("{sign}{}", Span(after.unsigned_abs())));
                }
                if returned.terminal {
                    event["terminal"] = Value::from(true);
                }
                if returned.error {
                    event["error"] = Value::from(&*outcome.name);
                }
                if OUTCOMES.contains(&&*outcome.name) {
                    event["outcome"] = Value::from(&*outcome.name);
                }
                event["note"] = Value::from(&*outcome.name);
                self.push("return", event);
                // The pass is running, so it can return.
                let _ = self.queue.after_return(key, &returned, self.now, &self.model.settings);
                let _ = self.queue.done(key);
                self.push("done", json!({ "key": name, "worker": worker + 1 }));
                self.workers[worker] = None;
            }
            _ => {}
        }
    }
}

/// Outcomes that a queue trace knows by name.
const OUTCOMES: [&str; 10] = [
    "succeeded",
    "failed",
    "terminal",
    "canceled",
    "waiting",
    "suspended",
    "deleting",
    "deleted",
    "finalizerAdded",
    "notFound",
];

/// The trace of an exploration as a document of kind `QueueTrace`.
///
/// # Errors
/// There is no trace, or it cannot be told as the history of one queue.
pub fn history(exploration: &Exploration) -> std::result::Result<Value, String> {
    let Some(recording) = &exploration.recording else {
        return Err(format!("{}: nothing was found that could be recorded", exploration.scenario));
    };
    let recording = recording
        .as_ref()
        .map_err(|why| format!("failed to record the trace of {}: {why}", exploration.scenario))?;
    let mut spec = json!({
        "description": format!("found by plumb explore: {}", exploration.reason),
        "queue": recording.queue,
        "events": recording.events,
    });
    for (field, values) in [("sources", &recording.sources), ("objects", &recording.objects)] {
        if !values.is_empty() {
            spec[field] = Value::Array(values.clone());
        }
    }
    Ok(json!({
        "apiVersion": API_VERSION,
        "kind": "QueueTrace",
        "metadata": { "name": name(exploration) },
        "spec": spec,
    }))
}

/// A fixture, YAML: a header that expects what is said of the history, and the history.
pub fn fixture(
    scenario: &Scenario,
    exploration: &Exploration,
    history: &Value,
    expectation: Option<Value>,
) -> String {
    let mut spec = Map::new();
    let texts = [("source", &scenario.source), ("story", &scenario.story)];
    for (field, text) in texts {
        if let Some(text) = text {
            spec.insert(field.to_owned(), Value::from(&**text));
        }
    }
    if let Some(expectation) = expectation {
        spec.insert("expect".to_owned(), json!([expectation]));
    }
    let header = json!({
        "apiVersion": API_VERSION,
        "kind": "Fixture",
        "metadata": { "name": name(exploration) },
        "spec": spec,
    });
    format!("{}---\n{}", yaml::document(&header), yaml::document(history))
}

fn name(exploration: &Exploration) -> String {
    format!("{}.{}", exploration.scenario, exploration.queue)
}
