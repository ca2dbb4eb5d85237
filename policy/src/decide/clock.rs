//! What the object and the clock alone tell: stuck, late, or fine until some time.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::outcome::{self, is_stalled};
use super::sources::moved;
use super::table::{self, after};
use super::{Next, Reason, interval, is_static, timing};
use crate::finding::Action;
use crate::object::{Condition, Status};
use crate::pass::{OutcomeType, SourceView};
use crate::phase;
use crate::record;
use crate::rule::View;
use crate::rules::handled::{deadline_passed, poke_unanswered, reconciling_past_timeout};
use crate::time::{self, Time};

/// The longest back-off where the kind's is not known, in milliseconds: that of controller-runtime.
const BACKOFF: i64 = 1_000_000;

/// Something that must have happened by some time.
struct Debt {
    /// Since when it is owed.
    since: Time,
    /// When it is late.
    due: Time,
    /// When no queue and no back-off explain it any more.
    hopeless: Time,
    /// What it is, as a clause.
    what: String,
}

/// What must happen to an object of which nothing but its state is known.
pub(super) fn next(view: &View<'_>, sources: &[SourceView<'_>], now: Time) -> Next {
    let object = view.object;
    let next = |action, reason, message: String| Next { action, reason, message, owed: false };
    if object.deleting {
        let finalizers = object.root.at("metadata").at("finalizers");
        if finalizers.is_empty() {
            return next(Action::Stop, Reason::Gone, "the object is all but gone".into());
        }
        let since =
            record::deleted(object).map_or_else(String::new, |at| format!(" since {}", at.text()));
        let message = format!("it is being deleted{since}, and a finalizer is left");
        return next(Action::Requeue, Reason::Deleting, message);
    }
    let outcome = outcome::read(view);
    match outcome {
        Some(OutcomeType::Suspended) => {
            let message = "the object is suspended, and a change of it resumes it".into();
            return next(Action::Await, Reason::Suspended, message);
        }
        Some(OutcomeType::Terminal) => {
            let message = match is_stalled(view) {
                true => "it is stalled: only a change of the spec can help",
                false => "its reason is one that only a change of the spec can cure",
            };
            return next(Action::Stop, Reason::Terminal, message.into());
        }
        _ if is_static(view) => return table::static_object(),
        _ => {}
    }
    let debts = debts(view, sources, outcome);
    let worst =
        debts.iter().max_by_key(|debt| (now >= debt.hopeless, now >= debt.due, -debt.due.0));
    if let Some(debt) = worst {
        let (what, since) = (&debt.what, debt.since.text());
        if now < debt.due {
            let message = format!("{what} since {since}: fine until {}", debt.due.text());
            return next(after(debt.due.since(now)), Reason::Fine, message);
        }
        let over = time::readable(now.since(debt.due));
        let (reason, why) = match now >= debt.hopeless {
            true => (Reason::Stuck, "and no back-off explains it"),
            false => (Reason::Late, "which a busy queue or a back-off may explain"),
        };
        let message = format!("{what} since {since}: overdue by {over}, {why}");
        return next(Action::Requeue, reason, message);
    }
    undated(view, outcome, now)
}

/// The answer where the object carries no time to judge by.
fn undated(view: &View<'_>, outcome: Option<OutcomeType>, now: Time) -> Next {
    let next = |action, reason, message| Next { action, reason, message, owed: false };
    let timings = &view.profile.timing;
    match outcome {
        Some(OutcomeType::Succeeded) => match interval(view) {
            Some(interval) => {
                let until = Time(now.0.saturating_add(interval)).text();
                let message = format!(
                    "done; when it was last looked at does not show, so it is fine until {until} at \
                     least"
                );
                next(after(interval), Reason::Fine, message)
            }
            None => {
                next(Action::Await, Reason::Settled, "done; a change will be an event".to_string())
            }
        },
        Some(OutcomeType::Failed) => {
            let action = timing(&timings.retry, view.object).map_or(Action::Requeue, after);
            let message =
                "the last run failed; whether it was tried again does not show".to_string();
            next(action, Reason::Failed, message)
        }
        Some(OutcomeType::Waiting) => {
            let again = timing(&timings.dependency, view.object)
                .or_else(|| timing(&timings.retry, view.object))
                .or_else(|| timing(&timings.interval, view.object));
            let message = "another object is waited for; whether it was asked again does not show"
                .to_string();
            next(again.map_or(Action::Requeue, after), Reason::Waiting, message)
        }
        _ => next(
            Action::Requeue,
            Reason::Unsettled,
            "the object does not say that it is done, and not since when".to_string(),
        ),
    }
}

