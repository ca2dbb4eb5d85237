//! What is known of an input before anything of it is judged.

use std::sync::Arc;

use jiff::Timestamp;

use super::super::result::Place;
use super::super::scan::Facts;
use super::super::track::{Certainty, State, Step, Tracker};
use super::Read;
use crate::input::{Document, Item, ItemKind, Unreadable, add_type};

/// What is known of an input as a whole.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The objects in their last states.
    pub(super) tracker: Tracker,
    /// By object: the ordinal of its last state, unless it is gone.
    last: Vec<Option<usize>>,
    pub(super) newest: Option<Timestamp>,
}

/// An object with its type.
pub(super) struct Object {
    pub(super) facts: Facts,
    pub(super) json: Arc<str>,
}

impl Survey {
    pub(super) fn new(documents: &[Result<Read, Unreadable>]) -> Self {
        let mut survey = Self::default();
        let mut ordinal = 0;
        for Read { document, items } in documents.iter().flatten() {
            for item in items {
                match &item.kind {
                    ItemKind::Object(json) | ItemKind::Deleted(json) => {
                        ordinal += 1;
                        let gone = matches!(item.kind, ItemKind::Deleted(_));
                        survey.object(document, &item.base, json, gone, ordinal);
                    }
                    ItemKind::OldObject(json) => stored(&mut survey.tracker, document, item, json),
                    ItemKind::WatchError(_) => survey.tracker.break_watch(),
                    _ => {}
                }
            }
        }
        survey
    }

    /// Whether a state is the object's last one.
    pub(super) fn is_last(&self, object: usize, ordinal: usize) -> bool {
        self.last.get(object) == Some(&Some(ordinal))
    }

    fn object(
        &mut self,
        document: &Arc<Document>,
        base: &str,
        json: &str,
        gone: bool,
        ordinal: usize,
    ) {
        let Ok(Object { facts, json }) = typed(&self.tracker, json) else { return };
        self.newest = self.newest.max(facts.newest);
        let index = self.tracker.history(&facts);
        let state = State::new(document, base, &json, &facts);
        let step = self.tracker.step(index, state, &facts, certainty(base));
        self.last.resize(self.tracker.len(), None);
        if gone {
            self.last[index] = None;
            self.tracker.end(index);
        } else if matches!(step, Step::New { .. }) {
            self.last[index] = Some(ordinal);
        }
    }
}

impl State {
    pub(super) fn new(
        document: &Arc<Document>,
        base: &str,
        json: &Arc<str>,
        facts: &Facts,
    ) -> Self {
        Self {
            document: Arc::clone(document),
            base: base.to_owned(),
            json: Arc::clone(json),
            resource_version: facts.resource_version.clone(),
        }
    }

    pub(super) fn place(&self, origin: &str) -> Place {
        Place::new(origin, &self.document, &self.base)
    }
}

impl Place {
    pub(super) fn new(origin: &str, document: &Arc<Document>, base: &str) -> Self {
        Self { origin: origin.to_owned(), document: Arc::clone(document), base: base.to_owned() }
    }
}

/// Takes in the state that a review says an object is in.
pub(super) fn stored(tracker: &mut Tracker, document: &Arc<Document>, item: &Item, json: &str) {
    if let Ok(Object { facts, json }) = typed(tracker, json) {
        let index = tracker.history(&facts);
        tracker.stored(index, State::new(document, &item.base, &json, &facts));
    }
}

/// Returns an object with its type, which an earlier object of its uid may tell.
pub(super) fn typed(tracker: &Tracker, json: &str) -> Result<Object, String> {
    let mut facts = Facts::read(json).map_err(|error| format!("not an object: {error}"))?;
    if !facts.api_version.is_empty() || !facts.kind.is_empty() {
        return Ok(Object { facts, json: json.into() });
    }
    let Some((api_version, kind)) = tracker.kind_of(&facts) else {
        return Err("neither apiVersion nor kind, and no earlier object tells them".to_owned());
    };
    api_version.clone_into(&mut facts.api_version);
    kind.clone_into(&mut facts.kind);
    let json = add_type(json, api_version, kind).into();
    Ok(Object { facts, json })
}

/// What a review asks for may not come to be.
pub(super) fn certainty(base: &str) -> Certainty {
    if base.ends_with("/request/object") { Certainty::Proposed } else { Certainty::Stored }
}
