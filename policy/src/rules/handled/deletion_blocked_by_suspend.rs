use alloc::format;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::profile::test;
use crate::record;
use crate::rule::{Check, View};
use crate::time;

/// How long a deletion may take before it counts as blocked, in milliseconds.
const PATIENCE: i64 = 15 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for an object that is being deleted, is suspended, and still has a finalizer of its
    /// controller.
    ///
    /// ## Why is this bad?
    ///
    /// A controller that looks at suspension first never comes to the deletion: the object, and with
    /// it its namespace, stays Terminating for ever. Deletion comes before suspension, unless the
    /// project decided otherwise; then somebody has to resume the object.
    ///
    /// ## Example
    ///
    /// The present is 2026-01-01T06:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: app
    ///   namespace: default
    ///   generation: 2
    ///   deletionTimestamp: "2026-01-01T00:00:00Z"
    ///   finalizers: [finalizers.fluxcd.io]
    /// spec: {suspend: true, interval: 1m}
    /// status: {observedGeneration: -1}
    /// ```
    ///
    /// ## Instead
    ///
    /// The present is 2026-01-01T06:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: app
    ///   namespace: default
    ///   generation: 1
    ///   finalizers: [finalizers.fluxcd.io]
    /// spec: {suspend: true, interval: 1m}
    /// status: {observedGeneration: -1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning once the deletion has lasted for a quarter of an hour and the kind's timeout. Info
    /// before, without a clock, and on kinds that are not deleted while they are suspended by their
    /// own contract (Cluster API, Crossplane).
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/source-controller/issues/934>
    /// - <https://github.com/kubernetes-sigs/cluster-api-provider-aws/issues/4584>
    /// - <https://github.com/crossplane/crossplane/pull/4820>: by contract
    pub static RULE = {
        id: "deletion-blocked-by-suspend",
        family: "handled",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "a suspended object is being deleted and keeps its finalizer",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if !object.deleting || !test::any(&profile.suspended, object) {
        return Vec::new();
    }
    // The garbage collector and the API server hold an object for reasons of their own.
    let foreign = |name: &str| {
        matches!(name, "foregroundDeletion" | "orphan" | "kubernetes")
            || name.starts_with("kubernetes.io/")
    };
    let finalizers = object.root.at("metadata").at("finalizers").items();
    let own = finalizers.iter().filter_map(|name| name.str()).find(|name| !foreign(name));
    let Some(own) = own else { return Vec::new() };
    let lasting = match (record::deleted(object), view.now) {
        (Some(since), Some(now)) => now.since(since),
        (Some(_) | None, None) | (None, Some(_)) => 0,
    };
    let patience = timing(&profile.timing.timeout, object).unwrap_or(0) + PATIENCE;
    let blocked = lasting > patience && !profile.suspend_blocks_delete;
    let message = if lasting > 0 {
        format!(
            "the object is being deleted for {}, but it is suspended and keeps `{own}`",
            time::readable(lasting)
        )
    } else {
        format!("the object is being deleted, but it is suspended and keeps `{own}`")
    };
    let help = if profile.suspend_blocks_delete {
        "by the kind's contract it is not deleted while it is suspended: resume it"
    } else {
        "resume the object; the controller should look at the deletion before the suspension"
    };
    let mut finding = RULE
        .finding("/metadata/finalizers", message)
        .beside("/metadata/deletionTimestamp", "the deletion was asked for")
        .help(help);
    if !blocked {
        finding.severity = Severity::Info;
    }
    alloc::vec![finding]
}
