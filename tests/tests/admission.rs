//! What `plumb webhook manifests` and `plumb export admission-policy` print: the expressions are
//! evaluated on objects, and agree with the policy.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use plumb_host::admission::expression;
use plumb_host::admission::kinds::{Choice, Kind};
use plumb_host::admission::policies::{self, Action};
use plumb_host::admission::sample::{self, Sample};
use plumb_host::admission::webhooks::{self, Registration};
use plumb_host::engine::{Observation, Policy};
use plumb_tests::{cel, recorded};
use serde_json::{Value, json};

fn kinds(policy: &Policy) -> Vec<Kind> {
    Choice::default().pick(&policy.profiles("").unwrap()).unwrap()
}

fn repair(policy: &Policy, object: &Value) -> Option<String> {
    let observation = Observation {
        object: object.to_string(),
        old: None,
        history: Vec::new(),
        related: Vec::new(),
        now: None,
        settings: String::new(),
    };
    policy.check(&observation).unwrap().repair
}

/// The object as the policy's own patch leaves it.
fn repaired(policy: &Policy, object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(patch) = repair(policy, &object) {
        let patch: json_patch::Patch = serde_json::from_str(&patch).unwrap();
        json_patch::patch(&mut object, &patch).unwrap();
    }
    object
}

/// The exported policies of one kind: the mutating one, and the validating one.
fn exported(policy: &Policy, kind: &Kind) -> (Value, Value) {
    let rules = sample::rules(policy, "", kind).unwrap();
    assert!(!rules.is_empty(), "the policy finds no torn {}", kind.kind);
    let (documents, _) = policies::documents(kind, &rules, Action::Deny);
    let [mutating, _, validating, _] = <[Value; 4]>::try_from(documents).unwrap();
    (mutating, validating)
}

/// Objects of a kind in the states that matter, made from its profile.
fn states(kind: &Kind) -> Vec<(String, Value)> {
    let mut states = Vec::new();
    for witness in kind.profile.witnesses.iter().filter(|one| kind.profile.holds(one)) {
        for template in &witness.text {
            for sample in [Sample::Torn, Sample::Whole, Sample::Missing] {
                let Some(object) = sample::object(kind, witness, template, sample) else {
                    continue;
                };
                for status in ["True", "Unknown", "False"] {
                    let mut object = object.clone();
                    object["status"]["conditions"][0]["status"] = status.into();
                    let name = format!("{} {template} {sample:?} {status}", kind.kind);
                    let mut deleting = object.clone();
                    deleting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
                    let mut other = object.clone();
                    other["status"]["conditions"][0]["reason"] = "Another".into();
                    let mut silent = object.clone();
                    silent["status"]["conditions"][0]["message"] = "all is well".into();
                    states.push((format!("{name} deleting"), deleting));
                    states.push((format!("{name} with another reason"), other));
                    states.push((format!("{name} with another message"), silent));
                    states.push((name, object));
                }
            }
        }
    }
    states
}

#[test]
fn exported_policies_hold_and_release_what_the_policy_does() {
    let policy = Policy::embedded().unwrap();
    let (mut held, mut released) = (0, 0);
    for kind in kinds(&policy) {
        let (mutating, validating) = exported(&policy, &kind);
        let is_exact = mutating["metadata"]["annotations"]["plumb.dev/left-out"].is_null();
        for (name, object) in states(&kind) {
            let wanted = repaired(&policy, &object);
            let found =
                cel::mutated(&mutating, &object).unwrap_or_else(|error| panic!("{name}: {error}"));
            if found != object || is_exact {
                assert_eq!(found, wanted, "{name}");
            }
            held += usize::from(
                found != object && found["status"]["conditions"][0]["status"] == "Unknown",
            );
            released += usize::from(
                found != object && found["status"]["conditions"][0]["status"] == "True",
            );
            assert_eq!(cel::mutated(&mutating, &found).unwrap(), found, "{name}: asked again");
            let denied = cel::denials(&validating, &object).unwrap();
            let is_torn =
                found != object && found["status"]["conditions"][0]["status"] == "Unknown";
            assert_eq!(!denied.is_empty(), is_torn, "{name}: {denied:?}");
            assert!(
                cel::denials(&validating, &found).unwrap().is_empty(),
                "{name}: what is held passes"
            );
        }
    }
    assert!(held > 20 && released > 20, "{held} held, {released} released");
}

