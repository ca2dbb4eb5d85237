//! GitHub workflow commands: annotations on the lines of the files.
//!
//! <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>

use std::io::{self, Write};

use super::place::Locators;
use super::{Manner, sum, words};
use crate::engine::{Finding, Severity};
use crate::replay::result::{Expectation, Judged, Report};

pub(super) fn write(report: &Report, manner: &Manner, out: &mut dyn Write) -> io::Result<()> {
    let mut locators = Locators::default();
    for judged in &report.results {
        if judged.expectation != Expectation::Met {
            for finding in &judged.findings {
                write_finding(&mut locators, judged, finding, out)?;
            }
        }
        if judged.expectation == Expectation::Unmet {
            let region = locators.start(judged);
            let line = region.as_ref().map(|region| region.line);
            let message = format!("{}\n{}", words::state(judged), judged.unmet.join("\n"));
            let file = region
                .map_or_else(|| words::file(&judged.input).to_owned(), |at| at.input.to_string());
            command("error", &file, line, line, "not as expected", &message, out)?;
        }
    }
    for fixture in report.fixtures.iter().filter(|fixture| !fixture.unmet.is_empty()) {
        let message = fixture.unmet.join("\n");
        command("error", &fixture.input, Some(1), None, "not as expected", &message, out)?;
    }
    for error in &report.errors {
        let message = sum::error_line(error);
        command("error", &error.input, error.line, None, error.kind, &message, out)?;
    }
    for line in sum::lines(report, manner) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn write_finding(
    locators: &mut Locators,
    judged: &Judged,
    finding: &Finding,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let mut message = format!("{}: {}", words::state(judged), finding.message);
    for note in &finding.related {
        message += &format!("\n{}: {}", words::field(&note.path), note.message);
    }
    if let Some(help) = &finding.help {
        message += &format!("\nhelp: {help}");
    }
    let region = locators.target(judged, "object", &finding.path).map(|target| target.region());
    let file = region.as_ref().map_or_else(|| words::file(&judged.input), |region| &region.input);
    let line = region.as_ref().map(|region| region.line);
    let end = region.as_ref().map(|region| region.end_line);
    command(name, file, line, end, &finding.rule, &message, out)
}

fn command(
    name: &str,
    file: &str,
    line: Option<usize>,
    end: Option<usize>,
    title: &str,
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut properties = Vec::new();
    if file != "-" {
        properties.push(format!("file={}", property(file)));
        properties.extend(line.map(|line| format!("line={line}")));
        properties.extend(end.map(|line| format!("endLine={line}")));
    }
    properties.push(format!("title={}", property(title)));
    writeln!(out, "::{name} {}::{}", properties.join(","), data(message))
}

fn data(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| words::clean(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_command() {
        assert_eq!(data("100%\r\n::error::x\ry"), "100%25%0A::error::x y");
        assert_eq!(property("a:b,c\nd"), "a%3Ab%2Cc%0Ad");
    }
}
