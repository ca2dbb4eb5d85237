//! The rules: what they are called, what their manuals say, and what they find in their fixtures.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use plumb_host::engine::{self, Policy};
use plumb_host::input::Source;
use plumb_host::replay::{Options, Replay};
use plumb_policy::catalogue;
use plumb_policy::finding::{Finding, Phase, Scope, Severity, Verdict};
use plumb_policy::rule::Rule;
use plumb_policy::time::Time;
use plumb_policy::verdict::{self, Observation};
use plumb_tests::generated;
use serde_json::Value;

/// What the rules of objects are; passes and traces have tests of their own.
fn rules() -> impl Iterator<Item = &'static Rule> {
    catalogue::rules().filter(|rule| !matches!(rule.check.scope(), Scope::Pass | Scope::Trace))
}

#[test]
fn a_rule_is_named_as_its_file_and_its_folder() {
    let base = generated::root().join("policy/src/rules");
    let mut files = BTreeSet::new();
    for folder in fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.is_dir() {
            let family = folder.file_name().unwrap().to_str().unwrap().to_owned();
            for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
                let text = fs::read_to_string(&file).unwrap();
                if text.contains("declare_rule! {") {
                    let stem = file.file_stem().unwrap().to_str().unwrap().replace('_', "-");
                    files.insert((family.clone(), stem));
                }
            }
        }
    }
    let known: BTreeSet<(String, String)> =
        catalogue::rules().map(|rule| (rule.family.to_owned(), rule.id.to_owned())).collect();
    assert_eq!(files, known);
}

#[test]
fn a_rule_names_the_wrong_state() {
    for rule in catalogue::rules() {
        let first = rule.id.split('-').next().unwrap();
        let remedies = ["avoid", "check", "do", "invalid", "no", "prefer", "use"];
        let remedy = remedies.contains(&first) && rule.id != "no-controller-selects-object";
        assert!(!remedy, "{}: names a remedy", rule.id);
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(rule.id.chars().all(word), "{}: is not kebab-case", rule.id);
        assert!(!rule.summary.ends_with('.'), "{}: the summary ends with a stop", rule.id);
    }
}

#[test]
fn a_manual_has_all_its_parts() {
    for rule in catalogue::rules() {
        let manual = catalogue::manual(rule);
        let mut rest = manual.as_str();
        for heading in
            ["What it does", "Why is this bad?", "Example", "Instead", "Severity", "References"]
        {
            let heading = format!("## {heading}\n");
            let at = rest.find(&heading);
            let at = at.unwrap_or_else(|| panic!("{}: lacks `{}`", rule.id, heading.trim()));
            rest = &rest[at + heading.len()..];
        }
        assert!(rest.trim().lines().count() > 0, "{}: has no reference", rule.id);
    }
}

