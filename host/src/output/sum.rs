//! What was judged and what came of it, in a few lines: "no findings" says of how much.

use std::collections::{BTreeMap, BTreeSet};

use super::{Manner, Verbosity, words};
use crate::engine::{Coherence, Phase, Scope, Severity};
use crate::replay::result::{
    Clock, Event, Expectation, FindingCounts, InputError, Judged, Report, Skipped, Summary,
};

/// What the sum needs beyond [`Summary`].
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Findings that no header expects.
    open: FindingCounts,
    /// Findings that a header expects.
    expected: FindingCounts,
    /// Inputs with a header.
    fixtures: usize,
    /// Those of them that are not as expected.
    missed: BTreeSet<String>,
    /// The latest of each object of which nothing is expected.
    latest: BTreeMap<[String; 3], (Phase, Coherence)>,
    /// Kinds without a profile.
    unprofiled: BTreeSet<String>,
    /// Documents that could not be read.
    unreadable: usize,
    /// Evaluations that failed.
    failed: usize,
}

impl Tally {
    fn of(report: &Report) -> Self {
        let mut tally = Self::default();
        for judged in &report.results {
            tally.event(Event::Judged(judged));
        }
        for error in &report.errors {
            tally.event(Event::Failed(error));
        }
        for fixture in &report.fixtures {
            tally.event(Event::Closed { input: &fixture.input, fixture: Some(fixture) });
        }
        tally
    }

    pub(super) fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Opened { .. } | Event::Closed { fixture: None, .. } => {}
            Event::Judged(judged) => self.judged(judged),
            Event::Failed(error) if error.kind == InputError::EVALUATION => self.failed += 1,
            Event::Failed(_) => self.unreadable += 1,
            Event::Closed { input, fixture: Some(fixture) } => {
                self.fixtures += 1;
                if !fixture.unmet.is_empty() {
                    self.missed.insert(input.to_owned());
                }
            }
        }
    }

    fn judged(&mut self, judged: &Judged) {
        let counts = match judged.expectation {
            Expectation::Met => &mut self.expected,
            Expectation::None | Expectation::Unmet => &mut self.open,
        };
        for finding in &judged.findings {
            match finding.severity {
                Severity::Error => counts.error += 1,
                Severity::Warning => counts.warning += 1,
                Severity::Info => counts.info += 1,
            }
        }
        if judged.expectation == Expectation::Unmet {
            self.missed.insert(words::file(&judged.input).to_owned());
        }
        if judged.scope == Scope::State {
            let who = match judged.uid.as_str() {
                "" => [&judged.kind, &judged.namespace, &judged.name].map(String::clone),
                uid => [uid.to_owned(), String::new(), String::new()],
            };
            if judged.expectation == Expectation::None {
                self.latest.insert(who, (judged.phase, judged.coherence));
            }
            if !judged.profiled {
                self.unprofiled.insert(words::clean(&judged.kind));
            }
        }
    }

    /// Whether some fixture is not as expected so far.
    pub(super) fn missed(&self, input: &str) -> bool {
        self.missed.contains(input)
    }

    /// The verdict on everything, in one line.
    pub(super) fn headline(&self, summary: &Summary) -> String {
        let mut parts = Vec::new();
        if self.unreadable > 0 {
            parts.push(format!("{} not readable", words::count(self.unreadable, "input")));
        }
        if self.failed > 0 {
            parts.push(format!("{} failed", words::count(self.failed, "evaluation")));
        }
        match (self.fixtures, self.missed.len()) {
            (0, _) => {}
            (1, 0) => parts.push("1 fixture, as expected".to_owned()),
            (1, _) => parts.push("1 fixture, not as expected".to_owned()),
            (all, 0) => parts.push(format!("{all} fixtures, all as expected")),
            (all, missed) => {
                parts.push(format!("{missed} of {} not as expected", words::count(all, "fixture")));
            }
        }
        let judged = summary.states + summary.transitions + summary.passes + summary.traces;
        let findings = findings(self.open);
        if judged == 0 {
            parts.push("nothing was judged".to_owned());
        } else if !findings.is_empty() {
            parts.push(findings);
        } else if self.fixtures > 0 {
            parts.push("no other findings".to_owned());
        } else {
            parts.push("no findings".to_owned());
        }
        format!("{} in {}", parts.join("; "), words::count(summary.documents, "document"))
    }

    /// What was judged, as name and text.
    pub(super) fn rows(
        &self,
        summary: &Summary,
        report: &Report,
        manner: &Manner,
    ) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        let mut judged = vec![
            words::count(summary.objects, "object"),
            words::count(summary.states, "state"),
            words::count(summary.transitions, "transition"),
        ];
        for (number, thing) in [(summary.passes, "pass"), (summary.traces, "trace")] {
            if number > 0 {
                judged.push(words::count(number, thing));
            }
        }
        rows.push(("judged", judged.join(", ")));
        if summary.repeated > 0 {
            let states = words::count(summary.repeated, "state");
            rows.push(("repeated", format!("{states}, seen before and not judged again")));
        }
        if summary.skipped > 0 {
            rows.push(("skipped", skipped(summary.skipped, &report.skipped)));
        }
        if summary.objects > 0 {
            let mut profiles = format!("for {}", words::count(summary.profiled, "object"));
            if summary.unprofiled > 0 {
                let kinds: Vec<_> = self.unprofiled.iter().map(String::as_str).collect();
                let (number, kinds) = (summary.unprofiled, shorten(&kinds, 5));
                profiles += &format!(
                    ", none for {number} ({kinds}): there only the rules for every kind apply"
                );
            }
            rows.push(("profiles", profiles));
        }
        if !self.latest.is_empty() {
            rows.push(("latest", self.latest()));
        }
        if !report.updated.is_empty() {
            let files: Vec<_> = report.updated.iter().map(String::as_str).collect();
            rows.push(("updated", words::clean(&shorten(&files, 5))));
        }
        let expected = findings(self.expected);
        if !expected.is_empty() {
            rows.push(("expected", format!("{expected}, by fixture headers")));
        }
        if self.open.info > 0 && manner.verbosity < Verbosity::Verbose {
            rows.push((
                "hidden",
                format!("{}, shown with -v", words::count(self.open.info, "info")),
            ));
        }
        rows.push(("clock", clock(&report.clock)));
        let policy = &report.policy;
        let digest = policy.sha256.get(..12).unwrap_or(&policy.sha256);
        rows.push(("policy", format!("{} {}, sha256 {digest}", policy.name, policy.version)));
        rows
    }

    fn latest(&self) -> String {
        let phases = Phase::ALL.iter().filter_map(|phase| {
            let number = self.latest.values().filter(|(of, _)| of == phase).count();
            (number > 0).then(|| format!("{number} {phase}"))
        });
        let torn = [Coherence::Stale, Coherence::Incoherent].into_iter().filter_map(|coherence| {
            let number = self.latest.values().filter(|(_, of)| *of == coherence).count();
            (number > 0).then(|| format!("{number} {coherence}"))
        });
        phases.chain(torn).collect::<Vec<_>>().join(", ")
    }
}

