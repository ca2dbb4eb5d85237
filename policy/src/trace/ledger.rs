//! What is owed to a key, and what will do it.
//!
//! ```text
//!   a source moves · the object changes · a run ends early · a time comes      → debt
//!   an entry · a timer · a run that will see it · an event still to be handled → carrier
//! ```
//!
//! A debt without a carrier is a lost wake-up. The event after which that became so, and stayed so
//! to the end, is where it was lost.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Key, Millis, View};

use crate::pass::OutcomeType;
use crate::trace::document::StatusSpec;
use crate::trace::history::{History, SourceId};
use crate::trace::replay::SourceState;
use crate::trace::scalar::Truth;
use crate::trace::story::{Carrier, Debt, Owing, Pass};

/// How a key stands. The worst of its debts counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// All that is owed will be done.
    Held,
    /// An event decides that is still to be handled.
    Open,
    /// Something is owed that nothing will do.
    Lost,
}

/// What is owed, without its words. See [`Owing`].
#[derive(Clone, Copy)]
enum Claim {
    Source(SourceId),
    /// An index into the revisions that no run has seen.
    Revision(usize),
    Status,
    Generation(i64, i64),
    Request,
    Change,
    Another(Option<OutcomeType>),
    Write,
    Due(i64),
    Interval(Millis),
}

/// A run that has not returned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Underway {
    /// The event that started it.
    pub(crate) got: usize,
    /// It was cancelled.
    pub(crate) is_canceled: bool,
}

/// What is owed to one key.
#[derive(Debug)]
pub(crate) struct Account {
    /// What it depends on.
    pub(crate) sources: Vec<SourceId>,
    /// What its status says.
    pub(crate) status: StatusSpec,
    /// The last request: the event and the token.
    pub(crate) requested: Option<(usize, String)>,
    /// A status write that the API server refused, and which none has made good since.
    pub(crate) refused: Option<usize>,
    /// Revisions that no run has seen, of sources of which each counts.
    pub(crate) unseen: Vec<(SourceId, String, usize)>,
    /// The last event by which a handler deals with a watch event that was delivered.
    pub(crate) handled_until: usize,
    /// The object was changed, and the watch event is still to come.
    pub(crate) is_change_underway: bool,
    /// The controller was restarted, and the initial list is still to come.
    pub(crate) is_list_underway: bool,
    /// The last request was answered by a run that could not know it.
    pub(crate) is_answer_void: bool,
    written: Option<usize>,
    seen: BTreeMap<SourceId, String>,
    /// Sources that the run in progress has yet to read.
    to_read: Vec<SourceId>,
    generation: Option<(i64, Option<usize>)>,
    changed: Option<usize>,
    unfinished: Option<(usize, Option<OutcomeType>)>,
    due: Option<i64>,
    interval: Option<Millis>,
    /// When the last run ended that did not fail.
    rested: Millis,
    /// The last run neither failed nor was cancelled nor asked for another: if it left the object
    /// unsettled, it waits for an event.
    awaits: bool,
    /// There is a source whose events can wake the key, or none is known at all.
    can_be_woken: bool,
    is_suspended: bool,
    is_deleting: bool,
    is_gone: bool,
    is_terminal: bool,
}

impl Account {
    /// The account of a key at the start.
    pub(crate) fn open(history: &History, key: Key) -> Self {
        let object = &history.objects[usize::from(key)];
        let mut account = Self {
            sources: object.sources.clone(),
            status: object.status.clone(),
            requested: None,
            refused: None,
            unseen: Vec::new(),
            handled_until: 0,
            is_change_underway: false,
            is_list_underway: false,
            is_answer_void: false,
            written: None,
            seen: BTreeMap::new(),
            to_read: Vec::new(),
            generation: object.generation.map(|generation| (generation, None)),
            changed: None,
            unfinished: None,
            due: object.due,
            interval: object.interval,
            rested: 0,
            awaits: true,
            can_be_woken: object.sources.is_empty()
                || object.sources.iter().any(|&source| history.sources[source].is_watched),
            is_suspended: object.suspended,
            is_deleting: false,
            is_gone: false,
            is_terminal: false,
        };
        if let ([only], Some(attempted)) = (&account.sources[..], &object.status.attempted) {
            account.seen.insert(*only, attempted.clone());
        }
        if let Some(request) = &object.request
            && object.status.handled.as_ref().is_some_and(|handled| handled != request)
        {
            account.requested = Some((0, request.clone()));
        }
        account
    }

