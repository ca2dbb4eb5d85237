use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::generation::{self, Observed};
use crate::object::{Object, Status};
use crate::pointer;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for an observed generation that had risen to the current one while every condition
    /// stayed as it was, and where the very next change of the conditions, for the same spec, is the
    /// beginning of the work. Kinds that begin work by themselves at an interval are left out, and so
    /// are those without a profile.
    ///
    /// ## Why is this bad?
    ///
    /// For a moment all checks pass: the generation is observed, Ready is True, nothing is rolling
    /// out. It is the status of the former spec with the number of the new one, and whoever waits for
    /// the rollout by the book is told that it is over before it has begun.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: cluster.x-k8s.io/v1beta2
    /// kind: MachineDeployment
    /// metadata: {name: workers, namespace: c1, generation: 3, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Available, status: "True", reason: Available, message: "", lastTransitionTime: "2026-05-22T13:39:57Z", observedGeneration: 2}
    ///   - {type: RollingOut, status: "False", reason: NotRollingOut, message: "", lastTransitionTime: "2026-05-22T13:45:00Z", observedGeneration: 2}
    /// ---
    /// apiVersion: cluster.x-k8s.io/v1beta2
    /// kind: MachineDeployment
    /// metadata: {name: workers, namespace: c1, generation: 3, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Available, status: "True", reason: Available, message: "", lastTransitionTime: "2026-05-22T13:39:57Z", observedGeneration: 3}
    ///   - {type: RollingOut, status: "False", reason: NotRollingOut, message: "", lastTransitionTime: "2026-05-22T13:45:00Z", observedGeneration: 3}
    /// ---
    /// apiVersion: cluster.x-k8s.io/v1beta2
    /// kind: MachineDeployment
    /// metadata: {name: workers, namespace: c1, generation: 3, resourceVersion: "12"}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Available, status: "True", reason: Available, message: "", lastTransitionTime: "2026-05-22T13:39:57Z", observedGeneration: 3}
    ///   - {type: RollingOut, status: "True", reason: RollingOut, message: Rolling out 1 not up-to-date replicas, lastTransitionTime: "2026-05-22T15:08:01Z", observedGeneration: 3}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: cluster.x-k8s.io/v1beta2
    /// kind: MachineDeployment
    /// metadata: {name: workers, namespace: c1, generation: 3, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Available, status: "True", reason: Available, message: "", lastTransitionTime: "2026-05-22T13:39:57Z", observedGeneration: 2}
    ///   - {type: RollingOut, status: "False", reason: NotRollingOut, message: "", lastTransitionTime: "2026-05-22T13:45:00Z", observedGeneration: 2}
    /// ---
    /// apiVersion: cluster.x-k8s.io/v1beta2
    /// kind: MachineDeployment
    /// metadata: {name: workers, namespace: c1, generation: 3, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Available, status: "True", reason: Available, message: "", lastTransitionTime: "2026-05-22T13:39:57Z", observedGeneration: 3}
    ///   - {type: RollingOut, status: "True", reason: RollingOut, message: Rolling out 1 not up-to-date replicas, lastTransitionTime: "2026-05-22T15:08:01Z", observedGeneration: 3}
    /// ---
    /// apiVersion: cluster.x-k8s.io/v1beta2
    /// kind: MachineDeployment
    /// metadata: {name: workers, namespace: c1, generation: 3, resourceVersion: "12"}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Available, status: "True", reason: Available, message: "", lastTransitionTime: "2026-05-22T13:39:57Z", observedGeneration: 3}
    ///   - {type: RollingOut, status: "False", reason: NotRollingOut, message: "", lastTransitionTime: "2026-05-22T15:09:01Z", observedGeneration: 3}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: work that began for another reason right after a change of the spec looks the same.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/cluster-api/issues/13738>
    /// - <https://github.com/knative/serving/issues/4149>
    pub static RULE = {
        id: "generation-observed-early",
        family: "generation",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the generation was observed before the conditions spoke of it",
        check: Check::Series(check),
    }
}

fn check(view: &View<'_>, series: &[&Object<'_>]) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if !view.profiled || !profile.timing.interval.is_empty() || object.deleting {
        return Vec::new();
    }
    let Some(before_last) = series.len().checked_sub(2) else { return Vec::new() };
    let Some((path, note)) = began(series[before_last], object, view) else { return Vec::new() };
    // The state before the beginning, back to the one that raised the number.
    for place in (1..=before_last).rev() {
        let (early, former) = (series[place], series[place - 1]);
        if early.generation != object.generation || !change::same_spec(early, object) {
            return Vec::new();
        }
        if !same_conditions(former, early) {
            return Vec::new();
        }
        let (Observed::Number(is), Observed::Number(was)) =
            (generation::observed(early, profile), generation::observed(former, profile))
        else {
            return Vec::new();
        };
        if was >= is {
            continue;
        }
        if Some(is) != object.generation {
            return Vec::new();
        }
        let origin =
            if place == before_last { String::from("old") } else { format!("history/{place}") };
        let field = generation::field(profile);
        let at = |object: &Object<'_>| pointer::locate(object.root, field);
        let message = format!(
            "{field} rose from {was} to {is} with all conditions as before, and only then {note}"
        );
        return alloc::vec![
            RULE.finding(at(object), message)
                .beside(path, note)
                .elsewhere(origin, at(early), format!("was {is} with the conditions of generation {was}"))
                .help("raise the number in the same write as the first condition that speaks of the new spec"),
        ];
    }
    Vec::new()
}

/// Where work began from one state to the next, and how.
fn began(before: &Object<'_>, after: &Object<'_>, view: &View<'_>) -> Option<(String, String)> {
    for type_ in &view.profile.progress {
        let was = before.condition(type_).is_some_and(crate::object::Condition::is_true);
        if let Some(condition) = after.condition(type_).filter(|found| found.is_true() && !was) {
            return Some((after.place(condition, "status"), format!("{type_} became True")));
        }
    }
    let type_ = view.profile.happy.first()?;
    let condition = after.condition(type_)?;
    let was = before.condition(type_)?;
    (was.is_true() && condition.status == Status::Unknown)
        .then(|| (after.place(condition, "status"), format!("{type_} became Unknown")))
}

/// Whether all conditions are as they were, but for the generation that they name.
fn same_conditions(before: &Object<'_>, after: &Object<'_>) -> bool {
    let pairs = change::conditions(before, after);
    pairs.len() == after.conditions().len()
        && before.conditions().len() == after.conditions().len()
        && pairs.iter().all(|pair| {
            pair.old.status == pair.new.status
                && pair.old.reason == pair.new.reason
                && pair.old.last_transition_time == pair.new.last_transition_time
        })
}
