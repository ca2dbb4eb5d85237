use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::Check;
use crate::trace::history::exact;
use crate::trace::story::Story;
use crate::trace::words;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a key that has been ready for at least `spec.queue.patience` (ten minutes) up to
    /// the end, while workers took other keys.
    ///
    /// ## Why is this bad?
    ///
    /// A queue that is not empty is not alive. controller-runtime's priority queue gives -100 to
    /// the objects of the initial list; as long as events or short delays keep the rest of the
    /// queue busy, those objects are not reconciled at all after a restart.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: starved}
    /// spec:
    ///   queue: {flavour: priority, workers: 1}
    ///   end: 30m
    ///   events:
    ///   - {at: 0s, event: add, key: team-a/old, priority: -100}
    ///   - {event: add, key: team-a/busy}
    ///   - {event: get, key: team-a/busy}
    ///   - {at: 15m, event: add, key: team-a/busy}
    ///   - {event: return, key: team-a/busy}
    ///   - {event: get, key: team-a/busy}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: starved}
    /// spec:
    ///   queue: {flavour: priority, workers: 2}
    ///   end: 30m
    ///   events:
    ///   - {at: 0s, event: add, key: team-a/old, priority: -100}
    ///   - {event: add, key: team-a/busy}
    ///   - {event: get, key: team-a/busy}
    ///   - {event: get, key: team-a/old}
    ///   - {at: 15m, event: add, key: team-a/busy}
    ///   - {event: return, key: team-a/busy}
    ///   - {event: return, key: team-a/old}
    ///   - {event: get, key: team-a/busy}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: the key is not served.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/controller-runtime/issues/3496>
    pub static RULE = {
        id: "ready-item-never-handed-out",
        family: "trace",
        severity: Error,
        means: Unknown,
        since: "0.1.0",
        summary: "a key is ready, and workers take others all the time",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in &story.keys {
        let (Some(waited), Some((event, _))) = (story.starved(key), key.ready_since) else {
            continue;
        };
        let message = format!(
            "`{}` has been ready for {}, and workers took other keys {} times",
            story.history.key(key.key),
            exact(i64::try_from(waited).unwrap_or(i64::MAX)),
            key.overtaken,
        );
        let finding = RULE
            .finding(words::pointer(event), message)
            .beside(words::pointer(event), words::order(story.history, key))
            .help("raise its priority, or add workers until low priorities are served too");
        findings.push(finding);
    }
    findings
}
