use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for the kind's summary condition True beside a stalled condition that is True (an
    /// error), or beside a progress condition that is True (info: many controllers keep Ready
    /// while they look again, and that is legal).
    ///
    /// ## Why is this bad?
    ///
    /// Stalled says that the current spec cannot be reconciled. Who looks at Ready alone takes the
    /// object for done.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: ""}
    ///   - {type: Stalled, status: "True", reason: InvalidSpec, message: ""}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: InvalidSpec, message: ""}
    ///   - {type: Stalled, status: "True", reason: InvalidSpec, message: ""}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error for Stalled. Info for work under way: Flux keeps Ready=True while a new generation is
    /// processed, and helm-controller does so at every interval.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md>
    /// - FAIL0003 and FAIL0004 of Flux's condition checker, `runtime/conditions/check` in <https://github.com/fluxcd/pkg>
    pub static RULE = {
        id: "ready-while-reconciling-or-stalled",
        family: "conditions",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "Ready is True beside Stalled or Reconciling",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(ready) = profile.happy.first().and_then(|type_| object.condition(type_)) else {
        return Vec::new();
    };
    if !ready.is_true() {
        return Vec::new();
    }
    let beside = |types: &[crate::profile::Text<'_>], severity: Severity| {
        let conditions = types.iter().filter_map(|type_| object.condition(type_));
        let found = conditions.filter(|condition| condition.is_true()).map(|condition| {
            let message = format!("{} is True while {} is True", ready.type_, condition.type_);
            let mut finding = RULE
                .finding(object.place(ready, "status"), message)
                .beside(object.place(condition, "status"), format!("{} is True", condition.type_));
            finding.severity = severity;
            finding
        });
        found.collect::<Vec<_>>()
    };
    let mut findings = beside(&profile.stalled, Severity::Error);
    findings.extend(beside(&profile.progress, Severity::Info));
    findings
}
