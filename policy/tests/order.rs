//! What must not change a verdict: the order of fields, of conditions, of the objects beside it,
//! and fields that nobody knows. Shown on every object of the fixtures and, where they are at hand,
//! of the labelled sets, each in several random orders.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use plumb_policy::finding::{Coherence, Phase, Severity, Verdict};
use plumb_policy::profile::{self, Found, PhaseName, PhaseRule, test};
use plumb_policy::verdict::{self, Observation};
use serde_json::{Map, Value};

/// Random orders of each object.
const ORDERS: u64 = 2;

#[test]
fn the_order_of_fields_does_not_change_a_verdict() {
    let mut random = Random(1);
    for (origin, object) in objects() {
        let before = check(&object.to_string(), &[]);
        for _ in 0..ORDERS {
            let after = check(&shuffled_text(&object, &mut random), &[]);
            assert_eq!(before, after, "{origin}");
        }
    }
}

#[test]
fn the_order_of_conditions_does_not_change_a_verdict() {
    let mut random = Random(2);
    for (origin, object) in objects() {
        let before = told(&check(&object.to_string(), &[]), &object);
        for _ in 0..ORDERS {
            let mut other = object.clone();
            // Of two conditions of one type the last one counts, so their order is a statement.
            if !shuffle_conditions(&mut other, &mut random) {
                break;
            }
            assert_eq!(before, told(&check(&other.to_string(), &[]), &other), "{origin}");
        }
    }
}

#[test]
fn the_order_of_documents_does_not_change_a_verdict() {
    let mut random = Random(3);
    for (file, mut stream) in streams().into_iter().filter(|(_, stream)| stream.len() > 1) {
        // One state of each object: the states of one are no set.
        stream.sort_by_key(identity);
        stream.dedup_by_key(|object| identity(object));
        for place in 0..stream.len() {
            let mut others: Vec<String> = stream.iter().map(Value::to_string).collect();
            let object = others.remove(place);
            let beside = |others: &[String]| {
                let related: Vec<&str> = others.iter().map(String::as_str).collect();
                told(&check(&object, &related), &stream[place])
            };
            let before = beside(&others);
            for _ in 0..ORDERS {
                random.shuffle(&mut others);
                assert_eq!(before, beside(&others), "{file}");
            }
        }
    }
}

#[test]
fn unknown_fields_do_not_change_a_verdict() {
    for (origin, object) in objects() {
        let before = check(&object.to_string(), &[]);
        let mut other = object.clone();
        add_unknown(&mut other, &["metadata", "spec", "status"]);
        conditions(&mut other, &mut |list| {
            for condition in list.iter_mut().filter(|condition| condition.is_object()) {
                condition["unknownToAll"] = Value::from("3f2a");
            }
        });
        let after = check(&other.to_string(), &[]);
        assert_eq!(before, after, "{origin}");
    }
}

#[test]
fn without_a_status_nothing_is_settled_or_coherent() {
    for (origin, mut object) in objects() {
        let group = object["apiVersion"].as_str().unwrap_or("").rsplit_once('/');
        let group = group.map_or("", |(group, _)| group);
        let kind = object["kind"].as_str().unwrap_or("").to_owned();
        // A kind without a status is there once it exists, and some need none for some specs.
        let by_spec = |rule: &PhaseRule<'_>| {
            rule.is == PhaseName::Settled
                && !rule.when.is_empty()
                && !rule.when.iter().any(test::speaks_of_status)
        };
        let needs_none = match profile::lookup(group, &kind, &[]) {
            Some(Found::BuiltIn(profile)) => {
                profile.statusless || profile.phases.iter().any(by_spec)
            }
            Some(Found::Own(_)) | None => false,
        };
        if object.as_object_mut().and_then(|members| members.remove("status")).is_none() {
            continue;
        }
        let verdict = check(&object.to_string(), &[]);
        assert!(needs_none || verdict.phase != Phase::Settled, "{origin}: {verdict:?}");
        assert_ne!(verdict.coherence, Coherence::Coherent, "{origin}: {verdict:?}");
        assert_eq!(verdict.repair, None, "{origin}");
    }
}

#[test]
fn a_repair_touches_the_status_alone_and_leaves_nothing_to_do() {
    let mut repairs = 0;
    for (origin, object) in objects() {
        let Some(patch) = check(&object.to_string(), &[]).repair else { continue };
        repairs += 1;
        let operations: Vec<Value> = serde_json::from_str(&patch).unwrap();
        let mut after = object.clone();
        for operation in &operations {
            let path = operation["path"].as_str().unwrap();
            assert!(path.starts_with("/status/"), "{origin}: {patch}");
            let place = after.pointer_mut(path).unwrap();
            match operation["op"].as_str() {
                Some("test") => assert_eq!(*place, operation["value"], "{origin}"),
                Some("replace") => *place = operation["value"].clone(),
                _ => panic!("{origin}: {patch}"),
            }
        }
        let verdict = check(&after.to_string(), &[]);
        assert_eq!(verdict.repair, None, "{origin}: a second repair finds something to do");
        assert_ne!(verdict.phase, Phase::Settled, "{origin}");
        for key in ["apiVersion", "kind", "metadata", "spec"] {
            assert_eq!(object[key], after[key], "{origin}");
        }
    }
    assert!(repairs > 10, "only {repairs} objects were torn");
}

