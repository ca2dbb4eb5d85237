use super::*;
use crate::engine::Note;
use crate::replay::result::{Decided, End};

fn finding(rule: &str, scope: Scope, severity: Severity, path: &str) -> Finding {
    Finding {
        rule: rule.to_owned(),
        severity,
        scope,
        path: path.to_owned(),
        message: "is wrong".to_owned(),
        related: Vec::<Note>::new(),
        help: None,
    }
}

fn result(scope: Scope, version: &str, findings: Vec<Finding>) -> Judged {
    Judged {
        input: "in#2".to_owned(),
        scope,
        profiled: true,
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        namespace: "default".to_owned(),
        name: "a".to_owned(),
        uid: "u".to_owned(),
        resource_version: version.to_owned(),
        now: None,
        phase: Phase::Settled,
        reason: String::new(),
        coherence: Coherence::Coherent,
        findings,
        decision: None,
        end: None,
        repair: None,
        expectation: Expectation::None,
        unmet: Vec::new(),
        places: Vec::new(),
    }
}

fn expectations(expect: &str) -> Expectations {
    let header = format!(
        r#"{{"apiVersion":"plumb.dev/v1alpha1","kind":"Fixture","spec":{{"expect":{expect}}}}}"#
    );
    Expectations::new(Header::read(&header).unwrap())
}

/// What is unmet of the results, each line with the scope of its result; then what is missed.
fn unmet(expect: &str, results: &[Judged]) -> Vec<String> {
    let mut expectations = expectations(expect);
    let mut results = results.to_vec();
    expectations.judge(&mut results, 1, &Filter::default());
    let mut lines = Vec::new();
    for result in results {
        let met = if result.unmet.is_empty() { Expectation::Met } else { Expectation::Unmet };
        assert_eq!(result.expectation, met);
        lines.extend(result.unmet.iter().map(|line| format!("{}: {line}", result.scope)));
    }
    lines.extend(expectations.missed());
    lines
}

#[test]
fn findings_are_an_exact_set_above_info() {
    let found = [result(
        Scope::State,
        "1",
        vec![
            finding("a", Scope::State, Severity::Error, "/x"),
            finding("a", Scope::State, Severity::Warning, "/y"),
            finding("b", Scope::State, Severity::Info, "/z"),
        ],
    )];
    for met in [
        r#"[{"findings":[{"rule":"a","path":"/y"},{"rule":"a","path":"/x"}]}]"#,
        r#"[{"findings":[{"rule":"a"},{"rule":"a","path":"/x","severity":"error"}]}]"#,
        r#"[{"findings":[{"rule":"a"},{"rule":"a"},{"rule":"b"}]}]"#,
    ] {
        assert_eq!(unmet(met, &found), [""; 0], "{met}");
    }
    assert_eq!(
        unmet(
            r#"[{"findings":[{"rule":"a","path":"/x","severity":"warning"},{"rule":"c"}]}]"#,
            &found
        ),
        [
            "state: expected warning a at /x, found it as error",
            "state: expected c, found none",
            "state: unexpected warning a at /y: is wrong",
        ]
    );
}

