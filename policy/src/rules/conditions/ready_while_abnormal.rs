use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// On kinds whose summary excludes them: looks for a summary that is True beside a condition
    /// that is bad news when True, such as `FetchFailed`. Most kinds have conditions that report
    /// without a claim on readiness (`Drifted`, `DiskPressure`, `Warning`); those are not meant.
    /// Where work is under way, or a new generation is to come, the summary is that of the past.
    ///
    /// ## Why is this bad?
    ///
    /// One says that the last run succeeded, the other that it failed.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: done, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    ///   - {type: FetchFailed, status: "True", reason: GitOperationFailed, message: timeout, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: GitOperationFailed, message: timeout, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    ///   - {type: FetchFailed, status: "True", reason: GitOperationFailed, message: timeout, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: by the kind's contract one writer sets both in one request.
    ///
    /// ## References
    ///
    /// - FAIL0001 of Flux's condition checker, `runtime/conditions/check` in <https://github.com/fluxcd/pkg>
    /// - `summarize` in `internal/reconcile` of <https://github.com/fluxcd/source-controller>
    pub static RULE = {
        id: "ready-while-abnormal",
        family: "conditions",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the summary is True beside a condition that excludes it",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|condition| condition.is_true()) else {
        return Vec::new();
    };
    let is_true = |type_: &str| object.condition(type_).filter(|found| found.is_true());
    if !profile.exclusive
        || object.deleting
        || test::any(&profile.suspended, object)
        || profile.progress.iter().any(|type_| is_true(type_).is_some())
        || crate::phase::behind(object, profile).is_some()
    {
        return Vec::new();
    }
    let abnormal = profile.abnormal.iter().filter_map(|type_| is_true(type_));
    abnormal
        .map(|bad| {
            let message = format!("{} is True while {} is True", summary.type_, bad.type_);
            RULE.finding(object.place(summary, "status"), message)
                .beside(object.place(bad, "status"), format!("{} is True", bad.type_))
                .help("remove the abnormal condition, or set the summary to False, in one request")
        })
        .collect()
}
