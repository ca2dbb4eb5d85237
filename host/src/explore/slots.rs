//! One key's place in the work queue, as a table.
//!
//! The queues of `plumb-queue` treat keys independently of each other, but for the order in which
//! they are handed out. So every state that one key can reach is enumerated once, by calling that
//! crate, and the search looks its transitions up. What is left, the order, is in [`Order`] and
//! [`Hand`]; a test compares both with the queue of several keys.
//!
//! Time is abstract: a timer is the longest time that may still pass until it fires, and it may
//! fire at any moment. Of two delays for one key the shorter stays, as in the queues themselves.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use std::collections::HashMap;

use plumb_queue::{
    Backoff, Flavour, LOW_PRIORITY, Millis, Priority, Queue, Returned, Runtime, Settings,
};

use super::scenario::{Cause, Starts};

/// What can happen to a key in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// An event adds it.
    Add,
    /// An event that reports no change adds it: an initial list, a resync.
    AddLow,
    /// A worker takes it.
    Get,
    /// Its timer fires.
    Fire,
    /// A worker returns the result of this index, and is done. Whether the pass has, as far as it
    /// knows, done all there is to do.
    Return { result: usize, settled: bool },
}

const RETURNS: usize = 4;

impl Operation {
    fn index(self) -> usize {
        match self {
            Self::Add => 0,
            Self::AddLow => 1,
            Self::Get => 2,
            Self::Fire => 3,
            Self::Return { result, settled } => RETURNS + 2 * result + usize::from(settled),
        }
    }
}

/// What an operation does to the key's position among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Stays,
    /// To the end; it may have been in line before.
    Joins,
    Leaves,
}

/// Which key is handed out next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hand {
    /// Any that is ready.
    Any,
    /// The first in line that is ready, of those of the highest priority.
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Slot {
    queue: Queue<1>,
    timer: Option<Cause>,
    entry: Option<Cause>,
    pass: Option<Cause>,
}

/// What the search asks of a state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Info {
    /// A free worker may take the key.
    pub(super) ready: bool,
    /// The longest time until its timer fires.
    pub(super) due: Option<Millis>,
    /// Of the entry.
    pub(super) priority: Priority,
    /// What queued the pass that is running.
    pub(super) pass: Option<Cause>,
    /// There is an entry, though a worker may have the key.
    pub(super) entry: bool,
    /// A worker has the key.
    pub(super) processing: bool,
}

/// How queues are set up in a scenario.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) flavour: Flavour,
    pub(super) runtime: Runtime,
    pub(super) backoff: Backoff,
    pub(super) counted: u8,
    pub(super) on_error: Option<Millis>,
    /// Whether the states tell what queued a pass.
    pub(super) causes: bool,
}

/// All states of a key and what leads from one to another.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    next: Vec<u16>,
    order: Vec<Order>,
    info: Vec<Info>,
    start: u16,
    start_is_in_line: bool,
    pub(super) hand: Hand,
}

/// The table's mark for an operation that is impossible in a state.
const IMPOSSIBLE: u16 = u16::MAX;

