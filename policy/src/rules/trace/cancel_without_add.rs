use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::Check;
use crate::trace::story::Story;
use crate::trace::words;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a run that was cancelled, for which the queue held no entry when it returned, to
    /// which no add of the same handler belonged, and which did not ask for another run.
    ///
    /// ## Why is this bad?
    ///
    /// The cancellation says "start anew", and nothing does. In controller-runtime the map function
    /// of an update runs for the old and for the new object, but a key is added only once for both.
    /// Whoever cancels inside the map function therefore cancels twice and adds once: if a worker
    /// takes the key between the two, the second cancellation hits a run that has no add behind it.
    /// On client-go's queue an older timer of the interval still wakes the object some time later;
    /// on the priority queue there is none.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: cancelled}
    /// spec:
    ///   queue: {flavour: classic}
    ///   sources:
    ///   - {name: GitRepository/flux-system/app, revision: v4}
    ///   objects:
    ///   - {key: flux-system/app, status: {attempted: v3}}
    ///   events:
    ///   - {at: 0s, event: watch, source: GitRepository/flux-system/app, revision: v5}
    ///   - {event: map, side: old}
    ///   - {event: dispatch}
    ///   - {event: add}
    ///   - {at: 1ms, event: get}
    ///   - {event: read, revision: v5}
    ///   - {at: 2ms, event: map, side: new}
    ///   - {event: dispatch}
    ///   - {event: skip}
    ///   - {at: 1s, event: return, outcome: canceled}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: cancelled}
    /// spec:
    ///   queue: {flavour: classic}
    ///   sources:
    ///   - {name: GitRepository/flux-system/app, revision: v4}
    ///   objects:
    ///   - {key: flux-system/app, status: {attempted: v3}}
    ///   events:
    ///   - {at: 0s, event: watch, source: GitRepository/flux-system/app, revision: v5}
    ///   - {event: map, side: old}
    ///   - {event: dispatch}
    ///   - {event: add}
    ///   - {at: 1ms, event: get}
    ///   - {event: read, revision: v5}
    ///   - {at: 2ms, event: map, side: new}
    ///   - {event: dispatch}
    ///   - {event: skip}
    ///   - {at: 1s, event: return, outcome: canceled, requeueAfter: 1ms}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: another event may come in time. Where none does, `idle-with-work-owed` says so.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/kustomize-controller/issues/1624>
    /// - `mapAndEnqueue` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/handler/enqueue_mapped.go>
    pub static RULE = {
        id: "cancel-without-add",
        family: "trace",
        severity: Warning,
        means: Unknown,
        since: "0.1.0",
        summary: "a run is cancelled, and neither an add nor its result starts another",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in &story.keys {
        for cancel in &key.cancels {
            let name = story.history.key(key.key);
            let message = format!("the run of `{name}` is cancelled with no add beside it");
            let mut finding = RULE
                .finding(words::pointer(cancel.at), message)
                .beside(words::pointer(cancel.got), "the run starts here")
                .beside(words::pointer(cancel.returned), "it returns here and asks for nothing")
                .help(
                    "return Requeue or a positive RequeueAfter from a run that was cancelled, or \
                     add the key each time a run of it is cancelled",
                );
            if let Some(skip) = cancel.skip {
                let note = "the handler leaves the add out, as it has added the key before";
                finding = finding.beside(words::pointer(skip), note);
            }
            findings.push(finding);
        }
    }
    findings
}
