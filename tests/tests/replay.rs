//! Replay from its inputs to its report, with the policy that is part of the program.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use plumb_host::engine::{Coherence, Policy, Scope};
use plumb_host::input::{Documents, Source, sources};
use plumb_host::replay::result::{Event, Expectation, Judged, Report};
use plumb_host::replay::{Options, Replay, run};

fn policy() -> Policy {
    Policy::embedded().expect("the embedded policy loads")
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name)
}

fn replay(paths: &[PathBuf], options: Options) -> Report {
    let replay = Replay::new(&policy(), options).expect("the options are right");
    let sources: Vec<_> = paths.iter().map(Source::file).collect();
    run(replay, &sources, &mut |_| Ok(())).expect("nothing is written")
}

fn replay_text(text: impl Into<String>, options: Options) -> Report {
    let mut replay = Replay::new(&policy(), options).expect("the options are right");
    let documents = Documents::new("in", Cursor::new(text.into()));
    replay.judge("in", false, documents, &mut |_| Ok(())).expect("nothing is written");
    replay.finish()
}

/// One line a result: scope, resourceVersion, coherence, rules.
fn lines(report: &Report) -> Vec<String> {
    report
        .results
        .iter()
        .map(|result| {
            let rules: Vec<_> = result
                .findings
                .iter()
                .map(|finding| format!("{} {}", finding.rule, finding.path))
                .collect();
            let Judged { scope, resource_version, coherence, phase, .. } = result;
            format!("{scope} {resource_version} {coherence} {phase} {}", rules.join(", "))
        })
        .collect()
}

#[test]
fn the_torn_artifact_is_found_from_the_object_alone() {
    let report = replay(&[fixture("stories/gitrepository-torn-artifact.yaml")], Options::default());
    assert_eq!(report.errors.len(), 0, "{:?}", report.errors);
    let states: Vec<_> =
        report.results.iter().filter(|result| result.scope == Scope::State).collect();
    let versions: Vec<_> =
        states.iter().map(|state| (state.resource_version.as_str(), state.coherence)).collect();
    assert_eq!(
        versions,
        [
            ("2292286", Coherence::Coherent),
            ("2292287", Coherence::Incoherent),
            ("2292288", Coherence::Coherent),
        ]
    );
    assert!(states.iter().all(|state| state.expectation == Expectation::Met), "{report:?}");
    assert_eq!(report.summary.unmet, 0);
    assert_eq!(
        (report.summary.objects, report.summary.states, report.summary.transitions),
        (1, 3, 2)
    );
    let story = report.fixtures[0].story.as_deref().expect("the fixture tells its story");
    assert!(story.starts_with("A new commit arrives."), "{story}");
}

#[test]
fn every_form_of_a_watch_gets_the_same_verdicts() {
    for forms in [
        &[
            "watch-torn-raw.jsonl",
            "watch-torn-events.json",
            "watch-torn-events.yaml",
            "watch-torn-plain.yaml",
        ][..],
        &[
            "watch-e2-mutate-raw.jsonl",
            "watch-e2-mutate-events.json",
            "watch-e2-mutate-events.yaml",
            "watch-e2-mutate-plain.yaml",
        ],
        &["watch-lifecycle-events.yaml", "watch-lifecycle-plain.yaml"],
    ] {
        let verdicts = |form: &&str| {
            let report = replay(&[fixture("recorded").join(form)], Options::default());
            assert_eq!(report.errors.len(), 0, "{form}: {:?}", report.errors);
            lines(&report)
        };
        let first = verdicts(&forms[0]);
        assert!(first.len() > 4, "{first:?}");
        for form in &forms[1..] {
            assert_eq!(verdicts(form), first, "{form}");
        }
    }
}

#[test]
fn the_torn_states_are_found_in_every_stream() {
    for (form, torn) in [
        ("watch-torn-raw.jsonl", &["245"][..]),
        ("watch-torn-plain.yaml", &["245"]),
        ("watch-lifecycle-plain.yaml", &["259", "262"]),
        ("audit-e0.jsonl", &["242", "245"]),
    ] {
        let report = replay(&[fixture("recorded").join(form)], Options::default());
        let found: Vec<_> = report
            .results
            .iter()
            .filter(|result| {
                result.scope == Scope::State && result.coherence == Coherence::Incoherent
            })
            .map(|result| result.resource_version.as_str())
            .collect();
        assert_eq!(found, torn, "{form}: {:#?}", lines(&report));
    }
}

