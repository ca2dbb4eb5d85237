//! What came out of the replay: what the rules and the report look at.

use alloc::string::String;
use alloc::vec::Vec;

use plumb_queue::{Key, Millis, Returned, Step, View};

use crate::pass::OutcomeType;
use crate::trace::document::StatusSpec;
use crate::trace::history::{History, SourceId};

/// The whole history, replayed.
#[derive(Debug)]
pub struct Story<'h> {
    /// The history.
    pub history: &'h History,
    /// Its end.
    pub end: Millis,
    /// What became of each key.
    pub keys: Vec<KeyStory>,
}

/// What became of one key.
#[derive(Debug)]
pub struct KeyStory {
    /// The key.
    pub key: Key,
    /// What the queue knows of it at the end.
    pub view: View,
    /// What is owed at the end.
    pub debts: Vec<Debt>,
    /// What will do it; nothing if the key is stuck.
    pub carrier: Option<Carrier>,
    /// The event after which something was owed and nothing was left to do it, up to the end.
    pub lost: Option<usize>,
    /// The runs, in order.
    pub passes: Vec<Pass>,
    /// Runs that were cancelled with no add beside it, and returned without asking for another.
    pub cancels: Vec<Cancel>,
    /// Events that a filter dropped while something was owed.
    pub drops: Vec<Drop>,
    /// The last timer that an add consumed, if none was set since.
    pub consumed: Option<Consumed>,
    /// Reads of an older revision than the cache of the same controller had been told.
    pub stale_reads: Vec<StaleRead>,
    /// Requests that a run answered which had read its input before the request.
    pub early_answers: Vec<EarlyAnswer>,
    /// Long delays that earlier, other work has earned.
    pub backoffs: Vec<Backoff>,
    /// Since when there is an entry: event and time.
    pub ready_since: Option<(usize, Millis)>,
    /// How often other keys were handed out since then.
    pub overtaken: u32,
}

/// Something that is owed to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Debt {
    /// What.
    pub owing: Owing,
    /// The event that made it so; before the start if unknown.
    pub since: Option<usize>,
}

/// What is owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owing {
    /// A run that sees the source as it is: the revision last seen, and the present one.
    Source(SourceId, Option<String>, String),
    /// A run that saw this revision, which is gone.
    Revision(SourceId, String),
    /// A status that says it is settled.
    Status(String),
    /// A run for this generation; the status names another.
    Generation(i64, i64),
    /// An answer to a request.
    Request(String),
    /// A run that sees the object's last change.
    Change,
    /// Another run, since the last one ended so, or asked for it.
    Another(Option<OutcomeType>),
    /// A status write that the API server refused.
    Write,
    /// A run at or after this time.
    Due(i64),
    /// A run at least this often.
    Interval(Millis),
}

/// What will do what is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// An entry, as soon as a worker is free.
    Entry,
    /// A run in progress.
    Run,
    /// An event that is still to be delivered or handled.
    Event,
    /// A later event of a source that the key waits for.
    Await,
    /// A timer.
    Timer(Millis),
}

/// One run.
#[derive(Debug, Clone)]
pub struct Pass {
    /// The event that started it.
    pub got: usize,
    /// When.
    pub got_at: Millis,
    /// The event that ended it.
    pub returned: usize,
    /// When.
    pub returned_at: Millis,
    /// A number that is equal for two runs that had the same input.
    pub input: u32,
    /// What woke it.
    pub woken: Woken,
    /// The event that cancelled it.
    pub canceled: Option<usize>,
    /// What it returned.
    pub result: Returned,
    /// What the runtime did with that; nothing for a loop by hand.
    pub step: Option<Step>,
    /// The status before it.
    pub before: StatusSpec,
    /// The status after it.
    pub after: StatusSpec,
    /// It wrote something that the history does not tell.
    pub is_opaque: bool,
}

/// What woke a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// An event from outside, or something that was not recorded.
    Outside,
    /// The event of the controller's own write to the object.
    OwnWrite,
    /// A delay that the controller asked for.
    Delay(Millis),
    /// The limiter's delay.
    Backoff(Millis),
}

