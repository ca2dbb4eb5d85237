use crate::{Key, Millis, Settings, line::Line, queue::View, timer::Timer};

/// client-go's work queue with its delaying and rate-limiting layers.
///
/// Per key: `dirty` and `processing` (`util/workqueue/queue.go`, `Add`, `Get`, `Done`), one entry
/// in the heap of the delaying layer (`delaying_queue.go`, `AddAfter`, `waitingLoop`, `insert`),
/// and a failure count (`default_rate_limiters.go`). The layers do not know each other: an `Add`
/// leaves the delayed entry in place, and `Forget` resets the count and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WorkQueue<const N: usize> {
    slots: [Slot; N],
    /// Keys that are dirty and not processing, first in, first out.
    queue: Line<N>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Slot {
    due: Timer,
    dirty: bool,
    processing: bool,
    failures: u8,
}

impl Slot {
    const IDLE: Self = Self { due: Timer::NEVER, dirty: false, processing: false, failures: 0 };
}

impl<const N: usize> WorkQueue<N> {
    pub(crate) const EMPTY: Self = Self { slots: [Slot::IDLE; N], queue: Line::EMPTY };

    pub(crate) fn add(&mut self, key: Key) {
        let slot = &mut self.slots[usize::from(key)];
        if slot.dirty {
            return;
        }
        slot.dirty = true;
        if !slot.processing {
            self.queue.push(key);
        }
    }

    pub(crate) fn add_after(&mut self, key: Key, delay: Millis, now: Millis) {
        if delay == 0 {
            return self.add(key);
        }
        let slot = &mut self.slots[usize::from(key)];
        slot.due = slot.due.min(Timer::after(now, delay));
    }

    pub(crate) fn add_rate_limited(&mut self, key: Key, now: Millis, settings: &Settings) {
        let slot = &mut self.slots[usize::from(key)];
        let delay = settings.backoff.delay(slot.failures);
        slot.failures = settings.backoff.count(slot.failures);
        self.add_after(key, delay, now);
    }

    pub(crate) fn head(&self) -> Option<Key> {
        self.queue.as_slice().first().copied()
    }

    pub(crate) fn get(&mut self, key: Key) {
        self.queue.remove(key);
        let slot = &mut self.slots[usize::from(key)];
        slot.processing = true;
        slot.dirty = false;
    }

    pub(crate) fn done(&mut self, key: Key) {
        let slot = &mut self.slots[usize::from(key)];
        slot.processing = false;
        if slot.dirty {
            self.queue.push(key);
        }
    }

    pub(crate) fn forget(&mut self, key: Key) {
        self.slots[usize::from(key)].failures = 0;
    }

    /// Entries that are due are added in the order of their times; those of one instant in the
    /// order of their keys, where the heap gives no order.
    pub(crate) fn advance(&mut self, now: Millis) {
        while let Some(index) =
            (0..N).filter(|&i| self.slots[i].due.has_fired(now)).min_by_key(|&i| self.slots[i].due)
        {
            self.slots[index].due = Timer::NEVER;
            self.add(index_to_key(index));
        }
    }

    pub(crate) fn next_due(&self) -> Option<Millis> {
        self.slots.iter().map(|slot| slot.due).min().and_then(Timer::due)
    }

    pub(crate) fn rebase(&mut self, zero: Millis) {
        for slot in &mut self.slots {
            slot.due = slot.due.rebase(zero);
        }
    }

    pub(crate) fn view(&self, key: Key) -> View {
        let slot = &self.slots[usize::from(key)];
        View {
            ready: slot.dirty,
            processing: slot.processing,
            due: slot.due.due(),
            failures: slot.failures,
            priority: 0,
        }
    }
}

/// Keys are indices below `N`, and `N` is at most 256.
pub(crate) fn index_to_key(index: usize) -> Key {
    Key::try_from(index).unwrap_or(Key::MAX)
}
