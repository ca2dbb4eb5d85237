use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Runtime;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::pass::Pass;
use crate::rule::Check;
use crate::time;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a delay that is returned together with an error, where controller-runtime reads the result.
    ///
    /// ## Why is this bad?
    ///
    /// controller-runtime looks at the error first. With an error the delay is ignored: the retry comes when
    /// the back-off of the queue says, after milliseconds at first and a quarter of an hour later on. With a
    /// terminal error nothing comes at all.
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
    ///   outcome: {type: failed}
    ///   result: {requeueAfter: 10m, error: apply failed}
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
    ///   outcome: {type: failed}
    ///   result: {requeueAfter: 10m}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the object is retried, at other times than the author means. Error beside a terminal error:
    /// it is not retried.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/controller-runtime/issues/1720>
    /// - `reconcileHandler` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/internal/controller/controller.go>
    pub static RULE = {
        id: "result-ignored-beside-error",
        family: "result",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "a delay comes with an error, and is ignored",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some(returned) = pass.returned else { return Vec::new() };
    let error = !returned.error.is_empty() || returned.terminal;
    if !error || returned.after() <= 0 || pass.runtime != Runtime::ControllerRuntime {
        return Vec::new();
    }
    let delay = time::readable(returned.after());
    let (effect, severity) = match returned.terminal {
        true => ("a terminal error is never retried", Severity::Error),
        false => ("the queue's back-off says when the error is retried", Severity::Warning),
    };
    let mut finding = RULE
        .finding("/spec/result/requeueAfter", format!("RequeueAfter {delay} is ignored: {effect}"))
        .beside("/spec/result/error", "the error that comes with it")
        .help("return either the error or the delay; log the error where the delay is meant");
    finding.severity = severity;
    alloc::vec![finding]
}
