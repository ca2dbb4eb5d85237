use alloc::format;
use alloc::vec::Vec;

use super::hot_loop_by_own_write::is_churn;
use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Object;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a failing condition whose message changes only in an opaque token (an id, a hash)
    /// while status and reason stay the same.
    ///
    /// ## Why is this bad?
    ///
    /// A message that differs at each attempt makes each attempt a change. The event of the own write
    /// goes past the back-off, and the next attempt comes at once. Where events and alerts are made
    /// from messages, none is ever recognised as the same.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "False", reason: ReconcileError, message: "AccessDenied, request id 0f3c9d7a-1b2c", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "False", reason: ReconcileError, message: "AccessDenied, request id 77ab12e0-9f8e", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "False", reason: ReconcileError, message: "AccessDenied", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11", labels: {team: a}}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "False", reason: ReconcileError, message: "AccessDenied", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Info: one pair shows that the message is not stable, not that there is a loop. A series of them
    /// is judged by `hot-loop-by-own-write`.
    ///
    /// ## References
    ///
    /// - <https://github.com/upbound/provider-terraform/issues/89>
    pub static RULE = {
        id: "message-churn",
        family: "series",
        severity: Info,
        means: Unknown,
        since: "0.1.0",
        summary: "the message of a failing condition changes in an id alone",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let object = view.object;
    if !change::same_inputs(old, object) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for difference in change::status(old, object) {
        if !is_churn(&difference, object) {
            continue;
        }
        let Some(pair) = change::conditions(old, object)
            .into_iter()
            .find(|pair| pair.list.place(pair.new, "message") == difference.pointer)
        else {
            continue;
        };
        if pair.old.status != pair.new.status || pair.old.reason != pair.new.reason {
            continue;
        }
        let message =
            format!("the message of {} differs from before in an id alone", pair.new.type_);
        findings.push(
            RULE.finding(difference.pointer, message)
                .elsewhere(
                    "old",
                    pair.old_list.place(pair.old, "message"),
                    "says the same with another id",
                )
                .help("keep ids out of the message, or ignore changes of the own status"),
        );
    }
    findings
}
