//! Judges streams with the rules as they are in this workspace: no component, no host.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_host::input::{Documents, ItemKind};
use plumb_policy::finding::{Finding, Severity, Verdict};
use plumb_policy::verdict::{self, Observation};
use serde_json::Value;

/// One state of one object with what is thought of it.
#[derive(Debug)]
pub struct Judged {
    /// The file, and the document in it (without the header).
    pub name: String,
    /// 1-based number of the document, without the header.
    pub document: usize,
    /// The object.
    pub object: Value,
    /// What is thought of it.
    pub verdict: Verdict,
}

impl Judged {
    /// The findings above info.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.verdict.findings.iter().filter(|finding| finding.severity > Severity::Info)
    }

    /// `metadata.resourceVersion`.
    pub fn resource_version(&self) -> &str {
        self.object["metadata"]["resourceVersion"].as_str().unwrap_or_default()
    }

    /// The findings above info, one a line, for messages of tests.
    pub fn told(&self) -> String {
        let lines = self
            .findings()
            .map(|finding| format!("  {} {}: {}\n", finding.rule, finding.path, finding.message));
        format!("{} ({:?})\n{}", self.name, self.verdict.phase, lines.collect::<String>())
    }
}

/// A file of the shared data, which is there only on some machines.
pub fn shared(path: &str) -> Option<PathBuf> {
    let path = crate::generated::root().join("../shared").join(path);
    path.exists().then_some(path)
}

/// The files below a folder with one of these endings, sorted.
pub fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, endings));
        } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Judges every state of the objects in a file; the fixture's header, if there is one.
///
/// # Panics
/// If the file cannot be read.
pub fn judge(path: &Path) -> (Option<Value>, Vec<Judged>) {
    try_judge(path).unwrap_or_else(|error| panic!("{error}"))
}

/// As [`judge`].
///
/// # Errors
/// Why the file cannot be read.
pub fn try_judge(path: &Path) -> Result<(Option<Value>, Vec<Judged>), String> {
    let file = fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut header = None;
    let mut states: Vec<(usize, String, Option<String>)> = Vec::new();
    let mut first = 0;
    for document in Documents::new(path.display().to_string(), file) {
        let document = document.map_err(|error| format!("{}: {error}", path.display()))?;
        let mut old = None;
        for item in document.items {
            match item.kind {
                ItemKind::Fixture(text) => {
                    first = document.number;
                    header = serde_json::from_str(&text).ok();
                }
                ItemKind::OldObject(text) => old = Some(text),
                ItemKind::Object(text) => states.push((document.number - first, text, old.take())),
                _ => {}
            }
        }
    }
    let judged = judge_states(&path.display().to_string(), header.as_ref(), &states);
    Ok((header, judged))
}

/// The objects in a file, JSON.
///
/// # Panics
/// If the file cannot be read.
pub fn objects(path: &Path) -> Vec<String> {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let documents = Documents::new(path.display().to_string(), file);
    let items = documents.flat_map(|document| document.expect("a document").items);
    items
        .filter_map(|item| match item.kind {
            ItemKind::Object(text) => Some(text),
            _ => None,
        })
        .collect()
}

/// What identifies an object over its states.
fn identity(object: &Value) -> String {
    let metadata = &object["metadata"];
    match metadata["uid"].as_str() {
        Some(uid) => uid.into(),
        None => format!("{}{}{}", object["kind"], metadata["namespace"], metadata["name"]),
    }
}

fn judge_states(
    name: &str,
    header: Option<&Value>,
    states: &[(usize, String, Option<String>)],
) -> Vec<Judged> {
    let spec = header.map_or(&Value::Null, |header| &header["spec"]);
    let parsed: Vec<Value> =
        states.iter().map(|(_, text, _)| serde_json::from_str(text).expect("JSON")).collect();
    let identities: Vec<String> = parsed.iter().map(identity).collect();
    let mut judged = Vec::new();
    for (index, (document, text, old)) in states.iter().enumerate() {
        let before: Vec<&str> = (0..index)
            .filter(|&earlier| identities[earlier] == identities[index])
            .map(|earlier| &*states[earlier].1)
            .collect();
        let (old, history) = match (old, before.split_last()) {
            (Some(old), _) => (Some(&**old), &before[..]),
            (None, Some((last, rest))) => (Some(*last), rest),
            (None, None) => (None, &before[..]),
        };
        let mut related: Vec<&str> = Vec::new();
        if spec["related"] != Value::Bool(false) {
            for (other, identity) in identities.iter().enumerate() {
                let last = identities.iter().rposition(|it| it == identity) == Some(other);
                if last && *identity != identities[index] {
                    related.push(&states[other].1);
                }
            }
        }
        let observation = Observation {
            object: text,
            old,
            history,
            related: &related,
            now: spec["now"].as_str(),
            settings: "",
        };
        let name = format!("{name}#{document}");
        let verdict =
            verdict::check(&observation).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        judged.push(Judged { name, document: *document, object: parsed[index].clone(), verdict });
    }
    judged
}

/// Where the verdicts differ from what the header expects of them.
pub fn unmet(header: &Value, judged: &[Judged]) -> Vec<String> {
    let empty = Vec::new();
    let expectations = header["spec"]["expect"].as_array().unwrap_or(&empty);
    let mut unmet = Vec::new();
    for expectation in expectations {
        if !judged.iter().any(|one| is_meant(expectation, one)) {
            unmet.push(format!("nothing is meant by {expectation}"));
        }
    }
    for one in judged {
        let meant: Vec<&Value> =
            expectations.iter().filter(|expectation| is_meant(expectation, one)).collect();
        let mut wanted: Vec<&Value> = Vec::new();
        for expectation in &meant {
            wanted.extend(expectation["findings"].as_array().unwrap_or(&empty));
            for (key, is) in [
                ("coherence", format!("{:?}", one.verdict.coherence).to_lowercase()),
                ("phase", format!("{:?}", one.verdict.phase).to_lowercase()),
            ] {
                let Some(expected) = expectation[key].as_str() else { continue };
                if expected != is {
                    unmet.push(format!("{}: {key} is {is}, not {expected}", one.name));
                }
            }
        }
        for finding in one.findings() {
            let place = wanted.iter().position(|expected| fits(expected, finding));
            match place {
                Some(place) => drop(wanted.remove(place)),
                None => unmet.push(format!(
                    "{}: not expected: {} {} {}",
                    one.name, finding.rule, finding.path, finding.message
                )),
            }
        }
        unmet.extend(wanted.iter().map(|expected| format!("{}: missing: {expected}", one.name)));
    }
    unmet
}

fn is_meant(expectation: &Value, one: &Judged) -> bool {
    let metadata = &one.object["metadata"];
    let fits = |key: &str, is: &Value| expectation[key].is_null() || expectation[key] == *is;
    fits("document", &Value::from(one.document))
        && fits("kind", &one.object["kind"])
        && ["name", "namespace", "uid", "resourceVersion"]
            .iter()
            .all(|key| fits(key, &metadata[key]))
}

fn fits(expected: &Value, finding: &Finding) -> bool {
    let severity = format!("{:?}", finding.severity).to_lowercase();
    let fits = |key: &str, is: &str| expected[key].as_str().is_none_or(|wanted| wanted == is);
    expected["rule"] == finding.rule && fits("path", &finding.path) && fits("severity", &severity)
}
