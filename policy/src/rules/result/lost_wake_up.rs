use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Step;

use super::{aggregate_later_than_part, timer};
use crate::decide::{self, Reason};
use crate::declare_rule;
use crate::finding::Finding;
use crate::pass::{Flavour, OutcomeType, Pass};
use crate::rule::Check;
use crate::time;

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
    let Some(returned) = pass.returned.filter(|returned| returned.is_empty()) else {
        return Vec::new();
    };
    // A zero delay is a delay where the loop hands it to the queue; a mark that stops the object,
    // and a part that was left out, are faults with rules of their own.
    let schedules = pass.step(returned) != Step::Forget && pass.step(returned) != Step::Nothing;
    let waits = pass.outcome == Some(OutcomeType::Waiting);
    if !pass.next.owed
        || schedules
        || waits && decide::is_stalled(&pass.view)
        || aggregate_later_than_part::earliest(pass).is_some()
    {
        return Vec::new();
    }
    let interval = "return RequeueAfter with the interval";
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
        Some(OutcomeType::Unfinished) => {
            ("only a step was done", "return Requeue: true, or RequeueAfter with a short delay")
        }
        Some(OutcomeType::Deleting) => {
            ("the deletion is not done", "return the error, or RequeueAfter")
        }
        Some(_) if pass.next.reason == Reason::SourceMoved => {
            ("the pass worked on a revision that its source has left", "return Requeue: true")
        }
        Some(_) => {
            if timer::pending(pass).is_some() && pass.flavour == Flavour::Classic {
                return Vec::new();
            }
            ("the object is looked at by interval", interval)
        }
        None => ("the object is not settled", "return Requeue: true, or RequeueAfter"),
    };
    let queue = match pass.flavour {
        Flavour::Priority | Flavour::KubeRs => {
            "on this queue the event consumed the pending interval too, so nothing wakes it again"
        }
        Flavour::Classic => "the interval that was set before is all that may still wake it",
    };
    let returned = returned.text();
    let mut finding =
        RULE.finding("/spec/result", format!("{work}, but {returned} schedules nothing"));
    if pass.told {
        finding = finding.beside("/spec/outcome", work);
    }
    if let Some(timer) = timer::pending(pass) {
        let message = format!("set a timer of {}", time::readable(timer.delay));
        finding = finding.beside(format!("/spec/earlier/{}/result", timer.place), message);
    }
    alloc::vec![finding.help(format!("{remedy}; {queue}"))]
}
