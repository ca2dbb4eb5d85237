//! Plays the events against the state machine, and keeps account of what is owed.

mod informer;
mod run;
mod wake;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Flavour, Key, Millis, Queue, Runtime};

use crate::finding::Fault;
use crate::trace::document::Filter;
use crate::trace::event::{Action, Event};
use crate::trace::foresight::Foresight;
use crate::trace::history::{History, MOST_KEYS};
use crate::trace::ledger::{Account, Fate};
use crate::trace::replay::run::Run;
use crate::trace::story::{Drop, KeyStory, Story, Woken};

/// A growing delay is worth a word from here on, where the object names no interval.
const LONG: Millis = 60_000;

/// The replay up to some event.
pub(crate) struct Replay<'h> {
    history: &'h History,
    queue: Queue<MOST_KEYS>,
    now: Millis,
    /// When the next timer fires, kept since the queue has to look for it.
    next_due: Option<Millis>,
    sources: Vec<SourceState>,
    keys: Vec<KeyState>,
    /// Watch events of an object that its own controller's write caused.
    own: BTreeSet<usize>,
    foresight: Foresight,
    /// Keys that were added while this watch event was handled.
    added: BTreeMap<usize, BTreeSet<Key>>,
}

/// A source at the API server and in the cache.
#[derive(Default)]
pub(crate) struct SourceState {
    /// At the API server.
    pub(crate) server: Option<String>,
    /// In the cache.
    pub(crate) store: Option<String>,
    /// The event that made the server's revision.
    pub(crate) changed: Option<usize>,
    /// The watch event that delivered the cache's revision.
    pub(crate) delivered: Option<usize>,
}

/// One key on the way.
pub(crate) struct KeyState {
    /// What is owed to it.
    pub(crate) account: Account,
    story: KeyStory,
    run: Option<Run>,
    /// What made its entry.
    woken: Option<Woken>,
    timer: Option<TimerSet>,
    fired: Option<Millis>,
    /// Grows with each change of what a run reads.
    input: u32,
    /// The object's own writes of which no watch event has come.
    own_writes: u32,
    own_versions: BTreeSet<String>,
    /// The first of the returns that the limiter counts, and the input that it had.
    counted: Option<(usize, u32)>,
}

struct TimerSet {
    by: Option<usize>,
    at: Millis,
    is_backoff: bool,
}

