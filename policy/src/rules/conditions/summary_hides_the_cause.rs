use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::object::Condition;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// On kinds whose summary repeats the worst of their other conditions: looks for a summary that
    /// is not True and gives a reason of its own, while an abnormal condition is True or a condition
    /// that it depends on is False.
    ///
    /// ## Why is this bad?
    ///
    /// The summary is what people and alerts see. A repository whose signature could not be verified
    /// once said "new digest" in Ready, and the failed verification stood where nobody looked.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: NewRevision, message: "new digest 'sha256:dd' for 'example.com/app:1'", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    ///   - {type: SourceVerified, status: "False", reason: VerificationError, message: no matching signatures, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: VerificationError, message: no matching signatures, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    ///   - {type: SourceVerified, status: "False", reason: VerificationError, message: no matching signatures, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning at rest: the object is rightly not ready, only the reason misleads. Info while work is
    /// under way or a newer generation is to come: the summary is written last.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/source-controller/pull/907>
    /// - WARN0002 of Flux's condition checker, `runtime/conditions/check` in <https://github.com/fluxcd/pkg>
    pub static RULE = {
        id: "summary-hides-the-cause",
        family: "conditions",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the summary fails for another reason than the worst condition below it",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|condition| condition.is_false()) else {
        return Vec::new();
    };
    if !profile.copies_reason || object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let causes = || {
        let abnormal = profile.abnormal.iter().filter_map(|type_| object.condition(type_));
        let dependents = profile.dependents.iter().filter_map(|type_| object.condition(type_));
        abnormal
            .filter(|condition| condition.is_true())
            .chain(dependents.filter(|condition| condition.is_false()))
    };
    let stalled = profile.stalled.iter().filter_map(|type_| object.condition(type_));
    let told = causes().chain(stalled).any(|cause| {
        cause.reason == summary.reason
            || (cause.message == summary.message && !cause.message.is_empty())
    });
    let Some(cause) = causes().next().filter(|cause| !told && !cause.reason.is_empty()) else {
        return Vec::new();
    };
    let (type_, reason) = (summary.type_, summary.reason);
    let message = format!(
        "{type_} is False for {reason}, but {} is {} for {}",
        cause.type_,
        cause.status.text(),
        cause.reason
    );
    let busy = profile
        .progress
        .iter()
        .any(|type_| object.condition(type_).is_some_and(Condition::is_true));
    let mut finding = RULE
        .finding(object.place(summary, "reason"), message)
        .beside(object.place(cause, "reason"), format!("{} says {}", cause.type_, cause.reason))
        .help("copy reason and message of the worst condition into the summary");
    if busy || crate::phase::behind(object, profile).is_some() {
        finding.severity = Severity::Info;
    }
    alloc::vec![finding]
}
