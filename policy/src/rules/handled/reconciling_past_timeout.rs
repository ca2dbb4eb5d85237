use alloc::format;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::{Condition, Status};
use crate::profile::test;
use crate::rule::{Check, View};
use crate::time::{self, Time};

/// What a queue and a back-off may add to every run, in milliseconds.
pub(crate) const PATIENCE: i64 = 15 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// On kinds whose times are known: looks for work that has been under way, by its conditions, for
    /// longer than the longest of timeout, retry and interval (and a twentieth, and a quarter of an
    /// hour). A summary that is False is not meant: who fails the same way at each attempt writes
    /// nothing new. It needs the present.
    ///
    /// ## Why is this bad?
    ///
    /// Every run ends within its timeout and writes how. If nothing was written for so long, the run
    /// was lost: its worker died, or its wake-up was dropped.
    ///
    /// ## Example
    ///
    /// The present is 2026-01-02T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec: {interval: 10m, timeout: 5m}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Reconciling, status: "True", reason: Progressing, message: Running health checks, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    ///   - {type: Ready, status: Unknown, reason: Progressing, message: Reconciliation in progress, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// The present is 2026-01-02T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec: {interval: 10m, timeout: 5m}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: HealthCheckFailed, message: timeout, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the controller may be down or busy, which is worth a look as well.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/flux2/issues/4818>
    /// - <https://github.com/fluxcd/helm-controller/issues/1409>
    pub static RULE = {
        id: "reconciling-past-timeout",
        family: "handled",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "work has been under way for longer than any run may take",
        check: Check::State(check),
    }
}

/// What is under way, since when, and how long it may take.
pub(crate) fn open<'v>(view: &View<'v>) -> Option<(&'v Condition<'v>, Time, i64)> {
    let (object, profile) = (view.object, view.profile);
    let limits = [&profile.timing.interval, &profile.timing.retry, &profile.timing.timeout];
    let longest = limits.into_iter().filter_map(|limit| timing(limit, object)).max();
    let longest = longest.filter(|&longest| longest > 0)?;
    if object.deleting || test::any(&profile.suspended, object) {
        return None;
    }
    let is_true = |type_: &str| object.condition(type_).filter(|condition| condition.is_true());
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let stalled = profile.stalled.iter().any(|type_| is_true(type_).is_some());
    if stalled || summary.is_some_and(|summary| summary.status == Status::False) {
        return None;
    }
    let open = summary.filter(|summary| summary.status == Status::Unknown);
    let working = profile.progress.iter().find_map(|type_| is_true(type_));
    let condition = open.or(working)?;
    // The newest of both: a run may write one and leave the other.
    let since = [open, working].into_iter().flatten().filter_map(Condition::transition).max()?;
    Some((condition, since, longest))
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let object = view.object;
    let Some(now) = view.now else { return Vec::new() };
    let Some((condition, since, longest)) = open(view) else { return Vec::new() };
    let lasting = now.since(since);
    let limit = longest + longest / 20 + PATIENCE;
    if lasting <= limit {
        return Vec::new();
    }
    let message = format!(
        "{} has been {} for {}, and a run takes {} at most",
        condition.type_,
        condition.status.text(),
        time::readable(lasting),
        time::readable(limit)
    );
    alloc::vec![
        RULE.finding(object.place(condition, "status"), message)
            .beside(
                object.place(condition, "lastTransitionTime"),
                format!("since {}", since.text())
            )
            .help("look whether the controller runs, and ask for a reconcile"),
    ]
}