    /// Whether the key depends on a source.
    pub(crate) fn depends_on(&self, source: SourceId) -> bool {
        self.sources.contains(&source)
    }

    /// The object changes at the API server.
    pub(crate) fn change(
        &mut self,
        index: usize,
        generation: Option<i64>,
        request: Option<&str>,
        suspended: Option<bool>,
        deleted: bool,
    ) {
        self.is_change_underway = true;
        self.is_terminal = false;
        if generation.is_some() || request.is_some() || suspended == Some(false) || deleted {
            self.changed = Some(index);
        }
        if let Some(generation) = generation {
            self.generation = Some((generation, Some(index)));
        }
        if let Some(request) = request {
            self.requested = Some((index, request.to_string()));
            self.is_answer_void = false;
        }
        self.is_suspended = suspended.unwrap_or(self.is_suspended);
        self.is_deleting |= deleted;
    }

    /// A run starts.
    pub(crate) fn start(&mut self, now: Millis, to_read: &[SourceId]) {
        self.is_terminal = false;
        self.changed = None;
        self.to_read = to_read.to_vec();
        if self.due.is_some_and(|due| i64::try_from(now).is_ok_and(|now| now >= due)) {
            self.due = None;
        }
    }

    /// A run sees a source.
    pub(crate) fn see(&mut self, source: SourceId, revision: &str) {
        self.to_read.retain(|&s| s != source);
        self.unseen.retain(|(s, r, _)| *s != source || r != revision);
        self.seen.insert(source, revision.to_string());
    }

    /// A status write lands.
    pub(crate) fn write(&mut self, index: usize, new: &StatusSpec) {
        self.written = Some(index);
        let old = &mut self.status;
        old.ready = new.ready.or(old.ready);
        old.reconciling = new.reconciling.or(old.reconciling);
        old.stalled = new.stalled.or(old.stalled);
        old.observed_generation = new.observed_generation.or(old.observed_generation);
        for (old, new) in [
            (&mut old.reason, &new.reason),
            (&mut old.attempted, &new.attempted),
            (&mut old.applied, &new.applied),
            (&mut old.handled, &new.handled),
        ] {
            if new.is_some() {
                old.clone_from(new);
            }
        }
    }

    /// A run ends; returns how.
    pub(crate) fn finish(
        &mut self,
        index: usize,
        now: Millis,
        pass: &Pass,
        outcome: Option<OutcomeType>,
    ) -> Option<OutcomeType> {
        self.to_read.clear();
        self.is_terminal = pass.result.terminal;
        let outcome = outcome.or(if pass.canceled.is_some() {
            Some(OutcomeType::Canceled)
        } else if pass.result.terminal {
            Some(OutcomeType::Terminal)
        } else if pass.result.error {
            Some(OutcomeType::Failed)
        } else if pass.result.requeue || pass.result.after.is_some_and(|after| after < 0) {
            None
        } else {
            Some(OutcomeType::Succeeded)
        });
        match outcome {
            Some(OutcomeType::Succeeded) => self.unfinished = None,
            Some(OutcomeType::Suspended) => {}
            Some(OutcomeType::Deleted | OutcomeType::NotFound) => self.is_gone = true,
            Some(OutcomeType::Terminal) => self.is_terminal = true,
            Some(
                OutcomeType::Failed
                | OutcomeType::Canceled
                | OutcomeType::Waiting
                | OutcomeType::Deleting
                | OutcomeType::FinalizerAdded
                | OutcomeType::Unfinished,
            )
            | None => self.unfinished = Some((index, outcome)),
        }
        self.awaits = matches!(
            outcome,
            Some(OutcomeType::Succeeded | OutcomeType::Waiting | OutcomeType::Suspended)
        );
        self.rested = now;
        outcome
    }

