//! Every output format, on one report made by hand: no component, no reader of inputs.

use std::io;
use std::sync::Arc;

use plumb_host::engine::{Coherence, Finding, Note, Phase, Rule, Scope, Severity};
use plumb_host::exit::Exit;
use plumb_host::input::{Document, Syntax};
use plumb_host::output::{FailOn, Format, Manner, Output, Verbosity};
use plumb_host::replay::result::{
    Clock, Decided, End, Event, Expectation, FindingCounts, Fixture, InputError, Judged, Place,
    PolicyIdentity, Report, SCHEMA, Skipped, Summary,
};

const YAML: &str = include_str!("../data/output/torn.yaml");
const JSON: &str = include_str!("../data/output/torn.jsonl");

/// The document of this 1-based number.
fn document(number: usize) -> Arc<Document> {
    let parts: Vec<&str> = YAML.split("---\n").collect();
    let line = 1 + parts[..number - 1].iter().map(|part| part.lines().count() + 1).sum::<usize>();
    Arc::new(Document {
        input: "stories/torn.yaml".into(),
        number,
        line,
        text: parts[number - 1].into(),
        syntax: Syntax::Yaml,
        items: Vec::new(),
    })
}

fn place(origin: &str, document: Arc<Document>, base: &str) -> Place {
    Place { origin: origin.into(), document, base: base.into() }
}

fn judged(scope: Scope, version: &str, places: Vec<Place>) -> Judged {
    let document = Arc::clone(&places[0].document);
    Judged {
        input: format!("{}#{}", document.input, document.number),
        scope,
        profiled: true,
        api_version: "source.toolkit.fluxcd.io/v1".into(),
        kind: "GitRepository".into(),
        namespace: "default".into(),
        name: "app".into(),
        uid: "00000000-0000-0000-0000-000000000001".into(),
        resource_version: version.into(),
        now: None,
        phase: Phase::Unknown,
        reason: "parts of the status disagree".into(),
        coherence: Coherence::Incoherent,
        findings: Vec::new(),
        decision: None,
        end: None,
        repair: None,
        expectation: Expectation::None,
        unmet: Vec::new(),
        places,
    }
}

fn torn() -> Finding {
    Finding {
        rule: "ready-names-other-revision".into(),
        severity: Severity::Error,
        scope: Scope::State,
        path: "/status/artifact/revision".into(),
        message: "Ready speaks of revision \
                  'main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', but the artifact is of another"
            .into(),
        related: vec![
            Note {
                origin: "object".into(),
                path: "/status/artifact/revision".into(),
                message: "the artifact that is served".into(),
            },
            Note {
                origin: "object".into(),
                path: "/status/conditions/0/message".into(),
                message: "the revision that Ready speaks of".into(),
            },
        ],
        help: Some("hold until status.artifact.revision is the revision that Ready names".into()),
    }
}

fn moved() -> Finding {
    Finding {
        rule: "ready-moved-without-its-artifact".into(),
        severity: Severity::Warning,
        scope: Scope::Transition,
        path: "/status/conditions/0/status".into(),
        message: "Ready became True, status.artifact did not change".into(),
        related: vec![
            Note {
                origin: "old".into(),
                path: "/status/conditions/0/status".into(),
                message: "Ready was Unknown".into(),
            },
            Note {
                origin: "object".into(),
                path: "/status/artifact/metadata".into(),
                message: "nothing says why".into(),
            },
            Note { origin: "nowhere".into(), path: "/a/0".into(), message: "not shown".into() },
        ],
        help: None,
    }
}

