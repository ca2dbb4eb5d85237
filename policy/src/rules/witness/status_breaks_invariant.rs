use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::object::{Condition, Object};
use crate::phase;
use crate::profile::{Invariant, test};
use crate::rule::{Check, View};
use crate::{pointer, template, witness};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a status that its controller never writes at rest: an applied revision that is
    /// not the attempted one while Ready is True, Ready=True without an artifact, a release that
    /// was deployed without the condition that says so. Each kind's profile lists what always
    /// holds, with the source it was read from.
    ///
    /// Nothing is said while work is under way, of a spec that has not been observed so far, of a
    /// suspended or deleted object, of one with a condition type twice, and of a status that is torn
    /// already: the torn message is the fault then, and what follows from it is not told twice.
    ///
    /// ## Why is this bad?
    ///
    /// A write that was lost leaves half of a status behind. The conditions alone look fine, and
    /// so do the fields alone: helm-controller, after its condition write was refused, showed a
    /// deployed release whose Ready stayed Unknown for good.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   lastAppliedRevision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    ///   lastAttemptedRevision: main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    ///   conditions:
    ///   - type: Ready
    ///     status: "True"
    ///     reason: ReconciliationSucceeded
    ///     message: "Applied revision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    ///     lastTransitionTime: "2026-01-01T00:00:00Z"
    ///     observedGeneration: 1
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   lastAppliedRevision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    ///   lastAttemptedRevision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    ///   conditions:
    ///   - type: Ready
    ///     status: "True"
    ///     reason: ReconciliationSucceeded
    ///     message: "Applied revision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    ///     lastTransitionTime: "2026-01-01T00:00:00Z"
    ///     observedGeneration: 1
    /// ```
    ///
    /// ## Severity
    ///
    /// As the profile has it: an error where a consumer acts on the wrong thing and no lag
    /// explains it, else a warning.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/helm-controller/issues/1409>
    /// - <https://github.com/fluxcd/pkg/issues/934>
    /// - the `reference` of the kind's profile, see `plumb profiles`
    pub static RULE = {
        id: "status-breaks-invariant",
        family: "witness",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the status is one that its controller never writes at rest",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if object.deleting || profile.invariants.is_empty() || is_ambiguous(object) {
        return Vec::new();
    }
    let at_rest = at_rest(view);
    let mut findings: Vec<Finding> = Vec::new();
    for invariant in &profile.invariants {
        if !(at_rest || invariant.always) || !test::all(&invariant.when, object) {
            continue;
        }
        // Several invariants about one place are one fault.
        if let Some(finding) = broken(invariant, view)
            && !findings.iter().any(|known| known.path == finding.path)
        {
            findings.push(finding);
        }
    }
    if findings.is_empty() {
        return findings;
    }
    let torn = witness::torn(object, profile);
    let is_torn = torn.iter().any(|torn| torn.severity > Severity::Info);
    if is_torn || witness::is_held(object, profile) { Vec::new() } else { findings }
}

fn broken(invariant: &Invariant<'_>, view: &View<'_>) -> Option<Finding> {
    let object = view.object;
    let failing = test::failing(&invariant.must, object)?;
    let (path, _) = test::place(failing, object);
    let message = template::render(&invariant.message, object.root);
    let mut finding = RULE.finding(path.clone(), message);
    finding.severity = invariant.level.map_or(Severity::Error, Into::into);
    for when in &invariant.when {
        let (place, value) = test::place(when, object);
        if place != path && !value.is_empty() {
            let note = format!("{} is `{value}`", pointer::readable(&place));
            finding = finding.beside(place, note);
        }
    }
    Some(finding.help(
        "a write of the status was lost or was made by another hand: wait for the controller's \
         next write, ask for a reconcile, and do not act on this status meanwhile",
    ))
}

/// A condition type that stands twice may say both.
fn is_ambiguous(object: &Object<'_>) -> bool {
    let conditions = object.conditions();
    conditions.iter().enumerate().any(|(index, condition)| {
        conditions[..index].iter().any(|earlier| earlier.type_ == condition.type_)
    })
}

/// Neither suspended, nor behind its spec, nor at work.
fn at_rest(view: &View<'_>) -> bool {
    let (object, profile) = (view.object, view.profile);
    let works = |type_: &str| object.condition(type_).is_some_and(Condition::is_true);
    !test::any(&profile.suspended, object)
        && phase::behind(object, profile).is_none()
        && !profile.progress.iter().any(|type_| works(type_))
}
