//! A fixture's header, and whether results are as it expects.

use std::fmt::Write;

use serde::Deserialize;

use super::filter::Filter;
use super::result::{Expectation, Fixture, Judged};
use crate::engine::{Coherence, Ending, Finding, Phase, Scope, Severity};

/// `kind: Fixture`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Header {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    pub(super) spec: Spec,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Spec {
    source: Option<String>,
    story: Option<String>,
    /// The time taken for the present, RFC 3339.
    pub(super) now: Option<String>,
    /// Whether the objects are judged beside each other.
    pub(super) related: bool,
    /// Nothing is expected if absent; no finding at all if empty.
    expect: Option<Vec<Expected>>,
}

impl Default for Spec {
    fn default() -> Self {
        Self { source: None, story: None, now: None, related: true, expect: None }
    }
}

/// What is expected of the results that it selects.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Expected {
    /// 1-based, not counting the header.
    document: Option<usize>,
    name: Option<String>,
    namespace: Option<String>,
    kind: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    scope: Option<Scope>,
    coherence: Option<Coherence>,
    phase: Option<Phase>,
    /// All findings above info.
    findings: Vec<ExpectedFinding>,
    decision: Option<ExpectedDecision>,
    end: Option<ExpectedEnd>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExpectedFinding {
    rule: String,
    path: Option<String>,
    severity: Option<Severity>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExpectedDecision {
    action: Option<String>,
    delay: Option<u32>,
    reason: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExpectedEnd {
    state: Option<Ending>,
    until: Option<String>,
    lost_at: Option<u32>,
}

/// A header and what was met of it so far.
#[derive(Debug)]
pub(super) struct Expectations {
    pub(super) header: Header,
    /// Which entries selected a result.
    met: Vec<bool>,
}

impl Header {
    /// Reads a header's JSON.
    pub(super) fn read(json: &str) -> Result<Self, String> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let message = error.inner().to_string();
            let message = message.rfind(" at line ").map_or(&*message, |at| &message[..at]);
            format!("{}: {message}", error.path())
        })
    }

    /// The header as results show it.
    pub(super) fn fixture(&self, input: &str) -> Fixture {
        Fixture {
            input: input.to_owned(),
            name: self.metadata.name.clone(),
            source: self.spec.source.clone(),
            story: self.spec.story.clone(),
            unmet: Vec::new(),
        }
    }
}

impl Expectations {
    pub(super) fn new(header: Header) -> Self {
        let entries = header.spec.expect.as_ref().map_or(0, Vec::len);
        Self { header, met: vec![false; entries] }
    }

    /// Says of each result of one evaluation whether it is as expected. `document` counts without
    /// the header.
    ///
    /// An entry with a scope is about the result of that scope; one without is about all others
    /// of the evaluation together.
    pub(super) fn judge(&mut self, results: &mut [Judged], document: usize, filter: &Filter) {
        let Some(entries) = &self.header.spec.expect else { return };
        let selected: Vec<&Expected> = entries
            .iter()
            .zip(&mut self.met)
            .filter_map(|(entry, met)| {
                let selects = results.iter().any(|result| entry.selects(result, document));
                *met |= selects;
                selects.then_some(entry)
            })
            .collect();
        let mut rest = Vec::new();
        for (index, result) in results.iter_mut().enumerate() {
            result.expectation = Expectation::Met;
            let scoped: Vec<&Expected> = selected
                .iter()
                .copied()
                .filter(|entry| entry.scope == Some(result.scope))
                .collect();
            if scoped.is_empty() {
                rest.push(index);
            } else {
                compare(&mut [result], &scoped, filter);
            }
        }
        let unscoped: Vec<&Expected> =
            selected.into_iter().filter(|entry| entry.scope.is_none()).collect();
        let mut rest: Vec<&mut Judged> = results
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| rest.contains(index))
            .map(|(_, result)| result)
            .collect();
        if !rest.is_empty() {
            compare(&mut rest, &unscoped, filter);
        }
    }

    /// One line for each entry that selected no result.
    pub(super) fn missed(&self) -> Vec<String> {
        let entries = self.header.spec.expect.iter().flatten().zip(&self.met).enumerate();
        entries
            .filter(|(_, (_, met))| !**met)
            .map(|(index, (entry, _))| {
                format!("expectation {} ({entry}) meets no result", index + 1)
            })
            .collect()
    }
}

