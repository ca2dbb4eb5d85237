use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Step;

use crate::decide::{interval, timing};
use crate::declare_rule;
use crate::finding::Finding;
use crate::pass::{OutcomeType, Pass};
use crate::rule::Check;
use crate::time;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a delay that is more than half as long again as the longest that the object's own fields
    /// allow after such a pass: its interval, after a failure also its retry interval, while waiting also the
    /// kind's dependency interval.
    ///
    /// ## Why is this bad?
    ///
    /// Who writes an interval relies on it: for drift to be corrected, for a credential to be fresh. A fixed
    /// delay on one path of the controller overrides that in silence, and what waits for a dependency is the
    /// last to recover.
    ///
    /// Half as much again leaves room for jitter, which Flux's controllers add.
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
    ///     spec: {interval: 5m}
    ///   outcome: {type: waiting, by: GitRepository/infra/app}
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
    ///     apiVersion: kustomize.toolkit.fluxcd.io/v1
    ///     kind: Kustomization
    ///     metadata: {name: app, namespace: infra, generation: 6}
    ///     spec: {interval: 5m}
    ///   outcome: {type: waiting, by: GitRepository/infra/app}
    ///   result: {requeueAfter: 30s}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: it is late, not lost.
    ///
    /// ## References
    ///
    /// - <https://fluxcd.io/flux/components/kustomize/kustomizations/#interval>
    /// - <https://github.com/fluxcd/kustomize-controller/issues/1624>
    pub static RULE = {
        id: "delay-beyond-interval",
        family: "result",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the next pass comes later than the interval that the object asks for",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some((_, Step::ForgetThenAfter(delay) | Step::After(delay))) = pass.proposed() else {
        return Vec::new();
    };
    let Some(interval) = interval(&pass.view) else { return Vec::new() };
    let timings = &pass.view.profile.timing;
    let of = |text: &str| timing(text, pass.view.object).unwrap_or(0);
    let longest = match pass.outcome {
        Some(OutcomeType::Failed) => interval.max(of(&timings.retry)),
        Some(OutcomeType::Waiting) => interval.max(of(&timings.dependency)).max(of(&timings.retry)),
        Some(
            OutcomeType::Succeeded
            | OutcomeType::Canceled
            | OutcomeType::FinalizerAdded
            | OutcomeType::Unfinished,
        ) => interval,
        _ => return Vec::new(),
    };
    let delay = i64::try_from(delay).unwrap_or(i64::MAX);
    if delay <= longest.saturating_add(longest / 2) {
        return Vec::new();
    }
    let (delay, longest) = (time::readable(delay), time::readable(longest));
    let message = format!("the next pass comes after {delay}, and the object asks for {longest}");
    alloc::vec![
        RULE.finding("/spec/result/requeueAfter", message)
            .beside("/spec/object/spec", format!("its interval is {}", time::readable(interval)))
            .help("never return a longer delay than the object's interval")
    ]
}
