//! Every pass of `fixtures/decide` and of the rules that judge passes, natively and through the
//! component, against its header.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_host::engine::{Engine, Policy};
use plumb_host::input::{ItemKind, Source};
use plumb_host::replay::{Options, Replay};
use plumb_policy::catalogue;
use plumb_policy::decide::{Reason, decide};
use plumb_policy::finding::{Action, Decision, Fault, Scope, Severity};
use plumb_policy::registry::RULES;
use plumb_policy::rule::Rule;
use plumb_tests::generated;
use serde_json::{Value, json};

/// One file: its header's expectations by document, and the passes in it.
struct Fixture {
    header: Value,
    passes: Vec<Pass>,
}

/// A pass, as JSON, with the settings in force.
struct Pass {
    number: usize,
    text: String,
    settings: String,
}

fn read(file: &Path) -> Fixture {
    let (mut header, mut passes, mut settings) = (Value::Null, Vec::new(), String::new());
    for document in Source::file(file).open().unwrap() {
        let document = document.unwrap();
        for item in document.items {
            match item.kind {
                ItemKind::Fixture(json) => header = serde_json::from_str(&json).unwrap(),
                ItemKind::Settings(json) => settings = json,
                ItemKind::Pass(text) => passes.push(Pass {
                    number: document.number - usize::from(!header.is_null()),
                    text,
                    settings: settings.clone(),
                }),
                other => panic!("{}: {other:?} is no pass", file.display()),
            }
        }
    }
    Fixture { header, passes }
}

fn pass_rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied().filter(|rule| rule.check.scope() == Scope::Pass)
}

