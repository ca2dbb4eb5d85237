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
    /// Looks for an observed generation that rises to the current one while nothing else in the
    /// status moves.
    ///
    /// ## Why is this bad?
    ///
    /// The status may be that of the former spec with the number of the new one; then every check of
    /// generations passes before the work has begun. It may as well be right: not every change of a
    /// spec changes what is to be done. One pair cannot tell; wait for one more look before going on.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 2
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
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
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 3, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 3
    ///   conditions:
    ///   - {type: Ready, status: Unknown, reason: Updating, message: "", lastTransitionTime: "2026-01-01T01:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Info: it is a fault only if work follows, which `generation-observed-early` tells.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/cluster-api/issues/13738>
    /// - <https://github.com/knative/serving/issues/4149>
    pub static RULE = {
        id: "generation-raised-alone",
        family: "generation",
        severity: Info,
        means: Unknown,
        since: "0.1.0",
        summary: "the observed generation rises and nothing else in the status moves",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let (Observed::Number(is), Observed::Number(was)) =
        (generation::observed(object, profile), generation::observed(old, profile))
    else {
        return Vec::new();
    };
    if was >= is || Some(is) != object.generation || object.conditions().is_empty() {
        return Vec::new();
    }
    let numbers = ["observedGeneration", field_key(generation::field(profile))];
    if !change::status(old, object).iter().all(|difference| numbers.contains(&difference.key())) {
        return Vec::new();
    }
    let field = generation::field(profile);
    alloc::vec![
        RULE.finding(
            pointer::locate(object.root, field),
            format!("{field} rose from {was} to {is}, and nothing else in the status moved"),
        )
        .elsewhere("old", pointer::locate(old.root, field), format!("was {was}"))
        .help("wait for one more look before taking the new spec for done"),
    ]
}

fn field_key(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