/// Linear congruential numbers: the same orders in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }
}

fn check(object: &str, related: &[&str]) -> Verdict {
    let observation = Observation {
        object,
        related,
        now: Some("2026-12-01T00:00:00Z"),
        ..Observation::default()
    };
    verdict::check(&observation).unwrap()
}

/// What a verdict says, with conditions named by their types.
fn told(
    verdict: &Verdict,
    object: &Value,
) -> (Phase, Coherence, Vec<(&'static str, Severity, String)>) {
    let mut findings: Vec<_> = verdict
        .findings
        .iter()
        .map(|finding| (finding.rule, finding.severity, named(&finding.path, object)))
        .collect();
    findings.sort();
    (verdict.phase, verdict.coherence, findings)
}

fn named(path: &str, object: &Value) -> String {
    let mut name = String::new();
    let (mut place, mut last) = (object, "");
    for token in path.split('/').skip(1) {
        place = match place {
            Value::Array(items) => {
                token.parse().ok().and_then(|at: usize| items.get(at)).unwrap_or(&Value::Null)
            }
            _ => &place[token],
        };
        let type_ = place["type"].as_str().filter(|_| last == "conditions");
        name += "/";
        name += type_.unwrap_or(token);
        last = token;
    }
    name
}

/// JSON with the members of every object in random order.
fn shuffled_text(value: &Value, random: &mut Random) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            random.shuffle(&mut members);
            let texts: Vec<String> = members
                .into_iter()
                .map(|(key, value)| {
                    format!("{}:{}", Value::from(key.as_str()), shuffled_text(value, random))
                })
                .collect();
            format!("{{{}}}", texts.join(","))
        }
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().map(|item| shuffled_text(item, random)).collect();
            format!("[{}]", texts.join(","))
        }
        _ => value.to_string(),
    }
}

/// Shuffles every list of conditions; false where a type repeats.
fn shuffle_conditions(object: &mut Value, random: &mut Random) -> bool {
    let mut unique = true;
    conditions(object, &mut |list| {
        for (place, item) in list.iter().enumerate() {
            unique &= !list[..place].iter().any(|other| other["type"] == item["type"]);
        }
        random.shuffle(list);
    });
    unique
}

/// Calls `with` for each list of conditions.
fn conditions(value: &mut Value, with: &mut dyn FnMut(&mut Vec<Value>)) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::Array(list) if key == "conditions" => with(list),
                    _ => conditions(member, with),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| conditions(item, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn add_unknown(object: &mut Value, keys: &[&str]) {
    for key in keys {
        if let Some(members) = object[key].as_object_mut().filter(|members| !members.is_empty()) {
            members.insert("unknownToAll".into(), Value::Object(Map::new()));
            members.insert("unknownToAllToo".into(), Value::from("3f2a"));
        }
    }
}

fn identity(object: &Value) -> String {
    let metadata = &object["metadata"];
    format!(
        "{} {} {} {}",
        object["apiVersion"], object["kind"], metadata["namespace"], metadata["name"]
    )
}

/// Every object of every stream, each but once.
fn objects() -> Vec<(String, Value)> {
    static OBJECTS: OnceLock<Vec<(String, Value)>> = OnceLock::new();
    let read = || {
        let mut objects = Vec::new();
        for (file, stream) in streams() {
            let named = stream.into_iter().enumerate();
            objects.extend(named.map(|(place, object)| (format!("{file}#{place}"), object)));
        }
        objects.sort_by_cached_key(|(_, object)| object.to_string());
        objects.dedup_by(|(_, left), (_, right)| left == right);
        assert!(objects.len() > 300, "only {} objects", objects.len());
        objects
    };
    OBJECTS.get_or_init(read).clone()
}

fn streams() -> Vec<(String, Vec<Value>)> {
    static STREAMS: OnceLock<Vec<(String, Vec<Value>)>> = OnceLock::new();
    STREAMS.get_or_init(read_streams).clone()
}

fn read_streams() -> Vec<(String, Vec<Value>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["fixtures/rules", "fixtures/phase", "fixtures/stories", "../shared/truth"] {
        walk(&root.join(folder), &mut files);
    }
    files.sort();
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
        legacy_octal_numbers: true,
    };
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        let documents: Vec<Value> =
            serde_saphyr::from_multiple_with_options(&text, options.clone()).ok()?;
        let is_object = |document: &Value| {
            let version = document["apiVersion"].as_str().unwrap_or("");
            document["kind"].is_string() && !version.starts_with("plumb.dev/")
        };
        let stream = documents.into_iter().filter(is_object).collect();
        Some((file.display().to_string(), stream))
    };
    files.into_iter().filter_map(read).collect()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
}
