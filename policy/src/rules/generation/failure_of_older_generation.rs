use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::generation::{self, Observed};
use crate::object::Condition;
use crate::pointer;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a summary condition that is False for an older generation by its own number, while
    /// the status as a whole has observed the current one and no work is under way.
    ///
    /// ## Why is this bad?
    ///
    /// The failure was that of the former spec. The new spec has been looked at and needed nothing,
    /// so nobody wrote the condition again: a release that is deployed as asked goes on saying that
    /// its upgrade failed. "Nothing to do" is an outcome too, and has to be written.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata: {name: app, namespace: default, generation: 3}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: UpgradeFailed, message: values do not meet the schema, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata: {name: app, namespace: default, generation: 3}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: UpgradeFailed, message: values do not meet the schema, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 3}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning on kinds whose conditions are known to carry their generation at every write; info
    /// elsewhere, since some controllers raise the number only when the status of a condition moves.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/helm-controller/issues/1362>
    pub static RULE = {
        id: "failure-of-older-generation",
        family: "generation",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "the summary fails for an older generation than the status has observed",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(generation) = object.generation else { return Vec::new() };
    if object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|condition| condition.is_false()) else {
        return Vec::new();
    };
    let Some(number) = summary.observed_generation.filter(|&own| own > 0 && own < generation)
    else {
        return Vec::new();
    };
    let busy = profile
        .progress
        .iter()
        .any(|type_| object.condition(type_).is_some_and(Condition::is_true));
    if busy || generation::observed(object, profile) != Observed::Number(generation) {
        return Vec::new();
    }
    let field = generation::field(profile);
    let type_ = summary.type_;
    let message = format!(
        "{type_} is False for generation {number}, but the status has observed generation {generation}"
    );
    let mut finding = RULE
        .finding(object.place(summary, "status"), message)
        .beside(
            object.place(summary, "observedGeneration"),
            format!("the failure is of generation {number}"),
        )
        .beside(
            pointer::locate(object.root, field),
            format!("generation {generation} was observed"),
        )
        .help(
            "write the condition at the end of every reconcile, also when there was nothing to do",
        );
    if !(view.profiled && profile.generation.conditions) {
        finding.severity = Severity::Info;
    }
    alloc::vec![finding]
}
