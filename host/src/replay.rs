//! Judges recorded objects, passes and traces.
//!
//! ```text
//! documents ─▶ session ─▶ track ─▶ Task ─▶ judge ─▶ expect ─▶ Event, Report
//! of an input  one input  states   all it   policy   header
//!                         of each  needs
//!                         object
//! ```
//!
//! An input that grows while it is read is judged as it flows, by the real clock. Of a file the
//! whole is known before anything is judged: whether a state is an object's last one, which is
//! judged by the newest time in the file and beside the last states of other objects, or was
//! superseded, which is judged by what was known when it appeared.

mod count;
mod expect;
mod filter;
mod judge;
mod logs;
mod options;
pub mod result;
mod scan;
mod session;
mod settings;
mod track;
mod update;

use std::collections::BTreeSet;
use std::io;
use std::thread;

use jiff::Timestamp;

use crate::engine::Policy;
use crate::input::{Document, Source, Unreadable};
use filter::Filter;
use judge::Task;
use result::{Clock, Event, Fixture, InputError, Judged, PolicyIdentity, Report, SCHEMA, Summary};
use session::{Pending, Read, Session};

pub use options::{Options, OptionsError};
pub use settings::read_settings;

/// More threads than this only wait for each other: reading is one thread's work.
const THREADS_MAX: usize = 4;

