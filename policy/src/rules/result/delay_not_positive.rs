use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Runtime;

use crate::declare_rule;
use crate::finding::{Action, Finding, Severity};
use crate::pass::Pass;
use crate::rule::Check;
use crate::time;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a result whose delay is negative, and for one whose delay is zero where the runtime takes
    /// that for a delay.
    ///
    /// ## Why is this bad?
    ///
    /// The delay is most often the time that is left until something is due, and it is negative as soon as
    /// that is overdue. What happens then depends on whose loop reads it:
    ///
    /// | runtime | zero | negative |
    /// | --- | --- | --- |
    /// | controller-runtime, both queues | no delay: nothing is scheduled | as zero: **nothing is scheduled** |
    /// | a loop by hand over client-go | `AddAfter` adds at once | `AddAfter` adds at once |
    /// | kube-rs | runs again at once | cannot be: `Duration` has no sign |
    ///
    /// So what is overdue is either never done, or done in a loop until something else changes. A zero delay
    /// in controller-runtime is an empty result, and judged as one.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: example.org/v1
    ///     kind: Token
    ///     metadata: {name: app, namespace: team-a, generation: 1}
    ///   result: {requeueAfter: -3s}
    ///   queue: {flavour: priority}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: example.org/v1
    ///     kind: Token
    ///     metadata: {name: app, namespace: team-a, generation: 1}
    ///   result: {requeueAfter: 1ms}
    ///   queue: {flavour: priority}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error where nothing is scheduled: what is overdue is never done. Warning where it is done at once.
    ///
    /// ## References
    ///
    /// - <https://github.com/gocardless/theatre/pull/52>
    /// - <https://github.com/cert-manager/cert-manager/issues/1214>
    /// - `reconcileHandler` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/internal/controller/controller.go>
    /// - `AddAfter` in <https://github.com/kubernetes/client-go/blob/master/util/workqueue/delaying_queue.go>
    pub static RULE = {
        id: "delay-not-positive",
        family: "result",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "a delay is zero or negative, which no two runtimes read alike",
        check: Check::Pass(check),
    }
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some(returned) = pass.returned else { return Vec::new() };
    let Some(span) = returned.requeue_after.map(|span| span.0) else { return Vec::new() };
    // An error or a mere Requeue beside it decides instead.
    let decides = returned.error.is_empty() && !returned.terminal && !returned.requeue;
    // Where the pass is to be taken up at once, a zero delay says just that.
    let at_once = span == 0 && pass.next.action == Action::Requeue;
    if span > 0 || !decides || at_once || span == 0 && pass.runtime == Runtime::ControllerRuntime {
        return Vec::new();
    }
    let delay = if span == 0 { "0".into() } else { time::readable(span) };
    let (effect, severity) = match pass.runtime {
        Runtime::ControllerRuntime => {
            ("controller-runtime takes that for none: nothing is scheduled", Severity::Error)
        }
        Runtime::ClientGo => ("`AddAfter` adds the key at once", Severity::Warning),
        Runtime::KubeRs if span < 0 => {
            ("kube-rs knows no such delay: made a `Duration` it panics or is 0", Severity::Warning)
        }
        Runtime::KubeRs => ("kube-rs runs the object again at once", Severity::Warning),
    };
    let help = "return what is left of the time but at least a short delay, such as a second";
    let mut finding =
        RULE.finding("/spec/result/requeueAfter", format!("the delay is {delay}, and {effect}"));
    finding.severity = severity;
    alloc::vec![finding.help(help)]
}
