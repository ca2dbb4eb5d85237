use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Step;

use crate::decide::{interval, read_outcome};
use crate::declare_rule;
use crate::finding::{Action, Finding, Severity};
use crate::pass::{OutcomeType, Pass};
use crate::rule::Check;

/// The longest delay of a loop, in milliseconds.
const SOON: u64 = 1_000;
/// What counts as no delay at all.
const AT_ONCE: u64 = 10;
/// An interval that no one takes for "soon".
const SELDOM: i64 = 10_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a pass that is done, by its outcome and by the object, and returns Requeue or a delay of at
    /// most a second although its kind is looked at by a longer interval; for one that found its object gone
    /// or suspended and does the same; and for passes in a row, `spec.earlier`, with the same input and the
    /// same outcome that each asked for the next one: three if they come at once, twenty if each waits up to
    /// a second. Passes that failed, and delays that grow, are not counted.
    ///
    /// ## Why is this bad?
    ///
    /// Every pass starts the next one, for ever. RequeueAfter also resets the limiter, so nothing slows the
    /// loop down, and the other keys of the queue wait behind it.
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
    ///       observedGeneration: 6
    ///       lastAppliedRevision: v5
    ///       conditions:
    ///       - {type: Ready, status: "True", reason: ReconciliationSucceeded, message: "Applied revision: v5", observedGeneration: 6}
    ///   outcome: {type: succeeded}
    ///   result: {requeueAfter: 1s}
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
    ///       observedGeneration: 6
    ///       lastAppliedRevision: v5
    ///       conditions:
    ///       - {type: Ready, status: "True", reason: ReconciliationSucceeded, message: "Applied revision: v5", observedGeneration: 6}
    ///   outcome: {type: succeeded}
    ///   result: {requeueAfter: 10m}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning from one pass; error where a row of passes shows the loop.
    ///
    /// ## References
    ///
    /// - `reconcileHandler` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/internal/controller/controller.go>
    /// - <https://github.com/operator-framework/operator-sdk/issues/6332>
    pub static RULE = {
        id: "hot-requeue",
        family: "result",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "a pass asks for another one at once, and nothing is left to do",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some((returned, step)) = pass.proposed() else { return Vec::new() };
    let positive = returned.requeue_after.is_none_or(|span| span.0 > 0);
    if !positive || !returned.error.is_empty() {
        return Vec::new();
    }
    if let Some(count) = row(pass, step) {
        let message =
            format!("{count} passes in a row with the same input each asked for the next");
        let first = pass.spec.earlier.len() + 1 - count;
        let mut finding = RULE
            .finding("/spec/result", message)
            .beside(format!("/spec/earlier/{first}"), "the first of them")
            .help("wait for a change, or for a delay that grows");
        finding.severity = Severity::Error;
        return alloc::vec![finding];
    }
    let soon = match step {
        Step::RateLimited => true,
        Step::ForgetThenAfter(delay) | Step::After(delay) => delay <= SOON,
        Step::Nothing | Step::Forget => false,
    };
    if !soon || !pass.told || pass.next.action == Action::Requeue {
        return Vec::new();
    }
    let state = match pass.outcome {
        Some(OutcomeType::NotFound | OutcomeType::Deleted) => "the object is gone",
        Some(OutcomeType::Suspended) => "the object is suspended",
        Some(OutcomeType::Succeeded)
            if read_outcome(&pass.view) == Some(OutcomeType::Succeeded)
                && interval(&pass.view).is_some_and(|interval| interval >= SELDOM) =>
        {
            "all is done"
        }
        _ => return Vec::new(),
    };
    let message = format!("{state}, but {} asks for another pass", returned.text());
    alloc::vec![
        RULE.finding("/spec/result", message)
            .beside("/spec/outcome", state)
            .help(format!("return what the decision says: {}", pass.next.message))
    ]
}

/// How many passes in a row had the same input and asked for the next one, if that is a loop.
fn row(pass: &Pass<'_>, step: Step) -> Option<usize> {
    let delay = |step| match step {
        Step::ForgetThenAfter(delay) | Step::After(delay) if delay <= SOON => Some(delay),
        _ => None,
    };
    let outcome = pass.outcome.filter(|outcome| *outcome != OutcomeType::Failed)?;
    let input = &*pass.spec.input;
    let mut longest = delay(step).filter(|_| !input.is_empty())?;
    let mut count = 1;
    for earlier in pass.spec.earlier.iter().rev() {
        let same = *earlier.input == *input && earlier.outcome == Some(outcome);
        let Some(delay) = delay(pass.step(&earlier.result)).filter(|_| same) else { break };
        longest = longest.max(delay);
        count += 1;
    }
    let least = if longest <= AT_ONCE { 3 } else { 20 };
    (count >= least).then_some(count)
}
