//! What a profile is proposed to be, from samples of a kind.

use plumb_policy::infer::infer;
use plumb_policy::profile::{self, Profile};
use serde_json::{Value, json};

fn propose(samples: &[Value]) -> Value {
    let texts: Vec<String> = samples.iter().map(Value::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let text = infer(&texts).expect("samples of one kind");
    let profile: Profile<'_> = serde_json::from_str(&text).expect("a proposal");
    assert_eq!(profile::problems(&profile, "profile"), [], "a proposal can be used as it is");
    serde_json::from_str(&text).expect("JSON")
}

/// A source as Flux writes it: `said` stands in the message, `held` in the field.
fn source(name: &str, said: &str, held: &str) -> Value {
    let condition = |type_: &str| {
        json!({
            "type": type_, "status": "True", "reason": "Succeeded", "observedGeneration": 1,
            "message": format!("stored artifact for revision '{said}'"),
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    json!({
        "apiVersion": "example.com/v1", "kind": "Source",
        "metadata": {
            "name": name, "namespace": "default", "generation": 1,
            "annotations": {"example.com/requestedAt": "2026-01-01T00:00:01Z"},
        },
        "spec": {"interval": "5m", "timeout": "60s", "suspend": false},
        "status": {
            "observedGeneration": 1,
            "lastHandledReconcileAt": "2026-01-01T00:00:01Z",
            "artifact": {"revision": held, "size": 1024},
            "conditions": [condition("Ready"), condition("ArtifactInStorage")],
        },
    })
}

#[test]
fn the_revision_in_a_message_is_a_witness() {
    let profile = propose(&[
        source("a", "main@sha1:00ca386d", "main@sha1:00ca386d"),
        source("b", "main@sha1:9eb98f3e", "main@sha1:9eb98f3e"),
    ]);
    let text = json!(["stored artifact for revision '{status.artifact.revision}'"]);
    let witness =
        |condition: &str| json!({"condition": condition, "reasons": ["Succeeded"], "text": text});
    assert_eq!(profile["witnesses"], json!([witness("ArtifactInStorage"), witness("Ready")]));
    assert_eq!(profile["happy"], json!(["Ready"]));
    assert_eq!(profile["metav1"], true);
    assert_eq!(profile["summary"], true);
    assert_eq!(profile["generation"], json!({"conditions": true}));
    assert_eq!(profile["suspended"], json!([{"field": "spec.suspend", "in": ["true"]}]));
    assert_eq!(profile["timing"]["interval"], "spec.interval");
    assert_eq!(profile["timing"]["timeout"], "spec.timeout");
    assert_eq!(profile["poke"]["annotation"], "example.com/requestedAt");
    assert_eq!(profile["poke"]["handled"], "status.lastHandledReconcileAt");
}

#[test]
fn a_torn_sample_does_not_hide_the_witness() {
    let profile = propose(&[
        source("a", "main@sha1:00ca386d", "main@sha1:00ca386d"),
        source("b", "main@sha1:11111111", "main@sha1:00ca386d"),
        source("c", "main@sha1:9eb98f3e", "main@sha1:9eb98f3e"),
    ]);
    assert_eq!(profile["witnesses"].as_array().unwrap().len(), 2, "{profile:#}");
}

#[test]
fn a_value_that_is_the_same_by_chance_is_no_witness() {
    let mut samples = Vec::new();
    for (name, count) in [("a", 3), ("b", 4)] {
        samples.push(json!({
            "apiVersion": "example.com/v1", "kind": "Pool", "metadata": {"name": name},
            "status": {
                "mode": "standard", "count": count,
                "conditions": [{"type": "Ready", "status": "True", "message": "pool of mode standard"}],
            },
        }));
    }
    let profile = propose(&samples);
    assert_eq!(profile["witnesses"], Value::Null, "{profile:#}");
    assert_eq!(profile["metav1"], Value::Null);
}

#[test]
fn words_that_differ_are_left_open() {
    let sample = |verb: &str, version: &str| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Release", "metadata": {"name": "a"},
            "status": {
                "release": {"version": version},
                "conditions": [{
                    "type": "Ready", "status": "True",
                    "message": format!("{verb} of version {version} is done"),
                }],
            },
        })
    };
    let profile = propose(&[sample("install", "1.2.3"), sample("upgrade", "1.3.0")]);
    assert_eq!(
        profile["witnesses"][0]["text"],
        json!(["{*} of version {status.release.version} is done"])
    );
}

#[test]
fn polarity_follows_name_and_company() {
    let sample = |conditions: Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
            "status": {"conditions": conditions},
        })
    };
    let profile = propose(&[
        sample(json!([
            {"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "True"},
            {"type": "DiskFailure", "status": "False"},
        ])),
        sample(json!([
            {"type": "Available", "status": "False", "reason": "Creating"},
            {"type": "Updating", "status": "True"},
            {"type": "Stalled", "status": "True"},
        ])),
        sample(json!([{"type": "Available", "status": "False", "reason": "BootError"}])),
    ]);
    assert_eq!(profile["happy"], json!(["Available"]));
    assert_eq!(profile["abnormal"], json!(["DiskFailure"]));
    assert_eq!(profile["progress"], json!(["Updating"]));
    assert_eq!(profile["stalled"], json!(["Stalled"]));
    assert_eq!(profile["reasons"], json!({"progressing": ["Creating"], "failed": ["BootError"]}));
    assert_eq!(profile["generation"], json!({"absent": true}));
}

