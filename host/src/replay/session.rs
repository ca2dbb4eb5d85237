//! One input: its header, its objects over time, and the clock.

mod survey;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::count::skip;
use super::expect::{Expectations, Header};
use super::filter::Filter;
use super::judge::{Call, Task};
use super::logs::Logs;
use super::result::{Expectation, InputError, Judged, Place, Skipped};
use super::scan::Facts;
use super::track::{State, Step, Tracker};
use super::update::{self, Group};
use super::{Input, Options, settings};
use crate::engine::{Observation, Policy};
use crate::input::{Document, Item, ItemKind, Locator, Unreadable};
use survey::{Object, Survey, certainty, stored, typed};

/// What is to be judged or told next.
#[derive(Debug)]
pub(super) enum Pending {
    Task {
        task: Box<Task>,
        /// The object's number within the input; none for passes and traces.
        history: Option<usize>,
    },
    Failed(InputError),
}

/// One input under way.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) input: Input,
    expectations: Option<Expectations>,
    given: Option<String>,
    related: bool,
    settings: String,
    policy: Policy,
    tracker: Tracker,
    logs: Logs,
    survey: Option<Survey>,
    /// Objects and deletions so far.
    ordinal: usize,
    /// The newest time so far.
    newest: Option<Timestamp>,
    /// Objects that were judged.
    judged: BTreeSet<usize>,
    pub(super) repeated: usize,
    pub(super) skipped: Vec<Skipped>,
    /// What was found, for new expectations.
    groups: Option<Vec<Group>>,
    /// How many documents stand before the first that is judged: 1 for a header.
    first: usize,
}

/// A document and what it holds, apart: the text is kept for longer.
#[derive(Debug)]
pub(super) struct Read {
    document: Arc<Document>,
    items: Vec<Item>,
}

/// Returns the header in a document, if it is one.
pub(super) fn header(document: &Document) -> Option<Result<Header, InputError>> {
    let [Item { kind: ItemKind::Fixture(json), .. }] = document.items.as_slice() else {
        return None;
    };
    let header = Header::read(json).and_then(|header| match &header.spec.now {
        Some(now) if now.parse::<Timestamp>().is_err() => {
            Err(format!("spec.now: `{now}` is no time such as 2026-11-30T12:00:00Z"))
        }
        _ => Ok(header),
    });
    Some(header.map_err(|message| failed(document, "", format!("not a Fixture: {message}"))))
}

/// Returns the line of the input that a place in a document stands in.
pub(super) fn line(document: &Document, pointer: &str) -> usize {
    let location = Locator::new(document).and_then(|locator| locator.locate(pointer));
    let start = location.map_or(0, |location| location.key.unwrap_or(location.value).start);
    document.line + document.text[..start].matches('\n').count()
}

fn failed(document: &Document, base: &str, message: String) -> InputError {
    InputError {
        input: document.input.to_string(),
        document: Some(document.number),
        line: Some(line(document, base)),
        kind: "unreadable",
        message,
    }
}

impl Session {
    pub(super) fn new(
        input: &Input,
        header: Option<Header>,
        options: &Options,
        policy: &Policy,
    ) -> Self {
        let spec = header.as_ref().map(|header| &header.spec);
        Self {
            given: options.now.clone().or_else(|| spec.and_then(|spec| spec.now.clone())),
            related: spec.is_none_or(|spec| spec.related),
            first: usize::from(header.is_some()),
            expectations: header.map(Expectations::new),
            settings: options.settings.clone(),
            policy: policy.clone(),
            tracker: Tracker::default(),
            logs: Logs::default(),
            survey: None,
            ordinal: 0,
            newest: None,
            judged: BTreeSet::new(),
            repeated: 0,
            skipped: Vec::new(),
            groups: options.update.then(Vec::new),
            input: input.clone(),
        }
    }

    /// Looks through all documents of the input before any is judged.
    pub(super) fn survey(&mut self, documents: &[Result<Read, Unreadable>]) {
        self.survey = Some(Survey::new(documents));
    }