const GOOD: &str =
    "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: NAME, namespace: default}\n";

#[test]
fn a_bad_document_is_told_and_the_others_are_judged() {
    let text = format!(
        "{}---\na: [\n---\n{}---\njust text\n",
        GOOD.replace("NAME", "a"),
        GOOD.replace("NAME", "b")
    );
    let report = replay_text(text, Options::default());
    let names: Vec<_> = report.results.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let errors: Vec<_> =
        report.errors.iter().map(|error| (error.document, error.line, error.kind)).collect();
    assert_eq!(errors, [(Some(2), Some(5), "unreadable"), (Some(4), Some(11), "unreadable")]);
    assert_eq!((report.summary.documents, report.summary.unreadable), (2, 2));
    assert_eq!(report.summary.unprofiled, 2);
}

#[test]
fn a_live_input_is_judged_as_it_flows() {
    use std::io::{Read, Result};
    use std::sync::{Arc, Mutex};

    /// Each read yields one part, and is written down.
    struct Pipe(Vec<String>, Arc<Mutex<Vec<String>>>);
    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let part = self.0.remove(0);
            self.1.lock().unwrap().push(format!("read {}", part.len()));
            buffer[..part.len()].copy_from_slice(part.as_bytes());
            Ok(part.len())
        }
    }

    let log = Arc::new(Mutex::new(Vec::new()));
    let object = |name: &str| {
        format!("{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"{name}\"}}}}\n")
    };
    let parts = vec![object("a"), object("b")];
    let pipe = Pipe(parts, Arc::clone(&log));
    let mut replay = Replay::new(&policy(), Options { keep: false, ..Options::default() }).unwrap();
    let told = Arc::clone(&log);
    replay
        .judge("-", true, Documents::new("-", pipe), &mut |event| {
            if let Event::Judged(result) = event {
                told.lock().unwrap().push(result.name.clone());
            }
            Ok(())
        })
        .unwrap();
    let length = object("a").len();
    assert_eq!(
        *log.lock().unwrap(),
        [format!("read {length}"), "a".into(), format!("read {length}"), "b".into()]
    );
    let report = replay.finish();
    assert_eq!(report.clock.source, "real");
    assert!(report.results.is_empty());
    assert_eq!(report.summary.states, 2);
}

#[test]
fn output_that_fails_ends_the_replay() {
    let mut replay = Replay::new(&policy(), Options::default()).unwrap();
    let documents = Documents::new("in", Cursor::new(GOOD));
    let mut calls = 0;
    let result = replay.judge("in", false, documents, &mut |_| {
        calls += 1;
        Err(std::io::ErrorKind::BrokenPipe.into())
    });
    assert_eq!(result.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(calls, 1);
}

/// A state that was superseded is judged by the time at which it appeared, a last one by the
/// newest time in the file.
#[test]
fn the_clock_is_taken_from_the_stream() {
    let object = |name: &str, version: u32, time: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, uid: {name}, resourceVersion: '{version}'}}\nstatus: {{startTime: '2026-01-01T00:{time}:00Z'}}\n"
        )
    };
    let text = [
        object("a", 1, "01"),
        object("b", 2, "05"),
        object("a", 3, "03"),
        object("c", 4, "09"),
        object("a", 5, "08"),
    ]
    .join("---\n");
    let times = |options: Options| {
        let report = replay_text(text.clone(), options);
        let times: Vec<String> = report
            .results
            .iter()
            .filter(|result| result.scope == Scope::State)
            .map(|result| {
                let now = result.now.clone().unwrap_or_default();
                format!("{} {}", result.resource_version, &now[11..16])
            })
            .collect();
        (times, report.clock.source, report.clock.now)
    };
    let (found, source, now) = times(Options::default());
    assert_eq!(found, ["1 00:01", "2 00:09", "3 00:05", "4 00:09", "5 00:09"]);
    assert_eq!((source, now.as_deref()), ("stream", Some("2026-01-01T00:09:00Z")));
    let given = Options { now: Some("2027-01-01T12:00:00Z".into()), ..Options::default() };
    let (found, source, now) = times(given);
    assert!(found.iter().all(|time| time.ends_with("12:00")), "{found:?}");
    assert_eq!((source, now.as_deref()), ("given", Some("2027-01-01T12:00:00Z")));
    let wrong = Options { now: Some("noon".into()), ..Options::default() };
    assert!(Replay::new(&policy(), wrong).is_err());
}

