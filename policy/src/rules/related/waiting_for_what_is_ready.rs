use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::decide::timing;
use crate::declare_rule;
use crate::finding::{Finding, Phase, Severity};
use crate::object::Condition;
use crate::phase;
use crate::profile::{Reference, Test, Text, test};
use crate::reference::{self, Named};
use crate::rule::{Check, View};
use crate::time::{self, Time};

/// How long the news of another object may take, in milliseconds, where the kind's own interval is
/// not known.
const LAG: i64 = 60_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for an object that says that it waits for others, or that they are missing or not ready,
    /// while all of those are there and settled. Which objects it names and how it says that it waits
    /// is in the kind's profile. If its message names some of them, those are meant; else all of them
    /// are, and each must be among the given ones: from a part of them nothing follows. An object
    /// without a condition that says so is not ready.
    ///
    /// ## Why is this bad?
    ///
    /// The wait is over, and nobody told the one who waits: the event was filtered, dropped, or came
    /// too early. A HelmRelease waited on a chart that was ready since its revision had not changed,
    /// Crossplane claims waited until a restart, image policies until the next tag.
    ///
    /// ## Example
    ///
    /// The present is 2026-01-01T01:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   lastScanResult: {tagCount: 12, revision: sha256:aa}
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: "successful scan: found 12 tags with checksum sha256:aa", lastTransitionTime: "2026-01-01T00:00:05Z", observedGeneration: 1}
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImagePolicy
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec: {imageRepositoryRef: {name: app}}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: DependencyNotReady, message: no tags in database, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Instead
    ///
    /// The present is 2026-01-01T01:00:00Z.
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: ReadOperationFailed, message: 401 unauthorized, lastTransitionTime: "2026-01-01T00:00:05Z", observedGeneration: 1}
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImagePolicy
    /// metadata: {name: app, namespace: default, generation: 1}
    /// spec: {imageRepositoryRef: {name: app}}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: DependencyNotReady, message: no tags in database, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning where the others have been settled for longer than the kind takes to look again, or
    /// where no time tells. Info while lag may explain it.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/helm-controller/issues/112>
    /// - <https://github.com/crossplane/crossplane/issues/6482>
    /// - <https://github.com/fluxcd/image-reflector-controller/issues/844>
    /// - <https://github.com/crossplane/crossplane/issues/2957>: not ready by design
    pub static RULE = {
        id: "waiting-for-what-is-ready",
        family: "related",
        severity: Warning,
        means: Stale,
        since: "0.1.0",
        summary: "the object waits for others that have been settled for long",
        check: Check::Set(check),
    }
}

fn check(view: &View<'_>, related: &[View<'_>]) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if object.deleting || test::any(&profile.suspended, object) {
        return Vec::new();
    }
    profile
        .references
        .iter()
        .filter_map(|reference| {
            let waits = reference.waits.iter().find(|waits| test::holds(waits, object))?;
            judge(view, related, reference, waits)
        })
        .collect()
}

fn judge(
    view: &View<'_>,
    related: &[View<'_>],
    reference: &Reference<'_>,
    waits: &Test<'_>,
) -> Option<Finding> {
    let object = view.object;
    let condition = object.condition(&waits.condition);
    let message = condition.map_or("", |condition| condition.message);
    let all = reference::named(reference, object);
    let told: Vec<&Named<'_>> =
        all.iter().filter(|named| reference::mentions(message, named.name)).collect();
    let meant = if told.is_empty() { all.iter().collect() } else { told };
    let mut settled = Vec::new();
    for named in meant {
        let (place, other) = named.find(related)?;
        if !is_ready(other) || !test::all(&reference.ready, other.object) {
            return None;
        }
        settled.push((place, named, other));
    }
    let (_, first, _) = settled.first()?;
    let said = condition.and_then(Condition::transition);
    let ready = settled.iter().filter_map(|(_, _, other)| reference::since(other)).max();
    let (place, value) = test::place(waits, object);
    let subject = match condition {
        Some(condition) => format!("{} is {}", condition.type_, condition.status.text()),
        None => format!("it is `{value}`"),
    };
    let names = match settled.len() {
        1 => format!("{} {} is", first.kind, first.name),
        count => format!("all {count} of {} are", reference.field),
    };
    let (mut sure, since) = sure(view, said, ready);
    // What has ended is not looked at again, however long one waits.
    let ends = view.profile.finish.iter().filter(|finish| finish.absorbing);
    sure |= ends.into_iter().any(|finish| test::all(&finish.when, object));
    let mut finding =
        RULE.finding(place, format!("{subject} for others, but {names} settled{since}"));
    for (place, named, other) in settled.iter().take(4) {
        let condition = other.profile.happy.first().and_then(|type_| other.object.condition(type_));
        let (path, note) = match condition {
            Some(condition) => (
                other.object.place(condition, "status"),
                format!("{} {} is {}", named.kind, named.name, condition.status.text()),
            ),
            None => ("/status".into(), format!("{} {} is settled", named.kind, named.name)),
        };
        finding = finding.elsewhere(format!("related/{place}"), path, note);
    }
    finding = finding.help(
        "ask for a reconcile; the controller should look again after a while whenever it waits, and \
         not rely on an event alone",
    );
    if !sure {
        finding.severity = Severity::Info;
    }
    Some(finding)
}

/// Whether an object is settled by its own words. Where nothing tells of which generation it
/// speaks, its summary is taken at its word.
fn is_ready(view: &View<'_>) -> bool {
    match phase::judge(view).phase {
        Phase::Settled => true,
        Phase::Unknown => {
            let (object, profile) = (view.object, view.profile);
            let is_true =
                |type_: &Text<'_>| object.condition(type_).is_some_and(Condition::is_true);
            !profile.happy.is_empty() && profile.happy.iter().all(is_true)
        }
        Phase::Progressing | Phase::Failed | Phase::Suspended | Phase::Terminating => false,
    }
}

/// Whether lag cannot explain it, and since when in words.
fn sure(view: &View<'_>, said: Option<Time>, ready: Option<Time>) -> (bool, String) {
    let Some(ready) = ready else {
        // Where no time tells, what stands there is all there is.
        return (said.is_none(), String::new());
    };
    let lag = timing(&view.profile.timing.dependency, view.object).unwrap_or(LAG).max(LAG);
    match view.now {
        Some(now) => {
            let lasting = now.since(ready.max(said.unwrap_or(ready)));
            let text = format!(" since {}", time::readable(now.since(ready)));
            (lasting > lag, text)
        }
        None => (false, format!(" since {}", ready.text())),
    }
}
