use crate::{Key, Millis, queue::View, timer::Timer};

/// kube-rs's scheduler with the slots of its runner (`kube-runtime/src/scheduler.rs`,
/// `schedule_message`, `poll_pop_queue_message`; `controller/runner.rs`).
///
/// Per key: one scheduled time, `pending` (due, but held), and a slot while it runs. A request for
/// a pending key is dropped. One for a scheduled key replaces its time if it asks for no later
/// time, else it is ignored; the debounce is added to the request's time only after that
/// comparison, so a steady stream of requests can push the time away for ever. There is no
/// failure count: the error policy is the user's.
///
/// A scheduled entry is made pending here as soon as it is due, not when the runner next polls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Scheduler<const N: usize> {
    slots: [Slot; N],
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Slot {
    scheduled: Timer,
    pending: bool,
    running: bool,
}

impl Slot {
    const IDLE: Self = Self { scheduled: Timer::NEVER, pending: false, running: false };
}

impl<const N: usize> Scheduler<N> {
    pub(crate) const EMPTY: Self = Self { slots: [Slot::IDLE; N] };

    pub(crate) fn schedule(&mut self, key: Key, delay: Millis, debounce: Millis, now: Millis) {
        let slot = &mut self.slots[usize::from(key)];
        if slot.pending {
            return;
        }
        // Never compares as later than any request, which is the vacant entry.
        if slot.scheduled >= Timer::after(now, delay) {
            slot.scheduled = Timer::after(now, delay.saturating_add(debounce));
        }
        slot.settle(now);
    }

    /// Any pending key whose slot is free may go: the set has no order.
    pub(crate) fn get(&mut self, key: Key) {
        let slot = &mut self.slots[usize::from(key)];
        slot.pending = false;
        slot.running = true;
    }

    pub(crate) fn done(&mut self, key: Key) {
        self.slots[usize::from(key)].running = false;
    }

    pub(crate) fn advance(&mut self, now: Millis) {
        for slot in &mut self.slots {
            slot.settle(now);
        }
    }

    pub(crate) fn next_due(&self) -> Option<Millis> {
        self.slots.iter().map(|slot| slot.scheduled).min().and_then(Timer::due)
    }

    pub(crate) fn rebase(&mut self, zero: Millis) {
        for slot in &mut self.slots {
            slot.scheduled = slot.scheduled.rebase(zero);
        }
    }

    pub(crate) fn view(&self, key: Key) -> View {
        let slot = &self.slots[usize::from(key)];
        View {
            ready: slot.pending,
            processing: slot.running,
            due: slot.scheduled.due(),
            failures: 0,
            priority: 0,
        }
    }
}

impl Slot {
    fn settle(&mut self, now: Millis) {
        if self.scheduled.has_fired(now) {
            self.scheduled = Timer::NEVER;
            self.pending = true;
        }
    }
}