    /// The controller restarts.
    pub(crate) fn restart(&mut self) {
        self.to_read.clear();
        self.handled_until = 0;
        self.is_change_underway = false;
        self.is_list_underway = true;
    }

    /// Hands each thing that is owed to `owe`, with the event that made it so.
    fn claims(&self, sources: &[SourceState], mut owe: impl FnMut(Claim, Option<usize>)) {
        if let Some(refused) = self.refused {
            owe(Claim::Write, Some(refused));
        }
        if self.is_gone || self.is_terminal || (self.is_suspended && !self.is_deleting) {
            return;
        }
        if let Some(changed) = self.changed {
            owe(Claim::Change, Some(changed));
        }
        if self.is_deleting {
            return;
        }
        if let (Some((generation, since)), Some(observed)) =
            (self.generation, self.status.observed_generation)
            && observed < generation
            && self.changed.is_none()
        {
            owe(Claim::Generation(generation, observed), since);
        }
        if self.status.stalled == Some(true) {
            return;
        }
        for &source in &self.sources {
            let state = &sources[source];
            let seen = self.seen.get(&source);
            let is_known = seen.is_some() || state.changed.is_some();
            if is_known && state.server.is_some() && state.server.as_ref() != seen {
                owe(Claim::Source(source), state.changed);
            }
        }
        for (number, (source, revision, since)) in self.unseen.iter().enumerate() {
            if sources[*source].store.as_ref() != Some(revision) {
                owe(Claim::Revision(number), Some(*since));
            }
        }
        if is_unsettled(&self.status) {
            owe(Claim::Status, self.written);
        } else if let Some((since, outcome)) = self.unfinished {
            owe(Claim::Another(outcome), Some(since));
        }
        if let Some((since, request)) = &self.requested
            && (self.is_answer_void
                || self.status.handled.as_ref().is_some_and(|handled| handled != request))
        {
            owe(Claim::Request, Some(*since));
        }
        if let Some(due) = self.due {
            owe(Claim::Due(due), None);
        }
        if let Some(interval) = self.interval {
            owe(Claim::Interval(self.rested.saturating_add(interval)), None);
        }
    }

    /// What is owed and done by nothing; if there is none, what is owed, and what will do the first
    /// of it.
    pub(crate) fn debts(
        &self,
        index: usize,
        view: &View,
        run: Option<Underway>,
        sources: &[SourceState],
    ) -> (Vec<Debt>, Option<Carrier>) {
        let mut lost = Vec::new();
        let mut held = Vec::new();
        let mut carrier = None;
        self.claims(sources, |claim, since| {
            let debt = Debt { owing: self.owing(claim, sources), since };
            match self.carrier(claim, since, index, view, run, sources) {
                None => lost.push(debt),
                Some(found) => {
                    carrier.get_or_insert(found);
                    held.push(debt);
                }
            }
        });
        if lost.is_empty() { (held, carrier) } else { (lost, None) }
    }

    fn owing(&self, claim: Claim, sources: &[SourceState]) -> Owing {
        match claim {
            Claim::Source(source) => {
                let server = sources[source].server.clone().unwrap_or_default();
                Owing::Source(source, self.seen.get(&source).cloned(), server)
            }
            Claim::Revision(number) => {
                let (source, revision, _) = &self.unseen[number];
                Owing::Revision(*source, revision.clone())
            }
            Claim::Status => Owing::Status(unsettled(&self.status)),
            Claim::Generation(generation, observed) => Owing::Generation(generation, observed),
            Claim::Request => Owing::Request(
                self.requested.as_ref().map(|(_, token)| token.clone()).unwrap_or_default(),
            ),
            Claim::Change => Owing::Change,
            Claim::Another(outcome) => Owing::Another(outcome),
            Claim::Write => Owing::Write,
            Claim::Due(at) => Owing::Due(at),
            Claim::Interval(next) => Owing::Interval(next),
        }
    }

