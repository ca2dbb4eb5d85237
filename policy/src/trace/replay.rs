//! Plays the events against the state machine, and keeps account of what is owed.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Change, Flavour, Key, Millis, Queue, Refusal, Returned, Runtime, Step, View};

use crate::finding::Fault;
use crate::pass::OutcomeType;
use crate::trace::document::{Filter, StatusSpec};
use crate::trace::event::{Action, Event};
use crate::trace::history::{History, MOST_KEYS, SourceId};
use crate::trace::ledger::{Account, Fate, Underway};
use crate::trace::story::{
    Backoff, Cancel, Consumed, Drop, EarlyAnswer, KeyStory, Pass, StaleRead, Story, Woken,
};

/// A growing delay is worth a word from here on, where the object names no interval.
const LONG: Millis = 60_000;

/// The replay up to some event.
pub(crate) struct Replay<'h> {
    history: &'h History,
    queue: Queue<MOST_KEYS>,
    now: Millis,
    sources: Vec<SourceState>,
    keys: Vec<KeyState>,
    /// Watch events of an object that its own controller's write caused.
    own: BTreeSet<usize>,
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

struct Run {
    got: usize,
    got_at: Millis,
    input: u32,
    woken: Woken,
    listens: bool,
    canceled: Option<usize>,
    returned: bool,
    before: StatusSpec,
    is_opaque: bool,
    reads: Vec<usize>,
}

