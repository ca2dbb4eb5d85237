use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::{Check, View};
use crate::time;

/// How far two clocks may differ, in milliseconds: three minutes have been seen.
const SKEW: i64 = 5 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Compares `lastTransitionTime` of each condition with the present, where the present is known.
    /// Five minutes are left for clocks that differ.
    ///
    /// ## Why is this bad?
    ///
    /// The transition is yet to come: a clock is wrong, a local time was written as UTC, or the time
    /// of an expiry stands where the time of a change belongs. Back-offs and time-outs that count
    /// from it do not end.
    ///
    /// ## Example
    ///
    /// The present is 2026-01-01T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2106-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// The present is 2026-01-01T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: what the condition says may be right.
    ///
    /// ## References
    ///
    /// - `Condition` in `pkg/apis/meta/v1/types.go` of <https://github.com/kubernetes/apimachinery>
    pub static RULE = {
        id: "transition-time-in-future",
        family: "time",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "lastTransitionTime of a condition is yet to come",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let Some(now) = view.now else { return Vec::new() };
    let mut findings = Vec::new();
    for list in &view.object.lists {
        for condition in &list.conditions {
            let Some(since) = condition.transition() else { continue };
            let ahead = since.since(now);
            if ahead <= SKEW {
                continue;
            }
            let message = format!(
                "lastTransitionTime of {} is {} ahead of the present",
                condition.type_,
                time::readable(ahead)
            );
            findings.push(
                RULE.finding(list.place(condition, "lastTransitionTime"), message)
                    .help("check the controller's clock, and that the time is written in UTC"),
            );
        }
    }
    findings
}
