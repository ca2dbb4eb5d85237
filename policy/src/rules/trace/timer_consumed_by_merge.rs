use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Flavour;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::Check;
use crate::trace::story::Story;
use crate::trace::words;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a key that is never woken again, and whose last timer was consumed by an add: on a
    /// queue with one entry per key, an add turns the waiting entry into a ready one.
    ///
    /// ## Why is this bad?
    ///
    /// A controller that returns RequeueAfter on one path and an empty result on another relies on
    /// the timer of the first when it takes the second. On client-go's queue that works, since an
    /// add leaves the timer in place. On controller-runtime's priority queue, the default since
    /// v0.23, and in kube-rs it does not: the event takes the timer with it, and the empty result
    /// leaves nothing.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: interval}
    /// spec:
    ///   queue: {flavour: priority, version: controller-runtime v0.23.1}
    ///   objects:
    ///   - {key: team-a/app, interval: 30m, queue: {due: 30m}}
    ///   events:
    ///   - {at: 10m, event: add}
    ///   - {event: get}
    ///   - {event: return, note: "nothing to do, the timer is set anyhow"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: interval}
    /// spec:
    ///   queue: {flavour: priority, version: controller-runtime v0.23.1}
    ///   objects:
    ///   - {key: team-a/app, interval: 30m, queue: {due: 30m}}
    ///   events:
    ///   - {at: 10m, event: add}
    ///   - {event: get}
    ///   - {event: return, requeueAfter: 30m}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: the key is stuck.
    ///
    /// ## References
    ///
    /// - `lockedAddWithOpts` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/controller/priorityqueue/priorityqueue.go>
    /// - `schedule_message` in <https://github.com/kube-rs/kube/blob/main/kube-runtime/src/scheduler.rs>
    pub static RULE = {
        id: "timer-consumed-by-merge",
        family: "trace",
        severity: Error,
        means: Unknown,
        since: "0.1.0",
        summary: "an add consumed the timer that the controller still relied on",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let history = story.history;
    let merges = history.flavour != Flavour::Classic;
    let stuck = story.keys.iter().filter(|key| merges && key.is_stuck());
    stuck
        .filter_map(|key| {
            let consumed = key.consumed.as_ref()?;
            let name = history.key(key.key);
            let due = history.moment(consumed.due);
            let message =
                format!("the add consumes the timer of `{name}` that was to fire at {due}");
            let mut finding = RULE.finding(words::pointer(consumed.by), message);
            if let Some(set) = consumed.set {
                finding = finding.beside(words::pointer(set), "the timer is set here");
            }
            if let Some(pass) = key.passes.iter().find(|pass| pass.got > consumed.by) {
                let note = format!("the run it started returns {}", words::result(&pass.result));
                finding = finding.beside(words::pointer(pass.returned), note);
            }
            Some(finding.help("return RequeueAfter on every path on which the next run must come"))
        })
        .collect()
}