/// The verdict on everything, in one line.
pub(super) fn headline(report: &Report) -> String {
    Tally::of(report).headline(&report.summary)
}

/// The sum as plain lines, for logs.
pub(super) fn lines(report: &Report, manner: &Manner) -> Vec<String> {
    let tally = Tally::of(report);
    let rows = tally.rows(&report.summary, report, manner);
    let rows = rows
        .into_iter()
        .filter(|(name, _)| *name != "hidden")
        .map(|(name, text)| format!("{name}: {text}"));
    std::iter::once(format!("plumb: {}", tally.headline(&report.summary))).chain(rows).collect()
}

/// What an input error says, without its place.
pub(super) fn error_line(error: &InputError) -> String {
    let what = match (error.kind, error.document) {
        (InputError::EVALUATION, Some(document)) => format!("failed to judge document {document}"),
        (InputError::EVALUATION, None) => "failed to judge".to_owned(),
        (_, Some(document)) => format!("failed to read document {document}"),
        (_, None) => "failed to read".to_owned(),
    };
    format!("{what}: {}", error.message.trim_end())
}

/// `2 errors, 1 warning`; empty where there are none.
pub(super) fn findings(counts: FindingCounts) -> String {
    let FindingCounts { error, warning, info } = counts;
    [(error, "error"), (warning, "warning"), (info, "info")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, thing)| words::count(number, thing))
        .collect::<Vec<_>>()
        .join(", ")
}

/// How much holds nothing to judge, with the first few of it.
fn skipped(number: usize, skipped: &[Skipped]) -> String {
    let which: Vec<_> = skipped
        .iter()
        .map(|part| words::clean(&format!("{}#{}: {}", part.input, part.document, part.message)))
        .collect();
    let which: Vec<_> = which.iter().map(String::as_str).collect();
    let parts = words::count(number, "part");
    if which.is_empty() {
        format!("{parts} with nothing to judge")
    } else {
        format!("{parts} with nothing to judge: {}", shorten(&which, 2))
    }
}

fn clock(clock: &Clock) -> String {
    match (clock.source, &clock.now) {
        ("given", Some(now)) => format!("{now}, as given"),
        ("given", None) => "as given by each input's header, else its newest time".to_owned(),
        ("stream", Some(now)) => format!("{now}, the newest time in the input"),
        ("stream", None) => "the newest time in each input".to_owned(),
        (_, Some(now)) => format!("{now}, the real time"),
        (_, None) => "the real time".to_owned(),
    }
}

fn shorten(names: &[&str], limit: usize) -> String {
    let rest = names.len().saturating_sub(limit);
    let shown = names[..names.len() - rest].join(", ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}