#[test]
fn shortened_objects_are_of_the_kind_of_their_uid() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: u, resourceVersion: '1'}\n---\nmetadata: {name: a, uid: u, resourceVersion: '2'}\nstatus: {phase: Running}\n---\nmetadata: {name: z, uid: other}\n";
    let report = replay_text(text, Options::default());
    let kinds: Vec<_> =
        report.results.iter().map(|result| (result.scope, result.kind.as_str())).collect();
    assert_eq!(kinds, [(Scope::State, "Pod"), (Scope::State, "Pod"), (Scope::Transition, "Pod")]);
    assert_eq!(report.errors.len(), 1);
    assert_eq!(report.errors[0].line, Some(8));
    assert!(report.errors[0].message.contains("no earlier object"), "{:?}", report.errors);
}

#[test]
fn what_is_not_judged_is_counted() {
    let watch = [
        r#"{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"1"}}}"#,
        r#"{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"5"}}}"#,
        r#"{"type":"ERROR","object":{"apiVersion":"v1","kind":"Status","code":410,"message":"too old"}}"#,
        r#"{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"7"}}}"#,
        r#"{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"7"}}}"#,
        r#"{"type":"DELETED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"8"}}}"#,
        r#"{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"v","resourceVersion":"9"}}}"#,
    ];
    let report = replay_text(watch.join("\n"), Options::default());
    let found: Vec<_> = report
        .results
        .iter()
        .map(|result| format!("{} {}", result.scope, result.resource_version))
        .collect();
    // Nothing is known of what happened while the watch was broken.
    assert_eq!(found, ["state 1", "state 7", "state 8", "transition 8", "state 9"]);
    assert_eq!(report.summary.repeated, 1);
    assert_eq!(report.summary.objects, 2);
    assert_eq!(report.skipped.len(), 1);
    assert_eq!(report.skipped[0].message, "the watch broke: too old (code 410)");
}

#[test]
fn filters_choose_what_is_judged_and_told() {
    let torn = fixture("stories/gitrepository-torn-artifact.yaml");
    let count = |options: Options| {
        let report = replay(std::slice::from_ref(&torn), options);
        (report.summary.states, report.summary.findings.error, report.summary.unmet)
    };
    let list = |pattern: &str| vec![pattern.to_owned()];
    assert_eq!(count(Options { kinds: list("kustomization"), ..Options::default() }), (0, 0, 0));
    assert_eq!(count(Options { namespaces: list("other"), ..Options::default() }), (0, 0, 0));
    assert_eq!(count(Options { rules: list("lost-*"), ..Options::default() }), (3, 0, 0));
    let (states, errors, unmet) = count(Options { kinds: list("git*"), ..Options::default() });
    assert_eq!((states, unmet), (3, 0));
    assert!(errors > 0);
}

#[test]
fn settings_hold_for_what_follows() {
    let story = fs::read_to_string(fixture("stories/gitrepository-torn-artifact.yaml")).unwrap();
    let (_, objects) = story.split_once("---\n").expect("a header and objects");
    let settings =
        "apiVersion: plumb.dev/v1alpha1\nkind: Settings\nrules:\n- {rules: ['*'], level: off}\n";
    let off = replay_text(format!("{settings}---\n{objects}"), Options::default());
    assert_eq!((off.errors.len(), off.summary.findings.error), (0, 0), "{:?}", off.errors);
    let on = replay_text(format!("{objects}---\n{settings}"), Options::default());
    assert!(on.summary.findings.error > 0);
    let wrong = settings.replace("level: off", "level: loud");
    let report = replay_text(format!("{wrong}---\n{objects}"), Options::default());
    assert_eq!(report.errors[0].line, Some(4), "{:?}", report.errors);
    assert!(report.summary.findings.error > 0);
    let json = r#"{"rules":[{"rules":["*"],"level":"off"}]}"#;
    let given = replay_text(objects, Options { settings: json.into(), ..Options::default() });
    assert_eq!(given.summary.findings.error, 0);
    assert!(
        Replay::new(&policy(), Options { settings: "{\"a\":1}".into(), ..Options::default() })
            .is_err()
    );
}

