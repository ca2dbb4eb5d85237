//! The history in words.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Flavour, Returned, Runtime};

use crate::pass::OutcomeType;
use crate::trace::event::Action;
use crate::trace::history::{History, exact};
use crate::trace::story::{Consumed, Debt, KeyStory, Owing, Story, Woken};

/// Why a key is stuck, and what to do about it.
pub(crate) struct Cause {
    /// What happened, in one or two sentences.
    pub(crate) story: String,
    /// The same as one sentence without a final stop.
    pub(crate) message: String,
    /// What to do.
    pub(crate) advice: String,
    /// The events that matter, and what happened there.
    pub(crate) events: Vec<(usize, String)>,
}

/// A pointer to an event of the document.
pub(crate) fn pointer(event: usize) -> String {
    format!("/spec/events/{event}")
}

/// What is owed.
pub(crate) fn debt(history: &History, debt: &Debt) -> String {
    match &debt.owing {
        Owing::Source(source, seen, at) => {
            let source = history.source(*source);
            match seen {
                Some(seen) => format!("`{source}` is at `{at}`, last seen at `{seen}`"),
                None => format!("`{source}` is at `{at}`, which no run has seen"),
            }
        }
        Owing::Revision(source, revision) => {
            format!("no run has seen `{}` at `{revision}`", history.source(*source))
        }
        Owing::Status(text) => text.clone(),
        Owing::Generation(generation, observed) => {
            format!("metadata.generation is {generation}, status.observedGeneration {observed}")
        }
        Owing::Request(token) => format!("the request `{token}` is not answered"),
        Owing::Change => "no run has seen the object's last change".to_string(),
        Owing::Another(outcome) => match outcome {
            Some(OutcomeType::Canceled) => "the last run was cancelled before its end",
            Some(OutcomeType::Waiting) => "the last run is waiting for something",
            Some(OutcomeType::Deleting) => "the object is being deleted, and not all is done",
            Some(OutcomeType::FinalizerAdded) => "the last run did nothing but add a finalizer",
            Some(OutcomeType::Unfinished) => "the last run did one step of several",
            Some(_) => "the last run failed",
            None => "the last run asked for another",
        }
        .to_string(),
        Owing::Write => "the API server refused the last status write".to_string(),
        Owing::Due(at) => match u64::try_from(*at) {
            Ok(at) => format!("a run is due at {}", history.moment(at)),
            Err(_) => format!("a run has been due for {}", exact(at.saturating_neg())),
        },
        Owing::Interval(next) => {
            format!("the next run of the interval is due at {}", history.moment(*next))
        }
    }
}

/// What is owed, all of it, and what only follows from the rest left out.
pub(crate) fn debts(history: &History, debts: &[Debt]) -> String {
    let is_interval = |debt: &&Debt| matches!(debt.owing, Owing::Interval(_));
    let mut texts: Vec<String> = debts
        .iter()
        .filter(|debt| !is_interval(debt))
        .map(|debt| self::debt(history, debt))
        .collect();
    if texts.is_empty() {
        texts.extend(debts.iter().map(|debt| self::debt(history, debt)));
    }
    match texts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "nothing is owed".to_string(),
    }
}

/// What a run returned.
pub(crate) fn result(result: &Returned) -> String {
    let after = result.after.map(|after| format!("RequeueAfter {}", exact(after)));
    match (result.terminal, result.error, after) {
        (true, ..) => "a terminal error".to_string(),
        (_, true, Some(after)) => format!("an error together with {after}"),
        (_, true, None) => "an error".to_string(),
        (_, _, Some(after)) => after,
        (_, _, None) if result.requeue => "Requeue".to_string(),
        _ => "an empty result".to_string(),
    }
}

/// The queue as a sentence names it.
pub(crate) fn queue(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::Classic => "client-go's work queue",
        Flavour::Priority => "the priority queue",
        Flavour::KubeRs => "kube-rs's scheduler",
    }
}

/// Why a ready key may wait for ever.
pub(crate) fn order(history: &History, key: &KeyStory) -> String {
    match history.flavour {
        Flavour::Priority => format!(
            "the priority queue serves its priority, {}, only when nothing of a higher one is \
             ready",
            key.view.priority
        ),
        Flavour::Classic => "the queue serves first in, first out".to_string(),
        Flavour::KubeRs => "the set of pending keys has no order".to_string(),
    }
}