fn debts(view: &View<'_>, sources: &[SourceView<'_>], outcome: Option<OutcomeType>) -> Vec<Debt> {
    let (object, profile) = (view.object, view.profile);
    let of = |text: &str| timing(text, object).filter(|millis| *millis > 0);
    let timings = &profile.timing;
    let backoff = of(&timings.backoff).unwrap_or(BACKOFF);
    let run = of(&timings.timeout).unwrap_or(0);
    let mut debts = Vec::new();
    let mut owe = |since: Time, within: i64, beyond: i64, what: String| {
        let due = Time(since.0.saturating_add(within));
        debts.push(Debt { since, due, hopeless: Time(due.0.saturating_add(beyond)), what });
    };
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    match (outcome, summary) {
        (Some(OutcomeType::Canceled), Some(summary)) => {
            if let Some(since) = summary.transition() {
                owe(since, backoff, run, format!("the last run was cut off ({})", summary.reason));
            }
        }
        (None, _) if object.status().is_empty() && view.profiled => {
            if let Some(since) = record::created(object) {
                owe(since, backoff, run, "the controller owes it a first run".into());
            }
        }
        (None, _) => {
            if let Some((condition, since, longest)) = reconciling_past_timeout::open(view) {
                let what = format!("{} is {}", condition.type_, condition.status.text());
                owe(since, longest + longest / 20, reconciling_past_timeout::PATIENCE, what);
            } else if summary.is_some_and(|summary| summary.status == Status::True)
                && let Some(behind) = phase::behind(object, profile)
                && let Some(write) = record::main_write(object)
            {
                owe(write.time, backoff, run, behind);
            }
        }
        (Some(OutcomeType::Succeeded), _) => {
            if let Some(interval) = interval(view)
                && let Some(last) = last_run(view)
            {
                let what = format!("it is looked at every {}, last", time::readable(interval));
                owe(last, interval + interval / 10 + run, backoff, what);
            }
            if let Some(moved) =
                moved(view, sources, |source| source.server.as_ref().or(source.cached.as_ref()))
                && let Some(since) = moved.since
            {
                let within = interval(view).map_or(backoff, |it| it + it / 10) + run;
                let what = format!(
                    "`{}` is applied, {} is at `{}`",
                    moved.mine, moved.source, moved.theirs
                );
                owe(since, within, backoff, what);
            }
        }
        _ => {}
    }
    if let Some((asked, patience)) = poke_unanswered::asked(view) {
        owe(asked, patience, backoff, "a reconcile was asked for".into());
    }
    for deadline in &profile.deadlines {
        if let Some((since, within)) = deadline_passed::limit(view, deadline) {
            owe(since, within, backoff, deadline_passed::message(view, deadline));
        }
    }
    debts
}

/// When a run was last seen, where every run leaves a time.
fn last_run(view: &View<'_>) -> Option<Time> {
    let (object, profile) = (view.object, view.profile);
    let fields = profile.timing.runs.iter().filter_map(|path| object.field(path)?.str());
    let last = fields.filter_map(Time::parse).max()?;
    let happy = profile.happy.iter().filter_map(|type_| object.condition(type_));
    Some(last.max(happy.filter_map(Condition::transition).max().unwrap_or(last)))
}
