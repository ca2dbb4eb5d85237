use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::Check;
use crate::trace::story::{Owing, Story};
use crate::trace::words;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a run that read an older revision than the one that had been delivered to a cache
    /// of the same controller, where no later run has seen the newer one.
    ///
    /// ## Why is this bad?
    ///
    /// The event that announced the newer revision is spent: it started a run, and that run looked
    /// elsewhere. Two informers of one controller do not move in step, nor does a cache follow the
    /// controller's own writes at once. A conclusion from the older state stands until something
    /// else wakes the object.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: refresh}
    /// spec:
    ///   queue: {flavour: classic}
    ///   sources:
    ///   - {name: Pod/app, revision: starting}
    ///   events:
    ///   - {at: 0s, event: watch, source: Pod/app, revision: running}
    ///   - {event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: read, source: Pod/app, revision: starting}
    ///   - {event: return}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: refresh}
    /// spec:
    ///   queue: {flavour: classic}
    ///   sources:
    ///   - {name: Pod/app, revision: starting}
    ///   events:
    ///   - {at: 0s, event: watch, source: Pod/app, revision: running}
    ///   - {event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: read, source: Pod/app, revision: running}
    ///   - {event: return}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: a later event or timer may make it good. Where none does, `idle-with-work-owed`
    /// says so.
    ///
    /// ## References
    ///
    /// - <https://github.com/argoproj/argo-cd/issues/14266>
    /// - <https://github.com/kubernetes-sigs/controller-runtime/issues/1622>
    pub static RULE = {
        id: "stale-read-concluded",
        family: "trace",
        severity: Warning,
        means: Unknown,
        since: "0.1.0",
        summary: "a run draws its conclusion from an older state than it was woken for",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in &story.keys {
        let last_run = key.passes.last().map_or(0, |pass| pass.got);
        for stale in key.stale_reads.iter().filter(|stale| stale.at > last_run) {
            let is_owed = key.debts.iter().any(|debt| match &debt.owing {
                Owing::Source(source, Some(seen), _) => {
                    *source == stale.source && *seen == stale.read
                }
                _ => false,
            });
            if !is_owed {
                continue;
            }
            let source = story.history.source(stale.source);
            let message = format!("the run reads `{source}` at `{}`, which is old", stale.read);
            findings.push(
                RULE.finding(words::pointer(stale.at), message)
                    .beside(words::pointer(stale.newer), "the newer one is delivered here")
                    .help(
                        "compare what was read with what is known to be there, and return \
                         RequeueAfter if it is older",
                    ),
            );
        }
    }
    findings
}
