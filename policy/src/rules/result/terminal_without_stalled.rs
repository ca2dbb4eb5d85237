use alloc::format;
use alloc::vec::Vec;

use super::stalled_by_curable_cause;
use crate::decide::{is_bare, is_stalled};
use crate::declare_rule;
use crate::finding::Finding;
use crate::pass::{OutcomeType, Pass};
use crate::profile::test;
use crate::rule::Check;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a terminal error, or a pass that ended in a terminal failure, of a kind that says Stalled in
    /// such a case, where the object does not.
    ///
    /// ## Why is this bad?
    ///
    /// The queue drops the key, and nothing is tried again until somebody changes the spec. The object still
    /// reads as one that is worked on: who waits for it waits until a timeout, and the cause stands in a log
    /// alone.
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
    ///       - {type: Ready, status: "False", reason: BuildFailed, observedGeneration: 6}
    ///   outcome: {type: terminal}
    ///   result: {error: invalid spec, terminal: true}
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
    ///       - {type: Stalled, status: "True", reason: BuildFailed, observedGeneration: 6}
    ///       - {type: Ready, status: "False", reason: BuildFailed, observedGeneration: 6}
    ///   outcome: {type: terminal}
    ///   result: {error: invalid spec, terminal: true}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the decision is right, and nobody is told.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md#conditions>
    /// - `Reconcile` in <https://github.com/fluxcd/helm-controller/blob/main/internal/controller/helmrelease_controller.go>
    pub static RULE = {
        id: "terminal-without-stalled",
        family: "result",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the controller gives the object up, and the object does not say so",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some(returned) = pass.returned else { return Vec::new() };
    let view = &pass.view;
    let given_up = returned.terminal
        || pass.told && pass.outcome == Some(OutcomeType::Terminal) && returned.is_empty();
    let says = view.profiled && !is_bare(view) && !view.profile.stalled.is_empty();
    if !given_up
        || !says
        || is_stalled(view)
        || view.object.deleting
        || test::any(&view.profile.suspended, view.object)
        || stalled_by_curable_cause::cause(pass).is_some()
    {
        return Vec::new();
    }
    let type_ = &*view.profile.stalled[0];
    let message = format!("{} gives the object up, but it does not say {type_}", returned.text());
    let conditions = view.object.lists.first().map_or("/status", |list| &*list.pointer);
    alloc::vec![
        RULE.finding("/spec/result", message)
            .beside(format!("/spec/object{conditions}"), format!("there is no {type_}"))
            .help(format!("set {type_} to True with the cause before the error is returned"))
    ]
}
