use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Step;

use crate::decide::is_stalled;
use crate::declare_rule;
use crate::finding::Finding;
use crate::pass::{OutcomeType, Pass};
use crate::rule::Check;

/// A delay that no one calls a retry, in milliseconds.
const SELDOM: u64 = 10 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for an object that is stalled, or whose pass ended in a terminal failure, and a result that
    /// schedules another pass.
    ///
    /// ## Why is this bad?
    ///
    /// Stalled says that the controller makes no progress by itself. Each retry fails as the last one did,
    /// costs its API calls, and who waits for the object reads that there is nothing to wait for. A change of
    /// the spec is an event of its own and needs no timer.
    ///
    /// A kind that nothing is known of may look at stalled objects now and then: a delay of ten minutes or
    /// more is let pass there.
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
    ///     spec: {interval: 10m}
    ///     status:
    ///       conditions:
    ///       - {type: Stalled, status: "True", reason: InvalidCELExpression, observedGeneration: 6}
    ///       - {type: Ready, status: "False", reason: InvalidCELExpression, observedGeneration: 6}
    ///   outcome: {type: terminal}
    ///   result: {requeueAfter: 10m}
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
    ///     spec: {interval: 10m}
    ///     status:
    ///       conditions:
    ///       - {type: Stalled, status: "True", reason: InvalidCELExpression, observedGeneration: 6}
    ///       - {type: Ready, status: "False", reason: InvalidCELExpression, observedGeneration: 6}
    ///   outcome: {type: terminal}
    ///   result: {error: invalid expression, terminal: true}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: it wastes work, and hides that nothing will come of it.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md#conditions>
    /// - `TerminalError` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/reconcile/reconcile.go>
    pub static RULE = {
        id: "stalled-object-retried",
        family: "result",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "an object that only a new spec can help is tried again",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some((returned, step)) = pass.proposed() else { return Vec::new() };
    let stalled = is_stalled(&pass.view);
    let over = match pass.outcome {
        Some(OutcomeType::Terminal) => true,
        Some(OutcomeType::Failed) => stalled,
        _ => false,
    };
    let retried = match step {
        Step::Nothing | Step::Forget => false,
        Step::RateLimited => true,
        Step::ForgetThenAfter(delay) | Step::After(delay) => pass.view.profiled || delay < SELDOM,
    };
    if !over || !retried || pass.view.object.deleting {
        return Vec::new();
    }
    let state = if stalled { "is stalled" } else { "has failed for good" };
    let message = format!("the object {state}, but {} tries it again", returned.text());
    let mut finding = RULE.finding("/spec/result", message);
    if pass.told {
        finding = finding.beside("/spec/outcome", "what came of the pass");
    }
    alloc::vec![finding.help(
        "return an empty result or a terminal error; if time can cure it, do not say Stalled"
    )]
}