/// The mutating webhook is asked wherever the policy has something to change, and not about every
/// write.
#[test]
fn match_conditions_miss_nothing() {
    let policy = Policy::embedded().unwrap();
    let (mut asked, mut spared) = (0, 0);
    for kind in kinds(&policy) {
        let entries = webhooks::mutating(std::slice::from_ref(&kind));
        let condition = &entries[0].match_conditions[0].expression;
        for (name, object) in states(&kind) {
            let is_asked = cel::holds(condition, &object, &Value::Null).unwrap();
            if repair(&policy, &object).is_some() {
                assert!(is_asked, "{name}");
            }
            asked += usize::from(is_asked);
            spared += usize::from(!is_asked);
        }
    }
    assert!(asked > 50 && spared > asked, "{asked} asked, {spared} spared");
}

#[test]
fn recorded_writes_are_held_and_released_by_the_exported_policy_alone() {
    let policy = Policy::embedded().unwrap();
    let git = kinds(&policy).into_iter().find(|kind| kind.kind == "GitRepository").unwrap();
    let (mutating, validating) = exported(&policy, &git);
    let condition = &webhooks::mutating(&[git])[0].match_conditions[0].expression;
    let (mut held, mut asked) = (Vec::new(), 0);
    for (name, review) in recorded::reviews("admission-e1-validate") {
        let request = &review["request"];
        let object = &request["object"];
        let found =
            cel::mutated(&mutating, object).unwrap_or_else(|error| panic!("{name}: {error}"));
        let is_asked = cel::holds(condition, object, &request["oldObject"]).unwrap();
        asked += usize::from(is_asked);
        if request["subResource"] == "status" {
            assert_eq!(found, repaired(&policy, object), "{name}");
        }
        if found != *object {
            assert!(is_asked, "{name}");
            assert!(!cel::denials(&validating, object).unwrap().is_empty(), "{name}");
            held.push(name["admission-e1-validate-".len()..][..3].to_owned());
        }
    }
    assert_eq!(held, ["007", "011"]);
    assert_eq!(asked, 2, "only torn writes are asked about");
}

/// Every recorded object, whatever its kind and operation, is judged without an error.
#[test]
fn expressions_are_safe_on_every_recorded_object() {
    let policy = Policy::embedded().unwrap();
    let mut creations = 0;
    for kind in kinds(&policy) {
        let (mutating, validating) = exported(&policy, &kind);
        let mutate = &webhooks::mutating(std::slice::from_ref(&kind))[0];
        let validate = &webhooks::validating(std::slice::from_ref(&kind))[0];
        let bare = json!({"apiVersion": "a/v1", "kind": kind.kind, "metadata": {"name": "a"}});
        let empty = json!({"metadata": {}, "status": {"conditions": []}});
        let odd = json!({"metadata": {}, "status": {"conditions": [{}, {"type": "Ready"}]}});
        let mut objects = vec![bare, empty, odd];
        for (_, review) in recorded::reviews("admission-e1-") {
            creations += usize::from(review["request"]["operation"] == "CREATE");
            objects.push(review["request"]["object"].clone());
        }
        for object in objects {
            for old in [&Value::Null, &object, &json!({"metadata": {}})] {
                for entry in [mutate, validate] {
                    cel::holds(&entry.match_conditions[0].expression, &object, old).unwrap();
                }
            }
            cel::mutated(&mutating, &object).unwrap();
            cel::denials(&validating, &object).unwrap();
        }
    }
    assert!(creations > 0);
}

