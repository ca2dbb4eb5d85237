use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::Finding;
use crate::pointer;
use crate::profile::{Deadline, test};
use crate::record;
use crate::rule::{Check, View};
use crate::template;
use crate::time::{self, Time};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a state that must not last and has lasted: a certificate that is ready and expired,
    /// a secret that is not refreshed any more, an operation that runs although all is done. Each
    /// kind's profile says what must not last, since when it is counted and for how long it may.
    /// Suspended and deleted objects are left out. It needs the present, or a later time in the
    /// status itself.
    ///
    /// ## Why is this bad?
    ///
    /// Every state of waiting has an end, by success or by a time-out. If neither came, whoever was to
    /// bring it is gone, and the status goes on saying what was true once.
    ///
    /// ## Example
    ///
    /// The present is 2026-02-01T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: cert-manager.io/v1
    /// kind: Certificate
    /// metadata: {name: web, namespace: default, generation: 1}
    /// status:
    ///   notAfter: "2026-01-01T00:00:00Z"
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Ready, message: Certificate is up to date and has not expired, lastTransitionTime: "2025-10-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// The present is 2026-02-01T00:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: cert-manager.io/v1
    /// kind: Certificate
    /// metadata: {name: web, namespace: default, generation: 1}
    /// status:
    ///   notAfter: "2026-01-01T00:00:00Z"
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Expired, message: Certificate expired, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the controller may be down or busy, which is worth a look as well.
    ///
    /// ## References
    ///
    /// - <https://github.com/cert-manager/cert-manager/issues/7895>
    /// - <https://github.com/external-secrets/external-secrets/issues/5259>
    /// - <https://github.com/argoproj/argo-cd/issues/23765>
    pub static RULE = {
        id: "deadline-passed",
        family: "handled",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "a state that must not last has lasted",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if profile.deadlines.is_empty() || object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let Some(present) = view.now.max(record::status_time(object)) else { return Vec::new() };
    let mut findings = Vec::new();
    for deadline in &profile.deadlines {
        let Some((since, within)) = open(view, deadline) else { continue };
        let over = present.since(since) - within;
        if over <= slack(deadline) {
            continue;
        }
        let message = message(view, deadline);
        let (place, _) = deadline.when.first().map_or_else(
            || (pointer::locate(object.root, &deadline.since), "".into()),
            |first| test::place(first, object),
        );
        findings.push(
            RULE.finding(place, format!("{message} ({} too long)", time::readable(over)))
                .beside(
                    pointer::locate(object.root, &deadline.since),
                    format!("counted from {}", since.text()),
                )
                .help("look whether the controller runs, and ask for a reconcile"),
        );
    }
    findings
}

/// Since when a state lasts that must not, and how long it may, with its slack.
pub(crate) fn limit(view: &View<'_>, deadline: &Deadline<'_>) -> Option<(Time, i64)> {
    let (since, within) = open(view, deadline)?;
    Some((since, within + slack(deadline)))
}

/// What is wrong once it has lasted.
pub(crate) fn message(view: &View<'_>, deadline: &Deadline<'_>) -> String {
    template::render(&deadline.message, view.object.root)
}

fn open(view: &View<'_>, deadline: &Deadline<'_>) -> Option<(Time, i64)> {
    let object = view.object;
    if !test::all(&deadline.when, object) {
        return None;
    }
    let since = object.field(&deadline.since).and_then(|value| Time::parse(value.str()?))?;
    let fixed = time::duration(&deadline.within).is_some();
    let within = timing(&deadline.within, object).filter(|&within| fixed || within > 0)?;
    Some((since, within))
}

fn slack(deadline: &Deadline<'_>) -> i64 {
    time::duration(&deadline.slack).unwrap_or(0).max(1_000)
}
