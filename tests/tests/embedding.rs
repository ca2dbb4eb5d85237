//! What other engines rely on: the component's metadata, the contract's versions, the schemas, and
//! the same bytes from the same request everywhere.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::io::Write;
use std::path::PathBuf;
use std::{env, fs};

use plumb_host::conformance::{self, Outcome};
use plumb_host::engine::{EMBEDDED, Engine, Isolation};
use plumb_policy::evaluate;
use plumb_tests::requests::{Request, requests};
use plumb_tests::{generated, guest, schema, validate};
use serde_json::Value;
use wasmparser::{Parser, Payload};
use wit_parser::Resolve;

/// The custom sections of a name, the outermost one last.
fn sections(wanted: &str) -> Vec<&'static str> {
    let sections = Parser::new(0).parse_all(EMBEDDED).filter_map(|payload| {
        match payload.expect("the component is well-formed") {
            Payload::CustomSection(section) if section.name() == wanted => {
                Some(std::str::from_utf8(section.data()).expect("text"))
            }
            _ => None,
        }
    });
    sections.collect()
}

/// The sections that `wasm-tools metadata show` prints.
#[test]
fn the_component_says_what_it_is() {
    let manifest = fs::read_to_string(generated::root().join("policy/Cargo.toml")).unwrap();
    let (summary, rules) = sections("description")[0].split_once(". ").unwrap();
    assert!(manifest.contains(&format!("description = \"{summary}\"")), "{summary}");
    let known = Engine::new(1).unwrap().embedded().unwrap().rules().unwrap();
    assert!(rules.starts_with(&format!("{} rules: ", known.len())), "{rules}");
    assert!(known.iter().all(|rule| rules.contains(&rule.id)), "{rules}");
    assert_eq!(sections("version"), [env!("CARGO_PKG_VERSION")]);
    assert_eq!(sections("licenses"), [env!("CARGO_PKG_LICENSE")]);
    assert_eq!(sections("source"), [env!("CARGO_PKG_REPOSITORY")]);
}

/// In the component, and in the module for those who take it out.
#[test]
fn the_manifest_lists_the_rules() {
    let sections = sections("plumb:rules");
    assert_eq!(sections.len(), 2);
    let rules = Engine::new(1).unwrap().embedded().unwrap().rules().unwrap();
    for section in sections {
        let listed: Vec<Value> = serde_json::from_str(section).unwrap();
        assert_eq!(listed.len(), rules.len());
        for (entry, rule) in listed.iter().zip(&rules) {
            let mut whole = serde_json::to_value(rule).unwrap();
            whole.as_object_mut().unwrap().remove("manual");
            assert_eq!(*entry, whole);
        }
    }
}

fn released(version: &str) -> Resolve {
    let mut resolve = Resolve::default();
    resolve.push_path(generated::root().join("wit/released").join(version)).unwrap();
    resolve
}

fn targets(resolve: &Resolve, component: &[u8]) -> Result<(), String> {
    let (world, _) = resolve.worlds.iter().next().unwrap();
    wit_component::targets(resolve, world, component).map_err(|error| format!("{error:#}"))
}

/// A policy of this version runs in every host of it, and a host of this version runs every policy
/// of it. See "Versions" in CONTRIBUTING.md.
#[test]
fn the_contract_is_the_one_that_was_released_under_its_version() {
    let current = guest::contract();
    let package = &current.packages.iter().next().unwrap().1.name;
    let version = package.version.as_ref().unwrap().to_string();
    let released = released(&version);
    targets(&released, EMBEDDED).unwrap();
    let other = guest::component(&guest::module("i32.const 1024", ""), &released);
    targets(&current, &other).unwrap();
}

#[test]
fn a_changed_record_is_another_contract() {
    let text = fs::read_to_string(generated::root().join("wit/policy.wit")).unwrap();
    let changed = text.replacen("profiled: bool,", "profiled: bool, certain: bool,", 1);
    let mut resolve = Resolve::default();
    resolve.push_str("policy.wit", &changed).unwrap();
    let error = targets(&resolve, EMBEDDED).unwrap_err();
    assert!(error.contains("expected"), "{error}");
}

#[test]
fn the_schemas_are_what_the_sources_say() {
    let difference = generated::check("docs/schema", &schema::schemas(), true);
    difference.unwrap_or_else(|difference| panic!("{difference}"));
}

