//! `plumb replay` as it is called: exit codes, formats, streams.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Long enough for a busy machine; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Two states of one object: the message of the second names another revision than the artifact.
const WHOLE: &str = include_str!("data/whole.yaml");
const TORN: &str = include_str!("data/torn.yaml");
/// Its rule.
const RULE: &str = "message-revision-differs-from-field";

struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn command<A: AsRef<OsStr>>(folder: &Path, arguments: &[A]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plumb"));
    command.arg("replay").args(arguments).env_clear().current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn replay<A: AsRef<OsStr>>(folder: &Path, arguments: &[A]) -> Run {
    let output = command(folder, arguments).output().expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn header(expect: &str) -> String {
    format!(
        "apiVersion: plumb.dev/v1alpha1\nkind: Fixture\nmetadata: {{name: torn}}\n\
         spec:\n  expect: {expect}\n---\n"
    )
}

#[test]
fn the_exit_code_tells_how_it_ended() {
    let bad = format!("{WHOLE}---\na: 1\na: 2\n---\n{TORN}");
    let settings = format!(
        "apiVersion: plumb.dev/v1alpha1\nkind: Settings\n\
         rules: [{{rules: [{RULE}], level: warning}}]\n"
    );
    let folder = folder(&[
        ("whole.yaml", WHOLE),
        ("torn.yaml", TORN),
        ("plumb.yaml", &settings),
        ("bad.yaml", &bad),
        ("empty.yaml", ""),
    ]);
    for (arguments, code) in [
        (&["whole.yaml"][..], 0),
        (&["torn.yaml"], 1),
        (&["torn.yaml", "--fail-on", "never"], 0),
        (&["torn.yaml", "--rule", "lost-*"], 0),
        (&["torn.yaml", "--kind", "Bucket"], 0),
        (&["torn.yaml", "--namespace", "default"], 1),
        (&["torn.yaml", "--settings", "plumb.yaml"], 0),
        (&["torn.yaml", "--config", "plumb.yaml", "--fail-on", "warning"], 1),
        (&["bad.yaml"], 3),
        (&["bad.yaml", "--fail-on", "never"], 3),
        (&["whole.yaml", "no-such-file.yaml"], 3),
        (&["*.nothing"], 3),
        (&[][..], 2),
        (&["whole.yaml", "--now", "yesterday"], 2),
        (&["whole.yaml", "--kind", "["], 2),
        (&["-", "--watch"], 2),
        (&["whole.yaml", "--settings", "torn.yaml"], 2),
        (&["whole.yaml", "--policy", "whole.yaml"], 4),
    ] {
        let run = replay(folder.path(), arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}\n{}{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_bad_document_is_told_with_its_line_and_the_rest_is_judged() {
    let bad = format!("{WHOLE}---\na: 1\na: 2\n---\n{TORN}");
    let folder = folder(&[("bad.yaml", &bad)]);
    let run = replay(folder.path(), &["bad.yaml"]);
    let line = WHOLE.lines().count() + 3;
    assert!(run.stdout.contains(&format!("--> bad.yaml:{line}")), "{}", run.stdout);
    assert!(run.stdout.contains("failed to read document 2"), "{}", run.stdout);
    assert!(run.stdout.contains(&format!("error[{RULE}]")), "{}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn no_findings_says_of_how_much() {
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n";
    let folder = folder(&[("whole.yaml", WHOLE), ("widget.yaml", widget)]);
    let run = replay(folder.path(), &["."]);
    for part in
        ["no findings in 2 documents", "2 objects, 2 states", "for 1 object, none for 1 (Widget)"]
    {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
    let run = replay(folder.path(), &[".", "--kind", "Bucket"]);
    assert!(run.stdout.contains("nothing was judged"), "{}", run.stdout);
}

#[test]
fn expectations_are_met_or_shown_as_a_difference() {
    let met = header(&format!("[{{resourceVersion: \"2\", findings: [{{rule: {RULE}}}]}}]"));
    let unmet = header("[{resourceVersion: \"1\", findings: []}]");
    let folder = folder(&[
        ("met.yaml", &format!("{met}{WHOLE}---\n{TORN}")),
        ("unmet.yaml", &format!("{unmet}{WHOLE}---\n{TORN}")),
    ]);
    let run = replay(folder.path(), &["met.yaml"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.starts_with("ok  torn met.yaml\n"), "{}", run.stdout);
    assert!(run.stdout.contains("1 error, by fixture headers"), "{}", run.stdout);

    let run = replay(folder.path(), &["unmet.yaml", "--fail-on", "never"]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("not as expected: unmet.yaml#3"), "{}", run.stdout);
    assert!(run.stdout.contains(&format!("error[{RULE}]")), "{}", run.stdout);
    assert!(run.stdout.contains("FAILED  torn unmet.yaml"), "{}", run.stdout);

    let run = replay(folder.path(), &["unmet.yaml", "--update"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.contains("updated   unmet.yaml"), "{}", run.stdout);
    assert_eq!(replay(folder.path(), &["unmet.yaml"]).code, Some(0));
    let run = replay(folder.path(), &["unmet.yaml", "--update"]);
    assert!(!run.stdout.contains("updated"), "{}", run.stdout);
}

#[test]
fn every_format_tells_the_finding() {
    let folder = folder(&[("torn.yaml", TORN)]);
    for (format, begin) in [
        ("human", "error["),
        ("json", "{\"schema\":\"plumb.dev/replay/v1\""),
        ("junit", "<?xml version=\"1.0\""),
        ("sarif", "{\n  \"$schema\":"),
        ("github", "::error file=torn.yaml,line="),
        ("tap", "TAP version 14\nnot ok 1"),
    ] {
        let run = replay(folder.path(), &["torn.yaml", "--format", format]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""), "{format}");
        assert!(run.stdout.starts_with(begin), "{format}: {}", run.stdout);
        assert!(run.stdout.contains(RULE), "{format}: {}", run.stdout);

        let file = format!("out.{format}");
        let output = ["torn.yaml", "--format", format, "--output", &file];
        let written = replay(folder.path(), &output);
        assert_eq!((written.code, written.stdout.as_str()), (Some(1), ""), "{format}");
        assert!(written.stderr.starts_with(&format!("{file}: 1 error in 1 document")), "{format}");
        let text = fs::read_to_string(folder.path().join(&file)).expect("written");
        assert_eq!(text, run.stdout, "{format}");
    }
    let run = replay(folder.path(), &["torn.yaml", "--output", "no/such/folder"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn the_json_report_has_the_fields_of_its_schema() {
    let folder = folder(&[("torn.yaml", TORN)]);
    let run = replay(folder.path(), &["torn.yaml", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let keys = |value: &serde_json::Value, wanted: &[&str]| {
        for key in wanted {
            assert!(!value[key].is_null(), "{key} in {value}");
        }
    };
    keys(&report, &["schema", "policy", "results", "summary"]);
    keys(&report["policy"], &["name", "version", "sha256"]);
    let result = &report["results"][0];
    keys(
        result,
        &[
            "input",
            "scope",
            "profiled",
            "apiVersion",
            "kind",
            "namespace",
            "name",
            "uid",
            "resourceVersion",
            "phase",
            "coherence",
            "findings",
            "expectation",
        ],
    );
    assert_eq!(result["input"], "torn.yaml#1");
    assert_eq!(result["coherence"], "incoherent");
    let finding = &result["findings"][0];
    keys(finding, &["rule", "severity", "path", "message", "related", "help"]);
    assert_eq!(finding["severity"], "error");
    keys(&finding["related"][0], &["path", "message"]);
    keys(
        &report["summary"],
        &[
            "documents",
            "objects",
            "states",
            "transitions",
            "passes",
            "traces",
            "profiled",
            "unprofiled",
            "findings",
            "unmet",
            "unreadable",
        ],
    );
}

/// Sends what a child prints, line by line.
fn lines(out: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Waits until a line holds `part`.
fn wait_for(lines: &mpsc::Receiver<String>, part: &str) -> Result<String, String> {
    let mut seen = Vec::new();
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) if line.contains(part) => return Ok(line),
            Ok(line) => seen.push(line),
            Err(error) => return Err(format!("no `{part}`: {error}\n{}", seen.join("\n"))),
        }
    }
}

fn spawn(mut command: Command) -> io::Result<(Child, mpsc::Receiver<String>)> {
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    let out = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
    Ok((child, lines(out)))
}

#[test]
fn standard_input_is_judged_as_it_flows() {
    let folder = folder(&[]);
    let (mut child, lines) = spawn(command(folder.path(), &["-"])).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{WHOLE}---\n{TORN}---\n").as_bytes()).unwrap();
    stdin.flush().unwrap();
    // The stream is still open.
    wait_for(&lines, RULE).unwrap();
    drop(stdin);
    wait_for(&lines, "1 error in 2 documents").unwrap();
    wait_for(&lines, "the real time").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let stream = format!("{TORN}---\n").repeat(2000);
    let folder = folder(&[("many.yaml", &stream)]);
    for format in ["human", "json", "tap"] {
        let mut child =
            command(folder.path(), &["many.yaml", "-v", "--format", format]).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(stderr, "", "{format}");
        assert_eq!(child.wait().unwrap().code(), Some(1), "{format}");
    }
}

#[test]
fn a_change_of_a_file_begins_it_anew() {
    let folder = folder(&[("a.yaml", WHOLE)]);
    let (mut child, lines) = spawn(command(folder.path(), &["a.yaml", "--watch"])).unwrap();
    wait_for(&lines, "no findings in 1 document").unwrap();
    fs::write(folder.path().join("a.yaml"), TORN).unwrap();
    wait_for(&lines, "1 error in 1 document").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
}