/// Why a hot key runs again, and what to do about it.
pub(crate) fn waker(woken: Woken) -> (&'static str, &'static str) {
    match woken {
        Woken::OwnWrite => (
            "Each was woken by the event of the status write of the one before",
            "write the status only if it differs, and do not let the controller's own status \
             writes wake it (for instance by a predicate on metadata.generation)",
        ),
        Woken::Delay(_) | Woken::Backoff(_) | Woken::Outside => (
            "Each asked for the next one without a delay worth the name",
            "return a RequeueAfter that fits what is waited for, and never a delay computed from \
             a time in the past",
        ),
    }
}

/// Where a consumed timer went.
pub(crate) fn consumed(history: &History, consumed: &Consumed) -> String {
    let set = consumed.set.map_or(String::new(), |set| format!(" that event {set} had set"));
    format!(
        "The timer that was to fire at {}{set} is gone since event {}: {} keeps one entry per key, so an add turns \
         the waiting entry into a ready one; client-go's work queue would have kept it.",
        history.moment(consumed.due),
        consumed.by,
        queue(history.flavour),
    )
}

/// Why the key is stuck.
pub(crate) fn cause(story: &Story<'_>, key: &KeyStory) -> Cause {
    let history = story.history;
    let Some(lost) = key.lost else {
        return Cause {
            story: "Nothing was scheduled for it from the start.".to_string(),
            message: "nothing was scheduled for the key from the start".to_string(),
            advice: "add the key when the controller starts".to_string(),
            events: Vec::new(),
        };
    };
    let mut cause = at(story, key, lost);
    if let Some(gone) = &key.consumed
        && gone.by < lost
    {
        cause.story.push(' ');
        cause.story.push_str(&consumed(history, gone));
        let note =
            format!("this add consumed the timer that was to fire at {}", history.moment(gone.due));
        cause.events.push((gone.by, note));
    }
    cause
}

fn at(story: &Story<'_>, key: &KeyStory, lost: usize) -> Cause {
    let history = story.history;
    let keep = "let the filter ask what the object still needs, not what it has seen last; or \
                return RequeueAfter as long as something is owed";
    let skipped = key.debts.iter().find_map(|debt| match &debt.owing {
        Owing::Revision(source, revision) => Some((history.source(*source), revision, debt.since)),
        _ => None,
    });
    match &history.events[lost].action {
        Action::Watch(..) if let Some((source, revision, since)) = skipped => Cause {
            story: format!(
                "Event {lost} replaced `{source}` in the cache before any run had read it at \
                 `{revision}`: a key says that something happened, not what."
            ),
            message: format!("`{source}` at `{revision}` is replaced before any run has seen it"),
            advice: "derive what is to be done from what is there now, or keep the identity of \
                     what is gone (its uid) beside the key"
                .to_string(),
            events: since
                .map(|since| (since, "it is delivered here".to_string()))
                .into_iter()
                .collect(),
        },
        Action::Return(..) => returned(story, key, lost),
        Action::Map(..) => Cause {
            story: format!("The filter dropped the event at event {lost}."),
            message: "the filter drops the event that would wake the key".to_string(),
            advice: keep.to_string(),
            events: Vec::new(),
        },
        Action::Watch(source, _) => {
            let source = history.source(*source);
            Cause {
                story: format!("No handler mapped the event of `{source}` to the key."),
                message: format!("no handler maps the event of `{source}` to the key"),
                advice: "map the source's events to every key that names it, across namespaces \
                         too"
                .to_string(),
                events: Vec::new(),
            }
        }
        Action::Read(..) | Action::Listen(..) | Action::Write { .. } => stale(story, key, lost),
        Action::Restart => Cause {
            story: "The restart lost the queue.".to_string(),
            message: "the restart loses the queue, and nothing adds the key again".to_string(),
            advice: "let the initial list add every key".to_string(),
            events: Vec::new(),
        },
        action => Cause {
            story: format!("Nothing was scheduled after the {} at event {lost}.", action.name()),
            message: "nothing is left to wake the key".to_string(),
            advice: "return RequeueAfter as long as something is owed".to_string(),
            events: Vec::new(),
        },
    }
}