    /// Takes in a document and returns what is to be judged of it.
    pub(super) fn document(
        &mut self,
        read: Read,
        filter: &Filter,
        profiles: &[(String, String)],
    ) -> Vec<Pending> {
        let Read { document, items } = read;
        let mut pending = Vec::new();
        for item in items {
            let next = match &item.kind {
                ItemKind::Object(json) => self.object(&document, &item.base, json, false, filter),
                ItemKind::Deleted(json) => self.object(&document, &item.base, json, true, filter),
                ItemKind::OldObject(json) => {
                    stored(&mut self.tracker, &document, &item, json);
                    None
                }
                ItemKind::Pass(json) => self.pass(&document, &item.base, json, filter, profiles),
                ItemKind::Log(line) => {
                    let told = self.logs.line(line);
                    for note in told.notes {
                        self.skip(&document, note);
                    }
                    told.pass
                        .and_then(|pass| self.pass(&document, &item.base, &pass, filter, profiles))
                }
                ItemKind::Trace(json) => self.trace(&document, &item.base, json, filter),
                ItemKind::Settings(json) => {
                    pending.extend(self.settings(&document, &item.base, json));
                    None
                }
                ItemKind::Fixture(_) if document.number == 1 => None,
                ItemKind::Fixture(_) => {
                    let message = "a Fixture is the header of its input; expected it first";
                    Some(Pending::Failed(failed(&document, &item.base, message.to_owned())))
                }
                ItemKind::Bookmark => None,
                ItemKind::WatchError(message) => {
                    self.tracker.break_watch();
                    self.skip(&document, &format!("the watch broke: {message}"));
                    None
                }
                ItemKind::Scenario(_) => {
                    self.skip(&document, "a Scenario is for `plumb explore`");
                    None
                }
                ItemKind::Skipped(why) => {
                    self.skip(&document, why);
                    None
                }
            };
            pending.extend(next);
        }
        pending
    }

    fn object(
        &mut self,
        document: &Arc<Document>,
        base: &str,
        json: &str,
        gone: bool,
        filter: &Filter,
    ) -> Option<Pending> {
        self.ordinal += 1;
        let Object { facts, json } = match typed(&self.tracker, json) {
            Ok(object) => object,
            Err(message) => return Some(Pending::Failed(failed(document, base, message))),
        };
        self.newest = self.newest.max(facts.newest);
        let index = self.tracker.history(&facts);
        let state = State::new(document, base, &json, &facts);
        let step = self.tracker.step(index, state, &facts, certainty(base));
        if gone {
            self.tracker.end(index);
        }
        let Step::New { old, earlier } = step else {
            self.repeated += 1;
            return None;
        };
        if !filter.object(&facts) {
            return None;
        }
        let survey = self.survey.as_ref().filter(|survey| survey.is_last(index, self.ordinal));
        let related = match (self.related, survey) {
            (false, _) => Vec::new(),
            (true, Some(survey)) => survey.tracker.related(index, &facts),
            (true, None) => self.tracker.related(index, &facts),
        };
        let now = self.now(survey);
        let mut places = vec![Place::new("object", document, base)];
        places.extend(old.iter().map(|state| state.place("old")));
        let numbered = |name: &'static str| move |index: usize| format!("{name}/{index}");
        for (states, origin) in [
            (earlier.iter().collect::<Vec<_>>(), numbered("history")),
            (related.clone(), numbered("related")),
        ] {
            places.extend(
                states.iter().enumerate().map(|(index, state)| state.place(&origin(index))),
            );
        }
        let call = Call::Check(Observation {
            object: json.to_string(),
            old: old.map(|state| state.json.to_string()),
            history: earlier.iter().map(|state| state.json.to_string()).collect(),
            related: related.iter().map(|state| state.json.to_string()).collect(),
            now: now.clone(),
            settings: self.settings.clone(),
        });
        let task = Box::new(Task { call, facts, places, now });
        Some(Pending::Task { task, history: Some(index) })
    }

    /// The time taken for the present. `survey` is given for a last state.
    fn now(&self, survey: Option<&Survey>) -> Option<String> {
        let time = match (&self.given, self.input.live) {
            (Some(given), _) => return Some(given.clone()),
            (None, true) => Timestamp::from_second(Timestamp::now().as_second()).ok(),
            (None, false) => survey.map_or(self.newest, |survey| survey.newest),
        };
        time.map(|time| time.to_string())
    }

