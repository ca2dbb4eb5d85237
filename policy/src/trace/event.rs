//! One event: what happened, with the fields that belong to it.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Key, Millis, Priority, Returned};

use crate::pass::OutcomeType;
use crate::time::Time;
use crate::trace::document::{EventName, EventSpec, Filter, Side, StatusSpec};
use crate::trace::history::{SourceId, millis};

/// One event.
#[derive(Debug)]
pub struct Event {
    /// When; at once if not said.
    pub at: Option<Millis>,
    /// What happened.
    pub action: Action,
    /// What a handler does: the watch event that it handles.
    pub handles: Option<usize>,
}

/// What happened. See [`EventName`].
#[derive(Debug)]
pub enum Action {
    /// A source changes at the server.
    Commit(SourceId, Box<str>),
    /// An object changes at the server.
    Change {
        /// Its key.
        key: Key,
        /// The new `metadata.generation`.
        generation: Option<i64>,
        /// The new token of a request.
        request: Option<Box<str>>,
        /// Suspended or resumed.
        suspended: Option<bool>,
        /// Gone, or about to be.
        deleted: bool,
    },
    /// An informer delivers a source.
    Watch(SourceId, Option<Box<str>>),
    /// An informer delivers the object itself.
    WatchObject(Key, Option<Box<str>>),
    /// An informer calls its handlers again.
    Resync,
    /// A handler maps.
    Map(Key, Option<Side>, Filter),
    /// A handler cancels the listening run.
    Dispatch(Key),
    /// A handler leaves an add out.
    Skip(Key),
    /// `Add`.
    Add(Key, Priority),
    /// `AddAfter`.
    AddAfter(Key, i64, Priority),
    /// `AddRateLimited`.
    AddRateLimited(Key, Priority),
    /// A run starts.
    Get(Key),
    /// It listens.
    Listen(Key, Option<Box<str>>),
    /// It reads.
    Read(Key, SourceId, Option<Box<str>>),
    /// It is cancelled.
    Cancel(Key),
    /// It writes.
    Write {
        /// Its key.
        key: Key,
        /// What the status says from now on.
        status: Option<Box<StatusSpec>>,
        /// What else was changed.
        fields: Box<[String]>,
        /// The API server refused it.
        is_refused: bool,
        /// The resourceVersion that came of it.
        version: Option<Box<str>>,
    },
    /// It returns.
    Return(Key, Returned, Option<OutcomeType>),
    /// The worker gives the key back.
    Done(Key),
    /// The failure count is reset.
    Forget(Key),
    /// A timer fires.
    Tick(Key),
    /// Everything in memory is lost.
    Restart,
}

impl Action {
    /// The key that it is about.
    pub fn key(&self) -> Option<Key> {
        match self {
            Self::Commit(..) | Self::Watch(..) | Self::Resync | Self::Restart => None,
            Self::WatchObject(key, _)
            | Self::Map(key, ..)
            | Self::Dispatch(key)
            | Self::Skip(key)
            | Self::Add(key, _)
            | Self::AddAfter(key, ..)
            | Self::AddRateLimited(key, _)
            | Self::Get(key)
            | Self::Listen(key, _)
            | Self::Read(key, ..)
            | Self::Cancel(key)
            | Self::Return(key, ..)
            | Self::Done(key)
            | Self::Forget(key)
            | Self::Tick(key)
            | Self::Change { key, .. }
            | Self::Write { key, .. } => Some(*key),
        }
    }

    /// Its name in the document.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Commit(..) => "commit",
            Self::Change { .. } => "change",
            Self::Watch(..) | Self::WatchObject(..) => "watch",
            Self::Resync => "resync",
            Self::Map(..) => "map",
            Self::Dispatch(_) => "dispatch",
            Self::Skip(_) => "skip",
            Self::Add(..) => "add",
            Self::AddAfter(..) => "addAfter",
            Self::AddRateLimited(..) => "addRateLimited",
            Self::Get(_) => "get",
            Self::Listen(..) => "listen",
            Self::Read(..) => "read",
            Self::Cancel(_) => "cancel",
            Self::Write { .. } => "write",
            Self::Return(..) => "return",
            Self::Done(_) => "done",
            Self::Forget(_) => "forget",
            Self::Tick(_) => "tick",
            Self::Restart => "restart",
        }
    }
}

/// The keys and sources by name, in order of appearance.
#[derive(Default)]
pub(crate) struct Names {
    /// Keys.
    pub(crate) keys: BTreeMap<String, usize>,
    /// Sources.
    pub(crate) sources: BTreeMap<String, usize>,
}

