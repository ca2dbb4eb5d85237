//! What a user sets: what each setting does to a finding, and what is wrong with those that are.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use plumb_policy::catalogue;
use plumb_policy::finding::{Coherence, Fault, Severity, Verdict};
use plumb_policy::verdict::{self, Observation};
use serde_json::Value;

/// Two conditions of one type that disagree: one finding, an error.
const OBJECT: &str = r#"{
    "apiVersion": "apps.example.com/v1", "kind": "App",
    "metadata": {"name": "shop", "namespace": "prod", "generation": 1},
    "status": {"observedGeneration": 1, "conditions": [
        {"type": "Ready", "status": "False"}, {"type": "Ready", "status": "True"}
    ]}
}"#;

fn json(settings: &str) -> String {
    let settings: Value = serde_saphyr::from_str(settings).unwrap();
    settings.to_string()
}

fn check(settings: &str, now: Option<&str>) -> Verdict {
    let settings = json(settings);
    let observation =
        Observation { object: OBJECT, now, settings: &settings, ..Observation::default() };
    verdict::check(&observation).unwrap()
}

/// The severity of the finding, if there is one.
fn severity(settings: &str, now: Option<&str>) -> Option<Severity> {
    let verdict = check(settings, now);
    assert!(verdict.findings.len() < 2, "{verdict:?}");
    verdict.findings.first().map(|finding| finding.severity)
}

#[test]
fn severities_are_set_by_kind_namespace_and_name() {
    let (error, info) = (Some(Severity::Error), Some(Severity::Info));
    for (on, wanted) in [
        ("{}", info),
        ("{groups: [apps.example.com]}", info),
        ("{groups: [example.com]}", error),
        ("{kinds: [App]}", info),
        ("{kinds: [Widget]}", error),
        ("{kinds: [Widget, App]}", info),
        ("{namespaces: [prod]}", info),
        ("{namespaces: [pro*]}", info),
        ("{namespaces: [test]}", error),
        ("{names: [shop]}", info),
        ("{names: [sh*]}", info),
        ("{names: [shopping]}", error),
        ("{kinds: [App], namespaces: [test]}", error),
        ("{kinds: [App], namespaces: [prod], names: [shop]}", info),
    ] {
        let settings =
            format!("rules: [{{rules: [repeated-condition-type], on: {on}, level: info}}]");
        assert_eq!(severity(&settings, None), wanted, "{on}");
    }
}

#[test]
fn the_last_setting_that_matches_counts() {
    let settings = "
rules:
- {rules: ['*'], level: off}
- {rules: [repeated-*], on: {kinds: [App]}, level: warning}
- {rules: [repeated-condition-type], on: {kinds: [Widget]}, level: info}
";
    assert_eq!(severity(settings, None), Some(Severity::Warning));
    assert_eq!(severity("rules: [{rules: ['*'], level: off}]", None), None);
    assert_eq!(severity("rules: [{rules: ['*'], level: false}]", None), None);
}

#[test]
fn what_is_off_or_info_does_not_make_an_object_incoherent() {
    assert_eq!(check("{}", None).coherence, Coherence::Incoherent);
    for level in ["off", "info"] {
        let settings = format!("rules: [{{rules: [repeated-condition-type], level: {level}}}]");
        assert_eq!(check(&settings, None).coherence, Coherence::Coherent, "{level}");
    }
}

#[test]
fn an_accepted_finding_is_silent_until_its_date() {
    let ignore = |until: &str| {
        format!(
            "ignore: [{{rules: [repeated-condition-type], on: {{names: [shop]}}, reason: known, until: '{until}'}}]"
        )
    };
    let error = Some(Severity::Error);
    for (until, now, wanted) in [
        ("", Some("2026-12-01T00:00:00Z"), None),
        ("2026-12-31", Some("2026-12-01T00:00:00Z"), None),
        // The date itself still counts.
        ("2026-12-31", Some("2026-12-31T20:00:00Z"), None),
        ("2026-12-31", Some("2027-01-01T00:00:00Z"), error),
        ("2026-12-31T12:00:00Z", Some("2026-12-31T13:00:00Z"), error),
        // Without a clock nothing has expired.
        ("2026-12-31", None, None),
    ] {
        assert_eq!(severity(&ignore(until), now), wanted, "{until} at {now:?}");
    }
    let other = "ignore: [{rules: [repeated-condition-type], on: {names: [other]}, reason: known}]";
    assert_eq!(severity(other, None), error);
}

#[test]
fn a_profile_of_the_settings_comes_before_the_conventions() {
    let settings =
        "profiles: [{group: apps.example.com, kinds: [App], repeats: [Ready], happy: [Ready]}]";
    let verdict = check(settings, None);
    assert!(verdict.profiled && verdict.findings.is_empty(), "{verdict:?}");
}

#[test]
fn what_is_wrong_is_told_with_its_path() {
    for (settings, path, message) in [
        ("colour: red", "/colour", "colour"),
        ("rules: [{rules: [ready-with-stale-generation], level: loud}]", "/rules/0/level", "loud"),
        ("rules: [{rules: [ready-with-stale-generation]}]", "/rules/0", "level"),
        ("rules: [{rules: [no-such-rule], level: off}]", "/rules/0/rules/0", "no-such-rule"),
        ("rules: [{rules: [], level: off}]", "/rules/0/rules", "no rule"),
        ("rules: [{rules: ['*'], on: {kind: App}, level: off}]", "/rules/0/on/kind", "kind"),
        ("ignore: [{rules: ['*']}]", "/ignore/0", "reason"),
        ("ignore: [{rules: ['*'], reason: r, until: soon}]", "/ignore/0/until", "soon"),
        ("kind: Setting", "/kind", "Settings"),
        ("apiVersion: plumb.dev/v9", "/apiVersion", "v1alpha1"),
        ("profiles: [{group: g, kinds: []}]", "/profiles/0/kinds", "no kind"),
        ("profiles: [{group: g, kinds: [K], hapy: [Ready]}]", "/profiles/0/hapy", "hapy"),
        (
            "profiles: [{group: g, kinds: [K], witnesses: [{text: [x]}]}]",
            "/profiles/0/witnesses/0",
            "condition",
        ),
        (
            "profiles: [{group: g, kinds: [K], references: [{kind: X}]}]",
            "/profiles/0/references/0",
            "field",
        ),
        (
            "profiles: [{group: g, kinds: [K], references: [{owned: true}]}]",
            "/profiles/0/references/0",
            "kind",
        ),
        ("profiles: [{group: '*', kinds: [K]}]", "/profiles/0/shape", "shape"),
    ] {
        let notes = catalogue::validate(&json(settings));
        let told = notes.iter().any(|note| note.path == path && note.message.contains(message));
        assert!(told, "{settings}: {notes:?}");
        let text = json(settings);
        let observation = Observation { object: OBJECT, settings: &text, ..Observation::default() };
        match verdict::check(&observation) {
            Err(Fault::Malformed(told)) => assert!(told.contains(path), "{settings}: {told}"),
            other => panic!("{settings}: {other:?}"),
        }
    }
    assert!(catalogue::validate("").is_empty());
}
