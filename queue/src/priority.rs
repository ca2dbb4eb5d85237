use crate::{Key, Millis, Priority, Settings, line::Line, queue::View, timer::Timer};

/// controller-runtime's priority queue, the default since v0.23
/// (`pkg/controller/priorityqueue/priorityqueue.go`).
///
/// One item per key, which is ready or waiting for a time (`lockedAddWithOpts`): an add to a
/// waiting item makes it ready and with that consumes its timer; a delay for a ready item is
/// dropped; of two delays the earlier stays; of two priorities the higher. Items are handed out by
/// priority, then by `AddedCounter`, which is renewed when the priority rises and when a timer
/// fires (`lessReady`, `handleWaitingItems`). A key that is being processed is `locked` and passed
/// over until `Done` (`handleReadyItems`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PriorityQueue<const N: usize> {
    slots: [Slot; N],
    /// Keys that have an item, by their `AddedCounter`.
    added: Line<N>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Slot {
    /// Set while the item waits.
    due: Timer,
    /// The item's priority; zero without an item.
    priority: Priority,
    /// The priority with which the key was handed out; the worker loop adds it again with this
    /// one. Zero if it is not locked.
    held: Priority,
    ready: bool,
    locked: bool,
    failures: u8,
}

impl Slot {
    const IDLE: Self =
        Self { due: Timer::NEVER, priority: 0, held: 0, ready: false, locked: false, failures: 0 };
}

impl<const N: usize> PriorityQueue<N> {
    pub(crate) const EMPTY: Self = Self { slots: [Slot::IDLE; N], added: Line::EMPTY };

    pub(crate) fn add(&mut self, key: Key, delay: Millis, priority: Priority, now: Millis) {
        let due = if delay == 0 { Timer::NEVER } else { Timer::after(now, delay) };
        let slot = &mut self.slots[usize::from(key)];
        if !slot.ready && slot.due == Timer::NEVER {
            slot.ready = delay == 0;
            slot.due = due;
            slot.priority = priority;
            self.added.push(key);
            return;
        }
        if !slot.ready {
            slot.ready = delay == 0;
            slot.due = if slot.ready { Timer::NEVER } else { slot.due.min(due) };
        }
        if priority > slot.priority {
            slot.priority = priority;
            self.added.remove(key);
            self.added.push(key);
        }
    }

    /// The limiter counts even if a ready item makes the delay void.
    pub(crate) fn add_rate_limited(
        &mut self,
        key: Key,
        priority: Priority,
        now: Millis,
        settings: &Settings,
    ) {
        let slot = &mut self.slots[usize::from(key)];
        let delay = settings.backoff.delay(slot.failures);
        slot.failures = settings.backoff.count(slot.failures);
        self.add(key, delay, priority, now);
    }

    pub(crate) fn head(&self) -> Option<Key> {
        let mut head: Option<(Key, Priority)> = None;
        for &key in self.added.as_slice() {
            let slot = &self.slots[usize::from(key)];
            if slot.ready && !slot.locked && head.is_none_or(|(_, best)| slot.priority > best) {
                head = Some((key, slot.priority));
            }
        }
        head.map(|(key, _)| key)
    }

    pub(crate) fn get(&mut self, key: Key) {
        self.added.remove(key);
        let slot = &mut self.slots[usize::from(key)];
        slot.held = slot.priority;
        slot.priority = 0;
        slot.ready = false;
        slot.locked = true;
    }

    pub(crate) fn held(&self, key: Key) -> Priority {
        self.slots[usize::from(key)].held
    }

    pub(crate) fn done(&mut self, key: Key) {
        let slot = &mut self.slots[usize::from(key)];
        slot.locked = false;
        slot.held = 0;
    }

    pub(crate) fn forget(&mut self, key: Key) {
        self.slots[usize::from(key)].failures = 0;
    }

    pub(crate) fn advance(&mut self, now: Millis) {
        while let Some(key) = self.first_fired(now) {
            let slot = &mut self.slots[usize::from(key)];
            slot.due = Timer::NEVER;
            slot.ready = true;
            self.added.remove(key);
            self.added.push(key);
        }
    }

    /// The item whose turn it is to become ready: by time, then priority, then `AddedCounter`.
    fn first_fired(&self, now: Millis) -> Option<Key> {
        let mut first: Option<(Key, &Slot)> = None;
        for &key in self.added.as_slice() {
            let slot = &self.slots[usize::from(key)];
            let is_before = |other: &Slot| {
                (slot.due, -i32::from(slot.priority)) < (other.due, -i32::from(other.priority))
            };
            if slot.due.has_fired(now) && first.is_none_or(|(_, other)| is_before(other)) {
                first = Some((key, slot));
            }
        }
        first.map(|(key, _)| key)
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
            ready: slot.ready,
            processing: slot.locked,
            due: slot.due.due(),
            failures: slot.failures,
            priority: if slot.locked { slot.held } else { slot.priority },
        }
    }
}