fn listed(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(generated::root().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn files() -> Vec<PathBuf> {
    let mut files = listed("fixtures/decide");
    for rule in pass_rules() {
        files.extend(listed(&format!("fixtures/rules/{}", rule.id)));
    }
    files
}

fn action(action: Action) -> (&'static str, Option<u32>) {
    match action {
        Action::Requeue => ("requeue", None),
        Action::After(delay) => ("after", Some(delay)),
        Action::Await => ("await", None),
        Action::Stop => ("stop", None),
    }
}

/// A decision in one line.
fn shown(decision: &Decision) -> String {
    let (name, delay) = action(decision.action);
    let mut line = format!("{name} {delay:?} {}", decision.reason);
    for finding in decision.findings.iter().filter(|finding| finding.severity > Severity::Info) {
        let severity = format!("{:?}", finding.severity).to_lowercase();
        write!(line, "; {} {} {severity}", finding.rule, finding.path).unwrap();
    }
    line
}

/// What a header expects, in the same words; what it leaves open is taken from the decision.
fn expected(entry: &Value, decision: &Decision) -> String {
    let wanted = &entry["decision"];
    let (name, delay) = action(decision.action);
    let mut line = format!(
        "{} {:?} {}",
        wanted["action"].as_str().unwrap_or(name),
        wanted["delay"].as_u64().map(|delay| u32::try_from(delay).unwrap()).or(delay),
        wanted["reason"].as_str().unwrap_or(&decision.reason),
    );
    for finding in entry["findings"].as_array().into_iter().flatten() {
        let rule = finding["rule"].as_str().unwrap();
        let found = decision.findings.iter().find(|found| found.rule == rule);
        let path = finding["path"].as_str().or(found.map(|found| &*found.path)).unwrap_or("?");
        let severity = finding["severity"].as_str().map_or_else(
            || found.map_or("?".into(), |found| format!("{:?}", found.severity).to_lowercase()),
            str::to_owned,
        );
        write!(line, "; {rule} {path} {severity}").unwrap();
    }
    line
}

#[test]
fn every_pass_is_decided_as_its_header_says() {
    let mut wrong = Vec::new();
    for file in files() {
        let Fixture { header, passes } = read(&file);
        let entries = header["spec"]["expect"].as_array().cloned().unwrap_or_default();
        assert_eq!(entries.len(), passes.len(), "{}: one expectation each", file.display());
        for Pass { number, text, settings } in &passes {
            let place = format!("{}#{number}", file.display());
            let entry = entries.iter().find(|entry| entry["document"] == json!(number));
            let entry = entry.unwrap_or_else(|| panic!("{place}: nothing is expected"));
            match decide(text, settings) {
                Ok(decision) => {
                    let (want, have) = (expected(entry, &decision), shown(&decision));
                    if want != have {
                        wrong.push(format!("{place}\nwant {want}\nhave {have}\n{decision:#?}"));
                    }
                }
                Err(fault) => wrong.push(format!("{place}: {fault:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_component_decides_as_the_library_does() {
    let policy = Engine::new(1).unwrap().embedded().unwrap();
    for file in files() {
        for Pass { number, text, settings } in read(&file).passes {
            let settings = if settings.is_empty() { "{}" } else { &settings };
            let request = format!(r#"{{"decide":{{"pass":{text},"settings":{settings}}}}}"#);
            let native = plumb_policy::evaluate::evaluate(&request).unwrap();
            let place = format!("{}#{number}", file.display());
            assert_eq!(policy.evaluate_json(&request).unwrap(), native, "{place}");
            let typed = policy.decide(&text, settings).unwrap();
            let native: Value = serde_json::from_str(&native).unwrap();
            assert_eq!(native["reason"], json!(typed.reason), "{place}");
            assert_eq!(native["message"], json!(typed.message), "{place}");
            assert_eq!(native["findings"].as_array().unwrap().len(), typed.findings.len());
        }
    }
}

#[test]
fn replay_meets_every_expectation() {
    let policy = Policy::embedded().unwrap();
    for file in files().into_iter().chain(listed("fixtures/logs")) {
        let mut replay = Replay::new(&policy, Options::default()).unwrap();
        replay.read(&Source::file(&file), &mut |_| Ok(())).unwrap();
        let report = replay.finish();
        let unmet: Vec<_> = report.results.iter().flat_map(|result| &result.unmet).collect();
        assert_eq!(report.summary.unmet, 0, "{}: {unmet:#?}", file.display());
        assert!(report.errors.is_empty(), "{}: {:#?}", file.display(), report.errors);
    }
}

#[test]
fn every_rule_has_fixtures_and_they_show_what_they_are_named_for() {
    let mut wrong = Vec::new();
    for rule in pass_rules() {
        let mut kinds = BTreeSet::new();
        for file in listed(&format!("fixtures/rules/{}", rule.id)) {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let kind = name.split('-').next().unwrap().to_owned();
            let fixture = read(&file);
            let raised = fixture.passes.iter().any(|pass| {
                let decision = decide(&pass.text, &pass.settings).unwrap();
                decision.findings.iter().any(|finding| finding.rule == rule.id)
            });
            let right = match &*kind {
                "fail" => raised,
                "pass" => !raised,
                "real" => fixture.header["spec"]["source"].is_string(),
                _ => false,
            };
            if !right {
                wrong.push(name);
            }
            kinds.insert(kind);
        }
        if !kinds.contains("fail") || !kinds.contains("pass") {
            wrong.push(format!("{}: needs a failing and a passing fixture", rule.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_example_raises_its_rule_alone_and_the_remedy_raises_none() {
    let mut wrong = Vec::new();
    for rule in pass_rules() {
        let manual = catalogue::manual(rule);
        for (part, wanted) in [("Example", vec![rule.id]), ("Instead", vec![])] {
            let text = manual.split(&format!("## {part}\n")).nth(1).unwrap();
            let yaml = text.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
            let pass: Value = serde_saphyr::from_str(yaml).unwrap();
            let decision = decide(&pass.to_string(), "").unwrap();
            let ids: Vec<&str> = decision.findings.iter().map(|finding| finding.rule).collect();
            if ids != wanted {
                wrong.push(format!("{} {part}: {decision:#?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A pass whose `spec` is this one, with an object if it has none.
fn pass(spec: &Value) -> String {
    let mut spec = spec.clone();
    if spec.get("object").is_none() {
        let metadata = json!({"name": "app", "generation": 1});
        spec["object"] =
            json!({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": metadata});
    }
    json!({"apiVersion": "plumb.dev/v1alpha1", "kind": "Reconcile", "spec": spec}).to_string()
}

#[test]
fn a_malformed_pass_is_refused_and_the_place_is_named() {
    let object = json!({"apiVersion": "v1", "kind": "Widget"});
    let cases = [
        (json!({"object": []}), "spec.object: "),
        (json!({"object": null}), "spec.object: "),
        (json!({"result": {"requeueAfter": "soon"}}), "spec.result.requeueAfter: `soon`"),
        (json!({"result": {"requeueAfter": true}}), "spec.result.requeueAfter: "),
        (json!({"result": {"requeue": "yes"}}), "spec.result.requeue: "),
        (json!({"result": {"retry": true}}), "spec.result.retry: unknown field"),
        (json!({"outcome": {"type": "done"}}), "spec.outcome.type: unknown variant `done`"),
        (json!({"outcome": {}}), "spec.outcome: missing field `type`"),
        (json!({"trigger": "magic"}), "spec.trigger: unknown variant `magic`"),
        (json!({"queue": {"flavour": "fifo"}}), "spec.queue.flavour: unknown variant `fifo`"),
        (json!({"queue": {"rateLimiter": {"base": "x", "max": "1s"}}}), "rateLimiter.base: `x`"),
        (json!({"failures": -1}), "spec.failures: "),
        (json!({"now": "noon"}), "spec.now: `noon` is not an RFC 3339 time"),
        (json!({"sources": [{"cached": object}, {"cached": 3}]}), "spec.sources[1].cached: "),
        (json!({"sources": [{"cache": object}]}), "spec.sources[0].cache: unknown field"),
        (json!({"parts": [{"name": "a", "result": {"requeueAfter": "?"}}]}), "parts[0].result"),
        (json!({"parts": [{"result": {}}]}), "spec.parts[0]: missing field `name`"),
        (json!({"earlier": [{"at": "x"}]}), "spec.earlier[0].at: `x`"),
        (json!({"object": object, "objekt": {}}), "spec.objekt: unknown field"),
    ];
    for (spec, wanted) in cases {
        match decide(&pass(&spec), "") {
            Err(Fault::Malformed(message)) => {
                assert!(message.starts_with("pass: "), "{message}");
                assert!(message.contains(wanted), "{spec}: {message}");
            }
            other => panic!("{spec}: {other:?}"),
        }
    }
    let other = json!({"apiVersion": "plumb.dev/v2", "kind": "Reconcile", "spec": {"object": {}}});
    assert!(matches!(decide(&other.to_string(), ""), Err(Fault::Unsupported(_))));
    assert!(matches!(decide("{}", ""), Err(Fault::Malformed(_))));
    assert!(matches!(decide("not JSON", ""), Err(Fault::Malformed(_))));
}

#[test]
fn every_field_but_the_object_may_be_missing_or_alone() {
    let specs = [
        json!({}),
        json!({"result": {}}),
        json!({"outcome": {"type": "failed"}}),
        json!({"trigger": "timer"}),
        json!({"queue": {}}),
        json!({"queue": {"runtime": "client-go"}}),
        json!({"failures": 300}),
        json!({"sources": [{}]}),
        json!({"parts": [{"name": "a"}]}),
        json!({"earlier": [{}]}),
        json!({"now": "2026-01-01T00:00:00Z"}),
        json!({"result": {"requeueAfter": 5000}}),
    ];
    for spec in specs {
        let decision = decide(&pass(&spec), "").unwrap_or_else(|fault| panic!("{spec}: {fault:?}"));
        assert_eq!(decision.findings, [], "{spec}");
    }
}

#[test]
fn every_reason_is_shown_by_a_fixture_and_told_by_the_manual() {
    let mut seen = BTreeSet::new();
    for file in files() {
        for Pass { text, settings, .. } in read(&file).passes {
            seen.insert(decide(&text, &settings).unwrap().reason);
        }
    }
    let all: BTreeSet<String> = Reason::ALL.iter().map(|reason| reason.name().into()).collect();
    assert_eq!(seen, all);
    let manual = fs::read_to_string(generated::root().join("docs/decide.md")).unwrap();
    let contract = fs::read_to_string(generated::root().join("wit/policy.wit")).unwrap();
    for reason in Reason::ALL {
        let meaning = reason.meaning().trim();
        let row = format!("| `{}` | {meaning} | ", reason.name());
        assert!(manual.contains(&row), "docs/decide.md: lacks `{row}`");
        assert!(contract.contains(&format!("`{}`", reason.name())), "{}", reason.name());
    }
}
