//! What an exploration says: to people with a picture, to machines as JSON, to bug reports as
//! Mermaid or SVG.

mod human;
mod json;
mod mermaid;
mod picture;
mod svg;

use clap::ValueEnum;

use super::{
    reader::Span,
    run::Exploration,
    scenario::{Expectation, Verdict},
    search::Stop,
};

pub(super) use self::picture::wrap;
pub use self::{human::human, json::json, mermaid::mermaid, svg::svg};

/// How an exploration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people: a picture of the trace, with the state after each step.
    #[default]
    Human,
    /// One JSON document for each exploration, `plumb.dev/explore/v1`.
    Json,
    /// A Mermaid sequence diagram, for bug reports.
    Mermaid,
    /// An SVG picture.
    Svg,
}

/// What an expectation says that is not so; nothing if all is as expected.
pub fn unmet(exploration: &Exploration, expectation: &Expectation) -> Vec<String> {
    let mut unmet = vec![];
    let verdict = expectation.verdict.unwrap_or(Verdict::Clean);
    if verdict != exploration.verdict {
        unmet.push(format!("expected {}, found {}", verdict.word(), exploration.verdict.word()));
    }
    if let Some(steps) = expectation.steps.filter(|steps| *steps != exploration.trace.len()) {
        unmet.push(format!("expected {steps} steps, found {}", exploration.trace.len()));
    }
    let found = exploration.asleep.unwrap_or(0);
    if let Some(asleep) = expectation.asleep.filter(|asleep| *asleep != found) {
        let words = |millis| match millis {
            0 => "no sleep".to_owned(),
            millis => format!("a sleep of up to {}", Span(millis)),
        };
        unmet.push(format!(
            "expected {} with something owed, found {}",
            words(asleep),
            words(found)
        ));
    }
    unmet
}

impl Exploration {
    /// The bounds within which the verdict holds, in words.
    pub fn within(&self) -> Vec<String> {
        let mut within = self.bounds.clone();
        within.extend(match self.stopped {
            None | Some(Stop::Found) => None,
            Some(Stop::States) => Some(format!("the first {} states only", self.states)),
            Some(Stop::Depth) => Some(format!("the first {} steps only", self.limits.depth)),
            Some(Stop::Time) => Some(format!("the {} states seen in time only", self.states)),
        });
        within
    }

    /// Whether everything within the scenario's bounds was seen.
    pub fn is_complete(&self) -> bool {
        self.stopped.is_none()
    }
}

/// A number with its noun.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
