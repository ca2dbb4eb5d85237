use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::{Condition, Object, Status};
use crate::rule::{Check, View};
use crate::rules::series::two_writers_alternate;
use crate::time;

/// How close together the turns are, in milliseconds, for them to be one flapping.
const WINDOW: i64 = 15 * 60_000;

/// Groups whose conditions mirror what containers and machines do.
const MIRRORS: &[&str] = &["", "apps", "batch", "policy", "autoscaling"];

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a condition that goes there and back twice between True and False, within a quarter
    /// of an hour, while the spec, the annotations and the labels stay the same. Conditions other
    /// than the summary count with Unknown too; the summary of many kinds is Unknown at each look. The
    /// conditions of workloads and nodes tell what happens to those, and are left out, and so is a
    /// turn that comes with another revision.
    ///
    /// ## Why is this bad?
    ///
    /// The same input gives two answers in turn. Either two writers own the condition, or it is
    /// computed from a part of what it is about: an operator called a cluster ready between the
    /// restarts of two of its pods, in the midst of the rollout, and everything that waited for it
    /// went on.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Database
    /// metadata: {name: app, namespace: default, generation: 2, resourceVersion: "10"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Database
    /// metadata: {name: app, namespace: default, generation: 2, resourceVersion: "11"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Restarting, message: "", lastTransitionTime: "2026-01-01T00:01:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Database
    /// metadata: {name: app, namespace: default, generation: 2, resourceVersion: "12"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:02:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Database
    /// metadata: {name: app, namespace: default, generation: 2, resourceVersion: "13"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Restarting, message: "", lastTransitionTime: "2026-01-01T00:03:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Database
    /// metadata: {name: app, namespace: default, generation: 2, resourceVersion: "10"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Database
    /// metadata: {name: app, namespace: default, generation: 2, resourceVersion: "11"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Restarting, message: 1 of 2 restarted, lastTransitionTime: "2026-01-01T00:01:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Database
    /// metadata: {name: app, namespace: default, generation: 2, resourceVersion: "12"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Restarting, message: 2 of 2 restarted, lastTransitionTime: "2026-01-01T00:01:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Database
    /// metadata: {name: app, namespace: default, generation: 2, resourceVersion: "13"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:03:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: what the object is about may flap in truth.
    ///
    /// ## References
    ///
    /// - <https://github.com/percona/percona-postgresql-operator/pull/869>
    /// - <https://github.com/crossplane/crossplane/issues/6285>
    /// - <https://github.com/crossplane/crossplane/issues/7062>
    pub static RULE = {
        id: "condition-flaps",
        family: "series",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "a condition goes there and back twice with the same input",
        check: Check::Series(check),
    }
}

fn check(view: &View<'_>, series: &[&Object<'_>]) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if MIRRORS.contains(&object.group()) || object.deleting {
        return Vec::new();
    }
    let recent = unchanged(series);
    let mut findings = Vec::new();
    for condition in object.conditions() {
        let type_ = condition.type_;
        let summary = profile.happy.iter().any(|happy| **happy == *type_);
        if type_.is_empty() || profile.progress.iter().any(|progress| **progress == *type_) {
            continue;
        }
        let states: Vec<&Condition<'_>> =
            recent.iter().filter_map(|state| state.condition(type_)).collect();
        let mut turns: Vec<&Condition<'_>> = Vec::new();
        for state in states {
            if turns.last().is_none_or(|last| last.status != state.status) {
                turns.push(state);
            }
        }
        let Some(turns) = turns.last_chunk::<4>() else { continue };
        let [first, second, third, fourth] = turns;
        let there_and_back = first.status == third.status && second.status == fourth.status;
        let counts = |status: Status<'_>| {
            matches!(status, Status::True | Status::False)
                || (status == Status::Unknown && !summary)
        };
        if !there_and_back || !counts(first.status) || !counts(second.status) {
            continue;
        }
        let span = match (first.transition(), fourth.transition()) {
            (Some(first), Some(fourth)) => fourth.since(first),
            (Some(_) | None, None) | (None, Some(_)) => 0,
        };
        if span > WINDOW {
            continue;
        }
        let (one, other) = (first.status.text(), second.status.text());
        let within =
            if span > 0 { format!(" within {}", time::readable(span)) } else { String::new() };
        let message = format!(
            "{type_} went {one}, {other}, {one}, {other}{within} while the spec stayed the same"
        );
        findings.push(
            RULE.finding(object.place(condition, "status"), message).help(
                "find out whether two writers own the condition, and compute it from all that it is about",
            ),
        );
    }
    if !findings.is_empty() {
        // Who writes in turn is told by a rule of its own.
        let told = two_writers_alternate::check(view, series);
        findings.retain(|finding| told.iter().all(|told| told.path != finding.path));
    }
    findings
}

/// The latest states that all had the same to go by: spec, labels, annotations, and what the status
/// says of revisions.
fn unchanged<'s, 'a>(series: &[&'s Object<'a>]) -> Vec<&'s Object<'a>> {
    let Some(last) = series.last() else { return Vec::new() };
    let start = series
        .iter()
        .rposition(|state| {
            !change::same_inputs(state, last) || state.uid != last.uid || revised(state, last)
        })
        .map_or(0, |place| place + 1);
    series[start..].to_vec()
}

/// Whether a revision or digest in the status is another one.
fn revised(before: &Object<'_>, after: &Object<'_>) -> bool {
    change::status(before, after).iter().any(|difference| {
        let key = difference.key().to_ascii_lowercase();
        ["revision", "digest", "commit", "version", "hash"].iter().any(|word| key.contains(word))
    })
}
