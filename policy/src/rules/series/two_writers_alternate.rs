use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Object;
use crate::record;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a condition that changes there and back twice, where each of the two values comes
    /// from a writer of its own by `managedFields`, while the spec stays the same.
    ///
    /// ## Why is this bad?
    ///
    /// Two controllers own one condition, and neither ever finds it as it left it. Both write for
    /// ever, and what a reader sees depends on the moment.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Composite
    /// metadata:
    ///   name: app
    ///   generation: 1
    ///   resourceVersion: "10"
    ///   managedFields: [{manager: core, subresource: status, time: "2026-01-01T00:00:00Z"}, {manager: feature, subresource: status, time: "2026-01-01T00:00:10Z"}]
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:10Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Composite
    /// metadata:
    ///   name: app
    ///   generation: 1
    ///   resourceVersion: "11"
    ///   managedFields: [{manager: core, subresource: status, time: "2026-01-01T00:00:20Z"}, {manager: feature, subresource: status, time: "2026-01-01T00:00:10Z"}]
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: Unknown, reason: Fatal, message: "", lastTransitionTime: "2026-01-01T00:00:20Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Composite
    /// metadata:
    ///   name: app
    ///   generation: 1
    ///   resourceVersion: "12"
    ///   managedFields: [{manager: core, subresource: status, time: "2026-01-01T00:00:20Z"}, {manager: feature, subresource: status, time: "2026-01-01T00:00:30Z"}]
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:30Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Composite
    /// metadata:
    ///   name: app
    ///   generation: 1
    ///   resourceVersion: "13"
    ///   managedFields: [{manager: core, subresource: status, time: "2026-01-01T00:00:40Z"}, {manager: feature, subresource: status, time: "2026-01-01T00:00:30Z"}]
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: Unknown, reason: Fatal, message: "", lastTransitionTime: "2026-01-01T00:00:40Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Composite
    /// metadata:
    ///   name: app
    ///   generation: 1
    ///   resourceVersion: "12"
    ///   managedFields: [{manager: core, subresource: status, time: "2026-01-01T00:00:20Z"}]
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: Unknown, reason: Fatal, message: "", lastTransitionTime: "2026-01-01T00:00:20Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Composite
    /// metadata:
    ///   name: app
    ///   generation: 1
    ///   resourceVersion: "13"
    ///   managedFields: [{manager: core, subresource: status, time: "2026-01-01T00:00:30Z"}]
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:30Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: each of the two may be right by itself.
    ///
    /// ## References
    ///
    /// - <https://github.com/crossplane/crossplane/issues/6285>
    /// - <https://github.com/crossplane/crossplane/issues/6228>
    pub static RULE = {
        id: "two-writers-alternate",
        family: "series",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "two writers set one condition in turn",
        check: Check::Series(check),
    }
}

pub(super) fn check(view: &View<'_>, series: &[&Object<'_>]) -> Vec<Finding> {
    let object = view.object;
    let start = series
        .iter()
        .rposition(|state| !change::same_inputs(state, object) || state.uid != object.uid)
        .map_or(0, |place| place + 1);
    let recent = &series[start..];
    if recent.len() < 4 || object.deleting {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for condition in object.conditions().iter().filter(|condition| !condition.type_.is_empty()) {
        let mut turns = Vec::new();
        for pair in recent.windows(2) {
            let [before, after] = pair else { continue };
            let of = |state: &Object<'_>| {
                state
                    .condition(condition.type_)
                    .map(|found| (found.status.text().len(), found.is_true()))
            };
            let (was, is) = (of(before), of(after));
            if was == is || is.is_none() {
                continue;
            }
            // Who wrote the state that differs: the entry that is newer than before.
            let (old, new) = (record::status_write(before), record::status_write(after));
            let Some(new) = new.filter(|new| old.is_none_or(|old| old != *new)) else { continue };
            turns.push((is, new.manager));
        }
        let Some([first, second, third]) = turns.last_chunk::<3>() else { continue };
        if first != third || first.0 == second.0 || first.1 == second.1 {
            continue;
        }
        let type_ = condition.type_;
        let message = format!(
            "{type_} is set by `{}` and by `{}` in turn, each time to another status",
            first.1, second.1
        );
        findings.push(
            RULE.finding(object.place(condition, "status"), message)
                .beside("/metadata/managedFields", format!("`{}` wrote last", third.1))
                .help("let one controller own the condition, and give the other one a type of its own"),
        );
    }
    findings
}
