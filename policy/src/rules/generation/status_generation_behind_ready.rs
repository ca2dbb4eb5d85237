use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::generation::{self, Observed};
use crate::pointer;
use crate::profile::test;
use crate::rule::{Check, View};
use crate::witness;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a summary condition that is True for the current generation by its own number, while
    /// the observed generation of the whole status is still an older one. Only a True condition
    /// counts: kinds that raise the status's number at the end of a run are ahead with their
    /// failing conditions on purpose. Suspended and deleted objects are left out, and so is work under
    /// way.
    ///
    /// ## Why is this bad?
    ///
    /// Two numbers say when one thing was last seen. Who reads the condition goes on; who reads the
    /// status waits, and so does every object that depends on this one. helm-controller once wrote
    /// the first and forgot the second, and dependents waited for ever on a release that was ready.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata: {name: app, namespace: default, generation: 5}
    /// status:
    ///   observedGeneration: 4
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: ReconciliationSucceeded, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 5}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata: {name: app, namespace: default, generation: 5}
    /// status:
    ///   observedGeneration: 5
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: ReconciliationSucceeded, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 5}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: one writer owns both numbers, and one of its requests is missing.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/helm-controller/issues/946>
    /// - <https://github.com/fluxcd/helm-controller/pull/1412>
    pub static RULE = {
        id: "status-generation-behind-ready",
        family: "generation",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the summary is of the current generation, the status of an older one",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(generation) = object.generation else { return Vec::new() };
    if object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let status = match generation::observed(object, profile) {
        Observed::Number(number) if number > 0 && number < generation => format!("is {number}"),
        Observed::Unset => "has its default".into(),
        Observed::Number(_) | Observed::Absent => return Vec::new(),
    };
    let is_true = |type_: &str| object.condition(type_).filter(|condition| condition.is_true());
    // Work under way explains a number that is yet to be written.
    if profile.progress.iter().any(|type_| is_true(type_).is_some()) {
        return Vec::new();
    }
    let summary = profile.happy.first().and_then(|type_| is_true(type_));
    let current = summary.filter(|condition| condition.observed_generation == Some(generation));
    let Some(ready) = current else { return Vec::new() };
    // Of a torn status the torn message is the fault, and what follows from it is not told twice.
    if witness::torn(object, profile).iter().any(|torn| torn.severity > Severity::Info) {
        return Vec::new();
    }
    let field = generation::field(profile);
    let message =
        format!("{} is True for generation {generation}, but {field} {status}", ready.type_);
    alloc::vec![
        RULE.finding(pointer::locate(object.root, field), message)
            .beside(
                object.place(ready, "observedGeneration"),
                format!("{} is of generation {generation}", ready.type_),
            )
            .beside("/metadata/generation", format!("the spec is of generation {generation}"))
            .help("write both numbers in one request, from the same object that was reconciled"),
    ]
}
