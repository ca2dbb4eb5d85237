//! SARIF 2.1.0, for code scanning.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>

mod model;

use std::io::{self, Write};

use sha2::{Digest, Sha256};

use self::model::{
    ArtifactLocation, Driver, Invocation, Level, Location, Log, LogicalLocation, Message,
    Multiformat, Notification, PhysicalLocation, ReportingConfiguration, ReportingDescriptor,
    ReportingReference, Result, Run, Suppression, Tool,
};
use super::place::{Locators, Region};
use super::{Manner, sum, words};
use crate::engine::{Finding, Rule, Severity};
use crate::replay::result::{Expectation, Judged, Report};

/// Name and version of what the fingerprint is made of; a change of either ends all histories.
const FINGERPRINT: &str = "plumbFinding/v1";
/// The rule of results that are not as their header expects.
const UNMET: &str = "not-as-expected";

pub(super) fn write(report: &Report, manner: &Manner, out: &mut dyn Write) -> io::Result<()> {
    let mut locators = Locators::default();
    let mut results = Vec::new();
    for judged in &report.results {
        for finding in &judged.findings {
            results.push(result(&mut locators, judged, finding, manner));
        }
        if judged.expectation == Expectation::Unmet {
            let region = locators.start(judged);
            let text = format!("{} is not as expected", words::case(judged));
            results.push(unmet(&judged.input, region.as_ref(), &text, &judged.unmet));
        }
    }
    for fixture in report.fixtures.iter().filter(|fixture| !fixture.unmet.is_empty()) {
        let text = "expectations met no result";
        results.push(unmet(&fixture.input, None, text, &fixture.unmet));
    }
    let mut rules: Vec<_> = manner.rules.iter().map(descriptor).collect();
    rules.push(ReportingDescriptor {
        id: UNMET.to_owned(),
        short_description: Message::new("a result is not what the fixture's header expects"),
        full_description: None,
        help: None,
        default_configuration: ReportingConfiguration { level: Level::Error },
        properties: None,
    });
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: vec![Run {
            tool: Tool {
                driver: Driver {
                    name: "plumb",
                    version: env!("CARGO_PKG_VERSION"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules,
                },
            },
            column_kind: "unicodeCodePoints",
            invocations: vec![Invocation {
                execution_successful: report.errors.is_empty(),
                tool_execution_notifications: notifications(report),
            }],
            results,
        }],
    };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    out.write_all(b"\n")
}

fn result(locators: &mut Locators, judged: &Judged, finding: &Finding, manner: &Manner) -> Result {
    let mut text = format!("{}: {}", words::state(judged), finding.message);
    if let Some(help) = &finding.help {
        text += &format!("\n\n{help}");
    }
    let place = |locators: &mut Locators, origin: &str, path: &str| {
        locators.target(judged, origin, path).map(|target| target.region())
    };
    let region = place(locators, "object", &finding.path);
    let related = finding.related.iter().zip(1..).map(|(note, id)| {
        let region = place(locators, &note.origin, &note.path);
        Location {
            id: Some(id),
            message: Some(Message::new(&note.message)),
            ..location(&judged.input, region.as_ref(), logical(judged, &note.origin, &note.path))
        }
    });
    let related_locations = related.collect();
    Result {
        rule_id: finding.rule.clone(),
        rule_index: manner.rules.iter().position(|rule| rule.id == finding.rule),
        level: level(finding.severity),
        message: Message::new(text),
        locations: vec![location(
            &judged.input,
            region.as_ref(),
            logical(judged, "object", &finding.path),
        )],
        related_locations,
        partial_fingerprints: [(FINGERPRINT, fingerprint(judged, &finding.rule, &finding.path))]
            .into(),
        suppressions: match judged.expectation {
            Expectation::Met => vec![Suppression {
                kind: "inSource",
                justification: "the fixture's header expects it",
            }],
            Expectation::None | Expectation::Unmet => Vec::new(),
        },
    }
}

fn unmet(input: &str, region: Option<&Region>, text: &str, lines: &[String]) -> Result {
    let identity = format!("{UNMET}\n{}\n{text}", words::file(input));
    Result {
        rule_id: UNMET.to_owned(),
        rule_index: None,
        level: Level::Error,
        message: Message::new(format!("{text}\n\n{}", lines.join("\n"))),
        locations: vec![location(input, region, None)],
        related_locations: Vec::new(),
        partial_fingerprints: [(FINGERPRINT, hash(&identity))].into(),
        suppressions: Vec::new(),
    }
}

fn location(input: &str, region: Option<&Region>, logical: Option<LogicalLocation>) -> Location {
    let file = region.map_or_else(|| words::file(input), |region| &region.input);
    Location {
        id: None,
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation { uri: uri(file) },
            region: region.map(|region| model::Region {
                start_line: region.line,
                start_column: Some(region.column),
                end_line: Some(region.end_line),
                end_column: Some(region.end_column),
            }),
        },
        logical_locations: logical.into_iter().collect(),
        message: None,
    }
}

/// `GitRepository default/app: status.artifact.revision`, for places in the judged object.
fn logical(judged: &Judged, origin: &str, path: &str) -> Option<LogicalLocation> {
    (origin == "object").then(|| LogicalLocation {
        fully_qualified_name: format!("{}: {}", words::object(judged), words::field(path)),
        kind: "object",
    })
}

fn descriptor(rule: &Rule) -> ReportingDescriptor {
    ReportingDescriptor {
        id: rule.id.clone(),
        short_description: Message::new(&rule.summary),
        full_description: crate::rules::harm(&rule.manual).map(Message::new),
        help: Some(Multiformat { text: rule.manual.clone(), markdown: rule.manual.clone() }),
        default_configuration: ReportingConfiguration { level: level(rule.severity) },
        properties: Some(model::Properties { tags: vec![rule.family.clone()] }),
    }
}

fn notifications(report: &Report) -> Vec<Notification> {
    let notification = |error: &crate::replay::result::InputError| Notification {
        descriptor: ReportingReference { id: error.kind },
        level: Level::Error,
        message: Message::new(sum::error_line(error)),
        locations: vec![Location {
            id: None,
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri: uri(&error.input) },
                region: error.line.map(|line| model::Region {
                    start_line: line,
                    start_column: None,
                    end_line: None,
                    end_column: None,
                }),
            },
            logical_locations: Vec::new(),
            message: None,
        }],
    };
    report.errors.iter().map(notification).collect()
}

fn level(severity: Severity) -> Level {
    match severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Info => Level::Note,
    }
}

/// The same for the same fault in the same state of the same object, wherever its lines move to.
fn fingerprint(judged: &Judged, rule: &str, path: &str) -> String {
    let Judged { input, api_version, kind, namespace, name, resource_version, .. } = judged;
    let file = words::file(input);
    hash(&[rule, file, api_version, kind, namespace, name, resource_version, path].join("\n"))
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// A file's name as a relative URI reference.
fn uri(file: &str) -> String {
    if file == "-" {
        return "stdin".to_owned();
    }
    let mut uri = String::new();
    for byte in file.trim_start_matches("./").replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    if uri.starts_with('/') { format!("file://{uri}") } else { uri }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_becomes_a_uri() {
        assert_eq!(uri("./a b/ü.yaml"), "a%20b/%C3%BC.yaml");
        assert_eq!(uri("/a/b:c"), "file:///a/b%3Ac");
        assert_eq!(uri("-"), "stdin");
    }
}
