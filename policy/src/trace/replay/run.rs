//! One run: it is handed out, reads, writes, and returns.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Change, Key, Millis, Refusal, Returned, Runtime, Step};

use super::{LONG, Replay, to_key};
use crate::pass::OutcomeType;
use crate::trace::document::StatusSpec;
use crate::trace::event::Action;
use crate::trace::history::SourceId;
use crate::trace::ledger::Underway;
use crate::trace::story::{Backoff, Cancel, EarlyAnswer, Pass, StaleRead, Woken};

/// A run of a key, up to `done`.
pub(super) struct Run {
    pub(super) got: usize,
    pub(super) got_at: Millis,
    pub(super) input: u32,
    pub(super) woken: Woken,
    pub(super) listens: bool,
    pub(super) canceled: Option<usize>,
    pub(super) returned: bool,
    pub(super) before: StatusSpec,
    pub(super) is_opaque: bool,
    pub(super) reads: Vec<usize>,
}

impl Run {
    pub(super) fn underway(&self) -> Option<Underway> {
        let is_canceled = self.canceled.is_some();
        (!self.returned).then_some(Underway { got: self.got, is_canceled })
    }
}

impl Replay<'_> {
    pub(super) fn get(&mut self, index: usize, key: Key) -> Result<(), String> {
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
        let explicit = self.foresight.reads.get(&index).cloned().unwrap_or_default();
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

    pub(super) fn read(&mut self, index: usize, key: Key, source: SourceId, revision: &str) {
        let state = &self.sources[source];
        let is_stale = state.store.as_ref().is_some_and(|store| store != revision);
        // What was never in the cache is of another cache, and says nothing about lag.
        let was_there = self
            .foresight
            .delivered
            .get(&(source, revision.to_string()))
            .is_some_and(|delivered| delivered.is_none_or(|delivered| delivered < index));
        if is_stale
            && was_there
            && let Some(newer) = state.delivered
        {
            let read = StaleRead { at: index, source, read: revision.to_string(), newer };
            self.key(key).story.stale_reads.push(read);
        }
        self.key(key).account.see(source, revision);
    }

    pub(super) fn write(&mut self, index: usize, action: &Action) -> Result<(), String> {
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
        state.own_versions.extend(version.as_deref().map(ToString::to_string));
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
            && let Some(source) = self.foresight.source_of(self.history, *key, attempted)
            && self.key(*key).account.is_to_read(source)
        {
            self.key(*key).account.see(source, attempted);
        }
        Ok(())
    }

    pub(super) fn return_(
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
                Step::RateLimited => Woken::Backoff(0),
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
        let outcome = state.account.finish(index, now, &pass, outcome);
        state.story.passes.push(pass);
        if let Some(at) = canceled
            && !had_entry
            && !asks_again
            && outcome != Some(OutcomeType::Succeeded)
        {
            self.unpaired(index, key, at);
        }
        if self.foresight.undone.contains(&index) {
            self.done(index, key)?;
        }
        Ok(())
    }

    /// Notes a cancellation beside which the key was not added.
    fn unpaired(&mut self, returned: usize, key: Key, at: usize) {
        let watch = self.history.events[at].handles;
        let handlers = watch.and_then(|watch| self.foresight.handlers.get(&watch));
        let mut skip = None;
        for &(_, index) in handlers.into_iter().flatten().filter(|&&(k, i)| k == key && i > at) {
            match self.history.events[index].action {
                Action::Add(..) => return,
                Action::Skip(_) => skip = skip.or(Some(index)),
                _ => {}
            }
        }
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

    pub(super) fn done(&mut self, index: usize, key: Key) -> Result<(), String> {
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

    pub(super) fn running(&mut self, key: Key) -> Result<&mut Run, String> {
        match &mut self.key(key).run {
            Some(run) if !run.returned => Ok(run),
            Some(_) => Err("the run has returned already".to_string()),
            None => Err("no run of the key is in progress".to_string()),
        }
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
