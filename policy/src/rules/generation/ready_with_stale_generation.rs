use alloc::format;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::generation::{self, Observed};
use crate::object::Condition;
use crate::pointer;
use crate::profile::test;
use crate::record;
use crate::rule::{Check, View};
use crate::time::{self, Time};

/// How long a controller may take to write a first status for a new spec, in milliseconds: five
/// minutes, more than a busy queue and a slow source need.
const PATIENCE: i64 = 5 * 60_000;

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
    /// The spec was changed at noon. The controller wrote the status twenty minutes later, and the
    /// condition still speaks of generation 2.
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata:
    ///   name: app
    ///   namespace: default
    ///   generation: 3
    ///   managedFields:
    ///   - {manager: kubectl-edit, operation: Update, time: "2026-01-02T12:00:00Z"}
    ///   - {manager: widget-controller, operation: Update, subresource: status, time: "2026-01-02T12:20:00Z"}
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
    /// metadata:
    ///   name: app
    ///   namespace: default
    ///   generation: 3
    ///   managedFields:
    ///   - {manager: kubectl-edit, operation: Update, time: "2026-01-02T12:00:00Z"}
    ///   - {manager: widget-controller, operation: Update, subresource: status, time: "2026-01-02T12:20:00Z"}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Info where it may be lag: every object of every good controller shows it between a change of
    /// its spec and the next write of its status. Warning once it has lasted: the spec was written
    /// more than five minutes (and more than the kind's timeout) before the present, or before the
    /// latest write of the status. In both cases the verdict is stale and never settled.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    /// - <https://github.com/strimzi/strimzi-kafka-operator/issues/2354>
    /// - <https://github.com/fabric8io/kubernetes-client/issues/3474>: stale is not unready
    /// - FAIL0007 of Flux's condition checker, `runtime/conditions/check` in <https://github.com/fluxcd/pkg>
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
    let (since, severity) = match lasting(view) {
        Some(lasting) => {
            (format!(", {} after the spec was written", time::readable(lasting)), Severity::Warning)
        }
        None => (alloc::string::String::new(), Severity::Info),
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
                "{type_} is True for generation {number}, but metadata.generation is {generation}{since}"
            );
            let mut finding = RULE
                .finding(list.place(condition, "status"), message)
                .beside(field, format!("the status is of generation {number}"))
                .beside("/metadata/generation", format!("the spec is of generation {generation}"))
                .help("wait until the controller has observed the current generation");
            finding.severity = severity;
            findings.push(finding);
        }
    }
    findings
}

/// For how long the spec has certainly been ahead of the status, if for too long.
fn lasting(view: &View<'_>) -> Option<i64> {
    let (object, profile) = (view.object, view.profile);
    let busy = profile
        .progress
        .iter()
        .any(|type_| object.condition(type_).is_some_and(Condition::is_true));
    if busy {
        return None;
    }
    let written: Time = record::main_write(object)?.time;
    let present = view.now.max(record::status_time(object))?;
    let patience = timing(&profile.timing.timeout, object).unwrap_or(0).max(PATIENCE);
    let lasting = present.since(written);
    (lasting > patience).then_some(lasting)
}