#[test]
fn a_validating_webhook_is_not_asked_about_writes_that_change_nothing() {
    let policy = Policy::embedded().unwrap();
    let entries = webhooks::validating(&kinds(&policy));
    let mut asked = Vec::new();
    for (name, review) in recorded::reviews("admission-e1-validate") {
        let request = &review["request"];
        let (object, old) = (&request["object"], &request["oldObject"]);
        let expression = &entries[0].match_conditions[0].expression;
        if request["subResource"] == "status" && cel::holds(expression, object, old).unwrap() {
            asked.push(name["admission-e1-validate-".len()..][..3].to_owned());
        }
    }
    for no_op in ["004", "006", "010"] {
        assert!(!asked.contains(&no_op.to_owned()), "{asked:?}");
    }
    assert!(asked.contains(&"007".to_owned()) && asked.contains(&"011".to_owned()), "{asked:?}");
}

#[test]
fn settings_bring_their_own_kinds() {
    let policy = Policy::embedded().unwrap();
    let settings = json!({
        "apiVersion": "plumb.dev/v1alpha1", "kind": "Settings",
        "profiles": [{
            "group": "example.com", "kinds": ["Datum", "Silo"], "happy": ["Synced"],
            "witnesses": [{
                "condition": "Synced", "text": ["synced {status.items|count} items of {**}"],
            }],
        }],
    })
    .to_string();
    let known = policy.profiles(&settings).unwrap();
    let choice = Choice {
        groups: vec!["example.*".to_owned()],
        plurals: [("Datum.example.com".to_owned(), "data".to_owned())].into(),
        ..Choice::default()
    };
    let kinds = choice.pick(&known).unwrap();
    let plurals: Vec<_> = kinds.iter().map(|kind| kind.plural.as_str()).collect();
    assert_eq!(plurals, ["data", "silos"]);
    assert_eq!(webhooks::mutating(&kinds).len(), 2);
    assert_eq!(webhooks::validating(&kinds)[0].rules[0].resources, ["data/status", "silos/status"]);
    let (held, left_out) = expression::held(&kinds[0].profile);
    assert!(held[0].is_exact && left_out.is_empty(), "{left_out:?}");
    let rules = sample::rules(&policy, &settings, &kinds[0]).unwrap();
    assert!(!rules.is_empty());

    let none = Choice { kinds: vec!["Nothing".to_owned()], ..Choice::default() };
    assert!(none.pick(&known).unwrap_err().contains("`Nothing`"));
}

#[test]
fn registrations_are_narrow_and_fail_open() {
    let policy = Policy::embedded().unwrap();
    let documents = webhooks::documents(&kinds(&policy), &Registration::default());
    assert_eq!(documents.len(), 2);
    for document in &documents {
        for webhook in document["webhooks"].as_array().unwrap() {
            assert_eq!(webhook["failurePolicy"], "Ignore");
            assert_eq!(webhook["sideEffects"], "None");
            assert_eq!(webhook["matchPolicy"], "Equivalent");
            assert!(webhook["timeoutSeconds"].as_u64().unwrap() <= 5);
            assert!(!webhook["matchConditions"].as_array().unwrap().is_empty());
            let selector = &webhook["namespaceSelector"]["matchExpressions"][0];
            assert_eq!(selector["values"], json!(["plumb-system"]));
            assert!(webhook["name"].as_str().unwrap().matches('.').count() >= 2);
            for rule in webhook["rules"].as_array().unwrap() {
                assert_eq!(rule["operations"], json!(["UPDATE"]));
                for resource in rule["resources"].as_array().unwrap() {
                    assert!(resource.as_str().unwrap().ends_with("/status"), "{resource}");
                }
            }
        }
    }
    assert_eq!(documents[0]["kind"], "MutatingWebhookConfiguration");
    assert_eq!(documents[0]["webhooks"][0]["reinvocationPolicy"], "IfNeeded");
}