/// Names in the order of their indices.
pub(crate) fn in_order(names: &BTreeMap<String, usize>) -> Vec<String> {
    let mut list: Vec<_> = names.iter().collect();
    list.sort_by_key(|&(_, &index)| index);
    list.into_iter().map(|(name, _)| name.clone()).collect()
}

impl Names {
    pub(crate) fn key(&mut self, name: &str) {
        if !self.keys.contains_key(name) {
            self.keys.insert(name.to_string(), self.keys.len());
        }
    }

    pub(crate) fn source(&mut self, name: &str) {
        if !self.sources.contains_key(name) {
            self.sources.insert(name.to_string(), self.sources.len());
        }
    }
}

/// The event with its fields, or what is wrong with it.
pub(crate) fn resolve(spec: EventSpec, names: &Names, zero: Option<Time>) -> Result<Event, String> {
    check_fields(&spec)?;
    let key = || -> Result<Key, String> {
        let index = match &spec.key {
            Some(name) => names.keys.get(&**name).copied(),
            None if names.keys.len() == 1 => Some(0),
            None => None,
        };
        index
            .and_then(|index| Key::try_from(index).ok())
            .ok_or_else(|| "`key` is missing, and there is not exactly one".to_string())
    };
    let named_source = spec.source.as_ref().and_then(|name| names.sources.get(&**name).copied());
    let source = || {
        named_source
            .or_else(|| (names.sources.len() == 1).then_some(0))
            .ok_or_else(|| "`source` is missing, and there is not exactly one".to_string())
    };
    let priority = spec.priority.unwrap_or(0);
    let action = match spec.event {
        EventName::Commit => {
            Action::Commit(source()?, spec.revision.ok_or("a commit needs the new `revision`")?)
        }
        EventName::Change => Action::Change {
            key: key()?,
            generation: spec.generation,
            request: spec.request,
            suspended: spec.suspended,
            deleted: spec.deleted == Some(true),
        },
        EventName::Watch => match (named_source, &spec.key) {
            (Some(_), Some(_)) => {
                return Err("`watch` is about a source or about a key, not both".to_string());
            }
            (None, Some(_)) => Action::WatchObject(key()?, spec.resource_version),
            (Some(source), None) => Action::Watch(source, spec.revision),
            (None, None) if names.sources.is_empty() => {
                Action::WatchObject(key()?, spec.resource_version)
            }
            (None, None) => Action::Watch(source()?, spec.revision),
        },
        EventName::Resync => Action::Resync,
        EventName::Map => Action::Map(key()?, spec.side, spec.filter.unwrap_or(Filter::Keep)),
        EventName::Dispatch => Action::Dispatch(key()?),
        EventName::Skip => Action::Skip(key()?),
        EventName::Add => Action::Add(key()?, priority),
        EventName::AddAfter => {
            let delay = spec.delay.ok_or("`addAfter` needs a `delay`")?;
            Action::AddAfter(key()?, delay.0, priority)
        }
        EventName::AddRateLimited => Action::AddRateLimited(key()?, priority),
        EventName::Get => Action::Get(key()?),
        EventName::Listen => Action::Listen(key()?, spec.revision),
        EventName::Read => Action::Read(key()?, source()?, spec.revision),
        EventName::Cancel => Action::Cancel(key()?),
        EventName::Write => Action::Write {
            key: key()?,
            status: spec.status,
            fields: spec.fields.unwrap_or_default(),
            is_refused: spec.refused == Some(true),
            version: spec.resource_version,
        },
        EventName::Return => {
            let returned = Returned {
                requeue: spec.requeue == Some(true),
                after: spec.requeue_after.map(|span| span.0),
                error: spec.error.is_some_and(|error| !error.is_empty())
                    || spec.terminal == Some(true),
                terminal: spec.terminal == Some(true),
            };
            Action::Return(key()?, returned, spec.outcome)
        }
        EventName::Done => Action::Done(key()?),
        EventName::Forget => Action::Forget(key()?),
        EventName::Tick => Action::Tick(key()?),
        EventName::Restart => Action::Restart,
    };
    let at = match spec.at {
        Some(moment) => {
            let at = millis(moment, zero).map_err(|message| format!("`at`: {message}"))?;
            Some(Millis::try_from(at).map_err(|_| "`at` is before the start".to_string())?)
        }
        None => None,
    };
    // Until `attribute` runs, a handler's event remembers its source here.
    Ok(Event { at, action, handles: named_source })
}