/// A header with a story, three results as expected, and one of each that is not.
fn report() -> (Report, Vec<usize>) {
    let whole = Judged {
        phase: Phase::Progressing,
        coherence: Coherence::Coherent,
        reason: "Ready is Unknown: building artifact".into(),
        expectation: Expectation::Met,
        ..judged(Scope::State, "2292286", vec![place("object", document(2), "")])
    };
    let broken = Judged {
        findings: vec![torn()],
        expectation: Expectation::Met,
        ..judged(Scope::State, "2292287", vec![place("object", document(3), "")])
    };
    let places = vec![place("object", document(3), ""), place("old", document(2), "")];
    let transition = Judged {
        findings: vec![moved()],
        expectation: Expectation::Unmet,
        unmet: vec![
            "- finding ready-names-other-revision at /status/artifact/revision".into(),
            "+ finding ready-moved-without-its-artifact at /status/conditions/0/status".into(),
        ],
        ..judged(Scope::Transition, "2292287", places)
    };
    let pass = Judged {
        kind: "Kustomization".into(),
        namespace: "infra".into(),
        decision: Some(Decided {
            action: "after",
            delay: Some(1500),
            reason: "health-check-canceled".into(),
            message: "the health check was canceled, so that nothing else will wake the object"
                .into(),
        }),
        findings: vec![Finding {
            rule: "lost-wake-up".into(),
            severity: Severity::Error,
            scope: Scope::Pass,
            path: "/spec/result/requeue".into(),
            message: "the result asks for nothing, and nothing else is queued".into(),
            related: Vec::new(),
            help: Some("return a result that requeues".into()),
        }],
        profiled: false,
        ..judged(Scope::Pass, "", vec![place("object", document(4), "")])
    };
    let trace = Judged {
        kind: String::new(),
        namespace: String::new(),
        name: String::new(),
        end: Some(End {
            state: "stuck",
            until: None,
            lost_at: Some(10),
            message: "the second cancel came after the add was skipped".into(),
        }),
        ..judged(Scope::Trace, "", vec![place("object", document(4), "")])
    };
    let line = Arc::new(Document {
        input: "torn.jsonl".into(),
        number: 1,
        line: 1,
        text: JSON.into(),
        syntax: Syntax::Json,
        items: Vec::new(),
    });
    let long = Judged {
        findings: vec![torn()],
        ..judged(Scope::State, "2292287", vec![place("object", line, "/object")])
    };
    let unprofiled = Judged {
        kind: "Widget\u{1b}[31m".into(),
        name: "a#b::error::c".into(),
        uid: String::new(),
        profiled: false,
        coherence: Coherence::Unknown,
        reason: "no profile for this kind".into(),
        findings: vec![Finding { severity: Severity::Info, path: "/nowhere".into(), ..moved() }],
        ..judged(Scope::State, "1", vec![place("object", document(2), "")])
    };
    let results = vec![whole, broken, transition, pass, trace, long, unprofiled];
    let fixture = Fixture {
        input: "stories/torn.yaml".into(),
        name: "gitrepository-torn-artifact".into(),
        source: Some("https://github.com/fluxcd/pkg/issues/934".into()),
        story: Some("The controller writes the conditions first and the artifact second.".into()),
        unmet: vec!["- resourceVersion 2292288: no such result".into()],
    };
    let errors = vec![
        InputError {
            input: "bad, 100%.yaml".into(),
            document: Some(2),
            line: Some(14),
            kind: InputError::UNREADABLE,
            message: "duplicate key `status`, first on line 9".into(),
        },
        InputError {
            input: "torn.jsonl".into(),
            document: Some(1),
            line: None,
            kind: InputError::EVALUATION,
            message: "the policy ran out of time".into(),
        },
    ];
    let summary = Summary {
        documents: 9,
        objects: 3,
        states: 4,
        transitions: 1,
        passes: 1,
        traces: 1,
        profiled: 2,
        unprofiled: 1,
        findings: FindingCounts { error: 3, warning: 1, info: 1 },
        unmet: 2,
        unreadable: 1,
        failed: 1,
        repeated: 2,
        skipped: 1,
    };
    let report = Report {
        schema: SCHEMA,
        policy: PolicyIdentity {
            name: "plumb-policy".into(),
            version: "0.1.0".into(),
            sha256: "ab".repeat(32),
        },
        clock: Clock { source: "given", now: Some("2025-05-27T21:27:13Z".into()) },
        results,
        fixtures: vec![fixture],
        errors,
        skipped: vec![Skipped {
            input: "audit.jsonl".into(),
            document: 3,
            count: 1,
            message: "a read".into(),
        }],
        updated: Vec::new(),
        summary,
    };
    (report, vec![0, 1, 2])
}

fn manner() -> Manner {
    let rule = |id: &str, harm: &str| Rule {
        id: id.into(),
        family: "witness".into(),
        scope: Scope::State,
        severity: Severity::Error,
        since: "0.1.0".into(),
        summary: "Ready names another revision than the artifact".into(),
        manual: format!("## What it does\nCompares.\n\n## Why is this bad?\n{harm}\n"),
    };
    Manner {
        rules: vec![
            rule("lost-wake-up", "The object waits for ever."),
            rule(
                "ready-names-other-revision",
                "A consumer that waits for Ready and then fetches the artifact deploys the old \
                 revision under the new one's name, and [nothing](https://example.com) tells it.",
            ),
        ],
        fail_on: FailOn::Error,
        verbosity: Verbosity::Normal,
        width: 100,
    }
}

/// Plays the report's events and returns what was written, without colours.
fn written(format: Format, manner: &Manner) -> String {
    let text = styled(format, manner).expect("a vector takes all");
    anstream::adapter::strip_str(&text).to_string()
}

