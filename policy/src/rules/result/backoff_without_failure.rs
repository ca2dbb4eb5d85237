use alloc::format;
use alloc::vec::Vec;

use plumb_queue::{Backoff, Step};

use crate::decide::{backoff, interval};
use crate::declare_rule;
use crate::finding::Finding;
use crate::pass::{OutcomeType, Pass};
use crate::rule::Check;
use crate::time;

/// A wait that nobody takes for "at once", in milliseconds.
const LONG: i64 = 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a pass that did not fail and returns Requeue, while the limiter counts so many passes before
    /// it that the next one comes after a minute or more, or after more than the interval.
    ///
    /// ## Why is this bad?
    ///
    /// In controller-runtime `Requeue` is an add by the limiter: the count grows, and only a pass that
    /// returns RequeueAfter or an empty result resets it. A path that always returns Requeue, say after each
    /// cancellation, waits twice as long each time, though nothing ever failed.
    ///
    /// The limiter is taken from `queue.rateLimiter`; without it controller-runtime's own is assumed.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: kustomize.toolkit.fluxcd.io/v1
    ///     kind: Kustomization
    ///     metadata: {name: app, namespace: infra, generation: 6}
    ///     spec: {interval: 10m}
    ///   outcome: {type: canceled, by: GitRepository/infra/app}
    ///   result: {requeue: true}
    ///   failures: 8
    ///   queue: {flavour: priority, rateLimiter: {base: 750ms, max: 15m}}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: kustomize.toolkit.fluxcd.io/v1
    ///     kind: Kustomization
    ///     metadata: {name: app, namespace: infra, generation: 6}
    ///     spec: {interval: 10m}
    ///   outcome: {type: canceled, by: GitRepository/infra/app}
    ///   result: {requeueAfter: 1ms}
    ///   failures: 8
    ///   queue: {flavour: priority, rateLimiter: {base: 750ms, max: 15m}}
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
        id: "backoff-without-failure",
        family: "result",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "a pass that did not fail waits for a back-off that is never reset",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some((returned, Step::RateLimited)) = pass.proposed() else { return Vec::new() };
    let failed = matches!(pass.outcome, Some(OutcomeType::Failed) | None);
    let Some(failures) = pass.spec.failures.filter(|_| !failed && returned.error.is_empty()) else {
        return Vec::new();
    };
    let delay = backoff(pass.spec).unwrap_or_else(|| {
        let delay = Backoff::CLIENT_GO.delay(u8::try_from(failures).unwrap_or(u8::MAX));
        i64::try_from(delay).unwrap_or(i64::MAX)
    });
    // An interval below the limiter's first delay is beyond everybody's control.
    let over = interval(&pass.view).is_some_and(|interval| failures > 0 && delay > interval);
    if delay < LONG && !over {
        return Vec::new();
    }
    let message = format!("Requeue waits {}: the limiter counts {failures}", time::readable(delay));
    alloc::vec![
        RULE.finding("/spec/result/requeue", message)
            .beside("/spec/failures", "passes in a row that returned Requeue or an error")
            .help("return a short RequeueAfter, which also resets the count")
    ]
}
