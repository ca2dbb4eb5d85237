use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::{Condition, Object};
use crate::profile::{Profile, test};
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for work that had ended, by the kind's contract for ever, and has begun again or ended
    /// otherwise: a TaskRun whose `Succeeded` was False and is Unknown, a Job that had failed and is
    /// complete. A new spec, and a new attempt that the object itself counts, may begin anew.
    ///
    /// ## Why is this bad?
    ///
    /// Whoever saw the end has acted on it: the pipeline was reported failed, its successor started,
    /// the log was collected. A TaskRun whose pod was gone once started over after its failure, and
    /// its PipelineRun stayed failed while the task succeeded.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: import, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   failed: 1
    ///   startTime: "2026-01-01T00:00:00Z"
    ///   conditions:
    ///   - {type: Failed, status: "True", reason: BackoffLimitExceeded, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ---
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: import, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   active: 1
    ///   startTime: "2026-01-01T00:00:00Z"
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: import, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   active: 1
    ///   startTime: "2026-01-01T00:00:00Z"
    /// ---
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: import, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   failed: 1
    ///   startTime: "2026-01-01T00:00:00Z"
    ///   conditions:
    ///   - {type: Failed, status: "True", reason: BackoffLimitExceeded, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: no lag explains it, and what was done because of the end cannot be undone.
    ///
    /// ## References
    ///
    /// - <https://github.com/tektoncd/pipeline/issues/7895>
    /// - <https://github.com/tektoncd/pipeline/issues/9467>
    pub static RULE = {
        id: "terminal-state-reverted",
        family: "terminal",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "work that had ended has begun again or ended otherwise",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if old.generation != object.generation || object.deleting || !change::same_spec(old, object) {
        return Vec::new();
    }
    let Some((old_place, was)) = end(old, profile) else { return Vec::new() };
    let attempts = profile.finish.iter().map(|finish| &finish.attempt);
    let mut attempts = attempts.filter(|path| !path.is_empty());
    let anew = attempts.any(|path| match (old.field(path), object.field(path)) {
        (None, None) => false,
        (Some(before), Some(after)) => !before.same(after),
        (Some(_), None) | (None, Some(_)) => true,
    });
    let now = end(object, profile);
    if anew || now.as_ref().is_some_and(|(_, is)| *is == was) {
        return Vec::new();
    }
    let (place, is) = now.unwrap_or_else(|| {
        // Where the end stood is where its absence shows.
        let condition = profile.happy.first().and_then(|type_| object.condition(type_));
        match condition {
            Some(condition) => (
                object.place(condition, "status"),
                format!("{} is {}", condition.type_, condition.status.text()),
            ),
            None => ("/status".into(), "nothing says so any more".into()),
        }
    });
    alloc::vec![
        RULE.finding(place, format!("it had ended ({was}), and now {is}"))
            .elsewhere("old", old_place, was)
            .help("write a new object for a new attempt, and never a status over a final one"),
    ]
}

/// Where an object says that it has come to its end for ever, and how. What a profile says of the
/// end is all there is; else the end is a happy condition that is True or False.
fn end(object: &Object<'_>, profile: &Profile<'_>) -> Option<(String, String)> {
    for finish in profile.finish.iter().filter(|finish| finish.absorbing) {
        if let Some(first) = finish.when.first()
            && test::all(&finish.when, object)
        {
            let (place, value) = test::place(first, object);
            let subject = if first.condition.is_empty() { &first.field } else { &first.condition };
            return Some((place, format!("{subject} is {value}")));
        }
    }
    if !profile.terminal || profile.finish.iter().any(|finish| finish.absorbing) {
        return None;
    }
    let happy = profile.happy.iter().filter_map(|type_| object.condition(type_));
    let bad = profile.stalled.iter().chain(&profile.abnormal);
    let bad = bad.filter_map(|type_| object.condition(type_)).filter(|found| found.is_true());
    let ended = |condition: &&Condition<'_>| condition.is_true() || condition.is_false();
    let condition = happy.filter(ended).chain(bad).next()?;
    let text = format!("{} is {}", condition.type_, condition.status.text());
    Some((object.place(condition, "status"), text))
}
