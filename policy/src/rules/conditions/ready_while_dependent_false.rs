use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Condition;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// On kinds whose summary follows from other conditions: looks for a summary that is True while
    /// one of those is False. A condition of an older generation than the summary's says nothing,
    /// and neither does one that the kind's profile does not name. Where work is under way, the
    /// summary is that of the past.
    ///
    /// ## Why is this bad?
    ///
    /// The summary is True only while all of its parts are. Who trusts it goes on with a part that
    /// its own controller calls broken.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: done, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
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
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: VerificationError, message: no matching signatures, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    ///   - {type: SourceVerified, status: "False", reason: VerificationError, message: no matching signatures, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: one writer owns both, and by the kind's contract they exclude each other.
    ///
    /// ## References
    ///
    /// - <https://github.com/knative/specs/blob/main/specs/serving/overview.md>: Ready is the conjunction of the conditions below it
    /// - <https://github.com/fluxcd/source-controller/pull/907>
    pub static RULE = {
        id: "ready-while-dependent-false",
        family: "conditions",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the summary is True while a condition that it follows from is False",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|condition| condition.is_true()) else {
        return Vec::new();
    };
    let is_true = |type_: &str| object.condition(type_).is_some_and(Condition::is_true);
    if object.deleting
        || test::any(&profile.suspended, object)
        || profile.progress.iter().any(|type_| is_true(type_))
    {
        return Vec::new();
    }
    let parts = profile.dependents.iter().filter_map(|type_| object.condition(type_));
    parts
        .filter(|part| part.is_false())
        .filter(|part| match (part.observed_generation, summary.observed_generation) {
            (Some(part), Some(whole)) => part >= whole,
            (Some(_) | None, None) | (None, Some(_)) => true,
        })
        .map(|part| {
            let message = format!("{} is True while {} is False", summary.type_, part.type_);
            RULE.finding(object.place(summary, "status"), message)
                .beside(object.place(part, "status"), format!("{} is False", part.type_))
                .help("compute the summary from the other conditions, as the last step")
        })
        .collect()
}
