//! The objects of one input: which states each went through, and who names whom.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use super::scan::{Facts, Reference};
use crate::input::Document;

/// States kept of one object: what rules of scope series see, beside the state itself.
const STATES_KEPT: usize = 17;

/// States kept of all objects together, 3 KB each: with very many objects each has a shorter
/// history.
const STATES_KEPT_IN_ALL: usize = 40_000;

/// Objects passed along with one: its sources, its owner, those that name it.
const RELATED_MAX: usize = 16;

/// One state of an object.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) document: Arc<Document>,
    /// JSON Pointer from the document's root to the object.
    pub(super) base: String,
    pub(super) json: Arc<str>,
    pub(super) resource_version: String,
}

/// An object over time.
#[derive(Debug)]
pub(super) struct History {
    pub(super) facts: Facts,
    /// Oldest first. The last one is the object's state as far as it is known.
    states: VecDeque<State>,
    /// What a review would make of the object, which may not come to be.
    proposed: Option<State>,
    /// Watches that broke before the last state.
    breaks: usize,
    /// The object was deleted.
    ended: bool,
}

/// All objects of one input.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    histories: Vec<History>,
    /// By uid, group and kind; a subresource such as Scale has the uid of its object.
    by_uid: HashMap<String, Vec<usize>>,
    /// By namespace and name: all histories that are the latest of their group and kind.
    by_name: HashMap<(String, String), Vec<usize>>,
    /// By namespace and name: those that may name such an object.
    named_by: HashMap<(String, String), Vec<usize>>,
    breaks: usize,
}

/// What a state is to its history.
pub(super) enum Step {
    /// Seen before, unchanged.
    Repeated,
    /// New.
    New {
        /// The state before, if it is known.
        old: Option<State>,
        /// Those before that, oldest first.
        earlier: Vec<State>,
    },
}

/// How a state came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The object is, or was, in this state.
    Stored,
    /// A review asks whether it may be.
    Proposed,
}

impl Tracker {
    /// Returns the history that an object belongs to, a new one if need be.
    pub(super) fn history(&mut self, facts: &Facts) -> usize {
        match self.find(facts) {
            Some(index) => {
                let known = &mut self.histories[index].facts;
                if known.uid.is_empty() && !facts.uid.is_empty() {
                    known.uid.clone_from(&facts.uid);
                    self.by_uid.entry(facts.uid.clone()).or_default().push(index);
                }
                index
            }
            None => self.begin(facts),
        }
    }

    fn find(&self, facts: &Facts) -> Option<usize> {
        let same = |index: &&usize| {
            let known = &self.histories[**index];
            known.facts.kind == facts.kind && known.facts.group() == facts.group() && !known.ended
        };
        let by_uid = self.by_uid.get(&facts.uid).filter(|_| !facts.uid.is_empty());
        if let Some(index) = by_uid.into_iter().flatten().find(same) {
            return Some(*index);
        }
        let index = *self.by_name.get(&name_of(facts))?.iter().find(same)?;
        let uid = &self.histories[index].facts.uid;
        // Another uid is another object of the same name.
        (uid.is_empty() || facts.uid.is_empty()).then_some(index)
    }

    fn begin(&mut self, facts: &Facts) -> usize {
        let index = self.histories.len();
        let named = self.by_name.entry(name_of(facts)).or_default();
        let histories = &self.histories;
        named.retain(|other| {
            let other = &histories[*other].facts;
            other.kind != facts.kind || other.group() != facts.group()
        });
        named.push(index);
        if !facts.uid.is_empty() {
            self.by_uid.entry(facts.uid.clone()).or_default().push(index);
        }
        let facts = Facts { references: Vec::new(), ..facts.clone() };
        let breaks = self.breaks;
        self.histories.push(History {
            facts,
            states: VecDeque::new(),
            proposed: None,
            breaks,
            ended: false,
        });
        index
    }

    /// Returns `apiVersion` and kind of an earlier object with the uid of `facts`, or with its
    /// namespace and name if it has none.
    pub(super) fn kind_of(&self, facts: &Facts) -> Option<(&str, &str)> {
        let found = if facts.uid.is_empty() {
            self.by_name.get(&name_of(facts))
        } else {
            self.by_uid.get(&facts.uid)
        };
        let known = &self.histories[*found?.last()?].facts;
        Some((&known.api_version, &known.kind))
    }

