//! For people: each finding with the lines that disagree, and in the end how much was judged.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::{AnsiColor, Effects, Style};

use super::place::Locators;
use super::sum::{self, Tally};
use super::{Manner, Verbosity, excerpt, words};
use crate::engine::{Coherence, Finding, Phase, Scope, Severity};
use crate::replay::result::{Event, Expectation, Fixture, InputError, Judged, Report};
use crate::rules;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);
const RED: Style = AnsiColor::BrightRed.on_default().effects(Effects::BOLD);
const GREEN: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
const YELLOW: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);

/// So many faults are remembered: a stream may never end.
const SHOWN_MAX: usize = 10_000;
/// Narrower than this, excerpts are not readable.
const LEAST_WIDTH: usize = 60;

/// Writes as results come.
pub struct Human<'a> {
    manner: &'a Manner,
    out: Box<dyn Write + 'a>,
    tally: Tally,
    locators: Locators,
    /// Rules whose harm has been told, in order.
    told: Vec<String>,
    /// Faults that have been shown with their lines; the same one is not shown so again.
    shown: BTreeSet<String>,
    /// What the current input's header says, if it has one.
    input: Input,
    /// Of which object the last line spoke.
    object: String,
    /// Whether a line stands right above, so that a block needs an empty one.
    line_above: bool,
}

/// How the results of the current input are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// It has no header: what was found is news.
    Plain,
    /// It has one: only what is not as expected is news.
    Fixture,
    /// It has one with a story: everything is told.
    Story,
}

impl<'a> Human<'a> {
    pub(super) fn new(manner: &'a Manner, out: Box<dyn Write + 'a>) -> Self {
        Self {
            manner,
            out,
            tally: Tally::default(),
            locators: Locators::default(),
            told: Vec::new(),
            shown: BTreeSet::new(),
            input: Input::Plain,
            object: String::new(),
            line_above: false,
        }
    }