    /// What will do what is owed, after the event `index`.
    fn carrier(
        &self,
        claim: Claim,
        since: Option<usize>,
        index: usize,
        view: &View,
        run: Option<Underway>,
        sources: &[SourceState],
    ) -> Option<Carrier> {
        if matches!(claim, Claim::Revision(_)) {
            return None;
        }
        if view.ready {
            return Some(Carrier::Entry);
        }
        if run.is_some_and(|run| self.run_will_do(claim, since, run)) {
            return Some(Carrier::Run);
        }
        let is_underway = self.handled_until > index
            || self.is_change_underway
            || self.is_list_underway
            || self.sources.iter().any(|&source| sources[source].server != sources[source].store);
        if is_underway {
            return Some(Carrier::Event);
        }
        if let Some(due) = view.due {
            return Some(Carrier::Timer(due));
        }
        let is_waiting =
            matches!(claim, Claim::Status | Claim::Another(Some(OutcomeType::Waiting)));
        (is_waiting && self.awaits && self.can_be_woken).then_some(Carrier::Await)
    }

    /// Whether a run can still settle what is owed. One that was cancelled has been told that there
    /// is more to do; what it returns decides.
    fn run_will_do(&self, claim: Claim, since: Option<usize>, run: Underway) -> bool {
        match claim {
            Claim::Revision(_) => false,
            _ if run.is_canceled => true,
            Claim::Source(source) => self.to_read.contains(&source),
            Claim::Generation(..) | Claim::Request | Claim::Change => {
                since.is_none_or(|since| since < run.got)
            }
            Claim::Due(_) => false,
            Claim::Status | Claim::Another(_) | Claim::Write | Claim::Interval(_) => true,
        }
    }

    /// Whether the run in progress has yet to read a source.
    pub(crate) fn is_to_read(&self, source: SourceId) -> bool {
        self.to_read.contains(&source)
    }

    /// How the key stands after the event `index`.
    pub(crate) fn fate(
        &self,
        index: usize,
        view: &View,
        run: Option<Underway>,
        sources: &[SourceState],
    ) -> Fate {
        let mut worst = Fate::Held;
        self.claims(sources, |claim, since| {
            let fate = match self.carrier(claim, since, index, view, run, sources) {
                None => Fate::Lost,
                Some(Carrier::Event) => Fate::Open,
                Some(Carrier::Entry | Carrier::Run | Carrier::Timer(_) | Carrier::Await) => {
                    Fate::Held
                }
            };
            worst = worst.max(fate);
        });
        worst
    }
}

/// Whether a status says that something is left to do.
fn is_unsettled(status: &StatusSpec) -> bool {
    status.ready.is_some_and(|ready| ready != Truth::True)
        || status.reconciling == Some(true)
        || status.attempted.is_some()
            && status.applied.is_some()
            && status.attempted != status.applied
}

/// Why a status is not settled.
fn unsettled(status: &StatusSpec) -> String {
    if let Some(ready) = status.ready.filter(|&ready| ready != Truth::True) {
        return match &status.reason {
            Some(reason) => format!("Ready is {ready} with reason `{reason}`"),
            None => format!("Ready is {ready}"),
        };
    }
    match (&status.attempted, &status.applied) {
        (Some(attempted), Some(applied)) if status.reconciling != Some(true) => {
            format!("`{attempted}` was attempted, `{applied}` is applied")
        }
        _ => "Reconciling is True".to_string(),
    }
}