#[test]
fn a_pair_shows_when_times_move() {
    let state = |message: &str, time: &str| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "uid": "u"},
            "status": {"conditions": [{
                "type": "Ready", "status": "False", "message": message, "lastTransitionTime": time,
            }]},
        })
    };
    let (first, second) = ("2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z");
    let family = |samples: &[Value]| propose(samples)["transitions"].clone();
    assert_eq!(family(&[state("one", first), state("two", first)]), "status");
    assert_eq!(family(&[state("one", first), state("two", second)]), "state");
    assert_eq!(family(&[state("one", first), state("one", second)]), "write");
    assert_eq!(family(&[state("one", first)]), Value::Null);
    let mixed = [state("one", first), state("two", first), state("three", second)];
    assert_eq!(family(&mixed), Value::Null);
}

#[test]
fn phases_stand_in_for_conditions() {
    let sample = |phase: &str| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "a"},
            "spec": {"paused": true}, "status": {"phase": phase},
        })
    };
    let profile = propose(&[sample("Ready"), sample("Pending"), sample("Failed")]);
    assert_eq!(
        profile["phases"],
        json!([
            {"is": "settled", "when": [{"field": "status.phase", "in": ["Ready"]}]},
            {"is": "failed", "when": [{"field": "status.phase", "in": ["Failed"]}]},
            {"is": "progressing", "when": []},
        ])
    );
    assert_eq!(profile["suspended"], json!([{"field": "spec.paused", "in": ["true"]}]));
}

#[test]
fn lists_within_lists_are_found() {
    let profile = propose(&[json!({
        "apiVersion": "example.com/v1", "kind": "Route", "metadata": {"name": "a"},
        "status": {"parents": [{"conditions": [{"type": "Accepted", "status": "True"}]}]},
    })]);
    assert_eq!(profile["conditions"], json!(["status.parents[*].conditions"]));
    assert_eq!(profile["happy"], json!(["Accepted"]));
}

#[test]
fn what_is_no_sample_is_refused() {
    assert!(infer(&[]).is_err());
    assert!(infer(&["{"]).is_err());
    assert!(infer(&["{}"]).is_err());
    let (a, b) = (r#"{"apiVersion":"a/v1","kind":"A"}"#, r#"{"apiVersion":"a/v1","kind":"B"}"#);
    assert!(infer(&[a, b]).is_err());
}
