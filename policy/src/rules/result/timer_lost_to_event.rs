use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::timer;
use crate::declare_rule;
use crate::finding::Finding;
use crate::pass::{Flavour, OutcomeType, Pass};
use crate::rule::Check;
use crate::time;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a pass that an event started before the timer of the last pass fired, on a queue with one
    /// entry per key. The pass before it succeeded and returned RequeueAfter; this one succeeded too and
    /// returns an empty result.
    ///
    /// ## Why is this bad?
    ///
    /// A controller that returns RequeueAfter on one path and an empty result on another relies on the timer
    /// of the first when it takes the second. On client-go's queue the timer stays. On controller-runtime's
    /// priority queue, the default since v0.23, and in kube-rs the event took it along: the period is over,
    /// and nothing says so. Where the kind's interval is known, the empty result is called a lost wake-up
    /// already.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: example.org/v1
    ///     kind: Token
    ///     metadata: {name: app, namespace: team-a, generation: 1}
    ///   trigger: watch
    ///   outcome: {type: succeeded}
    ///   result: {}
    ///   queue: {flavour: priority}
    ///   earlier:
    ///   - {at: "2026-01-01T06:00:00Z", outcome: succeeded, result: {requeueAfter: 1h}}
    ///   now: "2026-01-01T06:10:00Z"
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: example.org/v1
    ///     kind: Token
    ///     metadata: {name: app, namespace: team-a, generation: 1}
    ///   trigger: watch
    ///   outcome: {type: succeeded}
    ///   result: {requeueAfter: 50m}
    ///   queue: {flavour: priority}
    ///   earlier:
    ///   - {at: "2026-01-01T06:00:00Z", outcome: succeeded, result: {requeueAfter: 1h}}
    ///   now: "2026-01-01T06:10:00Z"
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the controller may mean it, if its work came to an end just then. In a recorded history,
    /// where that can be told, `timer-consumed-by-merge` is an error.
    ///
    /// ## References
    ///
    /// - `lockedAddWithOpts` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/controller/priorityqueue/priorityqueue.go>
    /// - `schedule_message` in <https://github.com/kube-rs/kube/blob/main/kube-runtime/src/scheduler.rs>
    pub static RULE = {
        id: "timer-lost-to-event",
        family: "result",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "an event took the timer of the pass before, and this one sets no other",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some(returned) = pass.returned.filter(|returned| returned.is_empty()) else {
        return Vec::new();
    };
    let done = Some(OutcomeType::Succeeded);
    let Some(timer) = timer::pending(pass).filter(|_| pass.flavour != Flavour::Classic) else {
        return Vec::new();
    };
    if pass.next.owed || pass.outcome != done || pass.spec.earlier[timer.place].outcome != done {
        return Vec::new();
    }
    let due = timer.due.map_or_else(String::new, |due| format!(", due at {}", due.text()));
    let delay = time::readable(timer.delay);
    let message =
        format!("the event took the timer of {delay}{due}, and {} sets no other", returned.text());
    alloc::vec![
        RULE.finding("/spec/result", message)
            .beside(format!("/spec/earlier/{}/result", timer.place), "the timer was set here")
            .help("return RequeueAfter on every path on which the next pass must come")
    ]
}
