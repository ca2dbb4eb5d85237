//! Every history of `fixtures/traces`, natively and through the component, against its header.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use plumb_host::engine::{Engine, Policy};
use plumb_host::input::{Documents, ItemKind, Source};
use plumb_policy::finding::{Ending, Fault, Report, Scope, Severity};
use plumb_policy::registry::RULES;
use plumb_policy::rule::Rule;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Header {
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    expect: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    document: usize,
    end: End,
    #[serde(default)]
    findings: Vec<Named>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct End {
    state: String,
    until: Option<String>,
    lost_at: Option<u32>,
}

#[derive(Deserialize)]
struct Named {
    rule: String,
    path: String,
    severity: Option<String>,
}

/// One file: its header, and the histories in it as JSON.
struct Fixture {
    header: Header,
    traces: Vec<String>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn fixture(file: &Path) -> Fixture {
    let mut header = None;
    let mut traces = Vec::new();
    for document in Source::file(file).open().unwrap() {
        for item in document.unwrap().items {
            match item.kind {
                ItemKind::Fixture(json) => header = Some(serde_json::from_str(&json).unwrap()),
                ItemKind::Trace(json) => traces.push(json),
                other => panic!("{}: {other:?} is no trace", file.display()),
            }
        }
    }
    let header = header.unwrap_or_else(|| panic!("{}: no header", file.display()));
    Fixture { header, traces }
}

/// The files of `fixtures/traces`, and those of the rules that judge histories.
fn files() -> Vec<PathBuf> {
    let mut files = listed("fixtures/traces");
    for rule in trace_rules() {
        files.extend(listed(&format!("fixtures/rules/{}", rule.id)));
    }
    files
}

fn listed(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(repository().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

fn trace_rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied().filter(|rule| rule.check.scope() == Scope::Trace)
}

/// The report as the header would have to say it.
fn shown(report: &Report) -> String {
    let mut lines = vec![format!(
        "state {}, until {:?}, lostAt {:?}",
        serde_json::to_value(report.state).unwrap().as_str().unwrap(),
        report.until,
        report.lost
    )];
    lines.extend(report.findings.iter().filter(|f| f.severity > Severity::Info).map(|f| {
        let severity = serde_json::to_value(f.severity).unwrap();
        format!("{} {} {}", f.rule, f.path, severity.as_str().unwrap())
    }));
    lines.join("\n")
}

/// What the header says, in the same words; what it leaves open is taken from the report.
fn expected(expected: &Expected, report: &Report) -> String {
    let end = &expected.end;
    let mut lines = vec![format!(
        "state {}, until {:?}, lostAt {:?}",
        end.state,
        end.until.clone().or_else(|| report.until.clone()),
        end.lost_at.or(report.lost.filter(|_| end.state != "stuck")),
    )];
    lines.extend(expected.findings.iter().map(|named| {
        let found = report.findings.iter().find(|f| f.rule == named.rule && f.path == named.path);
        let severity = named.severity.clone().unwrap_or_else(|| {
            found.map_or(String::new(), |f| {
                serde_json::to_value(f.severity).unwrap().as_str().unwrap().to_owned()
            })
        });
        format!("{} {} {severity}", named.rule, named.path)
    }));
    lines.join("\n")
}

#[test]
fn every_history_ends_as_its_header_says() {
    let mut failures = Vec::new();
    for file in files() {
        let Fixture { header, traces } = fixture(&file);
        assert_eq!(header.spec.expect.len(), traces.len(), "{}: one each", file.display());
        for expect in &header.spec.expect {
            let place = format!("{}#{}", file.display(), expect.document);
            let trace = &traces[expect.document - 1];
            match plumb_policy::trace::trace(trace, "") {
                Ok(report) => {
                    let (want, have) = (expected(expect, &report), shown(&report));
                    if want != have {
                        let message = &report.message;
                        failures.push(format!("{place}\nwant {want}\nhave {have}\n{message}\n"));
                    }
                }
                Err(fault) => failures.push(format!("{place}: {fault:?}\n")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_component_says_the_same() {
    let policy: Policy = Engine::new(1).unwrap().embedded().unwrap();
    for file in files() {
        for trace in fixture(&file).traces {
            let request = format!(r#"{{"trace":{{"trace":{trace},"settings":{{}}}}}}"#);
            let native = plumb_policy::evaluate::evaluate(&request).unwrap();
            assert_eq!(policy.evaluate_json(&request).unwrap(), native, "{}", file.display());
        }
    }
}

#[test]
fn each_rule_has_a_history_that_raises_it_and_one_that_does_not() {
    for rule in trace_rules() {
        let mut raised = [false, false];
        for file in listed(&format!("fixtures/rules/{}", rule.id)) {
            let name = file.file_name().unwrap().to_string_lossy();
            let is_pass = name.starts_with("pass-");
            for trace in fixture(&file).traces {
                let report = plumb_policy::trace::trace(&trace, "").unwrap();
                let raises = report.findings.iter().any(|finding| finding.rule == rule.id);
                assert_ne!(raises, is_pass, "{}: {name}", rule.id);
                raised[usize::from(is_pass)] = true;
            }
        }
        assert_eq!(raised, [true, true], "{}: one that fails, one that passes", rule.id);
    }
}

#[test]
fn the_examples_of_the_manual_hold() {
    for rule in trace_rules() {
        let manual = plumb_policy::catalogue::manual(rule);
        let examples: Vec<&str> = manual
            .split("```yaml\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap())
            .collect();
        let [example, instead] = &examples[..] else {
            panic!("{}: an example, and what to do instead", rule.id)
        };
        let findings = |yaml: &str| -> Vec<&str> {
            judged(yaml).findings.iter().map(|finding| finding.rule).collect()
        };
        assert!(findings(example).contains(&rule.id), "{}", rule.id);
        assert_eq!(findings(instead), Vec::<&str>::new(), "{}", rule.id);
    }
}

/// What is thought of the one history in `yaml`.
fn judged(yaml: &str) -> Report {
    let mut documents = Documents::new("manual", Cursor::new(yaml.as_bytes().to_vec()));
    let document = documents.next().unwrap().unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    let [item] = &document.items[..] else { panic!("one history:\n{yaml}") };
    let ItemKind::Trace(json) = &item.kind else { panic!("a history:\n{yaml}") };
    plumb_policy::trace::trace(json, "").unwrap_or_else(|fault| panic!("{fault:?}\n{yaml}"))
}

#[test]
fn the_example_of_the_guide_ends_as_the_guide_says() {
    let guide = fs::read_to_string(repository().join("docs/traces.md")).unwrap();
    let example = guide.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let end = |yaml: &str| {
        let report = judged(yaml);
        (report.state, report.until, report.lost)
    };
    let swapped = |from: &str, to: &str| {
        assert!(example.contains(from));
        end(&example.replace(from, to))
    };
    let asleep = |until: &str| (Ending::Asleep, Some(until.to_owned()), None);
    assert_eq!(end(example), (Ending::Stuck, None, Some(6)));
    assert_eq!(
        swapped("{flavour: priority, version: controller-runtime v0.23.1}", "{flavour: classic}"),
        asleep("30m")
    );
    assert_eq!(swapped("event: return}", "event: return, requeueAfter: 1s}"), asleep("11m1s"));
}

#[test]
fn an_impossible_history_names_its_event() {
    let folder = repository().join("tests/data/invalid/traces");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut shown = String::new();
    for file in files {
        for document in Source::file(&file).open().unwrap() {
            for item in document.unwrap().items {
                let ItemKind::Trace(json) = item.kind else { panic!("{}", file.display()) };
                let fault = plumb_policy::trace::trace(&json, "").expect_err("it is refused");
                let (Fault::Malformed(message)
                | Fault::Unsupported(message)
                | Fault::Internal(message)) = &fault;
                let name = file.file_stem().unwrap().to_string_lossy();
                shown.push_str(&format!("{name}: {message}\n"));
            }
        }
    }
    insta::assert_snapshot!(shown);
}

/// A controller that went wrong once in a long night: the component judges the whole history, and
/// finds the event.
#[test]
fn ten_thousand_events_are_judged_by_the_component() {
    const EVENTS: usize = 10_000;
    const KEYS: usize = 64;
    let objects: Vec<Value> = (0..KEYS)
        .map(|key| json!({ "key": format!("team/app-{key}"), "interval": "1h", "queue": { "due": "1h" } }))
        .collect();
    let mut events = vec![];
    // One source for all keys: each of its revisions concerns each key.
    for revision in 1.. {
        let revision = format!("v{revision}");
        events
            .push(json!({ "event": "watch", "source": "Bucket/team/apps", "revision": revision }));
        for key in 0..KEYS {
            events.push(json!({ "event": "add", "key": format!("team/app-{key}") }));
        }
        for key in 0..KEYS {
            let key = format!("team/app-{key}");
            events.push(json!({ "event": "get", "key": key }));
            events.push(json!({ "event": "read", "key": key, "source": "Bucket/team/apps" }));
            events
                .push(json!({ "event": "write", "key": key, "status": { "attempted": revision } }));
            events.push(json!({ "event": "return", "key": key, "requeueAfter": "1h" }));
        }
        if events.len() >= EVENTS {
            break;
        }
    }
    let last = events.len() - 1;
    events[last].as_object_mut().unwrap().remove("requeueAfter");
    let policy = Policy::embedded().unwrap();
    for (flavour, is_stuck) in [("classic", false), ("priority", true), ("kube-rs", true)] {
        let trace = json!({
            "apiVersion": "plumb.dev/v1alpha1", "kind": "QueueTrace", "metadata": { "name": "long" },
            "spec": {
                "queue": { "flavour": flavour },
                "sources": [{ "name": "Bucket/team/apps", "revision": "v0" }],
                "objects": objects,
                "events": events,
            },
        });
        let report =
            policy.trace(&trace.to_string(), "").unwrap_or_else(|e| panic!("{flavour}: {e}"));
        let state = json!(report.state);
        let lost = report.lost.map(|lost| usize::try_from(lost).unwrap());
        assert_eq!(state == "stuck", is_stuck, "{flavour}: {}", report.message);
        assert_eq!(lost, is_stuck.then_some(last), "{flavour}: {}", report.message);
    }
}
