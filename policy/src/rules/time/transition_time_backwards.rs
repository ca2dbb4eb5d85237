use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Object;
use crate::rule::{Check, View};
use crate::time;

declare_rule! {
    /// ## What it does
    ///
    /// Compares `lastTransitionTime` of each condition in two states of one object. Going back by
    /// a second is rounding and is left out.
    ///
    /// ## Why is this bad?
    ///
    /// Time does not go back: an older condition was written over a newer one, by a cache that lags,
    /// by a second replica, or from a backup. Who measures for how long an object has been in a state
    /// measures nonsense.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Failed, message: "", lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Failed, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: "", lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: two replicas whose clocks differ can do it around a change of leader.
    ///
    /// ## References
    ///
    /// - `Condition` in `pkg/apis/meta/v1/types.go` of <https://github.com/kubernetes/apimachinery>
    pub static RULE = {
        id: "transition-time-backwards",
        family: "time",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "lastTransitionTime of a condition goes back",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for pair in change::conditions(old, view.object) {
        let (Some(before), Some(after)) = (pair.old.transition(), pair.new.transition()) else {
            continue;
        };
        let back = before.since(after);
        // A time of 1970 is a default, not a time.
        if back <= 1_000 || after.0 <= 0 {
            continue;
        }
        let message = format!(
            "lastTransitionTime of {} goes back by {}",
            pair.new.type_,
            time::readable(back)
        );
        findings.push(
            RULE.finding(pair.list.place(pair.new, "lastTransitionTime"), message)
                .elsewhere(
                    "old",
                    pair.old_list.place(pair.old, "lastTransitionTime"),
                    format!("was {}", before.text()),
                )
                .help("write conditions with the resource version that they were computed from"),
        );
    }
    findings
}
