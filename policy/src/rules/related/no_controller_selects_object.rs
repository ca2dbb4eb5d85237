use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::json::Json;
use crate::object::Object;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks among the given Deployments for the shards of the controller of an object: containers of
    /// that controller which watch by `--watch-label-selector`. If there are some, and none of their
    /// selectors matches the object's labels, nobody reconciles it. Without any such Deployment nothing
    /// follows.
    ///
    /// ## Why is this bad?
    ///
    /// The object left its shard by a change of a label. Its status goes on saying Ready, and its
    /// artifact is served, until the storage is wiped at the next restart.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: source-controller, namespace: flux-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - {name: manager, image: ghcr.io/fluxcd/source-controller:v1.9.1, args: ["--watch-label-selector=!sharding.fluxcd.io/key"]}
    /// ---
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, labels: {sharding.fluxcd.io/key: shard2}}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: done, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: source-controller-shard2, namespace: flux-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - {name: manager, image: ghcr.io/fluxcd/source-controller:v1.9.1, args: ["--watch-label-selector=sharding.fluxcd.io/key=shard2"]}
    /// ---
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, labels: {sharding.fluxcd.io/key: shard2}}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: done, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: a shard that is not among the given objects may select it.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/source-controller/issues/2150>
    /// - <https://fluxcd.io/flux/installation/configuration/sharding/>
    pub static RULE = {
        id: "no-controller-selects-object",
        family: "related",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "no shard of the controller selects the object",
        check: Check::Set(check),
    }
}

/// The image of the controller of a Flux group.
const CONTROLLERS: &[(&str, &str)] = &[
    ("source.toolkit.fluxcd.io", "source-controller"),
    ("kustomize.toolkit.fluxcd.io", "kustomize-controller"),
    ("helm.toolkit.fluxcd.io", "helm-controller"),
    ("image.toolkit.fluxcd.io", "image-reflector-controller"),
    ("notification.toolkit.fluxcd.io", "notification-controller"),
];

const FLAG: &str = "--watch-label-selector";

fn check(view: &View<'_>, related: &[View<'_>]) -> Vec<Finding> {
    let object = view.object;
    let Some((_, controller)) = CONTROLLERS.iter().find(|(group, _)| *group == object.group())
    else {
        return Vec::new();
    };
    let mut shards: Vec<(usize, String)> = Vec::new();
    for (place, other) in related.iter().enumerate() {
        if other.object.kind != "Deployment" {
            continue;
        }
        let Some(selector) = selector(other.object, controller) else { continue };
        // A controller without a selector takes everything.
        if selector.is_empty() || selects(&selector, object) != Some(false) {
            return Vec::new();
        }
        shards.push((place, selector));
    }
    if shards.is_empty() || object.deleting {
        return Vec::new();
    }
    let message = format!("none of {} shards of {controller} selects the labels", shards.len());
    let mut finding = RULE.finding("/metadata/labels", message).help(
        "set the label to that of a shard that runs; until then nobody reconciles the object",
    );
    for (place, selector) in shards {
        finding = finding.elsewhere(
            format!("related/{place}"),
            "/spec/template/spec/containers",
            format!("selects `{selector}`"),
        );
    }
    alloc::vec![finding]
}

/// The label selector of a Deployment's controller container; empty if it has none, nothing if it
/// is not that controller.
fn selector(deployment: &Object<'_>, controller: &str) -> Option<String> {
    let pod = deployment.root.at("spec").at("template").at("spec");
    let container = pod.at("containers").items().iter().find(|container| {
        let image = container.at("image").str().unwrap_or("");
        image
            .rsplit('/')
            .next()
            .is_some_and(|name| name.split([':', '@']).next() == Some(controller))
    })?;
    let args = container.at("args").items();
    let mut args = args.iter().chain(container.at("command").items()).filter_map(Json::str);
    while let Some(arg) = args.next() {
        let Some(rest) = arg.strip_prefix(FLAG) else { continue };
        return Some(match rest.strip_prefix('=') {
            Some(selector) => selector.into(),
            None => args.next().unwrap_or("").into(),
        });
    }
    Some(String::new())
}

/// Whether a selector matches; nothing if it is of a form that is not read here.
fn selects(selector: &str, object: &Object<'_>) -> Option<bool> {
    let labels = object.root.at("metadata").at("labels");
    let value = |key: &str| labels.get(key.trim()).and_then(Json::str);
    let mut all = true;
    for term in selector.split(',') {
        let term = term.trim();
        if term.contains(['(', ')']) {
            return None;
        }
        all &= if let Some((key, wanted)) = term.split_once("!=") {
            value(key) != Some(wanted.trim())
        } else if let Some((key, wanted)) = term.split_once('=') {
            value(key) == Some(wanted.trim_start_matches('=').trim())
        } else if let Some(key) = term.strip_prefix('!') {
            value(key).is_none()
        } else {
            value(term).is_some()
        };
    }
    Some(all)
}
