use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::json::Json;
use crate::object::Object;
use crate::pointer;
use crate::profile::test;
use crate::rule::{Check, View};
use crate::time::Time;
use crate::witness;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for work that has ended, without the time of its end that its kind promises. An excerpt
    /// of an object (without uid, resource version and generation, or without any other time beside
    /// it) is taken at its word only where the field stands there empty.
    ///
    /// ## Why is this bad?
    ///
    /// Half of the end was written. An Argo CD whose controller restarted in between kept the
    /// operation `Succeeded` without `finishedAt` and without a result: to the automatic sync the
    /// revision was tried already, to the manual one another operation was running, and nothing moved
    /// until somebody edited the object.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: argoproj.io/v1alpha1
    /// kind: Application
    /// metadata: {name: app, namespace: argocd, uid: 00000000-0000-0000-0000-000000000001, resourceVersion: "10", generation: 12}
    /// status:
    ///   sync: {status: OutOfSync}
    ///   health: {status: Healthy}
    ///   operationState:
    ///     phase: Succeeded
    ///     startedAt: "2026-01-01T00:00:00Z"
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: argoproj.io/v1alpha1
    /// kind: Application
    /// metadata: {name: app, namespace: argocd, uid: 00000000-0000-0000-0000-000000000001, resourceVersion: "10", generation: 12}
    /// status:
    ///   sync: {status: OutOfSync}
    ///   health: {status: Healthy}
    ///   operationState:
    ///     phase: Succeeded
    ///     startedAt: "2026-01-01T00:00:00Z"
    ///     finishedAt: "2026-01-01T00:00:09Z"
    ///     syncResult: {revision: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: the writer sets both in one request.
    ///
    /// ## References
    ///
    /// - <https://github.com/argoproj/argo-cd/issues/29636>
    pub static RULE = {
        id: "finished-without-finish-time",
        family: "terminal",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the work has ended, but does not say when",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let mut findings = Vec::new();
    for finish in &profile.finish {
        let Some(first) = finish.when.first() else { continue };
        if finish.time.is_empty()
            || !test::all(&finish.when, object)
            || object.field(&finish.time).is_some_and(|time| !time.is_empty())
        {
            continue;
        }
        let place = pointer::locate(object.root, &finish.time);
        let stated = pointer::resolve(object.root, &place).is_some();
        let whole = witness::is_whole(object) && has_times(object, &place);
        if !stated && !whole {
            continue;
        }
        let (when, value) = test::place(first, object);
        let subject = pointer::readable(&when);
        let message = format!("{subject} is `{value}`, but there is no {}", finish.time);
        findings.push(
            RULE.finding(place, message)
                .beside(when, format!("it has ended with `{value}`"))
                .help("write the end and its time in one request"),
        );
    }
    findings
}

/// Whether another time stands beside the place: else the object is an excerpt.
fn has_times(object: &Object<'_>, place: &str) -> bool {
    let parent = place.rsplit_once('/').map_or("", |(parent, _)| parent);
    let parent = pointer::resolve(object.root, parent);
    parent
        .into_iter()
        .flat_map(Json::members)
        .any(|(_, value)| matches!(value, Json::String(text) if Time::parse(text).is_some()))
}
