use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Action, Finding};
use crate::pass::{Flavour, OutcomeType, Pass};
use crate::rule::Check;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a reconcile pass that still owes work, and returns a result that schedules none.
    ///
    /// ## Why is this bad?
    ///
    /// Nothing will wake the object. An event that arrived during the pass may have been spent on
    /// cancelling it, and the event that is yet to come may be filtered out as already seen. On a
    /// queue that merges entries the next interval is gone too, since the event consumed it: the
    /// object hangs until its controller restarts.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: kustomize.toolkit.fluxcd.io/v1
    ///     kind: Kustomization
    ///     metadata: {name: app, namespace: infra, generation: 6}
    ///     spec: {interval: 30m}
    ///   outcome: {type: canceled, by: GitRepository/flux-system/flux-system}
    ///   result: {}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: kustomize.toolkit.fluxcd.io/v1
    ///     kind: Kustomization
    ///     metadata: {name: app, namespace: infra, generation: 6}
    ///     spec: {interval: 30m}
    ///   outcome: {type: canceled, by: GitRepository/flux-system/flux-system}
    ///   result: {requeue: true}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: whether it hangs is a matter of timing, and the timing cannot be tested.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/kustomize-controller/issues/1624>
    /// - <https://github.com/fluxcd/kustomize-controller/pull/1625>
    /// - controller-runtime, `reconcileHandler` in `pkg/internal/controller/controller.go`
    pub static RULE = {
        id: "lost-wake-up",
        family: "result",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "a pass that still owes work returns a result that schedules none",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some(returned) = pass.returned else { return Vec::new() };
    let owes = matches!(pass.action, Action::Requeue | Action::After(_));
    if !owes || !returned.is_empty() || pass.outcome.is_none() {
        return Vec::new();
    }
    let (work, remedy) = match pass.outcome {
        Some(OutcomeType::Canceled) => (
            "the pass was cancelled before its end",
            "return Requeue: true, or RequeueAfter with a short delay, whenever a pass was cancelled",
        ),
        Some(OutcomeType::Waiting) => (
            "another object is waited for",
            "return RequeueAfter with the dependency interval: the event that is waited for may be \
             filtered out",
        ),
        Some(OutcomeType::Failed) => {
            ("the pass failed", "return the error, or RequeueAfter with the retry interval")
        }
        Some(OutcomeType::FinalizerAdded) => (
            "only the finalizer was added",
            "return Requeue: true: a change of metadata alone is often filtered out",
        ),
        Some(OutcomeType::Deleting) => {
            ("the deletion is not done", "return the error, or RequeueAfter")
        }
        _ => ("the object is looked at by interval", "return RequeueAfter with the interval"),
    };
    let queue = match pass.flavour {
        Flavour::Priority | Flavour::KubeRs => {
            "on this queue the event consumed the pending interval too, so nothing wakes it again"
        }
        Flavour::Classic => "the interval that was set before is all that may still wake it",
    };
    let returned = returned.text();
    alloc::vec![
        RULE.finding("/spec/result", format!("{work}, but {returned} schedules nothing"))
            .beside("/spec/outcome", work)
            .help(format!("{remedy}; {queue}")),
    ]
}
