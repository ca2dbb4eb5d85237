use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::object::Status;
use crate::profile::test;
use crate::rule::{Check, View};
use crate::time;

/// How long a run may go on after the suspension, in milliseconds, beside its timeout.
const PATIENCE: i64 = 15 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a suspended object that says that work is under way.
    ///
    /// ## Why is this bad?
    ///
    /// Suspension freezes the status, and may only freeze a finished one: nobody will come back to
    /// write the end. helm-controller lost its last write to a conflict, found the object suspended
    /// when it tried again, and left "reconciliation in progress" on a release that was done; every
    /// waiter waits until somebody resumes it.
    ///
    /// ## Example
    ///
    /// The present is 2026-01-02T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata: {name: app, namespace: default, generation: 2}
    /// spec: {suspend: true, interval: 5m}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Ready, status: Unknown, reason: Progressing, message: reconciliation in progress, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// The present is 2026-01-02T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata: {name: app, namespace: default, generation: 2}
    /// spec: {suspend: true, interval: 5m}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: UpgradeFailed, message: timed out, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning where the summary has been Unknown for longer than a run takes. Info before that,
    /// without a clock, and where the summary has an answer and only a progress condition was left.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/flux2/issues/1070>
    pub static RULE = {
        id: "suspended-in-mid-reconcile",
        family: "handled",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "a suspended object says that work is under way",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if object.deleting || !test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let open = summary.filter(|condition| {
        condition.status == Status::Unknown
            && profile.reasons.progressing.iter().any(|reason| **reason == *condition.reason)
    });
    let working = profile.progress.iter().filter_map(|type_| object.condition(type_));
    let mut working = working.filter(|condition| condition.is_true());
    let Some(condition) = open.copied().or_else(|| working.next().copied()) else {
        return Vec::new();
    };
    let lasting = match (condition.transition(), view.now) {
        (Some(since), Some(now)) => now.since(since),
        (Some(_) | None, None) | (None, Some(_)) => 0,
    };
    let patience = timing(&profile.timing.timeout, object).unwrap_or(0) + PATIENCE;
    let (type_, status) = (condition.type_, condition.status.text());
    let since =
        if lasting > 0 { format!(" for {}", time::readable(lasting)) } else { String::new() };
    let message = format!("the object is suspended, and {type_} is {status}{since}");
    let mut finding = RULE
        .finding(object.place(&condition, "status"), message)
        .help("resume the object once, so that its controller can write the end of its run");
    if open.is_none() || lasting <= patience {
        finding.severity = Severity::Info;
    }
    alloc::vec![finding]
}