#[test]
fn expectations_that_are_not_met_are_told() {
    let path = fixture("stories/gitrepository-torn-artifact.yaml");
    let story = fs::read_to_string(path).unwrap();
    let wrong = story.replacen("\"2292287\"", "\"2292286\"", 1);
    let report = replay_text(wrong, Options::default());
    let unmet: Vec<_> = report
        .results
        .iter()
        .filter(|result| result.scope == Scope::State)
        .map(|result| (result.resource_version.as_str(), !result.unmet.is_empty()))
        .collect();
    assert_eq!(unmet, [("2292286", true), ("2292287", true), ("2292288", false)]);
    assert!(report.summary.unmet >= 2);
    let missing = story.replacen("\"2292287\"", "\"1\"", 1);
    let report = replay_text(missing, Options::default());
    assert_eq!(report.fixtures[0].unmet, ["expectation 1 (resourceVersion 1) meets no result"]);
}

#[test]
fn update_writes_what_is_found_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let story = fs::read_to_string(fixture("stories/gitrepository-torn-artifact.yaml")).unwrap();
    let (_, objects) = story.split_once("---\n").expect("a header and objects");
    let path = folder.path().join("torn.yaml");
    fs::write(&path, format!("# kept\n{objects}# kept, too\n")).unwrap();
    let options = || Options { update: true, ..Options::default() };
    let report = replay(std::slice::from_ref(&path), options());
    assert_eq!(report.updated, [path.to_str().unwrap()]);
    let updated = fs::read_to_string(&path).unwrap();
    assert!(updated.ends_with(&format!("---\n# kept\n{objects}# kept, too\n")), "{updated}");
    assert!(
        updated.contains("  - resourceVersion: \"2292287\"\n    coherence: incoherent\n"),
        "{updated}"
    );
    let again = replay(std::slice::from_ref(&path), options());
    assert!(again.updated.is_empty());
    let judged = replay(std::slice::from_ref(&path), Options::default());
    assert_eq!(judged.summary.unmet, 0, "{:?}", judged.results);
    assert!(judged.results.iter().all(|result| result.expectation == Expectation::Met));
    let stdin = replay_text(objects, options());
    assert_eq!(stdin.errors.len(), 1);
}

/// Beside each other, and in order: a List in which a dependent stands before its source.
#[test]
fn objects_are_judged_beside_those_they_name() {
    let text = r"
apiVersion: v1
kind: List
items:
- {apiVersion: a.io/v1, kind: App, metadata: {name: a, namespace: n}, spec: {sourceRef: {kind: Source, name: s}}}
- {apiVersion: a.io/v1, kind: Source, metadata: {name: s, namespace: n}}
- {apiVersion: a.io/v1, kind: Source, metadata: {name: t, namespace: n}}
";
    // The policy tells nothing of these kinds; that both directions are found is shown where the
    // objects are tracked. Here: nothing is judged twice, in the order of the list.
    let report = replay_text(text, Options::default());
    let names: Vec<_> = report.results.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["a", "s", "t"]);
    assert_eq!(report.summary.failed, 0);
}

#[test]
fn ten_thousand_objects_are_judged_in_order() {
    let text: String = (0..10_000)
        .map(|index| {
            format!("{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"p{index}\",\"namespace\":\"n\"}}}}\n")
        })
        .collect::<Vec<_>>()
        .concat();
    let report = replay_text(text, Options::default());
    assert_eq!(report.summary.states, 10_000);
    assert!(
        report.results.iter().enumerate().all(|(index, result)| result.name == format!("p{index}"))
    );
}

#[test]
fn every_fixture_is_as_expected() {
    let (sources, errors) = sources(&[fixture("").to_string_lossy().into_owned()]);
    assert!(errors.is_empty(), "{errors:?}");
    let replay = Replay::new(&policy(), Options::default()).unwrap();
    let report = run(replay, &sources, &mut |_| Ok(())).unwrap();
    let unmet: Vec<_> = report
        .results
        .iter()
        .filter(|result| result.expectation == Expectation::Unmet)
        .map(|result| format!("{} {}: {}", result.input, result.scope, result.unmet.join("; ")))
        .chain(report.fixtures.iter().flat_map(|fixture| {
            fixture.unmet.iter().map(|line| format!("{}: {line}", fixture.input))
        }))
        .chain(report.errors.iter().map(|error| format!("{error:?}")))
        .collect();
    assert!(unmet.is_empty(), "{unmet:#?}");
    assert!(report.summary.states > 0 && report.summary.passes > 0);
}
