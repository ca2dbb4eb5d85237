use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::generation::{self, Observed};
use crate::object::Object;
use crate::pointer;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Compares the observed generations of two states of one object: that of the status, and that
    /// of each condition. A number that was beyond the spec before may come back.
    ///
    /// ## Why is this bad?
    ///
    /// What was observed once cannot become unobserved. The number falls when a writer with an old
    /// view of the object overwrites the newer status: two replicas around a change of leader, a
    /// patch without a resource version, a cache that lags. The rest of that write is old as well.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 3
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 2
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 2
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 3
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: no lag explains it, and what came with it is of an older state.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    /// - `patch.go` in `runtime/patch` of <https://github.com/fluxcd/pkg>: the status is patched without a resource version
    pub static RULE = {
        id: "observed-generation-backwards",
        family: "generation",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "an observed generation is less than it was before",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let mut findings = Vec::new();
    let real = |number: i64| old.generation.is_none_or(|generation| number <= generation);
    let mut fell = |path, old_path, field: &str, before: i64, after: i64| {
        findings.push(
            RULE.finding(path, format!("{field} fell from {before} to {after}"))
                .elsewhere("old", old_path, format!("was {before}"))
                .help("write the status with the resource version that it was computed from"),
        );
    };
    if let Observed::Number(before) = generation::observed(old, profile)
        && let Observed::Number(after) = generation::observed(object, profile)
        && (1..before).contains(&after)
        && real(before)
    {
        let field = generation::field(profile);
        let at = |object: &Object<'_>| pointer::locate(object.root, field);
        fell(at(object), at(old), field, before, after);
    }
    for pair in change::conditions(old, object) {
        if let Some(before) = pair.old.observed_generation
            && let Some(after) = pair.new.observed_generation
            && (1..before).contains(&after)
            && real(before)
            && !profile.generation.opaque
        {
            let field = format!("observedGeneration of {}", pair.new.type_);
            let path = pair.list.place(pair.new, "observedGeneration");
            let old_path = pair.old_list.place(pair.old, "observedGeneration");
            fell(path, old_path, &field, before, after);
        }
    }
    findings
}
