//! What must happen after a reconcile pass.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::finding::{Action, Decision, Fault};
use crate::object::Object;
use crate::pass::{self, OutcomeType, Pass};
use crate::profile::{Profile, test};
use crate::registry;
use crate::rule::{Check, View};
use crate::time;
use crate::verdict::{Kind, read_now, read_settings, sort};

/// Decides what must happen after the pass, and judges what the controller is about to return.
///
/// # Errors
/// [`Fault::Malformed`] and [`Fault::Unsupported`] name the field.
pub fn decide(text: &str, settings_text: &str) -> Result<Decision, Fault> {
    let settings = read_settings(settings_text)?;
    let document = pass::read(text)?;
    let spec = &document.spec;
    let now = read_now(spec.now.as_deref())?;

    let found = Kind::of(&spec.object, &settings);
    let profile = found.profile();
    let object = Object::read(&spec.object, profile);
    let view = View { object: &object, profile, profiled: found.is_known(), now };

    let cached: Vec<_> = spec.sources.iter().filter_map(|source| source.cached.as_ref()).collect();
    let kinds: Vec<Kind<'_>> = cached.iter().map(|root| Kind::of(root, &settings)).collect();
    let objects: Vec<Object<'_>> =
        cached.iter().zip(&kinds).map(|(root, kind)| Object::read(root, kind.profile())).collect();
    let sources: Vec<View<'_>> = objects
        .iter()
        .zip(&kinds)
        .map(|(object, kind)| View {
            object,
            profile: kind.profile(),
            profiled: kind.is_known(),
            now,
        })
        .collect();

    let outcome = spec.outcome.as_ref().map(|outcome| outcome.type_).or_else(|| read(&view));
    let by = spec.outcome.as_ref().map_or("", |outcome| &*outcome.by);
    let (action, reason, message) = next(outcome, by, &view);
    let pass = Pass {
        view,
        sources: &sources,
        outcome,
        by,
        returned: spec.result.as_ref(),
        flavour: spec.queue.as_ref().map_or_else(Default::default, |queue| queue.flavour),
        failures: spec.failures,
        action,
    };
    let mut findings = Vec::new();
    for rule in registry::RULES {
        if let Check::Pass(check) = rule.check {
            findings.extend(check(&pass));
        }
    }
    settings.apply(&object, now, &mut findings);
    sort(&mut findings);
    Ok(Decision { action, reason: reason.into(), message, findings })
}

/// What came of the pass, by the object alone.
fn read(view: &View<'_>) -> Option<OutcomeType> {
    let (object, profile) = (view.object, view.profile);
    if object.deleting {
        let finalizers = object.root.at("metadata").at("finalizers");
        return Some(if finalizers.is_empty() {
            OutcomeType::Deleted
        } else {
            OutcomeType::Deleting
        });
    }
    if test::any(&profile.suspended, object) {
        return Some(OutcomeType::Suspended);
    }
    let is_true =
        |type_: &str| object.condition(type_).is_some_and(super::object::Condition::is_true);
    if profile.stalled.iter().any(|type_| is_true(type_)) {
        return Some(OutcomeType::Terminal);
    }
    let summary = object.condition(profile.happy.first()?)?;
    let among = |list: &[crate::profile::Text<'_>]| list.iter().any(|r| **r == *summary.reason);
    if summary.is_true() {
        return Some(OutcomeType::Succeeded);
    }
    if among(&profile.reasons.canceled) {
        return Some(OutcomeType::Canceled);
    }
    if among(&profile.reasons.waiting) || profile.reasons.waits_by_message(summary.message) {
        return Some(OutcomeType::Waiting);
    }
    if among(&profile.reasons.terminal) {
        return Some(OutcomeType::Terminal);
    }
    (summary.is_false() && !among(&profile.reasons.progressing)).then_some(OutcomeType::Failed)
}

/// The decision table; `facts` are the outcome and the kind's timing.
fn next(outcome: Option<OutcomeType>, by: &str, view: &View<'_>) -> (Action, &'static str, String) {
    let (object, profile) = (view.object, view.profile);
    let interval = timing(&profile.timing.interval, object);
    let by = if by.is_empty() { "another event" } else { by };
    let after = |millis: Option<i64>| match millis {
        Some(millis) if millis > 0 => Action::After(u32::try_from(millis).unwrap_or(u32::MAX)),
        _ => Action::Requeue,
    };
    match outcome {
        Some(OutcomeType::NotFound | OutcomeType::Deleted) => {
            (Action::Stop, "gone", "the object is gone".into())
        }
        Some(OutcomeType::Deleting) => {
            (Action::Requeue, "deleting", "the object is being deleted and is not done".into())
        }
        Some(OutcomeType::Suspended) => (
            Action::Await,
            "suspended",
            "the object is suspended, a change of its spec resumes it".into(),
        ),
        Some(OutcomeType::Terminal) => (
            Action::Stop,
            "terminal",
            "only a change of the spec can help, and that is an event of its own".into(),
        ),
        Some(OutcomeType::Canceled) => (
            Action::Requeue,
            "canceled",
            format!("the pass was cut off by {by} before its end, so its work is still owed"),
        ),
        Some(OutcomeType::Waiting) => {
            let dependency = timing(&profile.timing.dependency, object)
                .or_else(|| timing(&profile.timing.retry, object))
                .or(interval);
            (after(dependency), "waiting", format!("{by} is waited for"))
        }
        Some(OutcomeType::FinalizerAdded) => (
            Action::Requeue,
            "finalizer-added",
            "only the finalizer was added, the work has not begun".into(),
        ),
        Some(OutcomeType::Failed) => {
            let retry = timing(&profile.timing.retry, object).or(interval);
            (after(retry), "failed", "it failed and may work another time".into())
        }
        Some(OutcomeType::Succeeded) => match interval {
            Some(interval) if interval > 0 => (
                after(Some(interval)),
                "interval",
                format!("done; it is looked at again after {}", time::readable(interval)),
            ),
            _ => (Action::Await, "settled", "done; a change will be an event".into()),
        },
        None => (
            Action::Requeue,
            "unsettled",
            "the object does not say that it is done, so its work is still owed".into(),
        ),
    }
}

/// Milliseconds of a timing: a field of the object (seconds if it is a number), or a fixed
/// duration; see `Timing`.
pub fn timing(text: &str, object: &Object<'_>) -> Option<i64> {
    let (path, otherwise) = text.split_once('|').unwrap_or(("", text));
    let path = if path.is_empty() { text } else { path };
    let value = match object.field(path) {
        Some(value) => match value.integer() {
            Some(seconds) => seconds.checked_mul(1_000),
            None => value.str().and_then(time::duration),
        },
        None => None,
    };
    value.or_else(|| time::duration(otherwise))
}

/// The kind's interval in words, for messages.
pub fn interval(profile: &Profile<'_>, object: &Object<'_>) -> Option<i64> {
    timing(&profile.timing.interval, object)
}