fn styled(format: Format, manner: &Manner) -> io::Result<String> {
    let (report, in_fixture) = report();
    let mut bytes = Vec::new();
    let mut output = Output::new(format, manner, Box::new(&mut bytes));
    let fixture = &report.fixtures[0];
    let begun = Fixture { unmet: Vec::new(), ..fixture.clone() };
    output.event(Event::Opened { input: &fixture.input, fixture: Some(&begun) })?;
    for index in &in_fixture {
        output.event(Event::Judged(&report.results[*index]))?;
    }
    output.event(Event::Closed { input: &fixture.input, fixture: Some(fixture) })?;
    output.event(Event::Opened { input: "torn.jsonl", fixture: None })?;
    for judged in &report.results[in_fixture.len()..] {
        output.event(Event::Judged(judged))?;
    }
    for error in &report.errors {
        output.event(Event::Failed(error))?;
    }
    output.event(Event::Closed { input: "torn.jsonl", fixture: None })?;
    output.finish(&report)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

#[test]
fn human() {
    insta::assert_snapshot!(written(Format::Human, &manner()));
}

#[test]
fn human_verbose() {
    let manner = Manner { verbosity: Verbosity::Verbose, width: 140, ..manner() };
    insta::assert_snapshot!(written(Format::Human, &manner));
}

#[test]
fn human_quiet() {
    let manner = Manner { verbosity: Verbosity::Quiet, ..manner() };
    insta::assert_snapshot!(written(Format::Human, &manner));
}

#[test]
fn json() {
    let text = written(Format::Json, &manner());
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn junit() {
    insta::assert_snapshot!(written(Format::Junit, &manner()));
}

#[test]
fn junit_where_nothing_fails() {
    let manner = Manner { fail_on: FailOn::Never, ..manner() };
    let text = written(Format::Junit, &manner);
    // Only what is not as expected, and what could not be judged.
    assert_eq!(text.matches("<failure").count(), 2, "{text}");
    assert_eq!(text.matches("<error").count(), 2, "{text}");
}

#[test]
fn sarif() {
    insta::assert_snapshot!(written(Format::Sarif, &manner()));
}

/// The parts of the standard's schema that code scanning relies on.
#[test]
fn sarif_has_the_structure_of_the_standard() {
    let text = written(Format::Sarif, &manner());
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty());
    let mut fingerprints = std::collections::BTreeSet::new();
    for result in results {
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        if let Some(index) = result["ruleIndex"].as_u64() {
            assert_eq!(rules[usize::try_from(index).unwrap()]["id"], result["ruleId"]);
        }
        let fingerprint = result["partialFingerprints"]["plumbFinding/v1"].as_str().unwrap();
        assert!(fingerprints.insert(fingerprint.to_owned()), "{result}");
        let related = result["relatedLocations"].as_array().cloned().unwrap_or_default();
        for location in result["locations"].as_array().unwrap().iter().chain(&related) {
            let physical = &location["physicalLocation"];
            let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
            assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
            if let Some(region) = physical.get("region") {
                let at = |name: &str| region[name].as_u64().unwrap();
                assert!(at("startLine") >= 1 && at("startColumn") >= 1, "{region}");
                let (start, end) =
                    ((at("startLine"), at("startColumn")), (at("endLine"), at("endColumn")));
                assert!(start <= end, "{region}");
            }
        }
    }
}

#[test]
fn github() {
    insta::assert_snapshot!(written(Format::Github, &manner()));
}

#[test]
fn tap() {
    insta::assert_snapshot!(written(Format::Tap, &manner()));
}

#[test]
fn nothing_from_an_input_steers_the_terminal() {
    let manner = Manner { verbosity: Verbosity::Verbose, ..manner() };
    for format in [Format::Json, Format::Junit, Format::Sarif, Format::Github, Format::Tap] {
        let text = styled(format, &manner).unwrap();
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    let text = styled(Format::Human, &manner).unwrap();
    assert!(text.contains("Widget\u{241b}[31m") && !text.contains("Widget\u{1b}"), "{text}");
}

/// How a run ends in which this happens.
fn ends(fail_on: FailOn, events: &[Event<'_>]) -> io::Result<Exit> {
    let manner = Manner { fail_on, ..manner() };
    let mut output = Output::new(Format::Human, &manner, Box::new(io::sink()));
    for event in events {
        output.event(*event)?;
    }
    Ok(output.exit())
}

#[test]
fn the_worst_decides_the_exit_code() {
    let (report, _) = report();
    let results = &report.results;
    let (met, unmet, found) =
        (Event::Judged(&results[1]), Event::Judged(&results[2]), Event::Judged(&results[3]));
    let (unreadable, failed) = (Event::Failed(&report.errors[0]), Event::Failed(&report.errors[1]));
    let missed = Event::Closed { input: "a", fixture: Some(&report.fixtures[0]) };
    let warned = Judged { expectation: Expectation::None, ..results[2].clone() };
    let warned = Event::Judged(&warned);
    for (fail_on, events, exit) in [
        (FailOn::Warning, &[][..], Exit::Clean),
        (FailOn::Warning, &[met], Exit::Clean),
        (FailOn::Never, &[found], Exit::Clean),
        (FailOn::Error, &[found], Exit::Findings),
        (FailOn::Error, &[warned], Exit::Clean),
        (FailOn::Warning, &[warned], Exit::Findings),
        (FailOn::Never, &[unmet], Exit::Findings),
        (FailOn::Never, &[missed], Exit::Findings),
        (FailOn::Error, &[unreadable, found], Exit::Unreadable),
        (FailOn::Error, &[failed, unreadable, found], Exit::Policy),
    ] {
        assert_eq!(ends(fail_on, events).unwrap(), exit, "{fail_on:?}");
    }
}