    pub(super) fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.tally.event(event);
        match event {
            Event::Opened { fixture, .. } => self.opened(fixture),
            Event::Judged(judged) => self.judged(judged),
            Event::Failed(error) => self.failed(error),
            Event::Closed { fixture: Some(fixture), .. } => self.closed(fixture),
            Event::Closed { fixture: None, .. } => Ok(()),
        }?;
        self.out.flush()
    }

    fn opened(&mut self, fixture: Option<&Fixture>) -> io::Result<()> {
        self.object.clear();
        self.input = match fixture {
            None => Input::Plain,
            Some(fixture) if fixture.story.is_some() && !self.quiet() => Input::Story,
            Some(_) => Input::Fixture,
        };
        let Some(Fixture { input, name, source, story: Some(story), .. }) = fixture else {
            return Ok(());
        };
        if self.quiet() {
            return Ok(());
        }
        let (name, input) = (words::clean(name), words::clean(input));
        let mut text = format!("{BOLD}{name}{BOLD:#} {DIM}{input}{DIM:#}\n");
        for line in words::wrap(&words::clean(story), self.prose() - 2) {
            text += &format!("  {line}\n");
        }
        if let Some(source) = source {
            text += &format!("  {DIM}seen in {}{DIM:#}\n", words::clean(source));
        }
        self.block(&text)
    }

    fn judged(&mut self, judged: &Judged) -> io::Result<()> {
        let news = match self.input {
            Input::Plain | Input::Story => true,
            Input::Fixture => judged.expectation == Expectation::Unmet,
        };
        let verbose = self.manner.verbosity == Verbosity::Verbose;
        let findings: Vec<_> = judged
            .findings
            .iter()
            .filter(|finding| verbose || (news && finding.severity > Severity::Info))
            .collect();
        match judged.scope {
            Scope::Pass | Scope::Trace if (news && !self.quiet()) || !findings.is_empty() => {
                self.answer(judged)?;
            }
            Scope::State if verbose || self.input == Input::Story => self.state(judged)?,
            _ if verbose => self.state(judged)?,
            _ => {}
        }
        for finding in findings {
            self.finding(judged, finding)?;
        }
        if judged.expectation == Expectation::Unmet { self.unmet(judged) } else { Ok(()) }
    }

    /// One line for a state: which, whether it is coherent, whether it is ready, and why.
    fn state(&mut self, judged: &Judged) -> io::Result<()> {
        let object = words::clean(&words::object(judged));
        if object != self.object {
            self.line(&format!("  {BOLD}{object}{BOLD:#}"))?;
            self.object = object;
        }
        let coherence = match judged.coherence {
            Coherence::Coherent => GREEN,
            Coherence::Stale => YELLOW,
            Coherence::Incoherent => RED,
            Coherence::Unknown => DIM,
        };
        let phase = if judged.phase == Phase::Failed { RED } else { Style::new() };
        let version = match judged.resource_version.as_str() {
            "" => words::clean(&judged.input),
            version => format!("resourceVersion {}", words::clean(version)),
        };
        let scope = match judged.scope {
            Scope::State => String::new(),
            scope => format!(" {DIM}{scope}{DIM:#}"),
        };
        // The finding that follows says it in full.
        let column = 4 + version.chars().count() + 2 + 10 + 2 + 11 + 2;
        let room = self.manner.width.max(LEAST_WIDTH).saturating_sub(column).max(20);
        self.line(&format!(
            "    {version}{scope}  {coherence}{:<10}{coherence:#}  {phase}{:<11}{phase:#}  \
             {DIM}{}{DIM:#}",
            judged.coherence.name(),
            judged.phase.name(),
            words::clip(&words::clean(&judged.reason), room),
        ))
    }

    /// What must happen next after a pass; how a trace ends.
    fn answer(&mut self, judged: &Judged) -> io::Result<()> {
        let (answer, why) = match (&judged.decision, &judged.end) {
            (Some(decided), _) => {
                (words::action(decided), format!("{}: {}", decided.reason, decided.message))
            }
            (None, Some(end)) => (words::end(end), end.message.clone()),
            (None, None) => return Ok(()),
        };
        let at = match self.locators.start(judged) {
            Some(region) => format!("{}:{}", region.input, region.line),
            None => judged.input.clone(),
        };
        let scope = judged.scope.name();
        let who = match words::object(judged) {
            who if who == scope => scope.to_owned(),
            who => format!("{scope} of {}", words::clean(&who)),
        };
        let mut text = format!(
            "{BOLD}{who}: {}{BOLD:#} {DIM}{}{DIM:#}\n",
            words::clean(&answer),
            words::clean(&at)
        );
        for line in words::wrap(&words::clean(&why), self.prose() - 2) {
            text += &format!("  {line}\n");
        }
        self.block(&text)
    }

    fn finding(&mut self, judged: &Judged, finding: &Finding) -> io::Result<()> {
        if self.repeats(judged, finding) {
            let text = excerpt::brief(&mut self.locators, judged, finding);
            return self.block(&text);
        }
        let mut why = None;
        if !self.told.contains(&finding.rule) {
            self.told.push(finding.rule.clone());
            why = self.manner.rule(&finding.rule).and_then(|rule| rules::harm(&rule.manual));
        }
        let width = self.manner.width.max(LEAST_WIDTH);
        let text = excerpt::render(&mut self.locators, judged, finding, why.as_deref(), width);
        self.block(&text)
    }

    /// Whether the same fault of the same object has been shown: in an earlier state, or in
    /// another recording of the same.
    fn repeats(&mut self, judged: &Judged, finding: &Finding) -> bool {
        if self.input != Input::Plain || self.manner.verbosity == Verbosity::Verbose {
            return false;
        }
        let Judged { api_version, kind, namespace, name, .. } = judged;
        let Finding { rule, path, message, .. } = finding;
        if name.is_empty() {
            return false;
        }
        if self.shown.len() >= SHOWN_MAX {
            self.shown.clear();
        }
        !self.shown.insert(
            [api_version, kind, namespace, name, rule, path, message]
                .map(String::as_str)
                .join("\n"),
        )
    }

    fn unmet(&mut self, judged: &Judged) -> io::Result<()> {
        let who = format!("{}, {}", judged.input, words::state(judged));
        self.not_as_expected(&who, &judged.unmet)
    }

    fn not_as_expected(&mut self, who: &str, lines: &[String]) -> io::Result<()> {
        let mut text =
            format!("{RED}not as expected{RED:#}{BOLD}: {}{BOLD:#}\n", words::clean(who));
        for line in lines {
            let style = match line.as_bytes().first() {
                Some(b'-') => RED,
                Some(b'+') => GREEN,
                _ => Style::new(),
            };
            text += &format!("  {style}{}{style:#}\n", words::clean(line));
        }
        self.block(&text)
    }

    fn failed(&mut self, error: &InputError) -> io::Result<()> {
        let line = error.line.map(|line| format!(":{line}")).unwrap_or_default();
        let text = sum::error_line(error);
        let mut lines = text.lines().map(words::clean);
        let first = lines.next().unwrap_or_default();
        let input = words::clean(&error.input);
        let mut text = format!("{RED}error{RED:#}{BOLD}: {first}{BOLD:#}\n  --> {input}{line}\n");
        for line in lines {
            text += &format!("  {line}\n");
        }
        self.block(&text)
    }

    fn closed(&mut self, fixture: &Fixture) -> io::Result<()> {
        let missed = self.tally.missed(&fixture.input);
        let story = self.input == Input::Story;
        self.input = Input::Plain;
        if !fixture.unmet.is_empty() {
            self.not_as_expected(&fixture.input, &fixture.unmet)?;
        }
        if self.quiet() && !missed {
            return Ok(());
        }
        let (name, input) = (words::clean(&fixture.name), words::clean(&fixture.input));
        match (missed, story) {
            (true, _) => self.line(&format!("{RED}FAILED{RED:#}  {name} {DIM}{input}{DIM:#}")),
            (false, true) => self.block(&format!("{GREEN}ok{GREEN:#}  {name}, all as expected\n")),
            (false, false) => self.line(&format!("{GREEN}ok{GREEN:#}  {name} {DIM}{input}{DIM:#}")),
        }
    }

    pub(super) fn finish(mut self, report: &Report) -> io::Result<String> {
        let style = if report.errors.is_empty()
            && report.summary.unmet == 0
            && report.summary.findings.error + report.summary.findings.warning == 0
        {
            GREEN
        } else {
            BOLD
        };
        let headline = self.tally.headline(&report.summary);
        let mut text = format!("{style}{headline}{style:#}\n");
        if !self.quiet() {
            for (name, row) in self.tally.rows(&report.summary, report, self.manner) {
                text += &format!("  {DIM}{name:<9}{DIM:#} {row}\n");
            }
            if let Some(rule) = self.told.first() {
                text += &format!("  {DIM}{:<9}{DIM:#} plumb rules {rule}\n", "explain");
            }
        }
        if self.line_above {
            writeln!(self.out)?;
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()?;
        Ok(headline)
    }

    fn quiet(&self) -> bool {
        self.manner.verbosity == Verbosity::Quiet
    }

    fn prose(&self) -> usize {
        self.manner.width.clamp(LEAST_WIDTH, words::PROSE_WIDTH)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.line_above = true;
        writeln!(self.out, "{text}")
    }

    /// Writes lines with an empty one around them.
    fn block(&mut self, text: &str) -> io::Result<()> {
        if std::mem::take(&mut self.line_above) {
            writeln!(self.out)?;
        }
        writeln!(self.out, "{}\n", text.trim_end_matches('\n'))
    }
}
