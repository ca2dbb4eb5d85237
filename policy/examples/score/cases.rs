//! The reported cases among the fixtures, each judged as a replay judges it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_policy::finding::{Coherence, Finding, Severity, Verdict};
use plumb_policy::time::Time;
use plumb_policy::verdict::{self, Observation};
use serde::Deserialize;
use serde_json::Value;

/// One report, as a fixture.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its number.
    pub(crate) number: String,
    /// The report's address.
    pub(crate) source: String,
    /// The rule in whose folder it lies.
    pub(crate) rule: String,
    /// Whether a fault was reported, or what looks like one and is none.
    pub(crate) is_fault: bool,
    /// Every finding of every state.
    pub(crate) findings: Vec<Finding>,
    /// The verdict on the last state.
    pub(crate) verdict: Verdict,
}

/// A report that carries too little for a fixture that finds its fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TooLittle {
    /// Its number.
    pub(crate) case: String,
    /// The report's address.
    pub(crate) source: String,
    /// Why.
    pub(crate) reason: String,
}

/// The reports that carry too little.
///
/// # Panics
/// If the file of this repository is broken.
pub(crate) fn too_little() -> Vec<TooLittle> {
    serde_saphyr::from_str(include_str!("cases.yaml")).expect("cases.yaml is well-formed")
}

/// Every reported case among the fixtures of rules, by number.
///
/// # Panics
/// If a fixture is broken.
pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/rules");
    let mut cases = Vec::new();
    for rule in entries(&folder) {
        for file in entries(&rule) {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let Some((kind, case)) = name.split_once("-case-") else { continue };
            let text = fs::read_to_string(&file).expect("a fixture is readable");
            let stream = Stream::read(&text);
            let verdicts = stream.verdicts();
            let findings = verdicts.iter().flat_map(|verdict| verdict.findings.clone()).collect();
            cases.push(Case {
                number: case.split('-').next().unwrap_or("").into(),
                source: stream.source.clone(),
                rule: rule.file_name().unwrap_or_default().to_string_lossy().into(),
                is_fault: kind != "pass",
                findings,
                verdict: verdicts.into_iter().next_back().expect("a fixture has an object"),
            });
        }
    }
    cases.sort_by(|left, right| (&left.number, &left.rule).cmp(&(&right.number, &right.rule)));
    cases
}

impl Case {
    /// What the case's rule finds, the worst first.
    pub(crate) fn found(&self) -> Option<&Finding> {
        let own = self.findings.iter().filter(|finding| finding.rule == self.rule);
        own.max_by_key(|finding| finding.severity)
    }
}

/// What is found above info in the fixtures that expect nothing at all, each with its name.
///
/// # Panics
/// If a fixture is broken.
pub(crate) fn unexpected() -> Vec<(String, Finding)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/rules");
    let mut found = Vec::new();
    for file in entries(&folder).iter().flat_map(|rule| entries(rule)) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).expect("a fixture is readable");
        if !name.starts_with("pass-") || !text.contains("\n  expect: []\n") {
            continue;
        }
        let verdicts = Stream::read(&text).verdicts();
        let findings = verdicts.into_iter().flat_map(|verdict| verdict.findings);
        let above = findings.filter(|finding| finding.severity > Severity::Info);
        found.extend(above.map(|finding| (name.clone(), finding)));
    }
    found
}

/// The table of `docs/accuracy.md`.
pub(crate) fn table() -> String {
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in cases() {
        let link = link(&case.source);
        let answer = match case.found() {
            _ if !case.is_fault => "silent".into(),
            Some(finding) => {
                let severity = format!("{:?}", finding.severity).to_lowercase();
                let stale = finding.severity == Severity::Info
                    && case.verdict.coherence == Coherence::Stale;
                let stale = if stale { ", the status is stale" } else { "" };
                format!("{severity} at `{}`{stale}", finding.path)
            }
            None => "not found".into(),
        };
        let wanted = if case.is_fault { "a fault" } else { "no fault" };
        let rule = format!("[`{0}`](rules/{0}.md)", case.rule);
        rows.entry(case.number)
            .or_default()
            .push(format!("| {link} | {wanted} | {rule} | {answer} |"));
    }
    for one in too_little() {
        let row = format!("| {} | too little told |  | {} |", link(&one.source), one.reason);
        rows.entry(one.case).or_default().push(row);
    }
    let head = "| report | tells of | rule | plumb's answer |\n|---|---|---|---|\n";
    rows.into_values().flatten().fold(head.into(), |text, row| text + &row + "\n")
}