impl Slots {
    /// Enumerates the states that keys reach when passes return one of `results`.
    pub(super) fn new(setup: &Setup, starts: Starts, results: &[Returned]) -> Self {
        let settings = setup.settings();
        let empty = Slot { queue: Queue::new(setup.flavour), timer: None, entry: None, pass: None };
        let mut start = empty;
        match starts {
            Starts::Idle => {}
            Starts::Queued => start.add(Cause::Period, 0, LOW_PRIORITY, setup, &settings),
            Starts::After(delay) => start.add(Cause::Period, delay, 0, setup, &settings),
        }
        let mut operations =
            vec![Operation::Add, Operation::AddLow, Operation::Get, Operation::Fire];
        for result in 0..results.len() {
            operations.push(Operation::Return { result, settled: false });
            operations.push(Operation::Return { result, settled: true });
        }
        // The empty state is the first, so that a zeroed state has an empty queue.
        let mut states = vec![empty];
        let mut ids = HashMap::from([(empty, 0_u16)]);
        let mut rows: Vec<Vec<(u16, Order)>> = vec![];
        if start != empty {
            ids.insert(start, 1);
            states.push(start);
        }
        let mut at = 0;
        while at < states.len() {
            let slot = states[at];
            let mut row = vec![];
            for operation in &operations {
                let Some(next) = slot.apply(*operation, results, setup, &settings) else {
                    row.push((IMPOSSIBLE, Order::Stays));
                    continue;
                };
                let id = *ids.entry(next).or_insert_with(|| {
                    states.push(next);
                    u16::try_from(states.len() - 1).unwrap_or(IMPOSSIBLE)
                });
                row.push((id, order(&slot, &next, *operation)));
            }
            rows.push(row);
            at += 1;
        }
        let count = states.len();
        let mut table = Self {
            next: vec![IMPOSSIBLE; operations.len() * count],
            order: vec![Order::Stays; operations.len() * count],
            info: states.iter().map(|slot| slot.info(setup)).collect(),
            start: ids[&start],
            start_is_in_line: start.is_in_line(),
            hand: if setup.flavour == Flavour::KubeRs { Hand::Any } else { Hand::First },
        };
        for (id, row) in rows.iter().enumerate() {
            for (operation, (next, order)) in operations.iter().zip(row) {
                let at = operation.index() * count + id;
                table.next[at] = *next;
                table.order[at] = *order;
            }
        }
        table
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.info.len()
    }

    /// The state in which keys begin, and whether it has a position.
    pub(super) fn start(&self) -> (u64, bool) {
        (u64::from(self.start), self.start_is_in_line)
    }

    pub(super) fn info(&self, state: u64) -> &Info {
        &self.info[state as usize]
    }

    /// The state after the operation, and what becomes of the key's position.
    #[inline]
    pub(super) fn apply(&self, state: u64, operation: Operation) -> (u64, Order) {
        let at = operation.index() * self.info.len() + state as usize;
        debug_assert_ne!(self.next[at], IMPOSSIBLE, "{operation:?} in {:?}", self.info(state));
        (u64::from(self.next[at]), self.order[at])
    }
}

impl Setup {
    /// After `counted` failures the delay jumps to the longest, so that keys that fail for ever
    /// have few states; see [`Setup::longest`].
    fn settings(&self) -> Settings {
        Settings {
            backoff: Backoff { base: self.backoff.base, max: self.last_counted() },
            on_error: self.on_error,
            ..Settings::new(self.runtime)
        }
    }

    /// As the scenario says it.
    pub(super) fn told(&self) -> Settings {
        Settings { backoff: self.backoff, on_error: self.on_error, ..Settings::new(self.runtime) }
    }

    /// One millisecond below the first delay that is not counted: no other delay has this value.
    fn last_counted(&self) -> Millis {
        let next = self.backoff.delay(self.counted);
        if next < self.backoff.max { (next - 1).max(1) } else { self.backoff.max }
    }

    /// The longest time that a timer may still run.
    fn longest(&self, due: Millis) -> Millis {
        if due == self.last_counted() { self.backoff.max } else { due }
    }
}

impl Slot {
    fn apply(
        mut self,
        operation: Operation,
        results: &[Returned],
        setup: &Setup,
        settings: &Settings,
    ) -> Option<Self> {
        let view = self.queue.view(0);
        match operation {
            Operation::Add => self.add(Cause::Event, 0, 0, setup, settings),
            Operation::AddLow => self.add(Cause::Period, 0, LOW_PRIORITY, setup, settings),
            Operation::Get => {
                self.queue.get(0).ok()?;
                self.pass = self.entry.take();
            }
            Operation::Fire => {
                let due = view.due?;
                self.queue.advance(due);
                self.queue.rebase(due);
                let cause = self.timer.take();
                self.entry = self.entry.max(cause);
            }
            Operation::Return { result, settled } => {
                if !view.processing {
                    return None;
                }
                let cause = if settled { Cause::Period } else { Cause::Requeue };
                self.queue.after_return(0, &results[result], 0, settings).ok()?;
                self.settle(view.due, view.ready, cause, setup);
                self.queue.done(0).ok()?;
                self.pass = None;
            }
        }
        Some(self)
    }

