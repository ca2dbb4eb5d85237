//! JUnit XML: one suite for each input, one test case for each result.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use super::place::Locators;
use super::{Manner, sum, words};
use crate::engine::Finding;
use crate::replay::result::{InputError, Judged, Report};

pub(super) fn write(report: &Report, manner: &Manner, out: &mut dyn Write) -> io::Result<()> {
    let mut locators = Locators::default();
    let mut suites: Vec<TestSuite> = Vec::new();
    for judged in &report.results {
        add(&mut suites, &judged.input, case(&mut locators, judged, manner));
    }
    for fixture in report.fixtures.iter().filter(|fixture| !fixture.unmet.is_empty()) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message("expectations that met no result").set_type("expectation");
        status.set_description(fixture.unmet.join("\n"));
        // A document number of its own: the header's.
        let input = format!("{}#1", fixture.input);
        add(&mut suites, &input, TestCase::new(format!("{} (header)", fixture.name), status));
    }
    for error in &report.errors {
        let input = format!("{}#", error.input);
        add(&mut suites, &input, broken(error));
    }
    let mut junit = Junit::new("plumb");
    junit.add_test_suites(suites);
    junit.serialize(&mut *out).map_err(io::Error::other)?;
    out.write_all(b"\n")
}

/// Adds a case to its input's suite. Inputs come one after the other, so that only the last few
/// suites are looked at.
fn add(suites: &mut Vec<TestSuite>, input: &str, mut case: TestCase) {
    let file = words::file(input);
    case.set_classname(file);
    if let Some(suite) = suites.iter_mut().rev().find(|suite| suite.name.as_str() == file) {
        suite.add_test_case(case);
        return;
    }
    let mut suite = TestSuite::new(file);
    suite.add_test_case(case);
    suites.push(suite);
}

fn case(locators: &mut Locators, judged: &Judged, manner: &Manner) -> TestCase {
    let document = judged.input.rsplit_once('#').map_or("", |(_, document)| document);
    let name = format!("{} #{document}", words::case(judged));
    let mut lines = vec![verdict(judged)];
    for finding in &judged.findings {
        lines.extend(paragraphs(locators, judged, finding));
    }
    let text = lines.join("\n");
    if !judged.fails(manner.fail_on) {
        let mut case = TestCase::new(name, TestCaseStatus::success());
        case.set_system_out(text);
        return case;
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    if judged.unmet.is_empty() {
        let worst = judged.findings.iter().max_by_key(|finding| finding.severity);
        if let Some(finding) = worst {
            status.set_message(&finding.message).set_type(&finding.rule);
        }
        status.set_description(text);
    } else {
        status.set_message("not as expected").set_type("expectation");
        status.set_description(format!("{}\n{text}", judged.unmet.join("\n")));
    }
    TestCase::new(name, status)
}

/// What is thought of it, in one line.
fn verdict(judged: &Judged) -> String {
    match (&judged.decision, &judged.end) {
        (Some(decided), _) => format!("{}: {}", words::action(decided), decided.message),
        (None, Some(end)) => format!("{}: {}", words::end(end), end.message),
        (None, None) => format!("{}, {}: {}", judged.coherence, judged.phase, judged.reason),
    }
}

fn paragraphs(locators: &mut Locators, judged: &Judged, finding: &Finding) -> Vec<String> {
    let at = |locators: &mut Locators, origin: &str, path: &str| {
        let field = words::field(path);
        match locators.target(judged, origin, path).map(|target| target.region()) {
            Some(region) => format!("{}:{}:{}: {field}", region.input, region.line, region.column),
            None => field,
        }
    };
    let mut lines = vec![format!("{}[{}]: {}", finding.severity, finding.rule, finding.message)];
    let own = |note: &&crate::engine::Note| note.origin == "object" && note.path == finding.path;
    if !finding.related.iter().any(|note| own(&note)) {
        lines.push(format!("  at {}", at(locators, "object", &finding.path)));
    }
    for note in &finding.related {
        let at = at(locators, &note.origin, &note.path);
        lines.push(format!("  at {at}: {}", note.message));
    }
    lines.extend(finding.help.as_ref().map(|help| format!("  help: {help}")));
    lines
}

fn broken(error: &InputError) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let line = error.line.map(|line| format!(":{line}")).unwrap_or_default();
    status.set_message(sum::error_line(error)).set_type(error.kind);
    status.set_description(format!("{}{line}: {}", error.input, sum::error_line(error)));
    let name = match error.document {
        Some(document) => format!("document #{document}"),
        None => "input".to_owned(),
    };
    TestCase::new(name, status)
}