/// Where a replay tells what happens; it ends early where this fails.
pub type Emit<'a> = &'a mut dyn FnMut(Event<'_>) -> io::Result<()>;

/// A replay under way.
#[derive(Debug)]
pub struct Replay {
    options: Options,
    filter: Filter,
    /// The same policy once for each thread.
    policies: Vec<Policy>,
    /// Group and kind of the profiles under the options' settings; `*` for any.
    profiled: Vec<(String, String)>,
    report: Report,
    /// Sources of the time: the clocks of the inputs so far.
    clocks: BTreeSet<&'static str>,
    /// The newest times of the inputs so far, where these are the clock.
    newest: Vec<Timestamp>,
}

/// An input and how it comes.
#[derive(Debug, Clone)]
struct Input {
    name: String,
    live: bool,
    path: Option<std::path::PathBuf>,
}

impl Replay {
    /// Begins a replay.
    ///
    /// # Errors
    /// If the options are not what they should be.
    pub fn new(policy: &Policy, options: Options) -> Result<Self, OptionsError> {
        if let Some(now) = options.now.as_ref().filter(|now| now.parse::<Timestamp>().is_err()) {
            return Err(OptionsError::Now(now.clone()));
        }
        let filter = Filter::new(&options.rules, &options.kinds, &options.namespaces)
            .map_err(|error| OptionsError::Pattern(error.to_string()))?;
        let problems = policy.validate(&options.settings)?;
        if !problems.is_empty() {
            let lines = problems.into_iter().map(|note| format!("{}: {}", note.path, note.message));
            return Err(OptionsError::Settings(lines.collect()));
        }
        let profiles = policy.profiles(&options.settings)?;
        let identity = policy.identity();
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        Ok(Self {
            filter,
            policies: vec![policy.clone(); threads],
            profiled: profiles.into_iter().map(|profile| (profile.group, profile.kind)).collect(),
            report: Report {
                schema: SCHEMA,
                policy: PolicyIdentity {
                    name: identity.name.clone(),
                    version: identity.version.clone(),
                    sha256: identity.sha256.clone(),
                },
                clock: Clock::default(),
                results: Vec::new(),
                fixtures: Vec::new(),
                errors: Vec::new(),
                skipped: Vec::new(),
                updated: Vec::new(),
                summary: Summary::default(),
            },
            clocks: BTreeSet::new(),
            newest: Vec::new(),
            options,
        })
    }

    /// Reads and judges one input.
    ///
    /// # Errors
    /// Only those of `emit`; whatever else fails is part of the report.
    pub fn read(&mut self, source: &Source, emit: Emit<'_>) -> io::Result<()> {
        match source.open() {
            Ok(documents) => {
                let input = Input {
                    name: source.name.to_string(),
                    live: source.is_live(),
                    path: source.path.clone(),
                };
                self.session(&input, documents, emit)
            }
            Err(error) => self.unreadable(error, emit),
        }
    }

    /// Judges the documents of one input. A live one is judged as it flows, by the real clock.
    ///
    /// # Errors
    /// Only those of `emit`; whatever else fails is part of the report.
    pub fn judge(
        &mut self,
        name: &str,
        live: bool,
        documents: impl IntoIterator<Item = Result<Document, Unreadable>>,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        let input = Input { name: name.to_owned(), live, path: None };
        self.session(&input, documents, emit)
    }

    /// Takes up something that cannot be read.
    ///
    /// # Errors
    /// Only those of `emit`.
    pub fn unreadable(&mut self, error: Unreadable, emit: Emit<'_>) -> io::Result<()> {
        self.fail(error.into(), emit)
    }

    /// Ends the replay.
    pub fn finish(mut self) -> Report {
        self.report.clock = self.clock();
        let mut unreadable = BTreeSet::new();
        for error in self.report.errors.iter().filter(|error| error.kind == "unreadable") {
            unreadable.insert((&error.input, error.document));
        }
        self.report.summary.unreadable = unreadable.len();
        self.report
    }

    fn clock(&self) -> Clock {
        if let Some(now) = &self.options.now {
            return Clock { source: "given", now: Some(now.clone()) };
        }
        let source = ["real", "stream", "given"]
            .into_iter()
            .find(|source| self.clocks.contains(source))
            .unwrap_or("stream");
        let now = match (source, self.newest.as_slice()) {
            ("stream", [one]) if self.clocks.len() == 1 => Some(one.to_string()),
            _ => None,
        };
        Clock { source, now }
    }

    fn session(
        &mut self,
        input: &Input,
        documents: impl IntoIterator<Item = Result<Document, Unreadable>>,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        let mut documents = documents.into_iter().peekable();
        let header = match documents.peek() {
            Some(Ok(document)) => session::header(document),
            _ => None,
        };
        let mut problem = None;
        let header = match header {
            Some(Ok(header)) => Some(header),
            Some(Err(error)) => {
                problem = Some(error);
                None
            }
            None => None,
        };
        let fixture = header.as_ref().map(|header| header.fixture(&input.name));
        emit(Event::Opened { input: &input.name, fixture: fixture.as_ref() })?;
        if let Some(problem) = problem {
            self.fail(problem, emit)?;
        }
        let mut session = Session::new(input, header, &self.options, &self.policies[0]);
        if input.live {
            self.flow(&mut session, documents, emit)?;
        } else {
            self.whole(&mut session, documents, emit)?;
        }
        self.close(session, fixture, emit)
    }

    /// Judges each document as soon as it is there.
    fn flow(
        &mut self,
        session: &mut Session,
        documents: impl Iterator<Item = Result<Document, Unreadable>>,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        for next in documents {
            let pending = match next {
                Ok(document) => {
                    self.report.summary.documents += 1;
                    session.document(Read::new(document), &self.filter, &self.profiled)
                }
                Err(error) => vec![Pending::Failed(error.into())],
            };
            self.settle(session, pending, emit)?;
        }
        Ok(())
    }

    /// Judges documents once all of them are known.
    fn whole(
        &mut self,
        session: &mut Session,
        mut documents: impl Iterator<Item = Result<Document, Unreadable>>,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        /// Texts larger than this together are judged as they flow.
        const HELD_BYTES: usize = 64 << 20;
        /// Evaluations that are done before any is told.
        const TASKS_AT_ONCE: usize = 256;
        let mut held = Vec::new();
        let mut bytes = 0;
        for next in documents.by_ref() {
            bytes += next.as_ref().map_or(0, |document| document.text.len());
            held.push(next.map(Read::new));
            if bytes > HELD_BYTES {
                break;
            }
        }
        if bytes <= HELD_BYTES {
            session.survey(&held);
        }
        let mut pending = Vec::new();
        for next in held {
            match next {
                Ok(document) => {
                    self.report.summary.documents += 1;
                    pending.extend(session.document(document, &self.filter, &self.profiled));
                }
                Err(error) => pending.push(Pending::Failed(error.into())),
            }
            if pending.len() >= TASKS_AT_ONCE {
                self.settle(session, std::mem::take(&mut pending), emit)?;
            }
        }
        self.settle(session, pending, emit)?;
        self.flow(session, documents, emit)
    }

    /// Judges and tells, in order.
    fn settle(
        &mut self,
        session: &mut Session,
        pending: Vec<Pending>,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        let mut tasks = Vec::new();
        let mut order = Vec::new();
        for next in pending {
            match next {
                Pending::Task { task, history } => {
                    order.push(Ok(history));
                    tasks.push(*task);
                }
                Pending::Failed(error) => order.push(Err(error)),
            }
        }
        let mut answers = judge::run(&self.policies, &tasks).into_iter().zip(&tasks);
        for next in order {
            let history = match next {
                Ok(history) => history,
                Err(error) => {
                    self.fail(error, emit)?;
                    continue;
                }
            };
            match answers.next() {
                Some((Ok(results), task)) => self.tell(session, task, history, results, emit)?,
                Some((Err(error), task)) => {
                    self.report.summary.failed += 1;
                    let place = &task.places[0];
                    self.fail(
                        InputError {
                            input: place.document.input.to_string(),
                            document: Some(place.document.number),
                            line: Some(session::line(&place.document, &place.base)),
                            kind: "evaluation",
                            message: error.to_string(),
                        },
                        emit,
                    )?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Counts, compares with what is expected, and tells the results of one evaluation.
    fn tell(
        &mut self,
        session: &mut Session,
        task: &Task,
        history: Option<usize>,
        mut results: Vec<Judged>,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        for result in &mut results {
            result.findings.retain(|finding| self.filter.rule(&finding.rule));
        }
        session.expect(&mut results, task, &self.filter);
        if let Some(history) = history
            && session.first_of(history)
        {
            self.report.summary.count_object(results[0].profiled);
        }
        for result in results {
            self.report.summary.count(&result);
            emit(Event::Judged(&result))?;
            if self.options.keep {
                self.report.results.push(result);
            }
        }
        Ok(())
    }

    fn close(
        &mut self,
        mut session: Session,
        fixture: Option<Fixture>,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        if self.options.update {
            match session.update() {
                Ok(true) => self.report.updated.push(session.input.name.clone()),
                Ok(false) => {}
                Err(message) => {
                    let input = session.input.name.clone();
                    let kind = "unreadable";
                    self.fail(
                        InputError { input, document: None, line: None, kind, message },
                        emit,
                    )?;
                }
            }
        }
        let name = session.input.name.clone();
        let fixture = fixture.map(|mut fixture| {
            if !self.options.update && !self.filter.leaves_out_objects() {
                fixture.unmet = session.missed();
            }
            fixture
        });
        self.report.summary.unmet += fixture.as_ref().map_or(0, |fixture| fixture.unmet.len());
        self.report.summary.repeated += session.repeated;
        self.report.summary.skipped +=
            session.skipped.iter().map(|skipped| skipped.count).sum::<usize>();
        self.clocks.insert(session.clock_source());
        self.newest.extend(session.newest());
        self.report.skipped.extend(std::mem::take(&mut session.skipped));
        emit(Event::Closed { input: &name, fixture: fixture.as_ref() })?;
        self.report.fixtures.extend(fixture);
        Ok(())
    }

    fn fail(&mut self, error: InputError, emit: Emit<'_>) -> io::Result<()> {
        emit(Event::Failed(&error))?;
        self.report.errors.push(error);
        Ok(())
    }
}

impl From<Unreadable> for InputError {
    fn from(error: Unreadable) -> Self {
        let Unreadable { input, document, line, message } = error;
        Self { input: input.to_string(), document, line, kind: "unreadable", message }
    }
}

/// Reads and judges all `sources`, in order.
///
/// # Errors
/// Only those of `emit`; whatever else fails is part of the report.
pub fn run(mut replay: Replay, sources: &[Source], emit: Emit<'_>) -> io::Result<Report> {
    for source in sources {
        replay.read(source, emit)?;
    }
    Ok(replay.finish())
}