    fn add(
        &mut self,
        cause: Cause,
        delay: Millis,
        priority: Priority,
        setup: &Setup,
        settings: &Settings,
    ) {
        let before = self.queue.view(0);
        let delay = i64::try_from(delay).unwrap_or(i64::MAX);
        self.queue.add_after(0, delay, priority, 0, settings);
        self.settle(before.due, before.ready, cause, setup);
        if before.ready && delay == 0 && setup.causes {
            self.entry = self.entry.max(Some(cause));
        }
    }

    /// Notes the cause of what an operation made.
    fn settle(&mut self, due: Option<Millis>, ready: bool, cause: Cause, setup: &Setup) {
        if !setup.causes {
            return;
        }
        let after = self.queue.view(0);
        if after.due != due {
            self.timer = after.due.is_some().then_some(cause);
        }
        if after.ready && !ready {
            self.entry = Some(cause);
        }
    }

    fn info(&self, setup: &Setup) -> Info {
        let view = self.queue.view(0);
        Info {
            ready: view.ready && !view.processing,
            due: view.due.map(|due| setup.longest(due)),
            priority: self.entry_priority(),
            pass: self.pass,
            entry: view.ready,
            processing: view.processing,
        }
    }

    /// The view of a key that is held tells the priority with which it was handed out.
    fn entry_priority(&self) -> Priority {
        let mut queue = self.queue;
        if queue.view(0).processing {
            // It is processing, so it can be done.
            let _ = queue.done(0);
        }
        queue.view(0).priority
    }

    /// Whether the key has a position: in client-go's queue while it can be handed out, in the
    /// priority queue while it has an item.
    fn is_in_line(&self) -> bool {
        let view = self.queue.view(0);
        match self.queue.flavour() {
            Flavour::Classic => view.ready && !view.processing,
            Flavour::Priority => view.ready || view.due.is_some(),
            Flavour::KubeRs => false,
        }
    }
}