#[test]
fn an_example_raises_its_rule_and_the_remedy_does_not() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let manual = catalogue::manual(rule);
        for part in ["Example", "Instead"] {
            let (text, now) = example(&manual, part);
            let stream = Stream::read(&text, now);
            let verdict = stream.judge(stream.documents.len() - 1);
            let above = |finding: &&Finding| finding.severity > Severity::Info;
            let ids: BTreeSet<&str> =
                verdict.findings.iter().filter(above).map(|finding| finding.rule).collect();
            let raised = verdict.findings.iter().any(|finding| finding.rule == rule.id);
            let right = match (part, rule.severity) {
                ("Example", Severity::Info) => ids.is_empty() && raised,
                ("Example", Severity::Warning | Severity::Error) => ids.iter().eq([&rule.id]),
                _ => ids.is_empty() && !raised,
            };
            if !right {
                wrong.push(format!("{} {part}: {:#?}", rule.id, verdict.findings));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The YAML of a part of a manual, and the present that it names.
fn example(manual: &str, part: &str) -> (String, Option<String>) {
    let text = manual.split(&format!("## {part}\n")).nth(1).unwrap();
    let text = text.split("\n## ").next().unwrap();
    let yaml = text.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let now = text.split("The present is ").nth(1);
    (yaml.to_owned(), now.map(|now| now.split(".\n").next().unwrap().to_owned()))
}

#[test]
fn every_rule_has_fixtures_and_they_show_what_they_are_named_for() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let mut kinds = BTreeSet::new();
        for path in fixtures(rule.id) {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let text = fs::read_to_string(&path).unwrap();
            let stream = Stream::read(&text, None);
            let last = stream.documents.len();
            let found = (0..last).flat_map(|place| stream.judge(place).findings);
            let severities: Vec<Severity> =
                found.filter(|found| found.rule == rule.id).map(|found| found.severity).collect();
            let above = severities.iter().any(|severity| *severity > Severity::Info);
            let (kind, right) = match name.split('-').next().unwrap() {
                "fail" => {
                    ("fail", above || (rule.severity == Severity::Info && !severities.is_empty()))
                }
                "pass" => ("pass", !above),
                "real" => ("real", true),
                _ => ("", false),
            };
            kinds.insert(kind);
            if kind == "real" && !text.contains("source: https://") {
                wrong.push(format!("{}: says no `source`", path.display()));
            }
            if !right {
                wrong.push(format!("{}: {severities:?}", path.display()));
            }
            // A reported object that is as it should be: no rule at all may speak up.
            let silent = name.starts_with("pass-case-");
            for finding in (0..last).flat_map(|place| stream.judge(place).findings) {
                if silent && finding.severity > Severity::Info {
                    wrong.push(format!("{}: {finding:#?}", path.display()));
                }
            }
        }
        if !kinds.contains("fail") || !kinds.contains("pass") {
            wrong.push(format!("{}: needs a failing and a passing fixture", rule.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_component_finds_what_the_library_finds() {
    let policy = Policy::embedded().unwrap();
    for rule in rules() {
        for path in fixtures(rule.id) {
            let stream = Stream::read(&fs::read_to_string(&path).unwrap(), None);
            for place in 0..stream.documents.len() {
                let native = stream.judge(place);
                let there = policy.check(&stream.observation(place)).unwrap();
                let natively: Vec<_> = native.findings.iter().map(told).collect();
                let through: Vec<_> = there.findings.iter().map(heard).collect();
                assert_eq!(natively, through, "{}#{place}", path.display());
            }
        }
    }
}

#[test]
fn fixtures_meet_their_expectations() {
    let policy = Policy::embedded().unwrap();
    let mut wrong = Vec::new();
    for rule in rules() {
        for path in fixtures(rule.id) {
            let mut replay = Replay::new(&policy, Options::default()).unwrap();
            replay.read(&Source::file(&path), &mut |_| Ok(())).unwrap();
            let report = replay.finish();
            let unmet: Vec<_> = report.results.iter().flat_map(|result| &result.unmet).collect();
            if report.summary.unmet != 0 || !report.errors.is_empty() {
                wrong.push(format!("{}: {unmet:#?} {:#?}", path.display(), report.errors));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn told(finding: &Finding) -> (String, String, String, String) {
    let severity = format!("{:?}", finding.severity).to_lowercase();
    (finding.rule.to_owned(), severity, finding.path.clone(), finding.message.clone())
}

fn heard(finding: &engine::Finding) -> (String, String, String, String) {
    let severity = format!("{:?}", finding.severity).to_lowercase();
    let severity = severity.rsplit("::").next().unwrap().to_owned();
    (finding.rule.clone(), severity, finding.path.clone(), finding.message.clone())
}

fn fixtures(id: &str) -> Vec<PathBuf> {
    let folder = generated::root().join("fixtures/rules").join(id);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A fixture's objects, each to be judged after those before it and beside the others.
struct Stream {
    documents: Vec<Value>,
    settings: String,
    now: Option<String>,
}

impl Stream {
    fn read(text: &str, now: Option<String>) -> Self {
        let mut stream = Stream { documents: Vec::new(), settings: String::new(), now };
        for document in serde_saphyr::from_multiple::<Value>(text).unwrap() {
            match document["kind"].as_str() {
                Some("Fixture") => {
                    stream.now = document["spec"]["now"].as_str().map(str::to_owned);
                }
                Some("Settings") => stream.settings = document.to_string(),
                _ => stream.documents.push(document),
            }
        }
        if stream.now.is_none() {
            let mut newest = None;
            stream.documents.iter().for_each(|document| latest(document, &mut newest));
            stream.now = newest.map(Time::text);
        }
        stream
    }

    /// What is known when the document at `place` is judged: the states before it, and of other
    /// objects the last one, if this is the last one of its own.
    fn observation(&self, place: usize) -> engine::Observation {
        let identity = identity(&self.documents[place]);
        let same = |document: &&Value| self::identity(document) == identity;
        let mut history: Vec<String> =
            self.documents[..place].iter().filter(same).map(Value::to_string).collect();
        let old = history.pop();
        let last = !self.documents[place + 1..].iter().any(|document| same(&document));
        let others = self.documents.iter().enumerate().filter(|(at, other)| {
            let newer = &self.documents[at + 1..];
            !same(other)
                && !newer.iter().any(|newer| self::identity(newer) == self::identity(other))
        });
        engine::Observation {
            object: self.documents[place].to_string(),
            old,
            history,
            related: others.filter(|_| last).map(|(_, other)| other.to_string()).collect(),
            now: self.now.clone(),
            settings: self.settings.clone(),
        }
    }

    fn judge(&self, place: usize) -> Verdict {
        let known = self.observation(place);
        let history: Vec<&str> = known.history.iter().map(String::as_str).collect();
        let related: Vec<&str> = known.related.iter().map(String::as_str).collect();
        verdict::check(&Observation {
            object: &known.object,
            old: known.old.as_deref(),
            history: &history,
            related: &related,
            now: known.now.as_deref(),
            settings: &known.settings,
        })
        .unwrap()
    }
}

fn identity(document: &Value) -> [String; 4] {
    let group = document["apiVersion"].as_str().unwrap_or("").split('/').next().unwrap_or("");
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let metadata = &document["metadata"];
    [
        group.to_owned(),
        text(&document["kind"]),
        text(&metadata["namespace"]),
        text(&metadata["name"]),
    ]
}

/// The newest time in a document.
fn latest(value: &Value, newest: &mut Option<Time>) {
    match value {
        Value::String(text) => *newest = Time::parse(text).max(*newest),
        Value::Array(items) => items.iter().for_each(|item| latest(item, newest)),
        Value::Object(members) => members.values().for_each(|member| latest(member, newest)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The fixtures' last objects, each changed in a way that must not matter.
#[test]
fn the_order_of_conditions_and_unknown_fields_do_not_matter() {
    for rule in rules() {
        for path in fixtures(rule.id) {
            let mut stream = Stream::read(&fs::read_to_string(&path).unwrap(), None);
            let ids = |stream: &Stream| {
                let verdict = stream.judge(stream.documents.len() - 1);
                let mut ids: Vec<_> = verdict
                    .findings
                    .iter()
                    .map(|finding| (finding.rule, finding.severity))
                    .collect();
                ids.sort_unstable();
                (verdict.phase, verdict.coherence, ids)
            };
            let before = ids(&stream);
            for document in &mut stream.documents {
                document["metadata"]["labelsOfNobody"] = Value::from("unknown");
                document["status"]["unknownToAll"] = Value::from(1);
            }
            let unknown = ids(&stream);
            assert_eq!(before.2, unknown.2, "{}: an unknown field", path.display());
            // Of two conditions of one type the last one counts, so their order is a statement.
            if rule.id == "repeated-condition-type" {
                continue;
            }
            for document in &mut stream.documents {
                if let Some(conditions) = document["status"]["conditions"].as_array_mut() {
                    conditions.reverse();
                }
            }
            assert_eq!(unknown, ids(&stream), "{}: the order of conditions", path.display());
        }
    }
}

#[test]
fn an_object_without_status_is_not_settled() {
    for rule in rules() {
        for path in fixtures(rule.id) {
            let mut stream = Stream::read(&fs::read_to_string(&path).unwrap(), None);
            let mut object = stream.documents.pop().unwrap();
            if object["status"].is_null() {
                continue;
            }
            object.as_object_mut().unwrap().remove("status");
            stream.documents = vec![object];
            let phase = stream.judge(0).phase;
            assert_ne!(phase, Phase::Settled, "{}", path.display());
        }
    }
}
