use alloc::format;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::Finding;
use crate::profile::test;
use crate::rule::{Check, View};
use crate::time;

/// The longest back-off where the kind's is not known, in milliseconds: that of controller-runtime.
const BACKOFF: i64 = 1_000_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a summary that says that the last run was cut off (`HealthCheckCanceled`) for longer
    /// than the controller's longest back-off and the kind's timeout. It needs the present.
    ///
    /// ## Why is this bad?
    ///
    /// A run that was cut off is always followed by another one, within milliseconds. If none came
    /// before the longest back-off was over, none will: the wake-up was lost, and the object hangs at
    /// "New reconciliation triggered" until its controller restarts.
    ///
    /// ## Example
    ///
    /// The present is 2026-03-16T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata: {name: app, namespace: infra, generation: 6}
    /// spec: {interval: 30m, timeout: 5m}
    /// status:
    ///   observedGeneration: 5
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: HealthCheckCanceled, message: New reconciliation triggered by GitRepository/flux-system/flux-system, lastTransitionTime: "2026-03-15T18:09:36Z", observedGeneration: 6}
    /// ```
    ///
    /// ## Instead
    ///
    /// The present is 2026-03-16T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata: {name: app, namespace: infra, generation: 6}
    /// spec: {interval: 30m, timeout: 5m}
    /// status:
    ///   observedGeneration: 5
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: HealthCheckFailed, message: timeout waiting for Deployment/infra/app, lastTransitionTime: "2026-03-15T18:09:36Z", observedGeneration: 6}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: it does not heal by itself.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/kustomize-controller/issues/1624>
    /// - <https://github.com/fluxcd/helm-controller/issues/1429>
    pub static RULE = {
        id: "cancelled-and-not-resumed",
        family: "handled",
        severity: Error,
        means: Stale,
        since: "0.1.0",
        summary: "the last run was cut off, and none followed",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(now) = view.now else { return Vec::new() };
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|condition| !condition.is_true()) else {
        return Vec::new();
    };
    let cut = profile.reasons.canceled.iter().any(|reason| **reason == *summary.reason);
    if !cut || object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let Some(since) = summary.transition() else { return Vec::new() };
    let backoff = timing(&profile.timing.backoff, object).unwrap_or(BACKOFF);
    let run = timing(&profile.timing.timeout, object).unwrap_or(0);
    let lasting = now.since(since);
    if lasting <= backoff + run {
        return Vec::new();
    }
    let message = format!(
        "the last run was cut off {} ago ({}), and none followed",
        time::readable(lasting),
        summary.reason
    );
    alloc::vec![
        RULE.finding(object.place(summary, "reason"), message)
            .beside(object.place(summary, "lastTransitionTime"), format!("since {}", since.text()))
            .help("ask for a reconcile; the controller should requeue whenever a run was cut off"),
    ]
}
