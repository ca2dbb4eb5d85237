use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Step;

use crate::decide::{backs_off, interval, read_outcome};
use crate::declare_rule;
use crate::finding::Finding;
use crate::pass::{OutcomeType, Pass};
use crate::rule::Check;
use crate::time;

/// An interval so short that no back-off comes sooner, in milliseconds.
const SHORT: i64 = 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for an object that says it has failed, of a kind that leaves failures to the back-off of its
    /// queue, and a result that waits for the whole interval.
    ///
    /// ## Why is this bad?
    ///
    /// What failed for a moment, a refused connection, say, stays failed for the whole interval, which may be
    /// hours. Most often the result was computed without a look at the conditions: the pass ends as if all
    /// were well.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: source.toolkit.fluxcd.io/v1
    ///     kind: GitRepository
    ///     metadata: {name: app, namespace: infra, generation: 1}
    ///     spec: {interval: 1h}
    ///     status:
    ///       conditions:
    ///       - {type: FetchFailed, status: "True", reason: GitOperationFailed, observedGeneration: 1}
    ///       - {type: Ready, status: "False", reason: GitOperationFailed, observedGeneration: 1}
    ///   result: {requeueAfter: 1h}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: source.toolkit.fluxcd.io/v1
    ///     kind: GitRepository
    ///     metadata: {name: app, namespace: infra, generation: 1}
    ///     spec: {interval: 1h}
    ///     status:
    ///       conditions:
    ///       - {type: FetchFailed, status: "True", reason: GitOperationFailed, observedGeneration: 1}
    ///       - {type: Ready, status: "False", reason: GitOperationFailed, observedGeneration: 1}
    ///   result: {error: connection refused}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: it is late, not lost.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/source-controller/pull/703>
    pub static RULE = {
        id: "failure-waits-for-interval",
        family: "result",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "a failure waits for the next interval, as a success would",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some((_, Step::ForgetThenAfter(delay) | Step::After(delay))) = pass.proposed() else {
        return Vec::new();
    };
    let view = &pass.view;
    let told = matches!(pass.outcome, Some(OutcomeType::Failed | OutcomeType::Succeeded));
    if !backs_off(view) || !told || read_outcome(view) != Some(OutcomeType::Failed) {
        return Vec::new();
    }
    let Some(interval) = interval(view).filter(|interval| *interval > SHORT) else {
        return Vec::new();
    };
    let delay = i64::try_from(delay).unwrap_or(i64::MAX);
    if delay < interval - interval / 10 || delay > interval + interval / 2 {
        return Vec::new();
    }
    let Some(summary) = view.profile.happy.first().and_then(|type_| view.object.condition(type_))
    else {
        return Vec::new();
    };
    let (type_, delay) = (summary.type_, time::readable(delay));
    let message =
        format!("{type_} is False, but the next pass comes after {delay} as if all were well");
    alloc::vec![
        RULE.finding("/spec/result/requeueAfter", message)
            .beside(
                format!("/spec/object{}", view.object.place(summary, "status")),
                format!("{type_} is False with reason {}", summary.reason)
            )
            .help("return the failure as an error, so that the queue's back-off retries it")
    ]
}
