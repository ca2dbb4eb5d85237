use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change::{self, Pair};
use crate::decide::timing;
use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::object::{Condition, Object};
use crate::profile::Transitions;
use crate::rule::{Check, View};
use crate::time;

/// Two states further apart than this, in milliseconds, may hide a state between them.
const NEIGHBOURS: i64 = 60 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a condition whose `lastTransitionTime` moves although nothing happened that moves
    /// it. What moves it depends on the kind: its status (Kubernetes' own helper), any of status,
    /// reason and message (Flux, Knative), the generation too (Crossplane). Where the kind's way is
    /// not known, nothing at all may have changed in the condition; where each write sets a new time
    /// (Strimzi), nothing at all in the status. A step of the kind's own interval, or of more than an
    /// hour, may hide a state in between and is left out.
    ///
    /// ## Why is this bad?
    ///
    /// The write changes the object, the change wakes its controller, and the controller writes
    /// again: a loop that runs for ever at the speed of the API server. Crossplane rewrote 88 of 99
    /// objects every six seconds, Strimzi a Kafka every second. And whoever asks for how long the
    /// object has been ready gets a few seconds for an answer.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:06Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Creating, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:06Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning where nothing else in the status changed, so that the write was void and a loop is
    /// likely, and on kinds known to move the time with the status alone. Info where other parts of
    /// the status changed in the same write: the time is wrong, but the write had a cause.
    ///
    /// ## References
    ///
    /// - <https://github.com/crossplane/crossplane/issues/7692>
    /// - <https://github.com/strimzi/strimzi-kafka-operator/issues/13079>
    /// - <https://github.com/piraeusdatastore/piraeus-operator/pull/905>
    /// - <https://github.com/tektoncd/pipeline/issues/4847>: not a fault where the reason moves the time
    pub static RULE = {
        id: "transition-time-moved-alone",
        family: "time",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "lastTransitionTime of a condition moves though nothing happened",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    // A state in which two things wrote is no neighbour, and a new spec may set everything anew.
    if old.generation != object.generation
        || old.resource_version == object.resource_version && !object.resource_version.is_empty()
    {
        return Vec::new();
    }
    let interval = timing(&profile.timing.interval, object).filter(|&interval| interval > 0);
    let limit = interval.map_or(NEIGHBOURS, |interval| NEIGHBOURS.min(interval / 10 * 9));
    let void = change::status(old, object)
        .iter()
        .all(|difference| difference.key() == "lastTransitionTime" || difference.is_heartbeat());
    let mut findings = Vec::new();
    for pair in change::conditions(old, object) {
        let (Some(before), Some(after)) = (pair.old.transition(), pair.new.transition()) else {
            continue;
        };
        let step = after.since(before);
        if step <= 0 || step > limit {
            continue;
        }
        let Some(same) = unmoved(&pair, profile.transitions) else { continue };
        let strict = profile.transitions == Some(Transitions::Status);
        if profile.transitions == Some(Transitions::Write) && !void {
            continue;
        }
        let type_ = pair.new.type_;
        let message =
            format!("lastTransitionTime of {type_} moved by {}, but {same}", time::readable(step));
        let mut finding = RULE
            .finding(pair.list.place(pair.new, "lastTransitionTime"), message)
            .elsewhere(
                "old",
                pair.old_list.place(pair.old, "lastTransitionTime"),
                format!("was {}", before.text()),
            )
            .help("keep the time while the condition stays the same, and do not write at all then");
        if !void && !strict {
            finding.severity = Severity::Info;
        }
        findings.push(finding);
    }
    findings
}

/// What should have moved and did not, in words; nothing if the time moved rightly.
fn unmoved(pair: &Pair<'_, '_>, transitions: Option<Transitions>) -> Option<String> {
    let (before, after) = (pair.old, pair.new);
    let status = before.status == after.status;
    let state = status && before.reason == after.reason && before.message == after.message;
    let generation = before.observed_generation == after.observed_generation;
    let text = after.status.text();
    match transitions {
        Some(Transitions::Status) => status.then(|| format!("its status stayed {text}")),
        Some(Transitions::State) => {
            state.then(|| format!("status {text}, reason and message stayed the same"))
        }
        Some(Transitions::Generation) => (state && generation)
            .then(|| format!("status {text}, reason, message and generation stayed the same")),
        Some(Transitions::Write) => state.then(|| "nothing in the status changed but times".into()),
        None => (rest(after) == rest(before)
            && after.json.members().iter().all(|(key, value)| {
                is_time(key) || before.json.get(key).is_some_and(|former| former.same(value))
            }))
        .then(|| "nothing else in the condition changed".into()),
    }
}

fn is_time(key: &str) -> bool {
    matches!(key, "lastTransitionTime" | "lastUpdateTime" | "lastHeartbeatTime" | "lastProbeTime")
}

/// How many members of a condition are no times.
fn rest(condition: &Condition<'_>) -> usize {
    condition.json.members().iter().filter(|(key, _)| !is_time(key)).count()
}