    fn pass(
        &mut self,
        document: &Arc<Document>,
        base: &str,
        json: &str,
        filter: &Filter,
        profiles: &[(String, String)],
    ) -> Option<Pending> {
        let facts = subject(json);
        if !filter.object(&facts) {
            return None;
        }
        let profiled = profiles.iter().any(|(group, kind)| {
            let group = match group.strip_prefix('*') {
                Some(ending) => facts.group().ends_with(ending),
                None => facts.group() == group,
            };
            group && (kind == "*" || *kind == facts.kind)
        });
        let settings = self.settings.clone();
        let call = Call::Decide { pass: json.to_owned(), settings, profiled };
        Some(self.task(call, facts, document, base))
    }

    fn trace(
        &mut self,
        document: &Arc<Document>,
        base: &str,
        json: &str,
        filter: &Filter,
    ) -> Option<Pending> {
        let facts = subject(json);
        if !filter.object(&facts) {
            return None;
        }
        let call = Call::Trace { trace: json.to_owned(), settings: self.settings.clone() };
        Some(self.task(call, facts, document, base))
    }

    fn task(&self, call: Call, facts: Facts, document: &Arc<Document>, base: &str) -> Pending {
        let places = vec![Place::new("object", document, base)];
        let now = self.given.clone();
        Pending::Task { task: Box::new(Task { call, facts, places, now }), history: None }
    }

    /// Takes in settings, which hold for what follows.
    fn settings(&mut self, document: &Arc<Document>, base: &str, json: &str) -> Vec<Pending> {
        let problems = match self.policy.validate(json) {
            Ok(notes) if notes.is_empty() => {
                self.settings = settings::merge(&self.settings, json);
                return Vec::new();
            }
            Ok(notes) => notes
                .into_iter()
                .map(|note| {
                    let place = format!("{base}{}", note.path);
                    failed(document, &place, format!("{}: {}", note.path, note.message))
                })
                .collect(),
            Err(error) => vec![failed(document, base, error.to_string())],
        };
        problems.into_iter().map(Pending::Failed).collect()
    }

    fn skip(&mut self, document: &Document, message: &str) {
        skip(&mut self.skipped, &self.input.name, document.number, message);
    }

    /// Says of the results of one evaluation whether they are as expected.
    pub(super) fn expect(&mut self, results: &mut [Judged], task: &Task, filter: &Filter) {
        let number = task.places[0].document.number - self.first;
        if let Some(groups) = &mut self.groups {
            groups.push(Group::new(number, results));
            for result in results {
                result.expectation = Expectation::Met;
            }
        } else if let Some(expectations) = &mut self.expectations {
            expectations.judge(results, number, filter);
        }
    }

    /// Whether an object is judged for the first time.
    pub(super) fn first_of(&mut self, history: usize) -> bool {
        self.judged.insert(history)
    }

    /// One line for each expectation that met no result.
    pub(super) fn missed(&self) -> Vec<String> {
        self.expectations.as_ref().map(Expectations::missed).unwrap_or_default()
    }

    /// Writes what was found into the file; whether that changed it.
    pub(super) fn update(&self) -> Result<bool, String> {
        match (&self.input.path, &self.groups) {
            (Some(path), Some(groups)) => update::write(path, groups),
            _ => Err("only a file can be given expectations".to_owned()),
        }
    }

    pub(super) fn clock_source(&self) -> &'static str {
        match (&self.given, self.input.live) {
            (Some(_), _) => "given",
            (None, true) => "real",
            (None, false) => "stream",
        }
    }

    /// The newest time, where it is the clock.
    pub(super) fn newest(&self) -> Option<Timestamp> {
        self.newest.filter(|_| self.clock_source() == "stream")
    }
}

impl Read {
    pub(super) fn new(mut document: Document) -> Self {
        let items = std::mem::take(&mut document.items);
        Self { document: Arc::new(document), items }
    }
}

/// Who a pass or a trace is about: `spec.object`.
fn subject(json: &str) -> Facts {
    #[derive(Deserialize)]
    struct Document<'a> {
        #[serde(borrow)]
        spec: Option<Spec<'a>>,
    }
    #[derive(Deserialize)]
    struct Spec<'a> {
        #[serde(borrow)]
        object: Option<&'a RawValue>,
    }
    serde_json::from_str::<Document<'_>>(json)
        .ok()
        .and_then(|document| document.spec?.object)
        .and_then(|object| Facts::read(object.get()).ok())
        .unwrap_or_default()
}
