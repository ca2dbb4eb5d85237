use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Phase};
use crate::json::Json;
use crate::object::{Condition, Object};
use crate::phase;
use crate::pointer;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// On kinds that are ready only with a certain number of instances: looks for an object that is
    /// ready by its own words while fewer instances are. Where one of the two numbers is missing,
    /// nothing is said; and neither on kinds that are ready with fewer on purpose.
    ///
    /// ## Why is this bad?
    ///
    /// The object asks for three databases, one does not start, and everything that looks at Ready
    /// goes on: the next node is drained, the next cluster is upgraded, the traffic is switched.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: postgresql.cnpg.io/v1
    /// kind: Cluster
    /// metadata: {name: db, namespace: default, generation: 4}
    /// spec: {instances: 3}
    /// status:
    ///   phase: Cluster in healthy state
    ///   instances: 3
    ///   readyInstances: 2
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: ClusterIsReady, message: Cluster is Ready, lastTransitionTime: "2025-08-21T16:29:17Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: postgresql.cnpg.io/v1
    /// kind: Cluster
    /// metadata: {name: db, namespace: default, generation: 4}
    /// spec: {instances: 3}
    /// status:
    ///   phase: Cluster in healthy state
    ///   instances: 3
    ///   readyInstances: 3
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: ClusterIsReady, message: Cluster is Ready, lastTransitionTime: "2025-08-21T16:29:17Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: an instance that was lost a moment ago shows in the number first.
    ///
    /// ## References
    ///
    /// - <https://github.com/cloudnative-pg/cloudnative-pg/issues/8410>
    /// - <https://github.com/knative/serving/issues/15343>
    /// - <https://github.com/percona/percona-postgresql-operator/pull/869>
    pub static RULE = {
        id: "ready-with-missing-instances",
        family: "counters",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the object is ready with fewer instances than it needs",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if profile.instances.is_empty() || !is_ready(view) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for instances in &profile.instances {
        if !test::all(&instances.when, object) {
            continue;
        }
        let wanted = instances.desired.iter().find_map(|path| Some((path, number(object, path)?)));
        let (Some(ready), Some((path, desired))) = (number(object, &instances.ready), wanted)
        else {
            continue;
        };
        if ready >= desired {
            continue;
        }
        let message = format!(
            "it is ready by its own words, but {} is {ready} and {path} is {desired}",
            instances.ready
        );
        let mut finding = RULE
            .finding(pointer::locate(object.root, &instances.ready), message)
            .beside(pointer::locate(object.root, path), format!("{desired} are needed"));
        if let Some(summary) = profile.happy.first().and_then(|type_| object.condition(type_)) {
            finding = finding.beside(
                object.place(summary, "status"),
                format!("{} is {}", summary.type_, summary.status.text()),
            );
        }
        findings.push(finding.help("compare the number too before going on"));
    }
    findings
}

/// Whether the object is ready by its own words: by its summary if it has one, else by its phase.
fn is_ready(view: &View<'_>) -> bool {
    let (object, profile) = (view.object, view.profile);
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let is_true = |type_: &str| object.condition(type_).is_some_and(Condition::is_true);
    match summary {
        Some(summary) => {
            summary.is_true()
                && !object.deleting
                && !test::any(&profile.suspended, object)
                && !profile.progress.iter().any(|type_| is_true(type_))
                && phase::behind(object, profile).is_none()
        }
        None => phase::judge(view).phase == Phase::Settled,
    }
}

/// A number, also one that stands in an annotation.
fn number(object: &Object<'_>, path: &str) -> Option<i64> {
    match object.field(path)? {
        Json::Integer(number) => Some(*number),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}
