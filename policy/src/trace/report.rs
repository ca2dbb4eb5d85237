//! The ending, and the paragraph about it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use plumb_queue::Millis;

use crate::finding::{Ending, Finding, Report};
use crate::trace::history::exact;
use crate::trace::story::{Carrier, Debt, KeyStory, Story};
use crate::trace::words;

/// The report. Of several keys the worst one counts, of equals the first.
pub(crate) fn report(story: &Story<'_>, findings: Vec<Finding>) -> Report {
    let keys = &story.keys;
    let (state, until, lost, message) = if let Some(key) = keys.iter().find(|key| key.is_stuck()) {
        (Ending::Stuck, None, key.lost, stuck(story, key))
    } else if let Some((key, waited)) = keys.iter().find_map(|key| Some((key, story.starved(key)?)))
    {
        let added = key.ready_since.map(|(event, _)| event);
        (Ending::Stuck, None, added, starved(story, key, waited))
    } else if let Some((key, passes)) = keys.iter().find_map(|key| Some((key, key.hot()?))) {
        (Ending::Hot, None, None, hot(story, key, passes.len()))
    } else if let Some((key, carrier)) = asleep(story) {
        let until = match carrier {
            Carrier::Timer(due) => Some(due),
            Carrier::Entry | Carrier::Run | Carrier::Event => Some(story.end),
            Carrier::Await => None,
        };
        let until = until.map(|at| story.history.moment(at));
        (Ending::Asleep, until, None, sleeping(story, key, carrier))
    } else {
        (Ending::Settled, None, None, settled(story))
    };
    let lost = lost.and_then(|event| u32::try_from(event).ok());
    Report { state, until, lost, message, findings }
}

/// The key that sleeps longest.
fn asleep<'s>(story: &'s Story<'_>) -> Option<(&'s KeyStory, Carrier)> {
    let mut longest: Option<(&KeyStory, Carrier, Millis)> = None;
    for key in &story.keys {
        let Some(carrier) = key.carrier else { continue };
        if key.debts.iter().all(|debt| debt.is_future(story.end)) {
            continue;
        }
        let until = match carrier {
            Carrier::Timer(due) => due,
            Carrier::Entry | Carrier::Run | Carrier::Event => 0,
            Carrier::Await => Millis::MAX,
        };
        if longest.is_none_or(|(_, _, other)| until > other) {
            longest = Some((key, carrier, until));
        }
    }
    longest.map(|(key, carrier, _)| (key, carrier))
}

fn stuck(story: &Story<'_>, key: &KeyStory) -> String {
    let history = story.history;
    let cause = words::cause(story, key);
    let lost = key.lost.map_or(String::new(), |lost| format!(" after event {lost}"));
    format!(
        "`{}` is stuck: {}, but{lost} {} has neither an entry nor a timer for it, no run is in \
         progress and no event is still to be handled. {} {}.",
        history.key(key.key),
        words::debts(history, &key.debts),
        words::queue(history.flavour),
        cause.story,
        sentence(&cause.advice),
    )
}

fn starved(story: &Story<'_>, key: &KeyStory, waited: Millis) -> String {
    format!(
        "`{}` has been ready for {} and was never handed out, while workers took other keys {} \
         time{}: {}. Raise its priority, or add workers until low priorities are served too.",
        story.history.key(key.key),
        exact(i64::try_from(waited).unwrap_or(i64::MAX)),
        key.overtaken,
        if key.overtaken == 1 { "" } else { "s" },
        words::order(story.history, key),
    )
}

fn hot(story: &Story<'_>, key: &KeyStory, passes: usize) -> String {
    let history = story.history;
    let first = key.passes.len() - passes;
    let chain = &key.passes[first..];
    let (why, advice) = words::waker(chain[chain.len() - 1].woken);
    let span = match (chain.first(), chain.last()) {
        (Some(first), Some(last)) => last.got_at.saturating_sub(first.got_at),
        _ => 0,
    };
    format!(
        "`{}` is hot: {passes} runs in {} did the same work (events {} to {}), with no change of \
         any input between them. {why}. {}.",
        history.key(key.key),
        exact(i64::try_from(span).unwrap_or(i64::MAX)),
        chain[0].got,
        chain[chain.len() - 1].returned,
        sentence(advice),
    )
}

fn sleeping(story: &Story<'_>, key: &KeyStory, carrier: Carrier) -> String {
    let history = story.history;
    let now: Vec<Debt> =
        key.debts.iter().filter(|debt| !debt.is_future(story.end)).cloned().collect();
    let debts = words::debts(history, &now);
    let name = history.key(key.key);
    match carrier {
        Carrier::Timer(due) => {
            let span = i64::try_from(due.saturating_sub(story.end)).unwrap_or(i64::MAX);
            format!(
                "`{name}` sleeps until {}: {debts}, and nothing but the timer, {} after the last \
                 event, will see to it.",
                history.moment(due),
                exact(span),
            )
        }
        Carrier::Entry => {
            format!("`{name}` is queued: {debts}, and the next free worker will see to it.")
        }
        Carrier::Run => format!("`{name}` is being reconciled: {debts}."),
        Carrier::Event => {
            format!("`{name}` is about to be woken: {debts}, and an event is on its way.")
        }
        Carrier::Await => format!(
            "`{name}` waits: {debts}, nothing is scheduled, and {} will wake it.",
            awaited(story, key)
        ),
    }
}

fn awaited(story: &Story<'_>, key: &KeyStory) -> String {
    let sources: Vec<String> = story.history.objects[usize::from(key.key)]
        .sources
        .iter()
        .map(|&source| &story.history.sources[source])
        .filter(|source| source.is_watched)
        .map(|source| format!("`{}`", source.name))
        .collect();
    if sources.is_empty() {
        return "only an event, of which the history does not say,".into();
    }
    format!("only the next event of {}", sources.join(" or "))
}

fn settled(story: &Story<'_>) -> String {
    let runs: usize = story.keys.iter().map(|key| key.passes.len()).sum();
    let next =
        story.keys.iter().filter_map(|key| key.view.due).min().map_or(String::new(), |due| {
            format!("; the next run is at {}", story.history.moment(due))
        });
    let s = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "Nothing is owed to {} key{} after {runs} run{}{next}.",
        story.keys.len(),
        s(story.keys.len()),
        s(runs),
    )
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}
