use alloc::format;
use alloc::vec::Vec;

use plumb_queue::Step;

use crate::declare_rule;
use crate::finding::{Action, Finding, Severity};
use crate::pass::Pass;
use crate::rule::Check;
use crate::time;

/// What "at once" may take, in milliseconds: the limiter says when a Requeue comes.
const AT_ONCE: u64 = 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a result made of those of several parts, `spec.parts`, that comes later than the earliest of
    /// them, or not at all.
    ///
    /// ## Why is this bad?
    ///
    /// Each part has a reason for its delay. Where the parts' results are merged by hand, one of them is
    /// easily lost: the last one overwrites the others, a zero counts as the smallest delay, or Requeue is
    /// dropped since another part has set RequeueAfter.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: Reconcile
    /// spec:
    ///   object:
    ///     apiVersion: example.org/v1
    ///     kind: Cluster
    ///     metadata: {name: app, namespace: team-a, generation: 1}
    ///   parts:
    ///   - {name: certificates, result: {requeueAfter: 1h}}
    ///   - {name: nodes, result: {requeueAfter: 10s}}
    ///   result: {requeueAfter: 1h}
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
    ///     kind: Cluster
    ///     metadata: {name: app, namespace: team-a, generation: 1}
    ///   parts:
    ///   - {name: certificates, result: {requeueAfter: 1h}}
    ///   - {name: nodes, result: {requeueAfter: 10s}}
    ///   result: {requeueAfter: 10s}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error where nothing is scheduled at all; warning where it is late.
    ///
    /// ## References
    ///
    /// - <https://github.com/elastic/cloud-on-k8s/issues/2138>
    /// - `reconcileHandler` in <https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/internal/controller/controller.go>
    pub static RULE = {
        id: "aggregate-later-than-part",
        family: "result",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the result of several parts is later than one of them asked for",
        check: Check::Pass(check),
    }
}

/// The part that asked for an earlier pass than the result does.
pub(super) fn earliest(pass: &Pass<'_>) -> Option<(usize, Option<u64>)> {
    let (returned, step) = pass.proposed()?;
    if returned.terminal || pass.next.action == Action::Stop {
        return None;
    }
    let late = |asked: Option<u64>| match (step, asked) {
        (Step::Nothing | Step::Forget, _) => true,
        (Step::RateLimited, _) => false,
        (Step::ForgetThenAfter(delay) | Step::After(delay), None) => delay > AT_ONCE,
        // A twentieth is jitter.
        (Step::ForgetThenAfter(delay) | Step::After(delay), Some(asked)) => {
            delay > asked.saturating_add(asked / 20).saturating_add(1_000)
        }
    };
    let asked = pass.spec.parts.iter().enumerate().filter_map(|(place, part)| {
        match pass.step(&part.result) {
            Step::Nothing | Step::Forget => None,
            Step::RateLimited => Some((place, None)),
            Step::ForgetThenAfter(delay) | Step::After(delay) => Some((place, Some(delay))),
        }
    });
    asked.filter(|(_, asked)| late(*asked)).min_by_key(|(_, asked)| asked.unwrap_or(0))
}

fn check(pass: &Pass<'_>) -> Vec<Finding> {
    let Some(((returned, step), (place, asked))) = pass.proposed().zip(earliest(pass)) else {
        return Vec::new();
    };
    let name = &*pass.spec.parts[place].name;
    let wanted = asked.map_or_else(
        || "at once".into(),
        |asked| format!("after {}", time::readable(i64::try_from(asked).unwrap_or(i64::MAX))),
    );
    let lost = matches!(step, Step::Nothing | Step::Forget);
    let effect = if lost { "schedules nothing" } else { "comes later" };
    let message = format!("`{name}` asks for a pass {wanted}, but {} {effect}", returned.text());
    let mut finding = RULE
        .finding("/spec/result", message)
        .beside(format!("/spec/parts/{place}/result"), format!("{name} asks for it {wanted}"))
        .help("return the earliest of the parts: an error, else Requeue, else the smallest positive delay");
    if !lost {
        finding.severity = Severity::Warning;
    }
    alloc::vec![finding]
}
