use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a summary that says it waits for another object, while the object also says that
    /// the work itself runs: a HelmRelease that is not ready for `DependencyNotReady` and runs an
    /// upgrade.
    ///
    /// ## Why is this bad?
    ///
    /// The work begins only once nothing is waited for. The reason is left over from before, and for
    /// the minutes that the work takes people look for the fault in the wrong object.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Reconciling, status: "True", reason: Progressing, message: "Running 'upgrade' action with timeout of 5m0s", lastTransitionTime: "2026-01-01T00:01:00Z", observedGeneration: 2}
    ///   - {type: Ready, status: "False", reason: DependencyNotReady, message: dependency 'default/db' is not ready, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Reconciling, status: "True", reason: Progressing, message: "Running 'upgrade' action with timeout of 5m0s", lastTransitionTime: "2026-01-01T00:01:00Z", observedGeneration: 2}
    ///   - {type: Ready, status: Unknown, reason: Progressing, message: "Running 'upgrade' action with timeout of 5m0s", lastTransitionTime: "2026-01-01T00:01:00Z", observedGeneration: 2}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: nobody acts too early on it, but it points at the wrong cause.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/helm-controller/pull/884>
    pub static RULE = {
        id: "waiting-reason-while-acting",
        family: "conditions",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the summary waits for another object while the work itself runs",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|condition| !condition.is_true()) else {
        return Vec::new();
    };
    let waits = profile.reasons.waiting.iter().any(|reason| **reason == *summary.reason);
    if !waits || object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let Some(acting) = profile.acting.iter().find(|one| test::holds(one, object)) else {
        return Vec::new();
    };
    // What speaks of an older generation than the work explains itself.
    if let Some(work) = object.condition(&acting.condition)
        && let (Some(of_work), Some(of_summary)) =
            (work.observed_generation, summary.observed_generation)
        && of_summary < of_work
    {
        return Vec::new();
    }
    let (place, _) = test::place(acting, object);
    let message = format!(
        "{} is {} for {}, but the work itself is running",
        summary.type_,
        summary.status.text(),
        summary.reason
    );
    alloc::vec![
        RULE.finding(object.place(summary, "reason"), message)
            .beside(place, "the work runs, so nothing is waited for")
            .help("set the summary to Unknown when the work begins"),
    ]
}
