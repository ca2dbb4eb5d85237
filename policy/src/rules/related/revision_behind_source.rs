use alloc::format;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::{Finding, Phase};
use crate::json::Json;
use crate::phase;
use crate::pointer;
use crate::profile::test;
use crate::reference;
use crate::rule::{Check, View};
use crate::time::{self, Time};

/// What a queue and a back-off may add to every run, in milliseconds.
const PATIENCE: i64 = 15 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Compares the revision that an object says it has taken with the one that its source holds. It
    /// is behind once its source has held the other one for longer than an interval, a timeout and a
    /// quarter of an hour. Only an object that calls itself settled is meant: one that fails or works
    /// says so already. It needs the present.
    ///
    /// ## Why is this bad?
    ///
    /// Both are ready, and together they lie: what runs is not what was committed. The wake-up was
    /// lost, and the old revision is told as the current one.
    ///
    /// ## Example
    ///
    /// The present is 2026-01-01T06:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   artifact: {revision: "main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", lastUpdateTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec: {interval: 10m, timeout: 5m, sourceRef: {kind: GitRepository, name: app}}
    /// status:
    ///   observedGeneration: 1
    ///   lastAppliedRevision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    ///   lastAttemptedRevision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: ReconciliationSucceeded, message: "Applied revision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", lastTransitionTime: "2025-12-31T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// The present is 2026-01-01T06:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   artifact: {revision: "main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", lastUpdateTime: "2026-01-01T05:59:00Z"}
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec: {interval: 10m, timeout: 5m, sourceRef: {kind: GitRepository, name: app}}
    /// status:
    ///   observedGeneration: 1
    ///   lastAppliedRevision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    ///   lastAttemptedRevision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: ReconciliationSucceeded, message: "Applied revision: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", lastTransitionTime: "2025-12-31T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the controller may be down or busy, which is worth a look as well.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/flux2/issues/4818>
    /// - <https://github.com/pulumi/pulumi-kubernetes-operator/issues/865>
    pub static RULE = {
        id: "revision-behind-source",
        family: "related",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "the object is settled at a revision that its source left long ago",
        check: Check::Set(check),
    }
}

fn check(view: &View<'_>, related: &[View<'_>]) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let Some(now) = view.now else { return Vec::new() };
    if profile.references.is_empty() || phase::judge(view).phase != Phase::Settled {
        return Vec::new();
    }
    let interval = timing(&profile.timing.interval, object).unwrap_or(0);
    let run = timing(&profile.timing.timeout, object).unwrap_or(0);
    let limit = interval + interval / 20 + run + PATIENCE;
    let mut findings = Vec::new();
    for reference in &profile.references {
        let Some(revision) = &reference.revision else { continue };
        let Some(mine) = object.field(&revision.mine).and_then(Json::str) else { continue };
        for named in reference::named(reference, object) {
            let Some((place, source)) = named.find(related) else { continue };
            let source_object = source.object;
            if source_object.deleting || test::any(&source.profile.suspended, source_object) {
                continue;
            }
            let theirs = source_object.field(&revision.theirs).and_then(Json::str);
            let Some(theirs) = theirs.filter(|theirs| !crate::revision::same(theirs, mine)) else {
                continue;
            };
            let since = source_object.field(&revision.since).and_then(Json::str);
            let Some(since) = since.and_then(Time::parse) else { continue };
            let lasting = now.since(since);
            if lasting <= limit {
                continue;
            }
            let message = format!(
                "{} is `{mine}`, but {} {} has had `{theirs}` for {}",
                revision.mine,
                named.kind,
                named.name,
                time::readable(lasting)
            );
            findings.push(
                RULE.finding(pointer::locate(object.root, &revision.mine), message)
                    .elsewhere(
                        format!("related/{place}"),
                        pointer::locate(source_object.root, &revision.theirs),
                        format!("is `{theirs}` since {}", since.text()),
                    )
                    .help("ask for a reconcile, and look whether the controller runs"),
            );
        }
    }
    findings
}