fn returned(story: &Story<'_>, key: &KeyStory, lost: usize) -> Cause {
    let history = story.history;
    let Some(pass) = key.passes.iter().find(|pass| pass.returned == lost) else {
        return Cause {
            story: String::new(),
            message: "the run's result schedules nothing".to_string(),
            advice: "return RequeueAfter as long as something is owed".to_string(),
            events: Vec::new(),
        };
    };
    let result = match history.settings.runtime {
        Runtime::ClientGo => "with nothing added".to_string(),
        Runtime::ControllerRuntime | Runtime::KubeRs => result(&pass.result),
    };
    let started = (pass.got, "the run starts here".to_string());
    if let Some(cancel) = key.cancels.iter().find(|cancel| cancel.returned == lost) {
        let mut events = Vec::from([started]);
        events.push((cancel.at, "the run is cancelled here, with no add beside it".to_string()));
        let skip = cancel.skip.map_or(String::new(), |skip| {
            let note = "the add is left out: the handler had added the key for the same event";
            events.push((skip, note.to_string()));
            format!(
                " (at event {skip} the handler left it out, as it had added the key for the same \
                 event before)"
            )
        });
        return Cause {
            story: format!(
                "Event {} cancelled the run that event {} had started, with no add beside \
                 it{skip}, and the run returned {result} at event {lost}.",
                cancel.at, cancel.got
            ),
            message: format!(
                "a cancelled run returns {result}, and no add stands beside the \
                              cancellation"
            ),
            advice: "return Requeue or a positive RequeueAfter from a run that was cancelled, or \
                     add the key each time a run of it is cancelled"
                .to_string(),
            events,
        };
    }
    if let Some(after) = pass.result.after.filter(|&after| after <= 0)
        && history.settings.runtime == Runtime::ControllerRuntime
        && !pass.result.error
    {
        return Cause {
            story: format!(
                "The run returned RequeueAfter {} at event {lost}, and controller-runtime takes a \
                 delay that is not positive for an empty result: it forgets the key.",
                exact(after)
            ),
            message: format!(
                "RequeueAfter {} is not positive, so nothing is scheduled",
                exact(after)
            ),
            advice: "return a positive RequeueAfter, or do at once what is overdue".to_string(),
            events: Vec::from([started]),
        };
    }
    Cause {
        story: format!(
            "The run that event {} had started returned {result} at event {lost}, \
                        which schedules nothing.",
            pass.got
        ),
        message: format!("the run returns {result} while something is owed"),
        advice: "return RequeueAfter (or an error, to back off) as long as something is owed"
            .to_string(),
        events: Vec::from([started]),
    }
}

fn stale(story: &Story<'_>, key: &KeyStory, lost: usize) -> Cause {
    let advice = "compare what was read with what is known to be there, and return RequeueAfter \
                  if it is older";
    if let Some(stale) = key.stale_reads.iter().find(|stale| stale.at == lost) {
        let source = story.history.source(stale.source);
        return Cause {
            story: format!(
                "The run read `{source}` at `{}` at event {lost}, though event {} had delivered a \
                 newer one, and nothing else was scheduled.",
                stale.read, stale.newer
            ),
            message: format!("the run reads `{source}` at `{}`, which is old", stale.read),
            advice: advice.to_string(),
            events: Vec::from([(stale.newer, "the newer one is delivered here".to_string())]),
        };
    }
    if let Some(early) = key.early_answers.iter().find(|early| early.at == lost) {
        return Cause {
            story: format!(
                "The run answered the request `{}` of event {} at event {lost}, but had read its \
                 input at event {}, before the request.",
                early.token, early.request, early.read
            ),
            message: "a run answers a request that came after it had read its input".to_string(),
            advice: "answer the request that was read at the start of the run, no later one"
                .to_string(),
            events: Vec::from([
                (early.read, "the run reads its input here".to_string()),
                (early.request, "the request comes here".to_string()),
            ]),
        };
    }
    Cause {
        story: format!(
            "The run read an old state at event {lost}, and nothing else was scheduled."
        ),
        message: "the run reads an old state, and nothing else is scheduled".to_string(),
        advice: advice.to_string(),
        events: Vec::new(),
    }
}
