//! The decision table: what came of the pass, and the kind's timing.

use alloc::format;
use alloc::string::String;

use plumb_queue::Backoff;

use super::outcome::read;
use super::sources::moved;
use super::{Next, Reason, backs_off, interval, is_polled, is_static, timing};
use crate::finding::Action;
use crate::pass::{OutcomeType, SourceView, Spec};
use crate::rule::View;
use crate::time;

/// What must happen after a pass of which `outcome` came.
pub(super) fn next(
    outcome: Option<OutcomeType>,
    by: &str,
    spec: &Spec<'_>,
    view: &View<'_>,
    sources: &[SourceView<'_>],
) -> Next {
    let told = spec.outcome.is_some();
    let polled = is_polled(view);
    let next = |action, reason, owed, message: String| Next { action, reason, message, owed };
    let by = if by.is_empty() { "another object" } else { by };
    match outcome {
        Some(OutcomeType::NotFound | OutcomeType::Deleted) => {
            next(Action::Stop, Reason::Gone, false, "the object is gone".into())
        }
        Some(OutcomeType::Deleting) => next(
            Action::Requeue,
            Reason::Deleting,
            told && polled,
            "the object is being deleted, and that is not done".into(),
        ),
        Some(OutcomeType::Suspended) => next(
            Action::Await,
            Reason::Suspended,
            false,
            "the object is suspended, and a change of it resumes it".into(),
        ),
        Some(OutcomeType::Terminal) => next(
            Action::Stop,
            Reason::Terminal,
            false,
            "only a change of the spec can help, and that is an event of its own".into(),
        ),
        Some(OutcomeType::Succeeded) | None if is_static(view) => static_object(),
        Some(OutcomeType::Canceled) => {
            let by = if by == "another object" { "another event" } else { by };
            let message =
                format!("the pass was cut off by {by} before its end, so its work is still owed");
            next(Action::Requeue, Reason::Canceled, true, message)
        }
        Some(OutcomeType::Waiting) => waiting(by, told, view, sources),
        Some(OutcomeType::FinalizerAdded) => next(
            Action::Requeue,
            Reason::FinalizerAdded,
            polled,
            "only the finalizer was added, and the work has not begun".into(),
        ),
        Some(OutcomeType::Unfinished) => next(
            Action::Requeue,
            Reason::Unfinished,
            true,
            "a step was done, and the next one is to follow".into(),
        ),
        Some(OutcomeType::Failed) => failed(told || polled, spec, view),
        // The pass says that all is well, and the object that it is not.
        Some(OutcomeType::Succeeded)
            if backs_off(view) && read(view) == Some(OutcomeType::Failed) =>
        {
            failed(polled, spec, view)
        }
        Some(OutcomeType::Succeeded) => succeeded(view, sources),
        None => next(
            Action::Requeue,
            Reason::Unsettled,
            polled && !view.object.status().is_empty(),
            "the object does not say that it is done, so its work is still owed".into(),
        ),
    }
}

pub(super) fn static_object() -> Next {
    Next {
        action: Action::Await,
        reason: Reason::Static,
        message: "no controller works on such an object, it is what its spec says".into(),
        owed: false,
    }
}

fn succeeded(view: &View<'_>, sources: &[SourceView<'_>]) -> Next {
    if let Some(moved) = moved(view, sources, |source| source.cached.as_ref()) {
        let message = format!(
            "the pass worked on `{}`, but {} is at `{}`",
            moved.mine, moved.source, moved.theirs
        );
        let (action, reason) = (Action::Requeue, Reason::SourceMoved);
        return Next { action, reason, message, owed: interval(view).is_some() };
    }
    // The event of a change that the cache has not seen is still to come, unless none ever does.
    let unwatched = moved(view, sources, |source| {
        source.server.as_ref().filter(|_| source.watched == Some(false))
    });
    if let Some(moved) = unwatched {
        let message = format!(
            "{} is at `{}` on the server, and no event will tell: the pass worked on `{}`",
            moved.source, moved.theirs, moved.mine
        );
        let (action, reason) = (Action::Requeue, Reason::SourceMoved);
        return Next { action, reason, message, owed: true };
    }
    let to_come = moved(view, sources, |source| source.server.as_ref())
        .map_or_else(String::new, |moved| {
            format!("; the event of `{}` at {} is still to come", moved.theirs, moved.source)
        });
    match interval(view) {
        Some(interval) => Next {
            action: after(interval),
            reason: Reason::Interval,
            message: format!(
                "done; it is looked at again after {}{to_come}",
                time::readable(interval)
            ),
            owed: true,
        },
        None => Next {
            action: Action::Await,
            reason: Reason::Settled,
            message: format!("done; a change will be an event{to_come}"),
            owed: false,
        },
    }
}

fn waiting(by: &str, told: bool, view: &View<'_>, sources: &[SourceView<'_>]) -> Next {
    let (object, timings) = (view.object, &view.profile.timing);
    let known = timing(&timings.dependency, object)
        .or_else(|| timing(&timings.retry, object))
        .or_else(|| timing(&timings.interval, object))
        .filter(|millis| *millis > 0);
    let is = |watched| sources.iter().any(|source| source.watched == Some(watched));
    let next = |action, owed, message| Next { action, reason: Reason::Waiting, message, owed };
    if let Some(millis) = known {
        let again = time::readable(millis);
        let message = format!("{by} is waited for; it is asked again after {again}");
        return next(after(millis), is_polled(view) || told && is(false), message);
    }
    if is(true) && sources.iter().all(|source| source.watched == Some(true)) {
        return next(Action::Await, false, format!("{by} is waited for, and its event will come"));
    }
    let message = format!("{by} is waited for, and nothing is known to tell when it changes");
    next(Action::Requeue, told && is(false), message)
}

fn failed(owed: bool, spec: &Spec<'_>, view: &View<'_>) -> Next {
    let next = |action, message| Next { action, reason: Reason::Failed, message, owed };
    let retry = timing(&view.profile.timing.retry, view.object).filter(|millis| *millis > 0);
    let error = spec.result.as_ref().is_some_and(super::super::pass::Returned::fails);
    match retry {
        Some(retry) if !error => {
            let again = time::readable(retry);
            next(after(retry), format!("it failed and may work another time, after {again}"))
        }
        Some(_) | None => {
            let wait = backoff(spec).map_or_else(String::new, |millis| {
                format!(", which is at {} by now", time::readable(millis))
            });
            let message = format!(
                "it failed and may work another time; the queue's back-off says when{wait}"
            );
            next(Action::Requeue, message)
        }
    }
}

/// The delay that the queue's limiter gives next, where the pass tells enough.
pub(crate) fn backoff(spec: &Spec<'_>) -> Option<i64> {
    let limiter = spec.queue.as_ref()?.rate_limiter?;
    let millis = |span: crate::trace::scalar::Span| u64::try_from(span.0).unwrap_or(0);
    let backoff = Backoff { base: millis(limiter.base), max: millis(limiter.max) };
    let failures = u8::try_from(spec.failures?).unwrap_or(u8::MAX);
    i64::try_from(backoff.delay(failures)).ok()
}

/// After so many milliseconds.
pub(super) fn after(millis: i64) -> Action {
    match u32::try_from(millis) {
        Ok(0) => Action::Requeue,
        Ok(millis) => Action::After(millis),
        Err(_) if millis < 0 => Action::Requeue,
        Err(_) => Action::After(u32::MAX),
    }
}
