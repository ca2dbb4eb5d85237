//! What informers do: caches move, and handlers are called.

use alloc::string::ToString;

use plumb_queue::Key;

use super::Replay;
use crate::trace::event::{Action, Event};
use crate::trace::history::SourceId;
use crate::trace::story::Woken;

impl Replay<'_> {
    pub(super) fn commit(&mut self, index: usize, source: SourceId, revision: &str) {
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

    pub(super) fn watch(&mut self, index: usize, source: SourceId, revision: Option<&str>) {
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

    pub(super) fn watch_object(&mut self, index: usize, key: Key, version: Option<&str>) {
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
        for &(key, index) in self.foresight.handlers.get(&watch).into_iter().flatten() {
            let account = &mut self.keys[usize::from(key)].account;
            account.handled_until = account.handled_until.max(index);
        }
    }

    pub(super) fn watched(&self, watch: usize) -> Option<SourceId> {
        match self.history.events[watch].action {
            Action::Watch(source, _) => Some(source),
            _ => None,
        }
    }

    pub(super) fn woken_by(&self, event: &Event) -> Woken {
        match event.handles {
            Some(watch) if self.own.contains(&watch) => Woken::OwnWrite,
            _ => Woken::Outside,
        }
    }
}
