//! What a replay says: to people with the lines that disagree, to machines in their formats.
//!
//! ```text
//!  Event  ──▸ human, as they come
//!  Report ──▸ json · junit · sarif · github · tap, at the end
//! ```
//!
//! Findings carry JSON Pointers. Only this module turns them into lines and columns.

mod excerpt;
mod github;
mod human;
mod json;
mod junit;
mod place;
mod sarif;
mod sum;
mod tap;
pub(crate) mod words;

use std::io::{self, Write};

use clap::ValueEnum;

use crate::engine::{Rule, Severity};
use crate::exit::Exit;
use crate::replay::result::{Event, Expectation, InputError, Judged, Report};

pub use human::Human;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people: the lines that disagree, side by side.
    #[default]
    Human,
    /// One JSON document, `plumb.dev/replay/v1`.
    Json,
    /// JUnit XML: one test case per result.
    Junit,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// GitHub workflow commands: annotations on the files.
    Github,
    /// TAP 14 with YAML diagnostics.
    Tap,
}

/// From which severity on a finding fails the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum FailOn {
    /// Only findings of severity error.
    #[default]
    Error,
    /// Findings of severity error or warning.
    Warning,
    /// No finding; expectations that are not met still fail.
    Never,
}

impl FailOn {
    /// Whether a finding of this severity fails the run.
    pub const fn fails(self, severity: Severity) -> bool {
        match self {
            Self::Error => matches!(severity, Severity::Error),
            Self::Warning => matches!(severity, Severity::Error | Severity::Warning),
            Self::Never => false,
        }
    }
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// Findings and the closing line.
    Quiet,
    /// Findings, one line for each fixture that is as expected, and the sum.
    #[default]
    Normal,
    /// Every result, and findings of severity info.
    Verbose,
}

/// What all formats need to know.
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// The component's catalogue.
    pub rules: Vec<Rule>,
    /// From which severity on a finding is a failure.
    pub fail_on: FailOn,
    /// How much is said; for people only.
    pub verbosity: Verbosity,
    /// Columns; for people only.
    pub width: usize,
}

impl Manner {
    fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }
}

/// Writes one replay in one format, and keeps count of how it ends.
pub struct Output<'a> {
    manner: &'a Manner,
    writer: Writer<'a>,
    exit: Exit,
}

enum Writer<'a> {
    /// Says everything as it comes.
    Human(Box<Human<'a>>),
    /// Says everything at the end.
    Machine { format: Format, out: Box<dyn Write + 'a> },
}

impl<'a> Output<'a> {
    /// Prepares to write to `out`, with colours in ANSI.
    pub fn new(format: Format, manner: &'a Manner, out: Box<dyn Write + 'a>) -> Self {
        let writer = match format {
            Format::Human => Writer::Human(Box::new(Human::new(manner, out))),
            format => Writer::Machine { format, out },
        };
        Self { manner, writer, exit: Exit::Clean }
    }

    /// Takes note of what happens.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.exit = self.exit.max(exit(event, self.manner.fail_on));
        match &mut self.writer {
            Writer::Human(human) => human.event(event),
            Writer::Machine { .. } => Ok(()),
        }
    }

    /// How the run ends, by what has happened so far.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Says the rest and closes. Returns the verdict on everything, in one line.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn finish(self, report: &Report) -> io::Result<String> {
        match self.writer {
            Writer::Human(human) => human.finish(report),
            Writer::Machine { format, mut out } => {
                match format {
                    Format::Human | Format::Json => json::write(report, &mut out)?,
                    Format::Junit => junit::write(report, self.manner, &mut out)?,
                    Format::Sarif => sarif::write(report, self.manner, &mut out)?,
                    Format::Github => github::write(report, self.manner, &mut out)?,
                    Format::Tap => tap::write(report, self.manner, &mut out)?,
                }
                out.flush()?;
                Ok(sum::headline(report))
            }
        }
    }
}

/// How a run ends in which nothing but this happens.
fn exit(event: Event<'_>, fail_on: FailOn) -> Exit {
    match event {
        Event::Judged(judged) if judged.fails(fail_on) => Exit::Findings,
        Event::Closed { fixture: Some(fixture), .. } if !fixture.unmet.is_empty() => Exit::Findings,
        Event::Failed(error) if error.kind == InputError::EVALUATION => Exit::Policy,
        Event::Failed(_) => Exit::Unreadable,
        Event::Opened { .. } | Event::Judged(_) | Event::Closed { .. } => Exit::Clean,
    }
}

impl InputError {
    /// [`InputError::kind`] of an input that could not be read.
    pub const UNREADABLE: &str = "unreadable";
    /// [`InputError::kind`] of an input on which the policy failed.
    pub const EVALUATION: &str = "evaluation";
}

impl Judged {
    /// Whether this result fails a run: it is not as expected, or nothing was expected of it and
    /// it has a finding that is severe enough.
    pub fn fails(&self, fail_on: FailOn) -> bool {
        match self.expectation {
            Expectation::Met => false,
            Expectation::Unmet => true,
            Expectation::None => {
                self.findings.iter().any(|finding| fail_on.fails(finding.severity))
            }
        }
    }
}
