use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Status;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// On kinds whose summary is the conjunction of other conditions: looks for a summary that is
    /// Unknown although all of those are present and True. A part of an older generation may hold
    /// the summary back, and so may a spec that was not observed so far. One that is False has a
    /// cause of its own.
    ///
    /// ## Why is this bad?
    ///
    /// The object works, and nobody believes it. After an upgrade Karpenter compared numbers which
    /// the old conditions did not carry: every node of the old version had `Ready=Unknown`, for ever,
    /// since nothing was left to change.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodeClaim
    /// metadata: {name: default-x7k2p, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: Launched, status: "True", reason: Launched, message: "", lastTransitionTime: "2024-12-06T01:24:44Z"}
    ///   - {type: Registered, status: "True", reason: Registered, message: "", lastTransitionTime: "2024-12-06T01:25:28Z"}
    ///   - {type: Initialized, status: "True", reason: Initialized, message: "", lastTransitionTime: "2024-12-06T01:25:59Z"}
    ///   - {type: Ready, status: Unknown, reason: ReconcilingDependents, message: "", lastTransitionTime: "2024-12-06T01:34:44Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodeClaim
    /// metadata: {name: default-x7k2p, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: Launched, status: "True", reason: Launched, message: "", lastTransitionTime: "2024-12-06T01:24:44Z"}
    ///   - {type: Registered, status: "True", reason: Registered, message: "", lastTransitionTime: "2024-12-06T01:25:28Z"}
    ///   - {type: Initialized, status: "True", reason: Initialized, message: "", lastTransitionTime: "2024-12-06T01:25:59Z"}
    ///   - {type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2024-12-06T01:34:44Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: by the kind's contract the summary follows from the others at once.
    ///
    /// ## References
    ///
    /// - <https://github.com/aws/karpenter-provider-aws/issues/7494>
    /// - <https://github.com/kubernetes-sigs/karpenter/pull/1869>
    pub static RULE = {
        id: "summary-unknown-while-dependents-true",
        family: "conditions",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the summary is not True although all that it follows from is",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|condition| condition.status == Status::Unknown) else {
        return Vec::new();
    };
    if !profile.conjunction
        || profile.dependents.is_empty()
        || object.deleting
        || test::any(&profile.suspended, object)
        || crate::phase::behind(object, profile).is_some()
    {
        return Vec::new();
    }
    let mut parts = Vec::new();
    for type_ in &profile.dependents {
        match object.condition(type_) {
            Some(part) if part.is_true() => parts.push(part),
            _ => return Vec::new(),
        }
    }
    let behind = |own: i64| object.generation.is_some_and(|generation| own < generation);
    if parts.iter().any(|part| part.observed_generation.is_some_and(|own| own > 0 && behind(own))) {
        return Vec::new();
    }
    // A part that became True this very second may still be on its way into the summary.
    let newest = parts.iter().filter_map(|part| part.transition()).max();
    if let (Some(newest), Some(since)) = (newest, summary.transition())
        && newest > since
        && view.now.is_none_or(|now| now.since(newest) < 60_000)
    {
        return Vec::new();
    }
    let names: Vec<&str> = parts.iter().map(|part| part.type_).collect();
    let message = format!(
        "{} is {}, but {} are all True",
        summary.type_,
        summary.status.text(),
        names.join(", ")
    );
    let mut finding = RULE.finding(object.place(summary, "status"), message);
    for part in parts {
        finding = finding.beside(object.place(part, "status"), format!("{} is True", part.type_));
    }
    alloc::vec![finding.help("compute the summary from the other conditions on every reconcile")]
}
