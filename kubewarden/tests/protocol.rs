//! The program speaks Kubewarden's protocol. `examples/run` asks the same of the module under a
//! WASI runtime.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const TORN: &str = include_str!("../../examples/torn.json");
const RULE: &str = "message-revision-differs-from-field";

/// The answer, or what it says on standard error when it fails.
fn ask(command: &str, input: &str) -> Result<Value, String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_plumb-kubewarden"))
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its command reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).unwrap())
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    }
}

fn validate(object: &str, settings: &Value) -> Result<Value, String> {
    ask("validate", &format!("{{\"request\":{{\"object\":{object}}},\"settings\":{settings}}}"))
}

#[test]
fn a_torn_status_is_warned_of() {
    let answer = validate(TORN, &json!({})).unwrap();
    assert_eq!(answer["accepted"], true);
    assert!(answer["warnings"][0].as_str().unwrap().starts_with(RULE), "{answer}");
}

#[test]
fn a_denied_rule_rejects() {
    for deny in [RULE, "message-*", "*"] {
        let answer = validate(TORN, &json!({"deny": [deny]})).unwrap();
        assert_eq!((&answer["accepted"], &answer["code"]), (&json!(false), &json!(403)));
        assert!(answer["message"].as_str().unwrap().contains(RULE), "{answer}");
        assert_eq!(answer["warnings"], json!([]));
    }
}

#[test]
fn settings_of_plumb_hold() {
    let off = json!({"rules": [{"rules": ["*"], "level": "off"}], "deny": ["*"]});
    assert_eq!(validate(TORN, &off).unwrap(), json!({"accepted": true, "warnings": []}));
}

#[test]
fn a_deletion_is_accepted() {
    let answer = ask("validate", r#"{"request": {"object": null, "oldObject": {}}}"#).unwrap();
    assert_eq!(answer, json!({"accepted": true}));
}

#[test]
fn what_cannot_be_judged_is_no_pass() {
    for input in [
        "",
        "{}",
        r#"{"request":{"object":[]}}"#,
        r#"{"request":{"object":{}},"settings":{"deny":1}}"#,
    ] {
        assert!(ask("validate", input).is_err(), "{input}");
    }
    assert!(ask("protocol", "").unwrap_err().contains("expected `validate`"));
}

#[test]
fn settings_are_validated() {
    for (settings, valid) in [
        (json!({}), true),
        (json!({"deny": [RULE], "profiles": []}), true),
        (json!({"deny": ["no-such-rule"]}), false),
        (json!({"denied": []}), false),
        (json!([]), false),
    ] {
        let answer = ask("validate-settings", &settings.to_string()).unwrap();
        assert_eq!(answer["valid"], valid, "{settings}: {answer}");
        assert_eq!(answer["message"].is_string(), !valid, "{settings}: {answer}");
    }
}

#[test]
fn the_metadata_is_of_this_version() {
    let metadata: Value = serde_json::from_str(include_str!("../metadata.json")).unwrap();
    let annotations = &metadata["annotations"];
    assert_eq!(annotations["io.kubewarden.policy.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(annotations["io.kubewarden.policy.license"], env!("CARGO_PKG_LICENSE"));
    assert_eq!(metadata["executionMode"], "wasi");
}
