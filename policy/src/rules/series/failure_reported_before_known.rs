use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Object;
use crate::record;
use crate::rule::{Check, View};

/// How young an object is, in milliseconds, whose parts cannot all have failed so far.
const YOUNG: i64 = 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// On kinds whose summary is Unknown until something has failed: looks for a summary that goes
    /// from False to True within the first minute of an object.
    ///
    /// ## Why is this bad?
    ///
    /// Nothing had failed: a part that was missing so far was taken for a broken one. Whoever stops at
    /// the first False reports a failure that never was.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: serving.knative.dev/v1
    /// kind: Service
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10", creationTimestamp: "2018-07-13T23:23:04Z"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: RevisionMissing, message: "", lastTransitionTime: "2018-07-13T23:23:05Z"}
    /// ---
    /// apiVersion: serving.knative.dev/v1
    /// kind: Service
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11", creationTimestamp: "2018-07-13T23:23:04Z"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", lastTransitionTime: "2018-07-13T23:23:09Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: serving.knative.dev/v1
    /// kind: Service
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10", creationTimestamp: "2018-07-13T23:23:04Z"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: Unknown, reason: RevisionMissing, message: "", lastTransitionTime: "2018-07-13T23:23:05Z"}
    /// ---
    /// apiVersion: serving.knative.dev/v1
    /// kind: Service
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11", creationTimestamp: "2018-07-13T23:23:04Z"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", lastTransitionTime: "2018-07-13T23:23:09Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Info: nobody goes on too early, and a failure that heals within a minute looks the same.
    ///
    /// ## References
    ///
    /// - <https://github.com/knative/serving/issues/1592>
    pub static RULE = {
        id: "failure-reported-before-known",
        family: "series",
        severity: Info,
        means: Unknown,
        since: "0.1.0",
        summary: "the summary was False before anything could have failed",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if !profile.tri_state || object.deleting || !change::same_inputs(old, object) {
        return Vec::new();
    }
    let Some(type_) = profile.happy.first() else { return Vec::new() };
    let (Some(before), Some(after)) = (old.condition(type_), object.condition(type_)) else {
        return Vec::new();
    };
    if !before.is_false() || !after.is_true() {
        return Vec::new();
    }
    let age = match (record::created(object), after.transition()) {
        (Some(created), Some(since)) => since.since(created),
        (Some(_) | None, None) | (None, Some(_)) => 0,
    };
    if age > YOUNG {
        return Vec::new();
    }
    alloc::vec![
        RULE.finding(
            object.place(after, "status"),
            format!("{type_} was False and is True at once")
        )
        .elsewhere("old", old.place(before, "status"), format!("was False for {}", before.reason))
        .help("set the summary to Unknown until a part has failed"),
    ]
}
