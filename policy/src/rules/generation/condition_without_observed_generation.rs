use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for conditions without `observedGeneration` on kinds whose contract demands it on each
    /// of them, such as those of the Gateway API. Objects that carry no generation themselves, and
    /// conditions that say Unknown, are left out: the latter are defaults of the CRD.
    ///
    /// ## Why is this bad?
    ///
    /// These kinds have no observed generation of the whole status, since several controllers write
    /// it. Without the condition's own number nobody can tell whether `Accepted` speaks of this
    /// spec or of the former one.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: gateway.networking.k8s.io/v1
    /// kind: Gateway
    /// metadata: {name: web, namespace: default, generation: 2}
    /// status:
    ///   conditions:
    ///   - {type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: gateway.networking.k8s.io/v1
    /// kind: Gateway
    /// metadata: {name: web, namespace: default, generation: 2}
    /// status:
    ///   conditions:
    ///   - {type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the condition may well be right, but it cannot be checked.
    ///
    /// ## References
    ///
    /// - `FilterStaleConditions` in `conformance/utils/kubernetes/helpers.go` of <https://github.com/kubernetes-sigs/gateway-api>
    pub static RULE = {
        id: "condition-without-observed-generation",
        family: "generation",
        severity: Warning,
        means: Unknown,
        since: "0.1.0",
        summary: "a condition lacks the observedGeneration that its kind demands",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(generation) = object.generation else { return Vec::new() };
    if !profile.generation.required || object.deleting {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for list in &object.lists {
        for condition in &list.conditions {
            if !(condition.is_true() || condition.is_false())
                || !condition.json.at("observedGeneration").is_empty()
            {
                continue;
            }
            let (type_, status) = (condition.type_, condition.status.text());
            let message = format!("{type_} is {status}, but does not say of which generation");
            findings.push(
                RULE.finding(list.place(condition, ""), message)
                    .beside(
                        "/metadata/generation",
                        format!("the spec is of generation {generation}"),
                    )
                    .help(
                        "set observedGeneration of the condition to that of the reconciled object",
                    ),
            );
        }
    }
    findings
}
