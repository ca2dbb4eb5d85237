use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::json::Json;
use crate::object::Object;
use crate::pointer;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for the time of an end that moves or vanishes while the work stays ended, on kinds whose
    /// work ends once and for all.
    ///
    /// ## Why is this bad?
    ///
    /// It ended once. A second time means that the end was computed again, and that whatever hangs
    /// on it (the result, a notification, the deletion after a time to live) happens again or never.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: tekton.dev/v1
    /// kind: TaskRun
    /// metadata: {name: build, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   completionTime: "2026-01-01T00:05:00Z"
    ///   conditions:
    ///   - {type: Succeeded, status: "True", reason: Succeeded, message: done, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ---
    /// apiVersion: tekton.dev/v1
    /// kind: TaskRun
    /// metadata: {name: build, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   completionTime: "2026-01-01T00:09:00Z"
    ///   conditions:
    ///   - {type: Succeeded, status: "True", reason: Succeeded, message: done, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: tekton.dev/v1
    /// kind: TaskRun
    /// metadata: {name: build, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   completionTime: "2026-01-01T00:05:00Z"
    ///   conditions:
    ///   - {type: Succeeded, status: "True", reason: Succeeded, message: done, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ---
    /// apiVersion: tekton.dev/v1
    /// kind: TaskRun
    /// metadata: {name: build, namespace: default, generation: 1, resourceVersion: "11", labels: {kept: "true"}}
    /// status:
    ///   completionTime: "2026-01-01T00:05:00Z"
    ///   conditions:
    ///   - {type: Succeeded, status: "True", reason: Succeeded, message: done, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: no lag explains it.
    ///
    /// ## References
    ///
    /// - <https://github.com/tektoncd/pipeline/issues/7895>
    pub static RULE = {
        id: "finish-time-changed",
        family: "terminal",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the time of the end moves while the work stays ended",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let mut findings = Vec::new();
    for finish in profile.finish.iter().filter(|finish| finish.absorbing) {
        if finish.time.is_empty()
            || !test::all(&finish.when, old)
            || !test::all(&finish.when, object)
        {
            continue;
        }
        let attempt = |object: &Object<'_>| -> Option<String> {
            object.field(&finish.attempt).map(|value| format!("{value:?}"))
        };
        let Some(before) = old.field(&finish.time).filter(|time| !time.is_empty()) else {
            continue;
        };
        let after = object.field(&finish.time).filter(|time| !time.is_empty());
        if after.is_some_and(|after| after.same(before))
            || (!finish.attempt.is_empty() && attempt(old) != attempt(object))
        {
            continue;
        }
        let before = before.scalar().unwrap_or_default();
        let message = match after.and_then(Json::scalar) {
            Some(after) => format!("{} moved from {before} to {after}", finish.time),
            None => format!("{} was {before} and is gone", finish.time),
        };
        findings.push(
            RULE.finding(pointer::locate(object.root, &finish.time), message)
                .elsewhere("old", pointer::locate(old.root, &finish.time), format!("was {before}"))
                .help("set the time once, when the work ends"),
        );
    }
    findings
}
