use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::generation::{self, Observed};
use crate::object::Object;
use crate::profile::test;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// On objects that nowhere tell of which generation their status is: looks for a summary that is
    /// True before and after a change of the spec, in a status that did not move.
    ///
    /// ## Why is this bad?
    ///
    /// The True is the answer to the former spec, and nothing in the object says so. `kubectl wait`
    /// returns at once with the result of the release before.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Release
    /// metadata: {name: app, generation: 2, resourceVersion: "10"}
    /// spec: {version: 1.0.0}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Release
    /// metadata: {name: app, generation: 3, resourceVersion: "11"}
    /// spec: {version: 1.1.0}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Release
    /// metadata: {name: app, generation: 2, resourceVersion: "10"}
    /// spec: {version: 1.0.0}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Release
    /// metadata: {name: app, generation: 3, resourceVersion: "11"}
    /// spec: {version: 1.1.0}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: Unknown, reason: Updating, lastTransitionTime: "2026-01-01T01:00:00Z", observedGeneration: 3}
    /// ```
    ///
    /// ## Severity
    ///
    /// Info: every object of such a kind shows it between a change of its spec and the next write of
    /// its status. The kind cannot say more; it should carry `observedGeneration`.
    ///
    /// ## References
    ///
    /// - <https://github.com/crossplane-contrib/provider-helm/issues/137>
    /// - <https://github.com/crossplane/crossplane/issues/4695>
    pub static RULE = {
        id: "ready-carried-over-to-new-spec",
        family: "generation",
        severity: Info,
        means: Unknown,
        since: "0.1.0",
        summary: "the summary stays True over a change of the spec, of no known generation",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let (Some(was), Some(is)) = (old.generation, object.generation) else { return Vec::new() };
    if is <= was
        || object.deleting
        || change::same_spec(old, object)
        || test::any(&profile.suspended, object)
        || !matches!(generation::observed(object, profile), Observed::Absent | Observed::Unset)
    {
        return Vec::new();
    }
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    let Some(summary) = summary.filter(|found| found.is_true()) else { return Vec::new() };
    if summary.observed_generation.is_some() || !change::status(old, object).is_empty() {
        return Vec::new();
    }
    let type_ = summary.type_;
    let message = format!(
        "{type_} stayed True from generation {was} to {is}, and the status did not move: it is that \
         of generation {was}"
    );
    alloc::vec![
        RULE.finding(object.place(summary, "status"), message)
            .beside("/metadata/generation", format!("the spec is of generation {is}"))
            .elsewhere("old", "/metadata/generation", format!("was {was}"))
            .help(
                "wait until something in the status moves; the kind should carry observedGeneration"
            ),
    ]
}