fn link(source: &str) -> String {
    let short = source.trim_start_matches("https://").trim_start_matches("github.com/");
    let short = match short.rsplit_once("/issues/").or_else(|| short.rsplit_once("/pull/")) {
        Some((repository, number)) => format!("{repository}#{number}"),
        None => short.split('/').take(2).collect::<Vec<_>>().join("/"),
    };
    format!("[{short}]({source})")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The objects of a fixture, each judged after its former states and, in its last one, beside the
/// others.
struct Stream {
    source: String,
    settings: String,
    now: Option<String>,
    objects: Vec<Value>,
}

impl Stream {
    fn read(text: &str) -> Self {
        let mut stream = Stream {
            source: String::new(),
            settings: String::new(),
            now: None,
            objects: Vec::new(),
        };
        let documents: Vec<Value> = serde_saphyr::from_multiple(text).expect("a fixture is YAML");
        for document in documents {
            match document["kind"].as_str() {
                Some("Fixture") => {
                    let spec = &document["spec"];
                    stream.source = spec["source"].as_str().unwrap_or("").into();
                    stream.now = spec["now"].as_str().map(Into::into);
                }
                Some("Settings") => stream.settings = document.to_string(),
                // Passes and traces are no objects.
                _ if is_own(&document) => {}
                _ => stream.objects.push(document),
            }
        }
        if stream.now.is_none() {
            let newest = stream.objects.iter().filter_map(newest).max();
            stream.now = newest.map(Time::text);
        }
        stream
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let texts: Vec<String> = self.objects.iter().map(Value::to_string).collect();
        let is_last = |place: usize| {
            let later = &self.objects[place + 1..];
            !later.iter().any(|other| identity(other) == identity(&self.objects[place]))
        };
        let judge = |place: usize| {
            let same =
                |other: &usize| identity(&self.objects[*other]) == identity(&self.objects[place]);
            let earlier: Vec<&str> = (0..place).filter(same).map(|at| &*texts[at]).collect();
            let others = (0..texts.len()).filter(|at| !same(at) && is_last(*at) && is_last(place));
            let related: Vec<&str> = others.map(|at| &*texts[at]).collect();
            verdict::check(&Observation {
                object: &texts[place],
                old: earlier.last().copied(),
                history: &earlier[..earlier.len().saturating_sub(1)],
                related: &related,
                now: self.now.as_deref(),
                settings: &self.settings,
            })
            .expect("an object can be judged")
        };
        (0..texts.len()).map(judge).collect()
    }
}

fn is_own(document: &Value) -> bool {
    document["apiVersion"].as_str().is_some_and(|version| version.starts_with("plumb.dev/"))
}

fn identity(object: &Value) -> [&Value; 5] {
    let metadata = &object["metadata"];
    [
        &object["apiVersion"],
        &object["kind"],
        &metadata["namespace"],
        &metadata["name"],
        &metadata["uid"],
    ]
}

/// The newest time at which something happened.
fn newest(value: &Value) -> Option<Time> {
    const PAST: &[&str] = &[
        "completionTime",
        "creationTimestamp",
        "finishedAt",
        "lastHeartbeatTime",
        "lastTransitionTime",
        "lastUpdateTime",
        "reconciledAt",
        "startedAt",
        "time",
    ];
    match value {
        Value::Object(members) => members
            .iter()
            .filter_map(|(key, value)| match value {
                Value::String(text) if PAST.contains(&&**key) => Time::parse(text),
                _ => newest(value),
            })
            .max(),
        Value::Array(items) => items.iter().filter_map(newest).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
