use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::Check;
use crate::trace::story::Story;
use crate::trace::words;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a key to which something is owed while the queue has neither an entry nor a timer
    /// for it, no run is in progress, and no event is still to be handled.
    ///
    /// Owed is a run that sees a source as it is now, an answer to a request, a run for the last
    /// generation, a settled status, another run after one that was cancelled or failed, a status
    /// write that was refused, and, where the history names them, a run at a due time or once per
    /// interval. An object that a run left unsettled without failing may wait for an event, if it
    /// has a source that is watched or none is known. Nothing is owed to an object that is
    /// suspended, deleted or stalled, or whose last error was terminal.
    ///
    /// ## Why is this bad?
    ///
    /// Nothing will wake the object: no later event is due, and a resync does not help where
    /// predicates drop events that change nothing. It stays as it is until somebody changes it or
    /// restarts the controller. The first case seen was a Kustomization that hung at "New
    /// reconciliation triggered" with an interval of 30 minutes.
    ///
    /// The finding points at the event after which nothing was left, and says how it came to that.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: overdue}
    /// spec:
    ///   queue: {flavour: priority, version: controller-runtime v0.24.1}
    ///   objects:
    ///   - {key: team-a/token, due: 1h}
    ///   events:
    ///   - {at: 0s, event: add}
    ///   - {event: get}
    ///   - {event: return, requeueAfter: 1h}
    ///   - {at: 59m59s, event: add, note: somebody edits a label}
    ///   - {event: get}
    ///   - {at: 1h0m1s, event: return, requeueAfter: -1s, note: the time left is negative}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: overdue}
    /// spec:
    ///   queue: {flavour: priority, version: controller-runtime v0.24.1}
    ///   objects:
    ///   - {key: team-a/token, due: 1h}
    ///   events:
    ///   - {at: 0s, event: add}
    ///   - {event: get}
    ///   - {event: return, requeueAfter: 1h}
    ///   - {at: 59m59s, event: add, note: somebody edits a label}
    ///   - {event: get}
    ///   - {at: 1h0m1s, event: return, requeueAfter: 1ms, note: never less than that}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: what is owed will not be done.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/kustomize-controller/issues/1624>
    /// - `reconcileHandler` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/internal/controller/controller.go>
    pub static RULE = {
        id: "idle-with-work-owed",
        family: "trace",
        severity: Error,
        means: Unknown,
        since: "0.1.0",
        summary: "something is owed to a key, and nothing is left to wake it",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let stuck = story.keys.iter().filter(|key| key.is_stuck());
    stuck
        .map(|key| {
            let cause = words::cause(story, key);
            let path = key.lost.map_or_else(|| "/spec/events".into(), words::pointer);
            let name = story.history.key(key.key);
            let mut finding = RULE
                .finding(path, alloc::format!("`{name}` is never woken again: {}", cause.message));
            for debt in &key.debts {
                let text = words::debt(story.history, debt);
                if let Some(since) = debt.since {
                    finding = finding.beside(words::pointer(since), text);
                }
            }
            for (event, message) in cause.events {
                finding = finding.beside(words::pointer(event), message);
            }
            finding.help(cause.advice)
        })
        .collect()
}
