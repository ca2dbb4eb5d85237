use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::record;
use crate::rule::{Check, View};
use crate::time;

/// How far two clocks may differ, in milliseconds: three minutes have been seen.
const SKEW: i64 = 5 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Compares `lastTransitionTime` of each condition with the time at which the object was created.
    /// Five minutes are left for clocks that differ; a time of 1970 is a default of the CRD.
    ///
    /// ## Why is this bad?
    ///
    /// The condition was not computed for this object. It was restored with a backup, or written for
    /// a former object of the same name by a controller that keeps its memory by name.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, creationTimestamp: "2026-01-02T00:00:00Z"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, creationTimestamp: "2026-01-02T00:00:00Z"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-02T00:00:01Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Info: some kinds copy the condition of an object that is older than they are.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/cluster-api/issues/6741>
    pub static RULE = {
        id: "condition-older-than-object",
        family: "time",
        severity: Info,
        means: Unknown,
        since: "0.1.0",
        summary: "a condition changed before its object was created",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let Some(created) = record::created(view.object) else { return Vec::new() };
    let mut findings = Vec::new();
    for list in &view.object.lists {
        for condition in &list.conditions {
            let Some(since) = condition.transition().filter(|since| since.0 > 0) else { continue };
            let before = created.since(since);
            if before <= SKEW {
                continue;
            }
            let message = format!(
                "lastTransitionTime of {} is {} before the object was created",
                condition.type_,
                time::readable(before)
            );
            findings.push(
                RULE.finding(list.place(condition, "lastTransitionTime"), message)
                    .beside("/metadata/creationTimestamp", format!("created {}", created.text())),
            );
        }
    }
    findings
}
