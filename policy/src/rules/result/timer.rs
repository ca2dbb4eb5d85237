//! The timer that the pass before has set.

use plumb_queue::Step;

use crate::pass::{Pass, Trigger};
use crate::time::Time;

/// A timer that had not fired when the pass began.
pub(super) struct Timer {
    /// The place of the pass that set it among the earlier ones.
    pub(super) place: usize,
    /// In milliseconds.
    pub(super) delay: i64,
    /// When it was to fire, if known.
    pub(super) due: Option<Time>,
}

/// The timer of the pass before, if an event came first.
pub(super) fn pending(pass: &Pass<'_>) -> Option<Timer> {
    let place = pass.spec.earlier.len().checked_sub(1)?;
    let earlier = &pass.spec.earlier[place];
    let (Step::ForgetThenAfter(delay) | Step::After(delay)) = pass.step(&earlier.result) else {
        return None;
    };
    let delay = i64::try_from(delay).ok().filter(|delay| *delay > 0)?;
    let due = earlier.at.map(|at| Time(at.0.0.saturating_add(delay)));
    let fired = due.zip(pass.view.now).is_some_and(|(due, now)| now >= due);
    let by_event = matches!(pass.spec.trigger?, Trigger::Watch | Trigger::Request);
    (by_event && !fired).then_some(Timer { place, delay, due })
}
