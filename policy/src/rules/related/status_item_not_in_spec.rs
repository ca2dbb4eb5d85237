use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::json::Json;
use crate::object::Object;
use crate::phase;
use crate::pointer;
use crate::profile::{Mirror, test};
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// On kinds whose status has one item for each of the spec's: looks for an item that the spec
    /// does not ask for, while the item's own conditions speak of the current generation.
    ///
    /// ## Why is this bad?
    ///
    /// A route that was taken away from a gateway goes on saying that this gateway accepted it.
    /// Whoever lists the routes of a gateway by their status counts it, and the gateway cannot be
    /// deleted.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: gateway.networking.k8s.io/v1
    /// kind: HTTPRoute
    /// metadata: {name: app, namespace: default, generation: 2}
    /// spec:
    ///   parentRefs: [{name: new}]
    /// status:
    ///   parents:
    ///   - parentRef: {name: old}
    ///     controllerName: example.com/gateway
    ///     conditions:
    ///     - {type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2}
    ///   - parentRef: {name: new}
    ///     controllerName: example.com/gateway
    ///     conditions:
    ///     - {type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: gateway.networking.k8s.io/v1
    /// kind: HTTPRoute
    /// metadata: {name: app, namespace: default, generation: 2}
    /// spec:
    ///   parentRefs: [{name: new}]
    /// status:
    ///   parents:
    ///   - parentRef: {name: new}
    ///     controllerName: example.com/gateway
    ///     conditions:
    ///     - {type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 2}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the other items are right. Where the item's conditions are of an older generation,
    /// or say none, it may be on its way out, and nothing is said.
    ///
    /// ## References
    ///
    /// - `RouteParentStatus` in `apis/v1/shared_types.go` of <https://github.com/kubernetes-sigs/gateway-api>
    pub static RULE = {
        id: "status-item-not-in-spec",
        family: "related",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "the status has an item that the spec does not ask for",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if profile.mirrors.is_empty()
        || object.deleting
        || object.root.at("spec").is_empty()
        || test::any(&profile.suspended, object)
        || phase::behind(object, profile).is_some()
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for mirror in &profile.mirrors {
        let wanted = pointer::find_all(object.root, &mirror.spec);
        for (place, item) in pointer::find_all(object.root, &mirror.status) {
            if wanted.iter().any(|(_, wanted)| names(mirror, item, wanted))
                || !is_current(object, &place)
            {
                continue;
            }
            let name = item.at("name").scalar().or_else(|| item.scalar()).unwrap_or_default();
            let field = pointer::readable(&place);
            let message = format!("{field} is `{name}`, which {} does not ask for", mirror.spec);
            findings.push(
                RULE.finding(place, message)
                    .beside("/spec", "does not ask for it")
                    .help("remove the item in the write that observes the new spec"),
            );
        }
    }
    findings
}

/// Whether an item of the status stands for this one of the spec.
fn names(mirror: &Mirror<'_>, item: &Json<'_>, wanted: &Json<'_>) -> bool {
    if mirror.by.is_empty() {
        return item.same(wanted);
    }
    mirror.by.iter().all(|key| {
        let (is, asked) = (item.at(key), wanted.at(key));
        // What one of the two leaves out is a default.
        is.is_empty() || asked.is_empty() || is.same(asked)
    })
}

/// Whether a condition of the item says that it is of the current generation.
fn is_current(object: &Object<'_>, place: &str) -> bool {
    let Some(generation) = object.generation else { return false };
    let parent: String =
        place.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.into());
    let own = [place, &parent].into_iter().filter_map(|at| pointer::resolve(object.root, at));
    own.flat_map(|item| item.at("conditions").items())
        .any(|condition| condition.at("observedGeneration").integer() == Some(generation))
}
