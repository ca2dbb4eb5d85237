use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::generation;
use crate::json::Json;
use crate::pointer;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for an observed generation of zero or less on an object that has a generation and
    /// whose happy condition is True. Flux defaults the field to -1 for objects that were never
    /// reconciled to their end; with a condition that is not True that is as it should be.
    ///
    /// ## Why is this bad?
    ///
    /// Generations begin at 1. Zero is what a field holds that nobody sets: who waits for it to
    /// reach the generation waits for ever.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 0
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: ""}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: ""}
    /// ```
    ///
    /// ## Severity
    ///
    /// Info: many types declare the field and leave it to chance; the object may well be ready. The
    /// verdict does not call it settled.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    /// - <https://github.com/kubernetes/kubectl/issues/1414>
    pub static RULE = {
        id: "observed-generation-not-positive",
        family: "generation",
        severity: Info,
        means: Unknown,
        since: "0.1.0",
        summary: "the observed generation is zero or less while the object is ready",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if object.generation.is_none() || profile.generation.absent || profile.generation.opaque {
        return Vec::new();
    }
    let field = generation::field(profile);
    let number = match object.field(field) {
        Some(Json::Integer(number)) if *number <= 0 => *number,
        _ => return Vec::new(),
    };
    let ready = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(ready) = ready.filter(|condition| condition.is_true()) else { return Vec::new() };
    // The condition's own number says what this one leaves open.
    if ready.observed_generation.is_some_and(|own| own > 0) {
        return Vec::new();
    }
    alloc::vec![
        RULE.finding(
            pointer::locate(object.root, field),
            format!("{field} is {number}, which no generation is"),
        )
        .beside(object.place(ready, "status"), format!("{} is True", ready.type_))
        .help("set it to metadata.generation at the end of each reconcile"),
    ]
}
