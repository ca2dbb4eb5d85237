//! For the tests of controllers: asserts that what was published is coherent.
//!
//! A test of a controller collects what it saw, as `kubectl get -w -o yaml` prints it or as JSON
//! lines of a watch, and gives it to [`assert_coherent`]. States of one object are judged one by
//! one, against the state before, and beside the other objects.

use std::fmt::Write;
use std::io::Cursor;

use crate::engine::{LoadError, Policy, Severity};
use crate::input::Documents;
use crate::replay::result::Report;
use crate::replay::{Options, OptionsError, Replay};

/// Why a stream cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The policy does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The options are not what they should be.
    #[error(transparent)]
    Options(#[from] OptionsError),
}

/// Judges a stream in any form that `plumb replay` reads, by the embedded policy.
///
/// # Errors
/// If nothing can be judged. What is wrong with a part of the stream is in the report.
pub fn judge(stream: impl Into<Vec<u8>>, options: Options) -> Result<Report, Error> {
    let mut replay = Replay::new(&Policy::embedded()?, options)?;
    let documents = Documents::new("stream", Cursor::new(stream.into()));
    // Nothing is told on the way, so nothing can fail to be.
    let _ = replay.judge("stream", false, documents, &mut |_| Ok(()));
    Ok(replay.finish())
}

/// Panics unless all states of a stream can be read and are coherent: no finding above info, and
/// the expectations of a fixture header met.
///
/// ```
/// plumb_host::testing::assert_coherent(
///     r#"
/// apiVersion: example.com/v1
/// kind: Widget
/// metadata: {name: a, generation: 2}
/// status:
///   observedGeneration: 2
///   conditions:
///   - type: Ready
///     status: "True"
///     reason: Done
///     message: ""
///     lastTransitionTime: "2026-01-01T00:00:00Z"
/// "#,
/// );
/// ```
///
/// A status that claims to be ready for a generation it has not seen is not coherent:
///
/// ```should_panic
/// plumb_host::testing::assert_coherent(
///     r#"
/// apiVersion: example.com/v1
/// kind: Widget
/// metadata: {name: a, generation: 2}
/// status:
///   observedGeneration: 3
///   conditions:
///   - {type: Ready, status: "True", reason: Done, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
/// "#,
/// );
/// ```
///
/// # Panics
/// With one line for each fault; that is what it is for. An empty stream is a fault too.
#[expect(clippy::panic, reason = "an assertion")]
pub fn assert_coherent(stream: impl Into<Vec<u8>>) {
    let report = match judge(stream, Options::default()) {
        Ok(report) => report,
        Err(error) => panic!("{error}"),
    };
    let faults = faults(&report);
    assert!(faults.is_empty(), "the status is not coherent:\n{faults}");
}

/// What is wrong with a stream, one line each.
fn faults(report: &Report) -> String {
    let mut faults = String::new();
    for error in &report.errors {
        let line = error.line.map_or_else(String::new, |line| format!(" line {line}"));
        let _ = writeln!(faults, "  {}{line}: {}", error.input, error.message);
    }
    for judged in &report.results {
        let expected = judged.expectation == crate::replay::result::Expectation::Met;
        let severe = judged.findings.iter().filter(|finding| finding.severity > Severity::Info);
        for finding in severe.filter(|_| !expected) {
            let _ = writeln!(
                faults,
                "  {}: {} {}/{}: {}: {}",
                judged.input,
                judged.kind,
                judged.namespace,
                judged.name,
                finding.rule,
                finding.message
            );
        }
        for unmet in &judged.unmet {
            let _ = writeln!(faults, "  {}: {unmet}", judged.input);
        }
    }
    for unmet in report.fixtures.iter().flat_map(|fixture| &fixture.unmet) {
        let _ = writeln!(faults, "  {unmet}");
    }
    let summary = &report.summary;
    if summary.states + summary.passes + summary.traces == 0 {
        faults.push_str("  nothing was judged\n");
    }
    faults
}
