use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::generation::{self, Observed};
use crate::object::Condition;
use crate::pointer;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a happy condition that is True for an older generation than the spec's. Objects
    /// that are being deleted or are suspended are left out: their status describes the past on
    /// purpose.
    ///
    /// ## Why is this bad?
    ///
    /// The condition answers a question about the former spec. `kubectl wait` and every pipeline
    /// that looks at Ready alone goes on before the change has been reconciled.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: it is what every object shows between a change of its spec and the first write of
    /// its controller. The verdict is stale, never settled. It is a fault if it stays.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    /// - <https://github.com/strimzi/strimzi-kafka-operator/issues>
    pub static RULE = {
        id: "ready-with-stale-generation",
        family: "generation",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "a happy condition is True for an older generation",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(generation) = object.generation else { return Vec::new() };
    if object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let happy = |condition: &&Condition<'_>| {
        condition.is_true() && profile.happy.iter().any(|type_| **type_ == *condition.type_)
    };
    let mut findings = Vec::new();
    for list in &object.lists {
        for condition in list.conditions.iter().filter(happy) {
            let own = condition.observed_generation.filter(|number| *number > 0);
            let (number, field) = match (own, generation::observed(object, profile)) {
                (Some(number), _) if profile.generation.conditions => {
                    (number, list.place(condition, "observedGeneration"))
                }
                (_, Observed::Number(number)) => {
                    (number, pointer::locate(object.root, generation::field(profile)))
                }
                (Some(number), _) => (number, list.place(condition, "observedGeneration")),
                (None, Observed::Unset | Observed::Absent) => continue,
            };
            if number >= generation {
                continue;
            }
            let type_ = condition.type_;
            let message = format!(
                "{type_} is True for generation {number}, but metadata.generation is {generation}"
            );
            findings.push(
                RULE.finding(list.place(condition, "status"), message)
                    .beside(field, format!("the status is of generation {number}"))
                    .beside(
                        "/metadata/generation",
                        format!("the spec is of generation {generation}"),
                    )
                    .help("wait until the controller has observed the current generation"),
            );
        }
    }
    findings
}
