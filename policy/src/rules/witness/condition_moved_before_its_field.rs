use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::learned;
use crate::object::Object;
use crate::pointer;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// On kinds of which no witness is known: looks for a True condition whose message named the value
    /// of a field of the status, a revision or version, and now names another one in the same words,
    /// while the field still holds the former and nothing in the status holds the new one.
    ///
    /// ## Why is this bad?
    ///
    /// The conditions were written in one request and the rest of the status in the next. Between the
    /// two, and for good if the second is lost, the condition vouches for a revision that the object
    /// does not have.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Source
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   artifact: {version: 1.31.4}
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Stored, message: stored version 1.31.4, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Source
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   artifact: {version: 1.31.4}
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Stored, message: stored version 1.31.5, lastTransitionTime: "2026-01-01T01:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Source
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   artifact: {version: 1.31.4}
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Stored, message: stored version 1.31.4, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Source
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   artifact: {version: 1.31.5}
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Stored, message: stored version 1.31.5, lastTransitionTime: "2026-01-01T01:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: that the message speaks of the field was learned from one state. Where a profile says
    /// so, `message-revision-differs-from-field` judges it, as an error, from one object.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/pkg/issues/934>
    /// - <https://github.com/kubernetes-sigs/cluster-api/issues/8706>
    pub static RULE = {
        id: "condition-moved-before-its-field",
        family: "witness",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "a condition names a new revision, the field that it named before holds the old one",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let object = view.object;
    if !view.profile.witnesses.is_empty() || object.deleting {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for pair in change::conditions(old, object) {
        if !pair.old.is_true() || !pair.new.is_true() || pair.old.message == pair.new.message {
            continue;
        }
        for field in learned::fields(old, pair.old.message) {
            let Some(said) = learned::replaced(pair.old.message, pair.new.message, field.value)
            else {
                continue;
            };
            let held = pointer::resolve(object.root, &field.pointer).and_then(|json| json.str());
            if held != Some(field.value) || learned::holds(object, said) {
                continue;
            }
            let readable = pointer::readable(&field.pointer);
            let message = format!(
                "{} is True for `{said}`, but {readable}, which it named before, is `{}`",
                pair.new.type_, field.value
            );
            findings.push(
                RULE.finding(field.pointer.clone(), message)
                    .beside(pair.list.place(pair.new, "message"), format!("says `{said}`"))
                    .elsewhere(
                        "old",
                        pair.old_list.place(pair.old, "message"),
                        format!("said `{}`", field.value),
                    )
                    .help(
                        "do not use the object before both agree; the controller should write both \
                         in one request",
                    ),
            );
        }
    }
    findings
}
