//! Every history of `fixtures/traces`, natively and through the component, against its header.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::fs;
use std::path::{Path, PathBuf};

use plumb_host::engine::{Engine, Policy};
use plumb_host::input::{ItemKind, Source};
use plumb_policy::finding::{Fault, Report, Severity};
use serde::Deserialize;

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

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(repository().join("fixtures/traces"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "the fixtures are there");
    files
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