/// A run that was cancelled with no add beside it.
#[derive(Debug, Clone, Copy)]
pub struct Cancel {
    /// The event that cancelled it.
    pub at: usize,
    /// The event by which the handler left the add out, if recorded.
    pub skip: Option<usize>,
    /// The event that started the run.
    pub got: usize,
    /// The event with which it returned.
    pub returned: usize,
}

/// An event that a filter dropped.
#[derive(Debug, Clone, Copy)]
pub struct Drop {
    /// The event of the filter.
    pub at: usize,
    /// The source whose event it was.
    pub source: Option<SourceId>,
}

/// A timer that an add turned into an entry.
#[derive(Debug, Clone, Copy)]
pub struct Consumed {
    /// The add.
    pub by: usize,
    /// When it would have fired.
    pub due: Millis,
    /// The event that had set it; before the start if unknown.
    pub set: Option<usize>,
}

/// A read of an older revision.
#[derive(Debug, Clone)]
pub struct StaleRead {
    /// The read.
    pub at: usize,
    /// The source.
    pub source: SourceId,
    /// What was read.
    pub read: String,
    /// The watch event that had delivered the newer one.
    pub newer: usize,
}

/// A request that an earlier run answered.
#[derive(Debug, Clone)]
pub struct EarlyAnswer {
    /// The write.
    pub at: usize,
    /// The request.
    pub request: usize,
    /// The read before it.
    pub read: usize,
    /// The token.
    pub token: String,
}

/// A long delay that earlier, other work has earned.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// The return.
    pub at: usize,
    /// The return that began the count.
    pub first: usize,
    /// The delay.
    pub delay: Millis,
}

impl Debt {
    /// It is owed only later.
    pub fn is_future(&self, now: Millis) -> bool {
        match self.owing {
            Owing::Due(at) => i64::try_from(now).is_ok_and(|now| now < at),
            Owing::Interval(next) => now < next,
            _ => false,
        }
    }
}

/// Passes in a row that each woke the next without cause, and how many must be to call it hot.
const HOT_AT_ONCE: usize = 3;
/// The same where each waits for a delay of up to [`SHORT`].
const HOT_AFTER_SHORT_DELAYS: usize = 20;
/// A delay that is as good as none.
const AT_ONCE: Millis = 100;
/// The longest delay that counts as hot.
const SHORT: Millis = 1_000;

impl KeyStory {
    /// Something is owed, now or later, and nothing will do it.
    pub fn is_stuck(&self) -> bool {
        !self.debts.is_empty() && self.carrier.is_none()
    }

    /// The passes at the end that each did the same work again without cause, if they are so many
    /// that the key is hot. The first one is the pass that was repeated.
    pub fn hot(&self) -> Option<&[Pass]> {
        let mut count = 0;
        let mut is_at_once = true;
        for (index, pass) in self.passes.iter().enumerate().skip(1).rev() {
            let earlier = &self.passes[..index];
            let is_at_once_here = match pass.woken {
                Woken::OwnWrite => true,
                Woken::Delay(delay) if delay <= SHORT => delay < AT_ONCE,
                // A delay of the limiter that does not grow is one that something resets each time.
                Woken::Backoff(delay)
                    if delay < AT_ONCE && earlier[index - 1].woken == pass.woken =>
                {
                    true
                }
                Woken::Delay(_) | Woken::Backoff(_) | Woken::Outside => break,
            };
            let is_known = pass.after == pass.before
                || earlier.iter().any(|p| p.after == pass.after || p.before == pass.after);
            if pass.is_opaque || !is_known || earlier[index - 1].input != pass.input {
                break;
            }
            count += 1;
            is_at_once &= is_at_once_here;
        }
        let most = if is_at_once { HOT_AT_ONCE } else { HOT_AFTER_SHORT_DELAYS };
        (count >= most).then(|| &self.passes[self.passes.len() - count - 1..])
    }
}

impl Story<'_> {
    /// How long the key has been ready while others were served, if that is too long.
    pub fn starved(&self, key: &KeyStory) -> Option<Millis> {
        let (_, since) = key.ready_since.filter(|_| key.overtaken > 0)?;
        let waited = self.end.saturating_sub(since);
        (waited >= self.history.patience && !key.view.processing).then_some(waited)
    }
}
