//! What an event of the history means in the light of those after it, gathered once.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::Key;

use crate::trace::event::Action;
use crate::trace::history::{History, SourceId};

/// What an event means in the light of the others.
pub(crate) struct Foresight {
    /// Per watch event, what handlers do about it: the key and the event, in order.
    pub(crate) handlers: BTreeMap<usize, Vec<(Key, usize)>>,
    /// The returns whose `done` is left out.
    pub(crate) undone: BTreeSet<usize>,
    /// The sources of which a run says what it reads, by the event that started it.
    pub(crate) reads: BTreeMap<usize, Vec<SourceId>>,
    /// The keys with a `listen`.
    pub(crate) listeners: BTreeSet<Key>,
    /// Per source and revision, the event by which it came into the cache; those of the start at
    /// none.
    pub(crate) delivered: BTreeMap<(SourceId, String), Option<usize>>,
}

impl Foresight {
    /// Reads the history once.
    pub(crate) fn of(history: &History) -> Self {
        let mut foresight = Self {
            handlers: BTreeMap::new(),
            undone: BTreeSet::new(),
            reads: BTreeMap::new(),
            listeners: BTreeSet::new(),
            delivered: BTreeMap::new(),
        };
        for (source, spec) in history.sources.iter().enumerate() {
            if let Some(revision) = &spec.revision {
                foresight.delivered.insert((source, revision.clone()), None);
            }
        }
        // Revisions first: a run may name one that is delivered later.
        for (index, event) in history.events.iter().enumerate() {
            if let Action::Watch(source, Some(revision)) | Action::Commit(source, revision) =
                &event.action
            {
                foresight.delivered.entry((*source, revision.to_string())).or_insert(Some(index));
            }
        }
        let mut running: BTreeMap<Key, usize> = BTreeMap::new();
        let mut returned: BTreeMap<Key, usize> = BTreeMap::new();
        for (index, event) in history.events.iter().enumerate() {
            let Some(key) = event.action.key() else {
                if matches!(event.action, Action::Restart) {
                    running.clear();
                    foresight.undone.extend(core::mem::take(&mut returned).into_values());
                }
                continue;
            };
            if let Some(watch) = event.handles {
                foresight.handlers.entry(watch).or_default().push((key, index));
            }
            match &event.action {
                Action::Get(_) => {
                    running.insert(key, index);
                    foresight.undone.extend(returned.remove(&key));
                }
                Action::Return(..) => {
                    running.remove(&key);
                    returned.insert(key, index);
                }
                Action::Done(_) => {
                    returned.remove(&key);
                }
                Action::Listen(..) => {
                    foresight.listeners.insert(key);
                }
                _ => {}
            }
            let named = match &event.action {
                Action::Read(_, source, _) => Some(*source),
                Action::Listen(_, Some(revision)) => foresight.source_of(history, key, revision),
                Action::Write { status: Some(status), .. } => status
                    .attempted
                    .as_ref()
                    .and_then(|revision| foresight.source_of(history, key, revision)),
                _ => None,
            };
            if let (Some(source), Some(&got)) = (named, running.get(&key)) {
                foresight.reads.entry(got).or_default().push(source);
            }
        }
        foresight.undone.extend(returned.into_values());
        foresight
    }

    /// The source of a key that has, had or will have a revision.
    pub(crate) fn source_of(
        &self,
        history: &History,
        key: Key,
        revision: &str,
    ) -> Option<SourceId> {
        let sources = &history.objects[usize::from(key)].sources;
        if let [only] = sources[..] {
            return Some(only);
        }
        let has =
            |&&source: &&SourceId| self.delivered.contains_key(&(source, revision.to_string()));
        sources.iter().find(has).copied()
    }
}
