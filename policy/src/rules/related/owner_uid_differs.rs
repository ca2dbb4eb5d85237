use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::object;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Compares the uid in each owner reference with the owner of that kind and name among the given
    /// objects.
    ///
    /// ## Why is this bad?
    ///
    /// The owner was deleted and another one was created under its name. The garbage collector will
    /// delete the child as an orphan, and the new owner, whose controller finds the child by its name,
    /// counts on it. Memory that is kept by name instead of by uid is behind most of these.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, uid: 00000000-0000-0000-0000-000000000002}
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: app
    ///   namespace: default
    ///   uid: 00000000-0000-0000-0000-000000000003
    ///   ownerReferences:
    ///   - {apiVersion: example.com/v1, kind: Widget, name: app, uid: 00000000-0000-0000-0000-000000000001, controller: true}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, uid: 00000000-0000-0000-0000-000000000002}
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: app
    ///   namespace: default
    ///   uid: 00000000-0000-0000-0000-000000000003
    ///   ownerReferences:
    ///   - {apiVersion: example.com/v1, kind: Widget, name: app, uid: 00000000-0000-0000-0000-000000000002, controller: true}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: for a moment it is what every child of a deleted owner shows.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/lws/pull/999>
    /// - <https://kubernetes.io/docs/concepts/architecture/garbage-collection/>
    pub static RULE = {
        id: "owner-uid-differs",
        family: "related",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "the owner of this name is another object than the one that is named",
        check: Check::Set(check),
    }
}

fn check(view: &View<'_>, related: &[View<'_>]) -> Vec<Finding> {
    let object = view.object;
    let owners = object.root.at("metadata").at("ownerReferences").items();
    let mut findings = Vec::new();
    for (place, owner) in owners.iter().enumerate() {
        let text = |key: &str| owner.at(key).str().unwrap_or("");
        let (kind, name, uid) = (text("kind"), text("name"), text("uid"));
        if uid.is_empty() || object.deleting {
            continue;
        }
        let same = |other: &View<'_>| {
            other.object.kind == kind
                && other.object.name == name
                && other.object.group() == object::group(text("apiVersion"))
                && (other.object.namespace.is_empty() || other.object.namespace == object.namespace)
                && !other.object.uid.is_empty()
        };
        if related.iter().any(|other| same(other) && other.object.uid == uid) {
            continue;
        }
        let Some((beside, other)) = related.iter().enumerate().find(|(_, other)| same(other))
        else {
            continue;
        };
        let there = other.object.uid;
        let message =
            format!("the owner is {kind} {name} of uid {uid}, but that name has uid {there}");
        findings.push(
            RULE.finding(format!("/metadata/ownerReferences/{place}/uid"), message)
                .elsewhere(format!("related/{beside}"), "/metadata/uid", format!("is {there}"))
                .help("keep what is known of an object by its uid, not by its name"),
        );
    }
    findings
}
