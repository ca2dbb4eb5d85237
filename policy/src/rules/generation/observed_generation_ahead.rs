use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::generation::{self, Observed};
use crate::pointer;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Compares the observed generation, of the status and of each condition, with
    /// `metadata.generation`. A number beyond it names a spec that never was.
    ///
    /// ## Why is this bad?
    ///
    /// Whoever waits for `observedGeneration == generation` waits until the generation happens to
    /// catch up, and then believes a status that nobody computed for it. It is the mark of a
    /// number that was hard-coded, copied from another object, or restored with a backup onto an
    /// object that was created anew.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 123
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 2
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: the API server only ever raises the generation, so no lag explains it.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    /// - FAIL0006 of Flux's condition checker, `runtime/conditions/check` in <https://github.com/fluxcd/pkg>
    pub static RULE = {
        id: "observed-generation-ahead",
        family: "generation",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "an observed generation is beyond metadata.generation",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(generation) = object.generation else { return Vec::new() };
    let mut findings = Vec::new();
    let mut ahead = |path, field: &str, number| {
        let message = format!("{field} is {number}, but metadata.generation is {generation}");
        findings.push(
            RULE.finding(path, message)
                .beside("/metadata/generation", format!("is {generation}"))
                .help("set it to the generation of the object that was reconciled"),
        );
    };
    if let Observed::Number(number) = generation::observed(object, profile)
        && number > generation
    {
        let field = generation::field(profile);
        ahead(pointer::locate(object.root, field), field, number);
    }
    for list in &object.lists {
        for condition in &list.conditions {
            if let Some(number) = condition.observed_generation
                && number > generation
                && !profile.generation.opaque
            {
                let path = list.place(condition, "observedGeneration");
                ahead(path, &format!("observedGeneration of {}", condition.type_), number);
            }
        }
    }
    findings
}
