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
    /// Looks for a run that returned Requeue and has to wait for a minute or more, or longer than
    /// the interval, since the limiter still counts runs that had other input.
    ///
    /// ## Why is this bad?
    ///
    /// In controller-runtime `Requeue` is a rate-limited add: the count grows, and only a run that
    /// returns RequeueAfter or an empty result resets it. A path that always returns Requeue, say
    /// after each cancellation by a newer revision, waits longer with each revision, up to the
    /// limiter's longest delay, though none of them has failed.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: requeues}
    /// spec:
    ///   queue:
    ///     flavour: priority
    ///     rateLimiter: {base: 40s, max: 15m}
    ///   sources:
    ///   - {name: Commit/app, revision: v1}
    ///   events:
    ///   - {at: 0s, event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: return, requeue: true}
    ///   - {at: 1s, event: watch, source: Commit/app, revision: v2}
    ///   - {event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: return, requeue: true}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: requeues}
    /// spec:
    ///   queue:
    ///     flavour: priority
    ///     rateLimiter: {base: 40s, max: 15m}
    ///   sources:
    ///   - {name: Commit/app, revision: v1}
    ///   events:
    ///   - {at: 0s, event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: return, requeueAfter: 1ms}
    ///   - {at: 1s, event: watch, source: Commit/app, revision: v2}
    ///   - {event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: return, requeueAfter: 1ms}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: it is late, not lost.
    ///
    /// ## References
    ///
    /// - `reconcileHandler` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/internal/controller/controller.go>
    /// - `When` and `Forget` in <https://github.com/kubernetes/client-go/blob/master/util/workqueue/default_rate_limiters.go>
    pub static RULE = {
        id: "backoff-kept-across-inputs",
        family: "trace",
        severity: Warning,
        means: Unknown,
        since: "0.1.0",
        summary: "a run waits long, since the limiter counts runs that had other input",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in &story.keys {
        for backoff in &key.backoffs {
            let delay = exact(i64::try_from(backoff.delay).unwrap_or(i64::MAX));
            let message = format!("Requeue waits {delay}, since the limiter counts earlier runs");
            findings.push(
                RULE.finding(words::pointer(backoff.at), message)
                    .beside(
                        words::pointer(backoff.first),
                        "the count begins here, with other input",
                    )
                    .help("return a short RequeueAfter, which also resets the count"),
            );
        }
    }
    findings
}
