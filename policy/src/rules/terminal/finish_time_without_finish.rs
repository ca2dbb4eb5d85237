use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::pointer;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for the time of an end on work that says that it has not ended, on kinds that set the
    /// time with the end.
    ///
    /// ## Why is this bad?
    ///
    /// One field says that it is over, the other that it goes on. Collectors delete what has a
    /// completion time; the rest of the system waits for it.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: tekton.dev/v1
    /// kind: TaskRun
    /// metadata: {name: build, namespace: default, generation: 1}
    /// status:
    ///   startTime: "2026-01-01T00:00:00Z"
    ///   completionTime: "2026-01-01T00:05:00Z"
    ///   conditions:
    ///   - {type: Succeeded, status: Unknown, reason: Pending, message: Pending, lastTransitionTime: "2026-01-01T00:06:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: tekton.dev/v1
    /// kind: TaskRun
    /// metadata: {name: build, namespace: default, generation: 1}
    /// status:
    ///   startTime: "2026-01-01T00:00:00Z"
    ///   completionTime: "2026-01-01T00:05:00Z"
    ///   conditions:
    ///   - {type: Succeeded, status: "False", reason: Failed, message: build failed, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: the writer sets both in one request.
    ///
    /// ## References
    ///
    /// - <https://github.com/tektoncd/pipeline/issues/7895>
    pub static RULE = {
        id: "finish-time-without-finish",
        family: "terminal",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "there is a time of the end, but the work has not ended",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let mut findings: Vec<Finding> = Vec::new();
    for finish in profile.finish.iter().filter(|finish| finish.strict) {
        let Some(time) = object.field(&finish.time).filter(|time| !time.is_empty()) else {
            continue;
        };
        let same = profile.finish.iter().filter(|other| other.time == finish.time);
        let mut ended = same.map(|other| test::all(&other.when, object));
        let place = pointer::locate(object.root, &finish.time);
        if ended.any(|ended| ended) || findings.iter().any(|finding| finding.path == place) {
            continue;
        }
        let Some(first) = finish.when.first() else { continue };
        let (when, value) = test::place(first, object);
        let time = time.scalar().unwrap_or_default();
        let says = if value.is_empty() { "is missing".into() } else { format!("is `{value}`") };
        let message = format!("{} is {time}, but {} {says}", finish.time, pointer::readable(&when));
        findings.push(
            RULE.finding(place, message)
                .beside(when, "the work has not ended by this")
                .help("write the end and its time in one request, and take back neither"),
        );
    }
    findings
}