impl<'h> Replay<'h> {
    /// Plays the whole history.
    ///
    /// # Errors
    /// An event that is impossible where it stands.
    pub(crate) fn run(history: &'h History) -> Result<Story<'h>, Fault> {
        let mut replay = Self::start(history);
        for (index, event) in history.events.iter().enumerate() {
            replay.step(index, event).map_err(|message| {
                let name = event.action.name();
                let subject = event
                    .action
                    .key()
                    .map_or(String::new(), |key| format!(" `{}`", history.key(key)));
                Fault::Malformed(format!("event {index}: impossible {name}{subject}: {message}"))
            })?;
            replay.keep_account(index, event);
        }
        if let Some(end) = history.end {
            if end < replay.now {
                let message = "spec.end: lies before the last event".to_string();
                return Err(Fault::Malformed(message));
            }
            replay.pass_time(end, history.events.len().saturating_sub(1));
        }
        Ok(replay.finish())
    }

    fn start(history: &'h History) -> Self {
        let mut queue = Queue::new(history.flavour);
        let mut keys = Vec::new();
        for (index, object) in history.objects.iter().enumerate() {
            let key = to_key(index);
            if object.is_ready {
                queue.add(key, object.priority, 0, &history.settings);
            }
            if let Some(due) = object.timer {
                let due = i64::try_from(due).unwrap_or(i64::MAX);
                queue.add_after(key, due, object.priority, 0, &history.settings);
            }
            let view = queue.view(key);
            keys.push(KeyState {
                account: Account::open(history, key),
                story: KeyStory {
                    key,
                    view,
                    debts: Vec::new(),
                    carrier: None,
                    lost: None,
                    passes: Vec::new(),
                    cancels: Vec::new(),
                    drops: Vec::new(),
                    consumed: None,
                    stale_reads: Vec::new(),
                    early_answers: Vec::new(),
                    backoffs: Vec::new(),
                    ready_since: view.ready.then_some((0, 0)),
                    overtaken: 0,
                },
                run: None,
                woken: None,
                timer: view.due.map(|_| TimerSet { by: None, at: 0, is_backoff: false }),
                fired: None,
                input: 0,
                own_writes: 0,
                own_versions: BTreeSet::new(),
                counted: None,
            });
        }
        let sources = history
            .sources
            .iter()
            .map(|source| SourceState {
                server: source.revision.clone(),
                store: source.revision.clone(),
                ..SourceState::default()
            })
            .collect();
        let foresight = Foresight::of(history);
        let (own, added) = (BTreeSet::new(), BTreeMap::new());
        let next_due = queue.next_due();
        Self { history, queue, now: 0, next_due, sources, keys, own, foresight, added }
    }

    fn step(&mut self, index: usize, event: &Event) -> Result<(), String> {
        if let Some(at) = event.at {
            if at < self.now {
                let now = self.history.moment(self.now);
                return Err(format!("it is at {now} already"));
            }
            self.pass_time(at, index);
        }
        match &event.action {
            Action::Commit(source, revision) => self.commit(index, *source, revision),
            Action::Change { key, generation, request, suspended, deleted } => {
                let key = self.key(*key);
                key.input += 1;
                key.account.change(index, *generation, request.as_deref(), *suspended, *deleted);
            }
            Action::Watch(source, revision) => self.watch(index, *source, revision.as_deref()),
            Action::WatchObject(key, version) => self.watch_object(index, *key, version.as_deref()),
            Action::Resync => {}
            Action::Map(key, _, filter) => {
                if *filter == Filter::Drop {
                    let source = event.handles.and_then(|watch| self.watched(watch));
                    self.key(*key).story.drops.push(Drop { at: index, source });
                }
            }
            Action::Dispatch(key) => {
                let is_listening = self.listens(*key);
                if let Some(run) = self.key(*key).run.as_mut().filter(|run| !run.returned)
                    && is_listening
                {
                    run.canceled.get_or_insert(index);
                    run.listens = false;
                }
            }
            Action::Cancel(key) => {
                self.running(*key)?.canceled.get_or_insert(index);
            }
            Action::Skip(key) => {
                let watch = event.handles.ok_or("there is no watch event before it")?;
                if !self.added.get(&watch).is_some_and(|keys| keys.contains(key)) {
                    return Err(format!(
                        "the handler did not add the key for event {watch} before, so nothing is \
                         left out"
                    ));
                }
            }
            Action::Add(key, priority) => {
                let woken = self.woken_by(event);
                let change = self.queue.add(*key, *priority, self.now, &self.history.settings);
                self.wake(index, *key, change, woken);
                if let Some(watch) = event.handles {
                    self.added.entry(watch).or_default().insert(*key);
                }
            }
            Action::AddAfter(key, delay, priority) => {
                self.by_hand(*key)?;
                let change =
                    self.queue.add_after(*key, *delay, *priority, self.now, &self.history.settings);
                self.wake(index, *key, change, Woken::Delay(0));
            }
            Action::AddRateLimited(key, priority) => {
                self.by_hand(*key)?;
                let settings = &self.history.settings;
                if settings.runtime == Runtime::KubeRs {
                    return Err("kube-rs has no rate-limited add".to_string());
                }
                let change = self.queue.add_rate_limited(*key, *priority, self.now, settings);
                self.wake(index, *key, change, Woken::Backoff(0));
            }
            Action::Get(key) => self.get(index, *key)?,
            Action::Listen(key, revision) => {
                self.running(*key)?.listens = true;
                let named = revision.as_deref().and_then(|revision| {
                    let source = self.foresight.source_of(self.history, *key, revision)?;
                    Some((source, revision))
                });
                if let Some((source, revision)) = named {
                    self.read(index, *key, source, revision);
                }
            }
            Action::Read(key, source, revision) => {
                self.running(*key)?.reads.push(index);
                let revision = revision
                    .as_deref()
                    .map(ToString::to_string)
                    .or_else(|| self.sources[*source].store.clone());
                if let Some(revision) = revision {
                    self.read(index, *key, *source, &revision);
                }
            }
            Action::Write { .. } => self.write(index, &event.action)?,
            Action::Return(key, returned, outcome) => {
                self.return_(index, *key, *returned, *outcome)?;
            }
            Action::Done(key) => {
                if self.key(*key).run.as_ref().is_some_and(|run| !run.returned)
                    && !self.history.is_partial
                {
                    return Err("the run has not returned".to_string());
                }
                self.done(index, *key)?;
            }
            Action::Forget(key) => {
                if self.history.flavour == Flavour::KubeRs {
                    return Err("kube-rs counts no failures".to_string());
                }
                self.queue.forget(*key);
                self.key(*key).counted = None;
            }
            Action::Tick(key) => self.tick(index, *key, event.at)?,
            Action::Restart => self.restart(),
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.queue = Queue::new(self.history.flavour);
        self.next_due = None;
        for state in &mut self.keys {
            state.run = None;
            state.woken = None;
            state.timer = None;
            state.counted = None;
            state.story.consumed = None;
            state.story.ready_since = None;
            state.account.restart();
        }
        for source in &mut self.sources {
            source.store.clone_from(&source.server);
        }
    }

    /// Looks at each key that the event may have touched.
    fn keep_account(&mut self, index: usize, event: &Event) {
        match event.action {
            Action::Commit(source, _) | Action::Watch(source, _) => {
                for number in 0..self.keys.len() {
                    if self.keys[number].account.depends_on(source) {
                        self.look_at(index, number);
                    }
                }
            }
            Action::Restart => (0..self.keys.len()).for_each(|number| self.look_at(index, number)),
            _ => event.action.key().into_iter().for_each(|key| self.look_at(index, key.into())),
        }
    }

    fn look_at(&mut self, index: usize, number: usize) {
        let state = &mut self.keys[number];
        let view = self.queue.view(to_key(number));
        let run = state.run.as_ref().and_then(Run::underway);
        let fate = state.account.fate(index, &view, run, &self.sources);
        state.story.lost = match (fate, state.story.lost) {
            (Fate::Lost, None) => Some(index),
            (Fate::Lost | Fate::Open, lost) => lost,
            (Fate::Held, _) => None,
        };
    }

    fn finish(self) -> Story<'h> {
        let last = self.history.events.len();
        let mut keys = Vec::new();
        for (number, state) in self.keys.into_iter().enumerate() {
            let view = self.queue.view(to_key(number));
            let run = state.run.as_ref().and_then(Run::underway);
            let mut story = state.story;
            (story.debts, story.carrier) = state.account.debts(last, &view, run, &self.sources);
            if story.carrier.is_some() || story.debts.is_empty() {
                story.lost = None;
            }
            story.view = view;
            keys.push(story);
        }
        Story { history: self.history, end: self.now, keys }
    }

    fn key(&mut self, key: Key) -> &mut KeyState {
        &mut self.keys[usize::from(key)]
    }

    /// Whether a dispatch reaches the run. A history that records no `listen` has every run listen
    /// from its start.
    fn listens(&self, key: Key) -> bool {
        !self.foresight.listeners.contains(&key)
            || self.keys[usize::from(key)].run.as_ref().is_some_and(|run| run.listens)
    }

    /// controller-runtime and kube-rs act on a result themselves; the same step written out as an
    /// event would be counted twice.
    fn by_hand(&self, key: Key) -> Result<(), String> {
        let has_returned = self.keys[usize::from(key)].run.as_ref().is_some_and(|run| run.returned);
        if has_returned && self.history.settings.runtime != Runtime::ClientGo {
            return Err("the runtime does this on return; leave it out".to_string());
        }
        Ok(())
    }
}

fn to_key(index: usize) -> Key {
    Key::try_from(index).unwrap_or(Key::MAX)
}