fn order(before: &Slot, after: &Slot, operation: Operation) -> Order {
    let is_priority = before.queue.flavour() == Flavour::Priority;
    match (before.is_in_line(), after.is_in_line()) {
        (false, true) => Order::Joins,
        (true, false) => Order::Leaves,
        (true, true)
            if is_priority
                && (operation == Operation::Fire
                    || after.entry_priority() > before.entry_priority()) =>
        {
            Order::Joins
        }
        _ => Order::Stays,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: usize = 3;

    /// Positions as the search keeps them: from 1, 0 without one.
    #[derive(Clone, Copy, Default)]
    struct Ranks([u8; KEYS]);

    impl Ranks {
        fn apply(&mut self, key: usize, order: Order) {
            if order == Order::Stays {
                return;
            }
            let own = std::mem::take(&mut self.0[key]);
            for rank in &mut self.0 {
                *rank -= u8::from(own != 0 && *rank > own);
            }
            if order == Order::Joins {
                self.0[key] = self.0.iter().max().map_or(1, |last| last + 1);
            }
        }
    }

    fn setup(flavour: Flavour) -> Setup {
        let runtime = match flavour {
            Flavour::KubeRs => Runtime::KubeRs,
            Flavour::Classic | Flavour::Priority => Runtime::ControllerRuntime,
        };
        let backoff = Backoff { base: 100, max: 400 };
        Setup { flavour, runtime, backoff, counted: 8, on_error: Some(70), causes: false }
    }

    /// A small generator: the same sequence every time.
    fn random(seed: &mut u64) -> usize {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as usize
    }

    /// The table for one key and the order beside it, against the queue of several keys.
    #[test]
    fn tables_and_order_are_the_queue_of_several_keys() {
        let results = [
            Returned::EMPTY,
            Returned::REQUEUE,
            Returned::ERROR,
            Returned::TERMINAL,
            Returned::after(30),
            Returned::after(500),
            Returned::after(-1),
        ];
        for flavour in [Flavour::Classic, Flavour::Priority, Flavour::KubeRs] {
            let setup = setup(flavour);
            let settings = setup.settings();
            let table = Slots::new(&setup, Starts::Idle, &results);
            let mut seed = 7;
            for _ in 0..300 {
                let mut queue: Queue<KEYS> = Queue::new(flavour);
                let mut slots = [0_u64; KEYS];
                let mut ranks = Ranks::default();
                for _ in 0..60 {
                    let key = random(&mut seed) % KEYS;
                    let name = u8::try_from(key).expect("few keys");
                    let info = *table.info(slots[key]);
                    let operation = match random(&mut seed) % 6 {
                        0 => Operation::Add,
                        1 => Operation::AddLow,
                        2 | 3 if queue.ready().any(|ready| ready == name) => Operation::Get,
                        2 | 4 if info.processing => Operation::Return {
                            result: random(&mut seed) % results.len(),
                            settled: false,
                        },
                        5 if info.due.is_some() => Operation::Fire,
                        _ => continue,
                    };
                    match operation {
                        Operation::Add => {
                            queue.add(name, 0, 0, &settings);
                        }
                        Operation::AddLow => {
                            queue.add(name, LOW_PRIORITY, 0, &settings);
                        }
                        Operation::Get => {
                            queue.get(name).expect("ready");
                        }
                        Operation::Return { result, .. } => {
                            queue.after_return(name, &results[result], 0, &settings).expect("runs");
                            queue.done(name).expect("runs");
                        }
                        Operation::Fire => {
                            // The clock goes on for the others too, where it is not abstract.
                            let is_set = |other: &usize| queue.view(*other as u8).due.is_some();
                            if (0..KEYS).filter(is_set).count() > 1 {
                                continue;
                            }
                            let due = queue.next_due().expect("a timer is set");
                            queue.advance(due);
                            queue.rebase(due);
                        }
                    }
                    let (next, order) = table.apply(slots[key], operation);
                    slots[key] = next;
                    ranks.apply(key, order);
                    compare(&queue, &table, &slots, ranks);
                }
            }
        }
    }

    fn compare(queue: &Queue<KEYS>, table: &Slots, slots: &[u64; KEYS], ranks: Ranks) {
        for (key, slot) in slots.iter().enumerate() {
            let view = queue.view(key as u8);
            let info = table.info(*slot);
            assert_eq!(
                (view.ready, view.processing, view.due),
                (info.entry, info.processing, info.due),
                "key {key} of {queue:?}"
            );
        }
        let ready: Vec<usize> = (0..KEYS).filter(|key| table.info(slots[*key]).ready).collect();
        let place = |key: &&usize| (-table.info(slots[**key]).priority, ranks.0[**key]);
        let next: Vec<usize> = match table.hand {
            Hand::Any => ready,
            Hand::First => ready.iter().min_by_key(place).copied().into_iter().collect(),
        };
        let handed: Vec<usize> = queue.ready().map(usize::from).collect();
        assert_eq!(next, handed, "{queue:?}");
    }

    #[test]
    fn a_failing_key_has_few_states() {
        for flavour in [Flavour::Classic, Flavour::Priority] {
            let few = Setup { counted: 1, ..setup(flavour) };
            let slots = Slots::new(&few, Starts::Idle, &[Returned::ERROR]);
            let longest = (0..slots.len() as u64).filter_map(|slot| slots.info(slot).due).max();
            assert_eq!(longest, Some(400), "the last delay is the longest there is");
            assert!(slots.len() < 40, "{}", slots.len());
        }
    }
}