impl Expected {
    fn selects(&self, result: &Judged, document: usize) -> bool {
        let same = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        self.document.is_none_or(|wanted| wanted == document)
            && same(&self.name, &result.name)
            && same(&self.namespace, &result.namespace)
            && same(&self.kind, &result.kind)
            && same(&self.uid, &result.uid)
            && same(&self.resource_version, &result.resource_version)
            && self.scope.is_none_or(|wanted| wanted == result.scope)
    }
}

/// The selectors, as the header has them.
impl std::fmt::Display for Expected {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        if let Some(document) = self.document {
            write!(text, "document {document}, ")?;
        }
        for (name, value) in [
            ("kind", &self.kind),
            ("namespace", &self.namespace),
            ("name", &self.name),
            ("uid", &self.uid),
            ("resourceVersion", &self.resource_version),
        ] {
            if let Some(value) = value {
                write!(text, "{name} {value}, ")?;
            }
        }
        if let Some(scope) = self.scope {
            write!(text, "scope {scope}, ")?;
        }
        let text = text.strip_suffix(", ").unwrap_or("any");
        formatter.write_str(text)
    }
}

/// Notes on `results` how they differ from what is expected of all of them together.
fn compare(results: &mut [&mut Judged], expected: &[&Expected], filter: &Filter) {
    let mut unmet: Vec<(usize, String)> = Vec::new();
    let mut found: Vec<(usize, &Finding)> = Vec::new();
    for (index, result) in results.iter().enumerate() {
        found.extend(result.findings.iter().map(|finding| (index, finding)));
    }
    let wanted: Vec<&ExpectedFinding> = expected
        .iter()
        .flat_map(|entry| &entry.findings)
        .filter(|finding| filter.rule(&finding.rule))
        .collect();
    // Those that say more choose first.
    let (exact, loose): (Vec<_>, Vec<_>) =
        wanted.into_iter().partition(|wanted: &&ExpectedFinding| wanted.path.is_some());
    for wanted in exact.into_iter().chain(loose) {
        match found.iter().position(|(_, finding)| wanted.is(finding)) {
            Some(at) => {
                let (index, finding) = found.remove(at);
                if wanted.severity.is_some_and(|severity| severity != finding.severity) {
                    let severity = finding.severity;
                    unmet.push((index, format!("expected {wanted}, found it as {severity}")));
                }
            }
            None => unmet.push((0, format!("expected {wanted}, found none"))),
        }
    }
    for (index, finding) in found {
        if finding.severity != Severity::Info {
            let Finding { rule, severity, path, message, .. } = finding;
            unmet.push((index, format!("unexpected {severity} {rule} at {path}: {message}")));
        }
    }
    let first = &*results[0];
    for entry in expected {
        let mut differ = |name: &str, wanted: Option<String>, found: String| {
            if let Some(wanted) = wanted.filter(|wanted| *wanted != found) {
                unmet.push((0, format!("expected {name} {wanted}, found {found}")));
            }
        };
        differ("coherence", text(entry.coherence.as_ref()), first.coherence.to_string());
        differ("phase", text(entry.phase.as_ref()), first.phase.to_string());
        if let Some(wanted) = &entry.decision {
            let found = first.decision.as_ref();
            let of = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
            differ("action", wanted.action.clone(), of(found.map(|found| found.action.to_owned())));
            differ(
                "delay",
                text(wanted.delay.as_ref()),
                of(found.and_then(|found| text(found.delay.as_ref()))),
            );
            differ("reason", wanted.reason.clone(), of(found.map(|found| found.reason.clone())));
        }
        if let Some(wanted) = &entry.end {
            let found = first.end.as_ref();
            let of = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
            differ(
                "end",
                text(wanted.state.as_ref()),
                of(found.map(|found| found.state.to_owned())),
            );
            differ("until", wanted.until.clone(), of(found.and_then(|found| found.until.clone())));
            differ(
                "lostAt",
                text(wanted.lost_at.as_ref()),
                of(found.and_then(|found| text(found.lost_at.as_ref()))),
            );
        }
    }
    for (index, line) in unmet {
        results[index].expectation = Expectation::Unmet;
        results[index].unmet.push(line);
    }
}

fn text(value: Option<&impl ToString>) -> Option<String> {
    value.map(ToString::to_string)
}

impl ExpectedFinding {
    fn is(&self, finding: &Finding) -> bool {
        self.rule == finding.rule && self.path.as_ref().is_none_or(|path| *path == finding.path)
    }
}

impl std::fmt::Display for ExpectedFinding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(severity) = self.severity {
            write!(formatter, "{severity} ")?;
        }
        formatter.write_str(&self.rule)?;
        match &self.path {
            Some(path) => write!(formatter, " at {path}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