impl Run {
    fn underway(&self) -> Option<Underway> {
        let is_canceled = self.canceled.is_some();
        (!self.returned).then_some(Underway { got: self.got, is_canceled })
    }
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
            replay.keep_account(index);
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
        Self { history, queue, now: 0, sources, keys, own: BTreeSet::new(), added: BTreeMap::new() }
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
                self.wake(index, *key, change, Woken::Backoff);
            }
            Action::Get(key) => self.get(index, *key)?,
            Action::Listen(key, revision) => {
                self.running(*key)?.listens = true;
                if let Some(revision) = revision {
                    self.read_matching(index, *key, revision);
                }
            }
            Action::Read(key, source, revision) => {
                self.running(*key)?.reads.push(index);
                let revision = revision.clone().or_else(|| self.sources[*source].store.clone());
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

    fn commit(&mut self, index: usize, source: SourceId, revision: &str) {
        let state = &mut self.sources[source];
        if state.server.as_deref() != Some(revision) {
            state.server = Some(revision.to_string());
            state.changed = Some(index);
        }
        if !self.history.sources[source].is_watched {
            state.store = Some(revision.to_string());
            self.moved(source);
        }
    }

    /// A run would read another revision from now on.
    fn moved(&mut self, source: SourceId) {
        for key in self.keys.iter_mut().filter(|key| key.account.depends_on(source)) {
            key.input += 1;
        }
    }

    fn watch(&mut self, index: usize, source: SourceId, revision: Option<&str>) {
        let state = &mut self.sources[source];
        let Some(revision) = revision.map(ToString::to_string).or_else(|| state.server.clone())
        else {
            return;
        };
        let is_new = state.store.as_ref() != Some(&revision);
        if is_new {
            // A watch event without its commit is both; one of an older commit leaves the newest
            // still to come.
            let is_newest = state.server == state.store || state.server.as_ref() == Some(&revision);
            if is_newest && state.server.as_ref() != Some(&revision) {
                state.server = Some(revision.clone());
                state.changed = Some(index);
            }
            state.delivered = Some(index);
            state.store = Some(revision.clone());
        }
        if is_new {
            self.moved(source);
        }
        if is_new && self.history.sources[source].every_revision {
            for key in self.keys.iter_mut().filter(|key| key.account.depends_on(source)) {
                key.account.unseen.push((source, revision.clone(), index));
            }
        }
        self.open_handlers(index);
    }

    fn watch_object(&mut self, index: usize, key: Key, version: Option<&str>) {
        let state = self.key(key);
        let is_own = match version {
            Some(version) if !state.own_versions.is_empty() => state.own_versions.contains(version),
            _ => state.own_writes > 0 && !state.account.is_change_underway,
        };
        if is_own {
            state.own_writes = state.own_writes.saturating_sub(1);
            self.own.insert(index);
        } else {
            state.account.is_change_underway = false;
        }
        self.key(key).account.is_list_underway = false;
        self.open_handlers(index);
    }

    /// Notes until which event the handlers of this watch event are at work, per key.
    fn open_handlers(&mut self, watch: usize) {
        for (index, event) in self.history.events.iter().enumerate().skip(watch + 1) {
            if event.handles == Some(watch)
                && let Some(key) = event.action.key()
            {
                let account = &mut self.keys[usize::from(key)].account;
                account.handled_until = account.handled_until.max(index);
            }
        }
    }

    fn watched(&self, watch: usize) -> Option<SourceId> {
        match self.history.events[watch].action {
            Action::Watch(source, _) => Some(source),
            _ => None,
        }
    }

    fn woken_by(&self, event: &Event) -> Woken {
        match event.handles {
            Some(watch) if self.own.contains(&watch) => Woken::OwnWrite,
            _ => Woken::Outside,
        }
    }

    /// Accounts for what an operation did to a key's entry and timer.
    fn wake(&mut self, index: usize, key: Key, change: Change, woken: Woken) {
        let (now, state) = (self.now, self.key(key));
        if woken == Woken::Outside {
            state.account.is_change_underway = false;
            state.account.is_list_underway = false;
        }
        if let Some(due) = change.consumed() {
            let set = state.timer.as_ref().and_then(|timer| timer.by);
            state.story.consumed = Some(Consumed { by: index, due, set });
        }
        if change.after.ready {
            state.woken = Some(match state.woken {
                Some(Woken::Outside) => Woken::Outside,
                Some(earlier) if change.before.ready && woken != Woken::Outside => earlier,
                _ => woken,
            });
        }
        if change.is_added() {
            state.story.ready_since = Some((index, now));
            state.story.overtaken = 0;
        }
        if change.after.due.is_none() {
            state.timer = None;
        } else if change.after.due != change.before.due {
            state.story.consumed = None;
            state.timer =
                Some(TimerSet { by: Some(index), at: now, is_backoff: woken == Woken::Backoff });
        }
    }

    /// Lets time pass; timers fire on the way.
    fn pass_time(&mut self, to: Millis, index: usize) {
        while let Some(due) = self.queue.next_due().filter(|&due| due <= to) {
            let before: Vec<View> =
                (0..self.keys.len()).map(|key| self.queue.view(to_key(key))).collect();
            self.queue.advance(due);
            self.now = self.now.max(due);
            for (number, before) in before.into_iter().enumerate() {
                let after = self.queue.view(to_key(number));
                if before.due.is_none() || after.due.is_some() {
                    continue;
                }
                let state = &mut self.keys[number];
                let woken = match state.timer.take() {
                    Some(TimerSet { is_backoff: true, .. }) => Woken::Backoff,
                    Some(timer) => Woken::Delay(due.saturating_sub(timer.at)),
                    None => Woken::Outside,
                };
                state.fired = Some(due);
                if !before.ready {
                    state.woken = Some(woken);
                    state.story.ready_since = Some((index, due));
                    state.story.overtaken = 0;
                }
            }
        }
        self.now = self.now.max(to);
        self.queue.advance(self.now);
    }

    fn tick(&mut self, index: usize, key: Key, at: Option<Millis>) -> Result<(), String> {
        match self.queue.view(key).due {
            Some(due) if at.is_none() => self.pass_time(due, index),
            Some(due) => {
                return Err(format!("the timer fires at {}", self.history.moment(due)));
            }
            None if self.keys[usize::from(key)].fired == Some(self.now) => {}
            None => return Err("the key has no timer".to_string()),
        }
        Ok(())
    }

    fn get(&mut self, index: usize, key: Key) -> Result<(), String> {
        let running = (0..self.keys.len()).filter(|&k| self.queue.view(to_key(k)).processing);
        if let Some(workers) = self.history.workers
            && running.count() >= workers as usize
        {
            return Err(format!("all {workers} workers have a key"));
        }
        if self.history.is_partial && !self.queue.view(key).ready {
            let change = self.queue.add(key, 0, self.now, &self.history.settings);
            self.wake(index, key, change, Woken::Outside);
        }
        let got = if self.history.is_ordered {
            self.queue.get(key)
        } else {
            self.queue.get_out_of_order(key)
        };
        got.map_err(|refusal| match refusal {
            Refusal::Processing | Refusal::NotProcessing => {
                "a worker has the key already".to_string()
            }
            Refusal::NotReady => match self.queue.view(key).due {
                Some(due) => format!(
                    "the queue has no entry for it, only a timer that fires at {}",
                    self.history.moment(due)
                ),
                None => "the queue has no entry for it".to_string(),
            },
            Refusal::Behind(first) => {
                format!("`{}` goes first in this queue", self.history.key(first))
            }
        })?;
        for other in &mut self.keys {
            other.story.overtaken += 1;
        }
        let now = self.now;
        let state = self.key(key);
        state.story.ready_since = None;
        let woken = state.woken.take().unwrap_or(Woken::Outside);
        state.run = Some(Run {
            got: index,
            got_at: now,
            input: state.input,
            woken,
            listens: false,
            canceled: None,
            returned: false,
            before: state.account.status.clone(),
            is_opaque: false,
            reads: Vec::new(),
        });
        let explicit = self.explicit_reads(index, key);
        self.key(key).account.start(now, &explicit);
        for source in self.key(key).account.sources.clone() {
            if !explicit.contains(&source)
                && let Some(revision) = self.sources[source].store.clone()
            {
                self.key(key).account.see(source, &revision);
            }
        }
        Ok(())
    }

    /// The sources of which the history says what this run reads.
    fn explicit_reads(&self, got: usize, key: Key) -> Vec<SourceId> {
        let mut explicit = Vec::new();
        for event in &self.history.events[got + 1..] {
            match &event.action {
                Action::Read(k, source, _) if *k == key => explicit.push(*source),
                Action::Listen(k, Some(revision)) if *k == key => {
                    explicit.extend(self.matching(key, revision));
                }
                Action::Write { key: k, status: Some(status), .. } if *k == key => {
                    let attempted = status.attempted.as_deref();
                    explicit.extend(attempted.and_then(|revision| self.matching(key, revision)));
                }
                Action::Return(k, ..) if *k == key => break,
                Action::Restart => break,
                _ => {}
            }
        }
        explicit
    }

    /// The source of the key that has, had or will have this revision.
    fn matching(&self, key: Key, revision: &str) -> Option<SourceId> {
        let sources = &self.keys[usize::from(key)].account.sources;
        if let [only] = sources[..] {
            return Some(only);
        }
        sources.iter().copied().find(|&source| {
            self.history.sources[source].revision.as_deref() == Some(revision)
                || self.history.events.iter().any(|event| match &event.action {
                    Action::Commit(s, r) | Action::Watch(s, Some(r)) => {
                        *s == source && r == revision
                    }
                    _ => false,
                })
        })
    }

    fn read_matching(&mut self, index: usize, key: Key, revision: &str) {
        if let Some(source) = self.matching(key, revision) {
            self.read(index, key, source, revision);
        }
    }

    fn read(&mut self, index: usize, key: Key, source: SourceId, revision: &str) {
        let state = &self.sources[source];
        let is_stale = state.store.as_ref().is_some_and(|store| store != revision);
        // What was never in the cache is of another cache, and says nothing about lag.
        let was_there = self.history.sources[source].revision.as_deref() == Some(revision)
            || self.history.events[..index].iter().any(|event| {
                matches!(&event.action, Action::Watch(s, Some(r)) if *s == source && r == revision)
            });
        if is_stale
            && was_there
            && let Some(newer) = state.delivered
        {
            let read = StaleRead { at: index, source, read: revision.to_string(), newer };
            self.key(key).story.stale_reads.push(read);
        }
        self.key(key).account.see(source, revision);
    }

    fn write(&mut self, index: usize, action: &Action) -> Result<(), String> {
        let Action::Write { key, status, fields, is_refused, version } = action else {
            return Ok(());
        };
        let run = self.running(*key)?;
        if *is_refused {
            self.key(*key).account.refused.get_or_insert(index);
            return Ok(());
        }
        run.is_opaque |=
            status.is_none() && fields.is_empty() || fields.iter().any(|field| !is_noise(field));
        let got = run.got;
        let first_read = run.reads.first().copied();
        let state = self.key(*key);
        state.account.refused = None;
        state.own_writes += 1;
        state.own_versions.extend(version.clone());
        let Some(status) = status else { return Ok(()) };
        if let Some(token) = &status.handled
            && let Some((asked, request)) = state.account.requested.clone()
            && *token == request
            && got < asked
            && let Some(read) = first_read.filter(|&read| read < asked)
        {
            let token = token.clone();
            state.story.early_answers.push(EarlyAnswer { at: index, request: asked, read, token });
            state.account.is_answer_void = true;
            state.account.write(index, status);
        } else {
            state.account.write(index, status);
        }
        // A revision that the run is known to have read was read earlier, not with this write.
        if let Some(attempted) = &status.attempted
            && let Some(source) = self.matching(*key, attempted)
            && self.key(*key).account.is_to_read(source)
        {
            self.key(*key).account.see(source, attempted);
        }
        Ok(())
    }

    fn return_(
        &mut self,
        index: usize,
        key: Key,
        result: Returned,
        outcome: Option<OutcomeType>,
    ) -> Result<(), String> {
        self.running(key)?;
        let settings = &self.history.settings;
        let had_entry = self.queue.view(key).ready;
        let step = if settings.runtime == Runtime::ClientGo {
            None
        } else {
            let (step, change) = self
                .queue
                .after_return(key, &result, self.now, settings)
                .map_err(|_| "no worker has the key".to_string())?;
            let woken = match step {
                Step::RateLimited => Woken::Backoff,
                _ => Woken::Delay(0),
            };
            if !change.is_void() {
                self.wake(index, key, change, woken);
            }
            self.count(index, key, step, change, &result);
            Some(step)
        };
        let now = self.now;
        let state = self.key(key);
        let Some(run) = state.run.as_mut() else { return Ok(()) };
        run.returned = true;
        run.listens = false;
        let pass = Pass {
            got: run.got,
            got_at: run.got_at,
            returned: index,
            returned_at: now,
            input: run.input,
            woken: run.woken,
            canceled: run.canceled,
            result,
            step,
            before: run.before.clone(),
            after: state.account.status.clone(),
            is_opaque: run.is_opaque,
        };
        let asks_again = match step {
            Some(Step::Nothing | Step::Forget) => false,
            Some(_) => true,
            None => state.story.ready_since.is_some() || state.timer.is_some(),
        };
        let canceled = pass.canceled;
        state.account.finish(index, now, &pass, outcome);
        state.story.passes.push(pass);
        if let Some(at) = canceled
            && !had_entry
            && !asks_again
        {
            self.unpaired(index, key, at);
        }
        if !self.is_done_later(index, key) {
            self.done(index, key)?;
        }
        Ok(())
    }

    /// Notes a cancellation beside which the key was not added.
    fn unpaired(&mut self, returned: usize, key: Key, at: usize) {
        let watch = self.history.events[at].handles;
        let beside = |action: fn(&Action) -> bool| {
            self.history.events.iter().enumerate().skip(at + 1).find_map(|(index, event)| {
                let is_it = event.handles == watch
                    && event.action.key() == Some(key)
                    && action(&event.action);
                is_it.then_some(index)
            })
        };
        if watch.is_some() && beside(|action| matches!(action, Action::Add(..))).is_some() {
            return;
        }
        let skip = watch.and_then(|_| beside(|action| matches!(action, Action::Skip(_))));
        let state = self.key(key);
        let Some(got) = state.run.as_ref().map(|run| run.got) else { return };
        state.story.cancels.push(Cancel { at, skip, got, returned });
    }

    /// Follows the limiter's count over runs that had nothing to do with each other.
    fn count(&mut self, index: usize, key: Key, step: Step, change: Change, result: &Returned) {
        let now = self.now;
        let interval = self.history.objects[usize::from(key)].interval;
        let state = self.key(key);
        if step != Step::RateLimited {
            if change.after.failures == 0 {
                state.counted = None;
            }
            return;
        }
        let input = state.run.as_ref().map_or(state.input, |run| run.input);
        let (first, input_then) = *state.counted.get_or_insert((index, input));
        let delay = change.after.due.map_or(0, |due| due.saturating_sub(now));
        if !result.error && input != input_then && delay >= interval.unwrap_or(LONG).min(LONG) {
            state.story.backoffs.push(Backoff { at: index, first, delay });
        }
    }

    fn is_done_later(&self, returned: usize, key: Key) -> bool {
        self.history.events[returned + 1..]
            .iter()
            .find_map(|event| match event.action {
                Action::Done(k) if k == key => Some(true),
                Action::Get(k) if k == key => Some(false),
                Action::Restart => Some(false),
                _ => None,
            })
            .unwrap_or(false)
    }

    fn done(&mut self, index: usize, key: Key) -> Result<(), String> {
        self.queue.done(key).map_err(|_| "no worker has the key".to_string())?;
        let now = self.now;
        let is_ready = self.queue.view(key).ready;
        let state = self.key(key);
        state.run = None;
        if is_ready {
            state.story.ready_since = Some((index, now));
            state.story.overtaken = 0;
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.queue = Queue::new(self.history.flavour);
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

    fn keep_account(&mut self, index: usize) {
        for number in 0..self.keys.len() {
            let view = self.queue.view(to_key(number));
            let state = &mut self.keys[number];
            let run = state.run.as_ref().and_then(Run::underway);
            let fate = state.account.fate(index, &view, run, &self.sources);
            state.story.lost = match (fate, state.story.lost) {
                (Fate::Lost, None) => Some(index),
                (Fate::Lost | Fate::Open, lost) => lost,
                (Fate::Held, _) => None,
            };
        }
    }

    fn finish(self) -> Story<'h> {
        let last = self.history.events.len();
        let mut keys = Vec::new();
        for (number, mut state) in self.keys.into_iter().enumerate() {
            let view = self.queue.view(to_key(number));
            let run = state.run.as_ref().and_then(Run::underway);
            let account = &state.account;
            let debts = account.debts(&self.sources);
            let uncarried: Vec<_> = debts
                .iter()
                .filter(|debt| account.carrier(debt, last, &view, run, &self.sources).is_none())
                .cloned()
                .collect();
            state.story.view = view;
            if uncarried.is_empty() {
                state.story.lost = None;
                state.story.carrier = debts
                    .first()
                    .and_then(|debt| account.carrier(debt, last, &view, run, &self.sources));
                state.story.debts = debts;
            } else {
                state.story.debts = uncarried;
            }
            keys.push(state.story);
        }
        Story { history: self.history, end: self.now, keys }
    }

    fn key(&mut self, key: Key) -> &mut KeyState {
        &mut self.keys[usize::from(key)]
    }

    fn running(&mut self, key: Key) -> Result<&mut Run, String> {
        match &mut self.key(key).run {
            Some(run) if !run.returned => Ok(run),
            Some(_) => Err("the run has returned already".to_string()),
            None => Err("no run of the key is in progress".to_string()),
        }
    }

    /// Whether a dispatch reaches the run. A history that records no `listen` has every run listen
    /// from its start.
    fn listens(&self, key: Key) -> bool {
        let records = self
            .history
            .events
            .iter()
            .any(|event| matches!(event.action, Action::Listen(k, _) if k == key));
        !records || self.keys[usize::from(key)].run.as_ref().is_some_and(|run| run.listens)
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

/// What a status write may change without any work being done.
fn is_noise(field: &str) -> bool {
    let name = field.rsplit(['.', '/']).next().unwrap_or(field);
    let noise = [
        "lastTransitionTime",
        "lastHeartbeatTime",
        "lastUpdateTime",
        "lastProbeTime",
        "managedFields",
        "message",
        "resourceVersion",
    ];
    noise.contains(&name)
}

fn to_key(index: usize) -> Key {
    Key::try_from(index).unwrap_or(Key::MAX)
}