fn schema_of(name: &str) -> Value {
    let (_, text) = schema::schemas().into_iter().find(|(known, _)| known == name).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Where a value is not of a schema.
fn fault(schema: &Value, value: &Value) -> Option<String> {
    validate::fault(schema, schema, value, "")
}

#[test]
fn real_requests_and_answers_are_of_the_schemas() {
    let (asked, answered) = (schema_of("request.json"), schema_of("answer.json"));
    let mut refused = 0;
    for Request { name, text } in requests() {
        let answer = evaluate::evaluate(&text);
        let answer_json: Value =
            serde_json::from_str(answer.as_ref().unwrap_or_else(|fault| fault)).unwrap();
        assert_eq!(fault(&answered, &answer_json), None, "{name}: the answer");
        let request: Value = serde_json::from_str(&text).unwrap_or_default();
        match (fault(&asked, &request), &answer) {
            (Some(fault), Ok(_)) => panic!("{name}: the request{fault}"),
            (Some(_), Err(_)) => refused += 1,
            (None, _) => {}
        }
    }
    assert!(refused > 5, "the schema refuses what the component refuses: {refused}");
}

#[test]
fn a_schema_refuses_what_it_does_not_name() {
    for (name, document) in [
        ("request.json", r#"{"check": {"object": {}, "objects": []}}"#),
        ("request.json", r#"{"rules": {}, "profiles": {}}"#),
        ("answer.json", r#"{"phase": "settled"}"#),
        ("settings.json", r#"{"profiles": [{"group": "a", "kind": "B"}]}"#),
        ("reconcile.json", r#"{"apiVersion": "v1", "kind": "Pod", "spec": {"object": {}}}"#),
        ("queue-trace.json", r#"{"kind": "QueueTrace"}"#),
    ] {
        let document: Value = serde_json::from_str(document).unwrap();
        assert!(fault(&schema_of(name), &document).is_some(), "{name}: {document}");
    }
}

/// With `PLUMB_REQUESTS=FOLDER` the requests and answers are written there, one a line, for hosts
/// in other languages; see `examples/differential`.
#[test]
fn the_component_answers_what_the_library_answers() {
    let fresh = Engine::new(2).unwrap().embedded().unwrap();
    let reused = fresh.clone().with_isolation(Isolation::Reused);
    let folder = env::var_os("PLUMB_REQUESTS").map(PathBuf::from);
    let mut file = folder.map(|folder| {
        fs::create_dir_all(&folder).unwrap();
        fs::File::create(folder.join("requests.jsonl")).unwrap()
    });
    let requests = requests();
    assert!(requests.len() > 500, "{}", requests.len());
    for Request { name, text } in requests {
        let native = evaluate::evaluate(&text);
        for policy in [&fresh, &reused] {
            let answer = policy.evaluate_json(&text);
            match (&native, &answer) {
                (Ok(native), Ok(answer)) => assert_eq!(native, answer, "{name}"),
                (Err(fault), Err(error)) => {
                    let fault: Value = serde_json::from_str(fault).unwrap();
                    assert_eq!(fault["fault"], error.name(), "{name}");
                    let message = fault["message"].as_str().unwrap();
                    assert!(error.to_string().ends_with(message), "{name}: {error}");
                }
                _ => panic!("{name}: {native:?} natively, {answer:?} through the component"),
            }
        }
        if let Some(file) = &mut file {
            let answer = match native {
                Ok(answer) => serde_json::json!({"ok": answer}),
                Err(fault) => serde_json::json!({"err": fault}),
            };
            let line = serde_json::json!({"name": name, "request": text, "answer": answer});
            writeln!(file, "{line}").unwrap();
        }
    }
}

#[test]
fn the_embedded_policy_conforms() {
    let policy = Engine::new(2).unwrap().embedded().unwrap();
    let checks = conformance::run(&policy);
    assert!(checks.len() > policy.rules().unwrap().len());
    for check in checks {
        assert_eq!(check.outcome, Outcome::Passed, "{}: {:#?}", check.name, check.details);
    }
}

/// The names of the checks that a policy in text form fails.
fn failed(body: &str, functions: &str) -> Vec<String> {
    let policy = Engine::new(2).unwrap().load_bytes(&guest::policy(body, functions)).unwrap();
    let checks = conformance::run(&policy);
    assert!(!conformance::conforms(&checks));
    let failed = checks.into_iter().filter(|check| check.outcome == Outcome::Failed);
    failed.map(|check| check.name).collect()
}

#[test]
fn a_policy_that_answers_anything_does_not_conform() {
    let failed = failed("i32.const 1024", "");
    assert!(failed.iter().any(|name| name.starts_with("an input that is none")), "{failed:?}");
    assert!(failed.iter().any(|name| name.starts_with("evaluate-json refuses")), "{failed:?}");
    assert!(!failed.iter().any(|name| name.starts_with("the same input")), "{failed:?}");
}

#[test]
fn a_policy_that_remembers_does_not_conform() {
    // Answers with the number of the call as its phase.
    let body = "i32.const 1024";
    let counting = r#"
        (global $calls (mut i32) (i32.const 0))
        (func (export "cabi_post_plumb:policy/evaluator@0.1.0#decide") (param i32)
            (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
            (i32.store8 (i32.const 1028) (global.get $calls)))"#;
    let failed = failed(body, counting);
    assert!(failed.iter().any(|name| name.starts_with("a reused instance")), "{failed:?}");
}
