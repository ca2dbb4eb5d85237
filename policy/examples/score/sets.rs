//! The labelled sets: read, judged, compared.
//!
//! They are files of public projects and no part of this repository; see `docs/accuracy.md`. Where
//! they are missing there is nothing to compare.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_policy::finding::{Finding, Phase, Severity, Verdict};
use plumb_policy::profile;
use plumb_policy::verdict::{self, Observation};
use serde::Deserialize;

/// Where the sets lie, seen from this crate.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/truth")
}

/// One sample, judged.
#[derive(Debug)]
pub(crate) struct Sample {
    /// Its file within the set.
    pub(crate) file: String,
    /// `kind.group`.
    pub(crate) kind: String,
    /// What the set says of it.
    pub(crate) label: String,
    /// What plumb says of it.
    pub(crate) verdict: Verdict,
    /// Whether it does work that ends by itself, and has begun.
    pub(crate) running: bool,
}

/// A place where plumb knowingly differs, or a finding that is a true fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    /// The set.
    pub(crate) set: String,
    /// The file within the set.
    pub(crate) file: String,
    /// The phase that plumb says.
    #[serde(default)]
    pub(crate) phase: Option<String>,
    /// The rule of a finding that is a true fault.
    #[serde(default)]
    pub(crate) rule: Option<String>,
    /// Why.
    pub(crate) reason: String,
}

/// Everything that is known.
///
/// # Panics
/// If the file of this repository is broken.
pub(crate) fn known() -> Vec<Known> {
    serde_saphyr::from_str(include_str!("known.yaml")).expect("known.yaml is well-formed")
}

impl Sample {
    fn judge(file: &str, label: &str, text: &str, old: Option<&str>, history: &[&str]) -> Self {
        let object: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let kind = object["kind"].as_str().unwrap_or("");
        let version = object["apiVersion"].as_str().unwrap_or("");
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let observation = Observation { object: text, old, history, ..Observation::default() };
        let verdict = verdict::check(&observation).expect("an object can be judged");
        let bounded = match profile::lookup(group, kind, &[]) {
            Some(profile::Found::BuiltIn(profile)) => profile.terminal,
            Some(profile::Found::Own(_)) | None => false,
        };
        let running = bounded && has_scalar(&object["status"]);
        let kind = if group.is_empty() { kind.into() } else { format!("{kind}.{group}") };
        Sample { file: file.into(), kind, label: label.into(), verdict, running }
    }

    /// The findings above info.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.verdict.findings.iter().filter(|finding| finding.severity > Severity::Info)
    }

    /// The phase, as written.
    pub(crate) fn phase(&self) -> &'static str {
        name(self.verdict.phase)
    }
}

/// A phase, as written.
pub(crate) fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Settled => "settled",
        Phase::Progressing => "progressing",
        Phase::Failed => "failed",
        Phase::Suspended => "suspended",
        Phase::Terminating => "terminating",
        Phase::Unknown => "unknown",
    }
}

fn has_scalar(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Null => false,
        serde_json::Value::Array(items) => items.iter().any(has_scalar),
        serde_json::Value::Object(members) => members.values().any(has_scalar),
        serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_) => true,
    }
}

/// Every YAML document of a file, as JSON text.
fn documents(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a sample is readable");
    // As kubectl reads them: of a repeated key the last one counts.
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
        legacy_octal_numbers: true,
    };
    let documents: Vec<serde_json::Value> =
        serde_saphyr::from_multiple_with_options(&text, options)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    documents.iter().filter(|value| value.is_object()).map(ToString::to_string).collect()
}

#[derive(Deserialize)]
struct Entry {
    file: String,
    #[serde(default)]
    status: serde_json::Value,
    #[serde(default)]
    healthy: Option<bool>,
}

/// The samples of a set of single objects; empty where the set is missing.
pub(crate) fn samples(set: &str) -> Vec<Sample> {
    let folder = root().join(set);
    let index = if set == "kstatus" { "expected.json" } else { "index.json" };
    let Ok(text) = fs::read_to_string(folder.join(index)) else { return Vec::new() };
    let entries: Vec<Entry> = serde_json::from_str(&text).expect("an index is JSON");
    let mut samples = Vec::new();
    for entry in entries {
        let label = match entry.healthy {
            Some(true) => "healthy",
            Some(false) => "unhealthy",
            None => entry.status.as_str().unwrap_or(""),
        };
        for document in documents(&folder.join(&entry.file)).into_iter().take(1) {
            samples.push(Sample::judge(&entry.file, label, &document, None, &[]));
        }
    }
    samples
}

/// The states of every recorded sequence, each judged with those before it.
pub(crate) fn transitions() -> Vec<Sample> {
    let mut samples = Vec::new();
    let Ok(folders) = fs::read_dir(root().join("transitions")) else { return samples };
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    for folder in folders.into_iter().filter(|path| path.is_dir()) {
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)
            .expect("a readable folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort_by_key(|path| {
            path.file_stem().and_then(|stem| stem.to_str()?.parse::<u32>().ok()).unwrap_or(0)
        });
        let states: Vec<String> = files.iter().flat_map(|path| documents(path)).collect();
        let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        for (index, state) in states.iter().enumerate() {
            let earlier: Vec<&str> = states[..index].iter().map(String::as_str).collect();
            let (old, history) = match earlier.split_last() {
                Some((old, history)) => (Some(*old), history),
                None => (None, &earlier[..]),
            };
            samples.push(Sample::judge(&format!("{name}/{index}"), "", state, old, history));
        }
    }
    samples
}

/// The phase that a label means; nothing where it means none.
pub(crate) fn wanted(set: &str, label: &str) -> &'static str {
    match (set, label) {
        (_, "Current" | "Healthy") => "settled",
        (_, "InProgress" | "Progressing") => "progressing",
        (_, "Degraded") | ("kstatus", "Failed") => "failed",
        (_, "Suspended") => "suspended",
        (_, "Terminating") => "terminating",
        _ => "unknown",
    }
}

/// Whether a sample's phase is what its set says.
pub(crate) fn agrees(set: &str, sample: &Sample) -> bool {
    let phase = sample.verdict.phase;
    match set {
        // Karmada knows two answers. Work that ends by itself is healthy while it runs; anything
        // else is healthy once it is ready.
        "karmada" => {
            let healthy = match phase {
                Phase::Settled => true,
                Phase::Progressing | Phase::Suspended => sample.running,
                Phase::Failed | Phase::Unknown | Phase::Terminating => false,
            };
            healthy == (sample.label == "healthy")
        }
        // Argo CD says Progressing of everything that is being deleted.
        "argocd" if phase == Phase::Terminating => sample.label == "Progressing",
        _ => name(phase) == wanted(set, &sample.label),
    }
}

/// Whether plumb called a sample settled that its set calls anything worse.
pub(crate) fn falsely_settled(set: &str, sample: &Sample) -> bool {
    sample.verdict.phase == Phase::Settled
        && match set {
            "karmada" => sample.label == "unhealthy",
            "argocd" => matches!(&*sample.label, "Degraded" | "Progressing"),
            _ => wanted(set, &sample.label) != "settled",
        }
}

/// Counts, keyed and ordered.
pub(crate) fn count<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_insert(0) += 1;
    }
    counts
}
