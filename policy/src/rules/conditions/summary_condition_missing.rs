use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Condition;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for objects that have conditions, but lack the summary that their kind promises. An
    /// object without any condition was not looked at so far; one whose work is under way, that is
    /// suspended or being deleted may come to its summary later.
    ///
    /// ## Why is this bad?
    ///
    /// A missing condition means Unknown, but `kubectl wait` and most scripts cannot tell it from a
    /// typo in the type's name, and kstatus calls an object without Ready done.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: FetchFailed, status: "True", reason: GitOperationFailed, message: timeout, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: FetchFailed, status: "True", reason: GitOperationFailed, message: timeout, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    ///   - {type: Ready, status: "False", reason: GitOperationFailed, message: timeout, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: who reads absence as Unknown, as the conventions ask, does nothing wrong.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    /// - <https://github.com/knative/serving/issues/850>
    /// - FAIL0002 of Flux's condition checker, `runtime/conditions/check` in <https://github.com/fluxcd/pkg>
    pub static RULE = {
        id: "summary-condition-missing",
        family: "conditions",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "there are conditions, but not the summary that the kind promises",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(summary) = profile.happy.first().filter(|_| profile.summary) else {
        return Vec::new();
    };
    let Some(list) = object.lists.first().filter(|list| !list.conditions.is_empty()) else {
        return Vec::new();
    };
    if list.get(summary).is_some() || object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let busy = profile.progress.iter().any(|type_| list.get(type_).is_some_and(Condition::is_true));
    if busy {
        return Vec::new();
    }
    let others: Vec<&str> = list.conditions.iter().map(|condition| condition.type_).collect();
    let message = format!("there is no condition {summary}, only {}", others.join(", "));
    alloc::vec![
        RULE.finding(list.pointer.clone(), message)
            .help(format!("set {summary} to Unknown before the first other condition is set")),
    ]
}
