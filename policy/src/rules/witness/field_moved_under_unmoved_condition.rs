use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::learned;
use crate::object::Object;
use crate::pointer;
use crate::rule::{Check, View};

/// Words in a field's path that say that it holds what is in place, rather than what is wanted, was
/// seen or comes next.
const IN_PLACE: &[&str] =
    &["applied", "deployed", "installed", "stored", "current", "artifact", "active", "release"];

declare_rule! {
    /// ## What it does
    ///
    /// On kinds of which no witness is known: looks for a field of the status that holds what is in
    /// place (an applied revision, an artifact, a deployed version) and moves, while the True
    /// condition whose message named its former value stays as it was, word for word.
    ///
    /// ## Why is this bad?
    ///
    /// The write of the conditions was lost, the write of the rest was not. The condition vouches for
    /// a revision that is no longer there, or the new one has not been judged at all.
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
    ///   artifact: {version: 1.31.5}
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Stored, message: stored version 1.31.4, lastTransitionTime: "2026-01-01T00:00:00Z"}
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
    /// - <https://github.com/fluxcd/helm-controller/issues/1409>
    /// - <https://github.com/fluxcd/pkg/issues/934>
    pub static RULE = {
        id: "field-moved-under-unmoved-condition",
        family: "witness",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "a field moves, the condition that named its value stays word for word",
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
        if !pair.old.is_true()
            || !pair.new.is_true()
            || pair.old.message != pair.new.message
            || pair.old.last_transition_time != pair.new.last_transition_time
        {
            continue;
        }
        for field in learned::fields(old, pair.old.message) {
            let path = field.pointer.to_ascii_lowercase();
            let held = pointer::resolve(object.root, &field.pointer).and_then(|json| json.str());
            let Some(held) = held.filter(|held| *held != field.value) else { continue };
            if !IN_PLACE.iter().any(|word| path.contains(word))
                || ["attempt", "desired", "target", "previous", "last_seen", "history"]
                    .iter()
                    .any(|word| path.contains(word))
                || !learned::is_revision(held)
                || learned::holds(object, field.value)
            {
                continue;
            }
            let readable = pointer::readable(&field.pointer);
            let message = format!(
                "{readable} moved from `{}` to `{held}`, but {} is True for the former, as before",
                field.value, pair.new.type_
            );
            findings.push(
                RULE.finding(field.pointer.clone(), message)
                    .beside(pair.list.place(pair.new, "message"), format!("says `{}`", field.value))
                    .elsewhere("old", field.pointer, format!("was `{}`", field.value))
                    .help(
                        "do not use the object before both agree; the controller should write both \
                         in one request",
                    ),
            );
        }
    }
    findings
}
