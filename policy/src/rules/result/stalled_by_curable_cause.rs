use alloc::format;
use alloc::vec::Vec;

use crate::decide::is_stalled;
use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::pass::{OutcomeType, Pass};
use crate::profile::Text;
use crate::rule::Check;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a pass that was cancelled, or that waits for another object, and left its own object stalled
    /// or returned a terminal error.
    ///
    /// ## Why is this bad?
    ///
    /// The object it waits for will be there, the cancelled work can be done: no new spec is needed, and none
    /// comes. The key has been dropped, and people are told that they have to act. Only an event of the other
    /// object may still help, if it is watched and no filter drops it.
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
    ///       - {type: Stalled, status: "True", reason: DependencyNotReady, observedGeneration: 6}
    ///       - {type: Ready, status: "False", reason: DependencyNotReady, observedGeneration: 6}
    ///   outcome: {type: waiting, by: Kustomization/infra/crds}
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
    ///     spec: {interval: 10m}
    ///     status:
    ///       conditions:
    ///       - {type: Ready, status: "False", reason: DependencyNotReady, observedGeneration: 6}
    ///   outcome: {type: waiting, by: Kustomization/infra/crds}
    ///   result: {requeueAfter: 30s}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: it is not taken up again. Warning if every source is said to be watched.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md#conditions>
    /// - <https://github.com/fluxcd/kustomize-controller/issues/1624>
    pub static RULE = {
        id: "stalled-by-curable-cause",
        family: "result",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the object is given up for a cause that ends elsewhere by itself",
        check: Check::Pass(check),
    }
}

/// What the object is given up for although it ends by itself.
pub(super) fn cause(pass: &Pass<'_>) -> Option<&'static str> {
    match pass.outcome {
        Some(OutcomeType::Waiting) if pass.told => return Some("another object is waited for"),
        Some(OutcomeType::Canceled) if pass.told => return Some("the pass was cancelled"),
        Some(OutcomeType::Terminal) if !pass.told => {}
        _ => return None,
    }
    let (object, profile) = (pass.view.object, pass.view.profile);
    let reasons = &profile.reasons;
    let reason = profile.stalled.iter().find_map(|type_| {
        object.condition(type_).filter(|condition| condition.is_true()).map(|it| it.reason)
    })?;
    let among = |list: &[Text<'_>]| list.iter().any(|known| **known == *reason);
    match () {
        () if among(&reasons.terminal) => None,
        () if among(&reasons.waiting) => Some("its reason is that another object is waited for"),
        () if among(&reasons.canceled) => Some("its reason is that a pass was cancelled"),
        () => None,
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some(returned) = pass.returned else { return Vec::new() };
    let stalled = is_stalled(&pass.view);
    if !stalled && !returned.terminal || pass.view.object.deleting {
        return Vec::new();
    }
    let Some(cause) = cause(pass) else { return Vec::new() };
    let given_up = if stalled { "the object is stalled" } else { "a terminal error is returned" };
    let path = if stalled { "/spec/object/status" } else { "/spec/result" };
    let mut finding = RULE
        .finding(path, format!("{given_up}, but {cause}"))
        .help("return RequeueAfter with the dependency interval, and do not say Stalled");
    if pass.told {
        finding = finding.beside("/spec/outcome", cause);
    }
    let mut watched = pass.sources.iter().map(|source| source.watched == Some(true));
    if !pass.sources.is_empty() && watched.all(|is| is) {
        finding.severity = Severity::Warning;
    }
    alloc::vec![finding]
}