#[test]
fn what_is_not_named_is_expected_to_be_clean() {
    let torn = [result(Scope::State, "1", vec![finding("a", Scope::State, Severity::Error, "/x")])];
    let clean = [result(Scope::State, "1", vec![finding("b", Scope::State, Severity::Info, "/x")])];
    assert_eq!(unmet("[]", &torn), ["state: unexpected error a at /x: is wrong"]);
    assert_eq!(unmet("[]", &clean), [""; 0]);
    assert_eq!(
        unmet(r#"[{"resourceVersion":"2","scope":"state"}]"#, &clean),
        ["expectation 1 (resourceVersion 2, scope state) meets no result"]
    );
}

#[test]
fn without_expectations_nothing_is_met_or_unmet() {
    let header = r#"{"apiVersion":"plumb.dev/v1alpha1","kind":"Fixture"}"#;
    let mut expectations = Expectations::new(Header::read(header).unwrap());
    let mut results =
        [result(Scope::State, "1", vec![finding("a", Scope::State, Severity::Error, "/x")])];
    expectations.judge(&mut results, 1, &Filter::default());
    assert_eq!(results[0].expectation, Expectation::None);
    assert!(expectations.missed().is_empty());
}

#[test]
fn an_entry_without_a_scope_is_about_all_scopes_that_have_none() {
    let results = [
        result(Scope::State, "1", vec![finding("a", Scope::State, Severity::Error, "/x")]),
        result(
            Scope::Transition,
            "1",
            vec![finding("b", Scope::Transition, Severity::Error, "/y")],
        ),
    ];
    assert_eq!(unmet(r#"[{"findings":[{"rule":"a"},{"rule":"b"}]}]"#, &results), [""; 0]);
    let apart = r#"[{"findings":[{"rule":"a"}]},{"scope":"transition","findings":[{"rule":"b"}]}]"#;
    assert_eq!(unmet(apart, &results), [""; 0]);
    assert_eq!(
        unmet(r#"[{"findings":[{"rule":"a"}]}]"#, &results),
        ["transition: unexpected error b at /y: is wrong"]
    );
    assert_eq!(
        unmet(r#"[{"scope":"state","findings":[{"rule":"a"}]}]"#, &results),
        ["transition: unexpected error b at /y: is wrong"]
    );
}

#[test]
fn verdicts_decisions_and_ends_are_compared() {
    let state = [result(Scope::State, "1", vec![])];
    assert_eq!(
        unmet(r#"[{"coherence":"coherent","phase":"settled","document":1}]"#, &state),
        [""; 0]
    );
    assert_eq!(
        unmet(r#"[{"coherence":"incoherent","phase":"failed"}]"#, &state),
        [
            "state: expected coherence incoherent, found coherent",
            "state: expected phase failed, found settled",
        ]
    );
    let mut pass = result(Scope::Pass, "1", vec![]);
    pass.decision = Some(Decided {
        action: "after",
        delay: Some(5),
        reason: "waiting".to_owned(),
        message: String::new(),
    });
    let met = r#"[{"decision":{"action":"after","delay":5,"reason":"waiting"}}]"#;
    assert_eq!(unmet(met, &[pass.clone()]), [""; 0]);
    assert_eq!(
        unmet(r#"[{"decision":{"action":"requeue","delay":6}}]"#, &[pass.clone()]),
        ["pass: expected action requeue, found after", "pass: expected delay 6, found 5",]
    );
    assert_eq!(
        unmet(r#"[{"end":{"state":"stuck"}}]"#, &[pass]),
        ["pass: expected end stuck, found none"]
    );
    let mut trace = result(Scope::Trace, "1", vec![]);
    trace.end =
        Some(End { state: "stuck", until: None, lost_at: Some(10), message: String::new() });
    assert_eq!(unmet(r#"[{"end":{"state":"stuck","lostAt":10}}]"#, &[trace.clone()]), [""; 0]);
    assert_eq!(
        unmet(r#"[{"end":{"lostAt":9,"until":"1m"}}]"#, &[trace]),
        ["trace: expected until 1m, found none", "trace: expected lostAt 9, found 10",]
    );
}

#[test]
fn rules_that_are_not_told_are_not_expected() {
    let filter = Filter::new(&["b".to_owned()], &[], &[]).unwrap();
    let mut expectations = expectations(r#"[{"findings":[{"rule":"a"},{"rule":"b"}]}]"#);
    let mut results = [result(Scope::State, "1", vec![])];
    expectations.judge(&mut results, 1, &filter);
    assert_eq!(results[0].unmet, ["expected b, found none"]);
}

#[test]
fn a_wrong_header_is_told_with_its_place() {
    let wrong = r#"{"apiVersion":"plumb.dev/v1alpha1","kind":"Fixture","spec":{"expect":[{"findings":[{"rules":"a"}]}]}}"#;
    assert_eq!(
        Header::read(wrong).unwrap_err(),
        "spec.expect[0].findings[0].rules: unknown field `rules`, expected one of `rule`, `path`, `severity`"
    );
}