fn check_fields(spec: &EventSpec) -> Result<(), String> {
    use EventName as E;
    let handler = matches!(
        spec.event,
        E::Map | E::Dispatch | E::Skip | E::Add | E::AddAfter | E::AddRateLimited
    );
    let has_source =
        handler || matches!(spec.event, E::Commit | E::Watch | E::Resync | E::Read | E::Cancel);
    let has_key = !matches!(spec.event, E::Commit | E::Restart);
    let fields: [(&str, bool, bool); 20] = [
        ("key", spec.key.is_some(), has_key),
        ("source", spec.source.is_some(), has_source),
        (
            "revision",
            spec.revision.is_some(),
            matches!(spec.event, E::Commit | E::Watch | E::Listen | E::Read),
        ),
        (
            "resourceVersion",
            spec.resource_version.is_some(),
            matches!(spec.event, E::Watch | E::Write),
        ),
        ("side", spec.side.is_some(), spec.event == E::Map),
        ("filter", spec.filter.is_some(), spec.event == E::Map),
        (
            "priority",
            spec.priority.is_some(),
            matches!(spec.event, E::Add | E::AddAfter | E::AddRateLimited),
        ),
        ("delay", spec.delay.is_some(), spec.event == E::AddAfter),
        ("status", spec.status.is_some(), spec.event == E::Write),
        ("fields", spec.fields.is_some(), spec.event == E::Write),
        ("refused", spec.refused.is_some(), spec.event == E::Write),
        ("requeue", spec.requeue.is_some(), spec.event == E::Return),
        ("requeueAfter", spec.requeue_after.is_some(), spec.event == E::Return),
        ("error", spec.error.is_some(), spec.event == E::Return),
        ("terminal", spec.terminal.is_some(), spec.event == E::Return),
        ("outcome", spec.outcome.is_some(), spec.event == E::Return),
        ("generation", spec.generation.is_some(), spec.event == E::Change),
        ("request", spec.request.is_some(), spec.event == E::Change),
        ("suspended", spec.suspended.is_some(), spec.event == E::Change),
        ("deleted", spec.deleted.is_some(), spec.event == E::Change),
    ];
    match fields.iter().find(|&&(_, is_set, is_known)| is_set && !is_known) {
        Some((name, ..)) => Err(format!("`{name}` has no meaning on this event")),
        None => Ok(()),
    }
}

/// Finds the watch event that each handler's event belongs to: the last one of the source that it
/// names, else the last one of all.
pub(crate) fn attribute(events: &mut [Event]) {
    let mut last = None;
    let mut by_source: BTreeMap<SourceId, usize> = BTreeMap::new();
    for (index, event) in events.iter_mut().enumerate() {
        let named = event.handles.take();
        match event.action {
            Action::Watch(source, _) => {
                by_source.insert(source, index);
                last = Some(index);
            }
            Action::WatchObject(..) => last = Some(index),
            Action::Resync => {
                named.map(|source| by_source.insert(source, index));
                last = Some(index);
            }
            Action::Map(..)
            | Action::Dispatch(_)
            | Action::Skip(_)
            | Action::Add(..)
            | Action::AddAfter(..)
            | Action::AddRateLimited(..) => {
                event.handles = named.map_or(last, |source| by_source.get(&source).copied());
            }
            // A run may be cancelled by other things than handlers.
            Action::Cancel(_) => {
                event.handles = named.and_then(|source| by_source.get(&source).copied());
            }
            _ => {}
        }
    }
}

/// Per key, the sources that its events name.
pub(crate) fn learnt_sources(events: &[Event]) -> BTreeMap<usize, Vec<SourceId>> {
    let mut learnt: BTreeMap<usize, Vec<SourceId>> = BTreeMap::new();
    for event in events {
        let source = match (&event.action, event.handles.map(|watch| &events[watch].action)) {
            (Action::Read(_, source, _), _)
            | (Action::Map(..) | Action::Dispatch(_), Some(Action::Watch(source, _))) => *source,
            _ => continue,
        };
        if let Some(key) = event.action.key() {
            let list = learnt.entry(usize::from(key)).or_default();
            if !list.contains(&source) {
                list.push(source);
            }
        }
    }
    learnt
}

pub(crate) fn depends(
    index: usize,
    names: &Names,
    learnt: &BTreeMap<usize, Vec<SourceId>>,
) -> Vec<SourceId> {
    if names.keys.len() == 1 {
        (0..names.sources.len()).collect()
    } else {
        learnt.get(&index).cloned().unwrap_or_default()
    }
}