    /// Adds a state to a history and says what it is to it.
    pub(super) fn step(
        &mut self,
        index: usize,
        state: State,
        facts: &Facts,
        certainty: Certainty,
    ) -> Step {
        let kept = STATES_KEPT.min((STATES_KEPT_IN_ALL / self.histories.len()).max(2));
        let history = &mut self.histories[index];
        if std::mem::replace(&mut history.breaks, self.breaks) != self.breaks {
            history.states.clear();
        }
        if history.has(&state) {
            return Step::Repeated;
        }
        let late = history
            .states
            .back()
            .is_some_and(|last| is_older(&state.resource_version, &last.resource_version));
        if late {
            return Step::New { old: None, earlier: Vec::new() };
        }
        let mut earlier: Vec<State> = history.states.iter().cloned().collect();
        let old = earlier.pop();
        match certainty {
            Certainty::Stored => {
                history.keep(state, kept);
                history.proposed = None;
            }
            Certainty::Proposed => history.proposed = Some(state),
        }
        let known = std::mem::replace(&mut history.facts.references, facts.references.clone());
        let namespace = history.facts.namespace.clone();
        for reference in &facts.references {
            if known.contains(reference) {
                continue;
            }
            for namespace in places(reference, &namespace) {
                let key = (namespace.to_owned(), reference.name.clone());
                let named_by = self.named_by.entry(key).or_default();
                if named_by.last() != Some(&index) {
                    named_by.push(index);
                }
            }
        }
        Step::New { old, earlier }
    }

    /// Takes in the state that a review says the object is in.
    pub(super) fn stored(&mut self, index: usize, state: State) {
        let breaks = self.breaks;
        let history = &mut self.histories[index];
        if std::mem::replace(&mut history.breaks, breaks) != breaks {
            history.states.clear();
        }
        let last = history.states.back();
        if last.is_none_or(|last| last.resource_version != state.resource_version) {
            history.keep(state, STATES_KEPT);
        }
    }

    /// Ends a history: the object is gone.
    pub(super) fn end(&mut self, index: usize) {
        let history = &mut self.histories[index];
        history.ended = true;
        let (uid, name) = (&history.facts.uid, name_of(&history.facts));
        let found = [self.by_uid.get_mut(uid), self.by_name.get_mut(&name)];
        for indices in found.into_iter().flatten() {
            indices.retain(|other| *other != index);
        }
    }

    /// A watch broke: what comes next does not follow on what came before.
    pub(super) fn break_watch(&mut self) {
        self.breaks += 1;
    }

    /// Returns the latest states of the objects that `index` names, then of those that name it.
    pub(super) fn related(&self, index: usize, facts: &Facts) -> Vec<&State> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::from([index]);
        let own = &self.histories.get(index).map_or(facts, |history| &history.facts).namespace;
        for reference in &facts.references {
            for namespace in places(reference, own) {
                let key = (namespace.to_owned(), reference.name.clone());
                for other in self.by_name.get(&key).into_iter().flatten() {
                    let kind = &self.histories[*other].facts.kind;
                    if (reference.kind.is_empty() || reference.kind == *kind) && seen.insert(*other)
                    {
                        found.push(*other);
                    }
                }
            }
        }
        for other in self.named_by.get(&name_of(facts)).into_iter().flatten() {
            let history = &self.histories[*other];
            let names_it = history.facts.references.iter().any(|reference| {
                reference.name == facts.name
                    && (reference.kind.is_empty() || reference.kind == facts.kind)
                    && places(reference, &history.facts.namespace)
                        .any(|namespace| namespace == facts.namespace)
            });
            if names_it && !history.ended && seen.insert(*other) {
                found.push(*other);
            }
            if found.len() > RELATED_MAX {
                break;
            }
        }
        found.truncate(RELATED_MAX);
        found.into_iter().filter_map(|other| self.histories[other].latest()).collect()
    }

    /// Number of distinct objects.
    pub(super) fn len(&self) -> usize {
        self.histories.len()
    }
}

impl History {
    fn latest(&self) -> Option<&State> {
        self.states.back().or(self.proposed.as_ref())
    }

    /// Whether the state is known, unchanged.
    fn has(&self, state: &State) -> bool {
        let same = |known: &State| {
            known.resource_version == state.resource_version && known.json == state.json
        };
        if state.resource_version.is_empty() {
            return self.states.back().into_iter().chain(&self.proposed).any(same);
        }
        self.states.iter().chain(&self.proposed).any(same)
    }

    fn keep(&mut self, state: State, kept: usize) {
        self.states.push_back(state);
        while self.states.len() > kept {
            self.states.pop_front();
        }
    }
}

fn name_of(facts: &Facts) -> (String, String) {
    (facts.namespace.clone(), facts.name.clone())
}

/// Where an object that is named may be: in the namespace that is given, else in that of the
/// object that names it, or in none.
fn places<'a>(reference: &'a Reference, own: &'a str) -> impl Iterator<Item = &'a str> {
    let (first, second) = match (reference.namespace.as_str(), own) {
        ("", "") => ("", None),
        ("", own) => (own, Some("")),
        (given, _) => (given, None),
    };
    std::iter::once(first).chain(second)
}

/// Whether `version` is from before `last`: resourceVersions of one object count upwards
/// (KEP-5504). An audit log writes requests down as they end, not in the order of their writes.
fn is_older(version: &str, last: &str) -> bool {
    match (version.parse::<u128>(), last.parse::<u128>()) {
        (Ok(version), Ok(last)) => version < last,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
