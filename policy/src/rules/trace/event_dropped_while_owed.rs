use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::Check;
use crate::trace::story::{Carrier, Owing, Story};
use crate::trace::words;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for an event that a filter or predicate dropped, although something was owed to the
    /// key then and still is at the end, after no further run, and nothing but a timer will do it.
    ///
    /// ## Why is this bad?
    ///
    /// Filters that compare with what was seen last, not with what the object still needs, are the
    /// most frequent cause of lost wake-ups: an artifact that comes back with the same revision, a
    /// new commit while the object is in its cool-down, an event while a circuit breaker is open.
    /// The object waits for a timer that has nothing to do with the event, or for ever.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: cool-down}
    /// spec:
    ///   queue: {flavour: classic}
    ///   sources:
    ///   - {name: Commit/app, revision: a}
    ///   events:
    ///   - {at: 0s, event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: read, revision: a}
    ///   - {event: return, requeueAfter: 10m, outcome: failed}
    ///   - {at: 1m, event: watch, source: Commit/app, revision: b}
    ///   - {event: map, filter: drop}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: cool-down}
    /// spec:
    ///   queue: {flavour: classic}
    ///   sources:
    ///   - {name: Commit/app, revision: a}
    ///   events:
    ///   - {at: 0s, event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: read, revision: a}
    ///   - {event: return, requeueAfter: 10m, outcome: failed}
    ///   - {at: 1m, event: watch, source: Commit/app, revision: b}
    ///   - {event: map}
    ///   - {event: add}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the timer will come. Where there is none, `idle-with-work-owed` says so.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/kustomize-controller/pull/980>
    /// - <https://github.com/crossplane/crossplane/issues/7703>
    pub static RULE = {
        id: "event-dropped-while-owed",
        family: "trace",
        severity: Warning,
        means: Unknown,
        since: "0.1.0",
        summary: "a filter drops the event that the object is waiting for",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in &story.keys {
        if !matches!(key.carrier, None | Some(Carrier::Timer(_) | Carrier::Await)) {
            continue;
        }
        let last_run = key.passes.last().map_or(0, |pass| pass.got);
        let was_canceled = key.passes.last().is_some_and(|pass| pass.canceled.is_some());
        for drop in key.drops.iter().filter(|drop| drop.at >= last_run) {
            // What this event could have settled: that a run sees its source, or that a run comes
            // after one that was cancelled. A filter is right to drop what changes nothing that
            // the object waits for.
            let debt = key.debts.iter().find(|debt| match &debt.owing {
                Owing::Source(source, ..) => drop.source == Some(*source),
                Owing::Status(_) | Owing::Another(_) if was_canceled => {
                    debt.since.is_none_or(|since| since < drop.at)
                }
                _ => false,
            });
            let Some(debt) = debt else { continue };
            let name = story.history.key(key.key);
            let message = format!(
                "the filter drops the event for `{name}`, though {}",
                words::debt(story.history, debt)
            );
            let mut finding = RULE.finding(words::pointer(drop.at), message).help(
                "let the filter ask what the object still needs, not what it has seen last; a \
                 filter that protects from too many events delays them instead of dropping them",
            );
            if let Some(since) = debt.since {
                finding = finding.beside(words::pointer(since), "it has been so since here");
            }
            findings.push(finding);
        }
    }
    findings
}
