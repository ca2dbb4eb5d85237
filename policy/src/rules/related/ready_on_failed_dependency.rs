use alloc::format;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::{Finding, Phase, Severity};
use crate::phase;
use crate::profile::test;
use crate::reference;
use crate::rule::{Check, View};
use crate::time;

/// How long the news of another object may take, in milliseconds, where the kind's own interval is
/// not known.
const LAG: i64 = 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// On kinds that are ready only while another object is: looks for a summary that is True while
    /// that object has failed. For some kinds it counts only if the object became ready after the
    /// other one had failed; those may keep what they had. Most kinds go on with the last good state
    /// of what they depend on, and are not meant at all.
    ///
    /// ## Why is this bad?
    ///
    /// What the object offers comes from a source that is broken: an image policy resolved a tag for
    /// a repository whose image name was invalid, from the tags of the former name.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Stalled, status: "True", reason: ImageURLInvalid, message: could not parse reference, lastTransitionTime: "2023-10-02T16:00:00Z", observedGeneration: 2}
    ///   - {type: Ready, status: "False", reason: ImageURLInvalid, message: could not parse reference, lastTransitionTime: "2023-10-02T16:00:00Z", observedGeneration: 2}
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImagePolicy
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec: {imageRepositoryRef: {name: app}}
    /// status:
    ///   observedGeneration: 1
    ///   latestRef: {name: example.com/app, tag: 5.1.4}
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: Latest image tag for example.com/app resolved to 5.1.4, lastTransitionTime: "2023-10-02T16:13:39Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Stalled, status: "True", reason: ImageURLInvalid, message: could not parse reference, lastTransitionTime: "2023-10-02T16:00:00Z", observedGeneration: 2}
    ///   - {type: Ready, status: "False", reason: ImageURLInvalid, message: could not parse reference, lastTransitionTime: "2023-10-02T16:00:00Z", observedGeneration: 2}
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImagePolicy
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec: {imageRepositoryRef: {name: app}}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: DependencyNotReady, message: referenced ImageRepository is not ready, lastTransitionTime: "2023-10-02T16:13:39Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: what was taken from the other object may be good all the same. Info while lag may
    /// explain it.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/image-reflector-controller/issues/449>
    /// - <https://github.com/kedacore/keda/issues/7649>
    pub static RULE = {
        id: "ready-on-failed-dependency",
        family: "related",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the object is ready although what it depends on has failed",
        check: Check::Set(check),
    }
}

fn check(view: &View<'_>, related: &[View<'_>]) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|condition| condition.is_true()) else {
        return Vec::new();
    };
    if object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let lag = timing(&profile.timing.dependency, object).unwrap_or(LAG).max(LAG);
    let mut findings = Vec::new();
    for reference in profile.references.iter().filter(|found| found.gates || found.follows) {
        for named in reference::found(reference, object, related) {
            let Some((place, other)) = named.find(related) else { continue };
            let judgement = phase::judge(other);
            if judgement.phase != Phase::Failed || other.object.deleting {
                continue;
            }
            let (ready, failed) = (summary.transition(), reference::since(other));
            let since =
                failed.map_or_else(Default::default, |failed| format!(" since {}", failed.text()));
            let later = matches!((ready, failed), (Some(ready), Some(failed)) if ready > failed);
            let unknown = ready.is_none() || failed.is_none();
            let lasting = match (view.now, failed) {
                (Some(now), Some(failed)) => now.since(failed.max(ready.unwrap_or(failed))),
                (Some(_) | None, None) | (None, Some(_)) => 0,
            };
            if !reference.follows && !later && !unknown {
                continue;
            }
            let message = format!(
                "{} is True, but {} {} has failed{since}: {}",
                summary.type_, named.kind, named.name, judgement.reason
            );
            let path = other.profile.happy.first().and_then(|type_| other.object.condition(type_));
            let path = path.map_or_else(
                || "/status".into(),
                |condition| other.object.place(condition, "status"),
            );
            let mut finding = RULE
                .finding(object.place(summary, "status"), message)
                .beside(named.pointer.clone(), "depends on it")
                .elsewhere(format!("related/{place}"), path, judgement.reason)
                .help("look at the other object first");
            // A kind that gates is wrong from the first moment; one that follows may be on its way.
            if !(unknown || later && reference.gates || lasting > lag) {
                finding.severity = Severity::Info;
            } else if lasting > 0 {
                finding.message.push_str(&format!(", for {}", time::readable(lasting)));
            }
            findings.push(finding);
        }
    }
    findings
}
