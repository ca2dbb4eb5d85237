use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Object;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a write that changed nothing but the resource version (and `managedFields`).
    ///
    /// ## Why is this bad?
    ///
    /// Everyone who watches the object is told of a change that is none, its own controller first. The
    /// API server drops writes that change nothing; one that gets through changed a time in
    /// `managedFields`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, uid: 00000000-0000-0000-0000-000000000001, generation: 1, resourceVersion: "10"}
    /// status: {phase: Running}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, uid: 00000000-0000-0000-0000-000000000001, generation: 1, resourceVersion: "11"}
    /// status: {phase: Running}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, uid: 00000000-0000-0000-0000-000000000001, generation: 1, resourceVersion: "10"}
    /// status: {phase: Pending}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, uid: 00000000-0000-0000-0000-000000000001, generation: 1, resourceVersion: "11"}
    /// status: {phase: Running}
    /// ```
    ///
    /// ## Severity
    ///
    /// Info: one such write costs little. A series of them is judged by `hot-loop-by-own-write`.
    ///
    /// ## References
    ///
    /// - <https://github.com/keikoproj/instance-manager/issues/235>
    pub static RULE = {
        id: "void-write",
        family: "series",
        severity: Info,
        means: Unknown,
        since: "0.1.0",
        summary: "a write changed nothing but the resource version",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let object = view.object;
    let (before, after) = (old.resource_version, object.resource_version);
    if before == after || before.is_empty() || after.is_empty() || object.deleting {
        return Vec::new();
    }
    let finalizers =
        |object: &Object<'_>| object.root.at("metadata").at("finalizers").items().len();
    let owners =
        |object: &Object<'_>| object.root.at("metadata").at("ownerReferences").items().len();
    if !change::same_inputs(old, object)
        || finalizers(old) != finalizers(object)
        || owners(old) != owners(object)
        || !change::status(old, object).is_empty()
    {
        return Vec::new();
    }
    alloc::vec![
        RULE.finding(
            "/metadata/resourceVersion",
            format!("nothing changed from {before} to {after}")
        )
        .elsewhere("old", "/metadata/resourceVersion", format!("was {before}, all else the same"))
        .help("compare before writing"),
    ]
}
