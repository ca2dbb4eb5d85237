//! Entries and timers: what an operation did to them, and what time does.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Change, Key, Millis, View};

use super::{Replay, TimerSet, to_key};
use crate::trace::story::{Consumed, Woken};

impl Replay<'_> {
    /// Accounts for what an operation did to a key's entry and timer.
    pub(super) fn wake(&mut self, index: usize, key: Key, change: Change, woken: Woken) {
        let (before, after) = (change.before.due, change.after.due);
        if before != after && before == self.next_due {
            self.next_due = self.queue.next_due();
        } else if let Some(due) = after {
            self.next_due = Some(self.next_due.map_or(due, |next| next.min(due)));
        }
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
            state.timer = Some(TimerSet {
                by: Some(index),
                at: now,
                is_backoff: matches!(woken, Woken::Backoff(_)),
            });
        }
    }

    /// Lets time pass; timers fire on the way.
    pub(super) fn pass_time(&mut self, to: Millis, index: usize) {
        while let Some(due) = self.next_due.filter(|&due| due <= to) {
            let before: Vec<View> =
                (0..self.keys.len()).map(|key| self.queue.view(to_key(key))).collect();
            self.queue.advance(due);
            self.next_due = self.queue.next_due();
            self.now = self.now.max(due);
            for (number, before) in before.into_iter().enumerate() {
                let after = self.queue.view(to_key(number));
                if before.due.is_none() || after.due.is_some() {
                    continue;
                }
                let state = &mut self.keys[number];
                let woken = match state.timer.take() {
                    Some(timer) if timer.is_backoff => Woken::Backoff(due.saturating_sub(timer.at)),
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
    }

    pub(super) fn tick(
        &mut self,
        index: usize,
        key: Key,
        at: Option<Millis>,
    ) -> Result<(), String> {
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
}
