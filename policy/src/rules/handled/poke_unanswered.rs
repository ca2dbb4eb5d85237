use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::Finding;
use crate::json::Json;
use crate::pointer;
use crate::profile::{Poke, test};
use crate::record;
use crate::rule::{Check, View};
use crate::time::{self, Time};

/// The least patience with a request, in milliseconds.
const PATIENCE: i64 = 2 * 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Compares the annotation that asks for a reconcile with the field in which the controller
    /// repeats its value once it has done so. The request is overdue after twice the time that a run
    /// and the interval between two runs take. How long ago it was made is told by its own value, if
    /// that is a time; the present, or the latest write of the status, ends the count. A suspended or
    /// deleted object need not answer.
    ///
    /// ## Why is this bad?
    ///
    /// `flux reconcile` and every script that waits for the answer hangs. Either nothing reconciles
    /// the object any more, or runs come and go and none of them takes the request for done.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: app
    ///   namespace: default
    ///   generation: 1
    ///   annotations: {reconcile.fluxcd.io/requestedAt: "2023-06-22T10:15:37.969587-05:00"}
    /// spec: {interval: 60s, timeout: 30s}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: BuildFailed, message: timeout, lastTransitionTime: "2023-06-22T15:26:19Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: app
    ///   namespace: default
    ///   generation: 1
    ///   annotations: {reconcile.fluxcd.io/requestedAt: "2023-06-22T10:15:37.969587-05:00"}
    /// spec: {interval: 60s, timeout: 30s}
    /// status:
    ///   observedGeneration: 1
    ///   lastHandledReconcileAt: "2023-06-22T10:15:37.969587-05:00"
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: BuildFailed, message: timeout, lastTransitionTime: "2023-06-22T15:26:19Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the controller may be down or busy, which is worth a look as well.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/flux2/issues/3997>
    /// - `ReconcileRequestStatus` in `apis/meta` of <https://github.com/fluxcd/pkg>
    pub static RULE = {
        id: "poke-unanswered",
        family: "handled",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "a reconcile was asked for and is long overdue",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    let Some(poke) = &profile.poke else { return Vec::new() };
    if let Some(finding) = unanswered(view, poke) {
        return alloc::vec![finding];
    }
    let token = object.annotation(&poke.annotation);
    let more = profile.poke_more.iter();
    more.filter(|more| token.is_some() && object.annotation(&more.annotation) == token)
        .filter_map(|more| unanswered(view, more))
        .collect()
}

fn unanswered(view: &View<'_>, poke: &Poke<'_>) -> Option<Finding> {
    let object = view.object;
    let (asked, patience) = open(view, poke)?;
    let token = object.annotation(&poke.annotation)?;
    let handled = object.field(&poke.handled).and_then(Json::scalar);
    let present = view.now.max(record::status_time(object))?;
    let waiting = present.since(asked);
    if waiting <= patience {
        return None;
    }
    let mut place = String::from("/metadata/annotations");
    pointer::push(&mut place, &poke.annotation);
    let message = format!(
        "a reconcile was asked for {} ago, and {} does not answer it",
        time::readable(waiting),
        poke.handled
    );
    let mut finding = RULE
        .finding(pointer::locate(object.root, &poke.handled), message)
        .beside(place, format!("asked for with `{token}`"));
    if let Some(value) = handled {
        let path = pointer::locate(object.root, &poke.handled);
        finding = finding.beside(path, format!("answers `{value}`"));
    }
    Some(
        finding
            .help("look whether the controller runs, and whether a run of this object ever ends"),
    )
}

/// When a reconcile was asked for that is not answered, and how long that may take.
pub(crate) fn asked(view: &View<'_>) -> Option<(Time, i64)> {
    open(view, view.profile.poke.as_ref()?)
}

fn open(view: &View<'_>, poke: &Poke<'_>) -> Option<(Time, i64)> {
    let (object, profile) = (view.object, view.profile);
    let token = object.annotation(&poke.annotation).filter(|token| !token.is_empty())?;
    if poke.handled.is_empty() {
        return None;
    }
    let handled = object.field(&poke.handled).and_then(Json::scalar);
    let asked = moment(token)?;
    // An answer to a later request answers the earlier one.
    if handled.as_deref() == Some(token)
        || handled.as_deref().and_then(moment).is_some_and(|handled| handled >= asked)
    {
        return None;
    }
    let run = timing(&profile.timing.timeout, object).unwrap_or(0);
    let interval = timing(&profile.timing.interval, object).unwrap_or(0);
    let retry = timing(&profile.timing.retry, object).unwrap_or(0);
    Some((asked, (2 * (run + interval.max(retry))).max(PATIENCE)))
}

/// The time that a token is, RFC 3339 or seconds since 1970.
fn moment(token: &str) -> Option<Time> {
    Time::parse(token).or_else(|| {
        let seconds: i64 = token.parse().ok()?;
        // Ten digits: from 2001 to 2286.
        (token.len() == 10).then_some(Time(seconds * 1_000))
    })
}
