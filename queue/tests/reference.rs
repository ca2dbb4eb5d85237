//! Random operations on four keys, beside a model that is as naive as can be: plain collections,
//! no packing, one rule of the upstream documentation a line. And what users rely on: an entry for
//! each key at most, no entry lost, no key with two workers.

use std::collections::{BTreeMap, BTreeSet};

use plumb_queue::{Backoff, Flavour, Key, Millis, Priority, Queue, Runtime, Settings};

const KEYS: usize = 4;
const SEQUENCES: u64 = 3_000;
const OPERATIONS: usize = 80;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add(Key, Priority),
    AddAfter(Key, i64),
    AddRateLimited(Key),
    Get,
    Done(Key),
    Forget(Key),
    Wait(Millis),
}

/// What the naive model keeps of an entry.
#[derive(Clone, Copy, Debug)]
struct Entry {
    priority: Priority,
    /// The order in which entries came, the first lowest.
    number: u64,
    /// It waits until then.
    due: Option<Millis>,
}

#[derive(Debug)]
struct Naive {
    flavour: Flavour,
    entries: BTreeMap<Key, Entry>,
    /// The classic queue's delaying layer, which knows nothing of the entries.
    delayed: BTreeMap<Key, Millis>,
    running: BTreeSet<Key>,
    failures: BTreeMap<Key, u32>,
    number: u64,
    now: Millis,
}

impl Naive {
    fn new(flavour: Flavour) -> Self {
        Self {
            flavour,
            entries: BTreeMap::new(),
            delayed: BTreeMap::new(),
            running: BTreeSet::new(),
            failures: BTreeMap::new(),
            number: 0,
            now: 0,
        }
    }

    fn number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn add(&mut self, key: Key, delay: Millis, priority: Priority) {
        if self.flavour == Flavour::Classic && delay > 0 {
            let due = self.now + delay;
            self.delayed.entry(key).and_modify(|known| *known = due.min(*known)).or_insert(due);
            return;
        }
        let priority = if self.flavour == Flavour::Priority { priority } else { 0 };
        let due = (delay > 0).then_some(self.now + delay);
        let number = self.number();
        let new = Entry { priority, number, due };
        let entry = self.entries.entry(key).or_insert(new);
        // One entry: of two times the earlier, of two priorities the higher.
        entry.due = entry.due.and_then(|known| due.map(|due| due.min(known)));
        if priority > entry.priority {
            (entry.priority, entry.number) = (priority, number);
        }
    }

    fn fail(&mut self, key: Key, settings: &Settings) {
        if self.flavour == Flavour::KubeRs {
            return self.add(key, settings.on_error.unwrap_or(0), 0);
        }
        let failures = self.failures.entry(key).or_default();
        let delay = (settings.backoff.base << (*failures).min(20)).min(settings.backoff.max);
        *failures += 1;
        self.add(key, delay, 0);
    }

    /// In the order of their times, one at a time.
    fn wait(&mut self, span: Millis) {
        self.now += span;
        loop {
            let now = self.now;
            let delayed = self.delayed.iter().map(|(key, due)| (*due, 0, 0, *key));
            let waiting = self.entries.iter().filter_map(|(key, entry)| {
                Some((entry.due?, -i32::from(entry.priority), entry.number, *key))
            });
            let Some((.., key)) = delayed.chain(waiting).filter(|first| first.0 <= now).min()
            else {
                return;
            };
            if self.delayed.remove(&key).is_some() {
                self.add(key, 0, 0);
            } else {
                let number = self.number();
                if let Some(entry) = self.entries.get_mut(&key) {
                    (entry.due, entry.number) = (None, number);
                }
            }
        }
    }

    /// Who may be handed out: in order, or any.
    fn ready(&self) -> Vec<Key> {
        let free =
            |(key, entry): &(&Key, &Entry)| entry.due.is_none() && !self.running.contains(key);
        let free = self.entries.iter().filter(free);
        if self.flavour == Flavour::KubeRs {
            return free.map(|(key, _)| *key).collect();
        }
        let first = free.min_by_key(|(_, entry)| (-i32::from(entry.priority), entry.number));
        first.map(|(key, _)| *key).into_iter().collect()
    }

    fn due(&self, key: Key) -> Option<Millis> {
        let waiting = self.entries.get(&key).and_then(|entry| entry.due);
        waiting.or(self.delayed.get(&key).copied())
    }

    fn has_entry(&self, key: Key) -> bool {
        self.entries.get(&key).is_some_and(|entry| entry.due.is_none())
    }

    fn done(&mut self, key: Key) {
        assert!(self.running.remove(&key));
        if self.flavour == Flavour::Classic && self.entries.contains_key(&key) {
            // A key that was added while it ran comes to the end of the line only now.
            let number = self.number();
            self.entries.entry(key).and_modify(|entry| entry.number = number);
        }
    }
}

/// xorshift: the same sequences on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % bound
    }

    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).expect("below a usize")
    }

    fn operation(&mut self, naive: &Naive) -> Operation {
        let key = Key::try_from(self.below(KEYS as u64)).expect("small");
        match self.below(9) {
            0 => Operation::Add(key, 0),
            1 => Operation::Add(key, -100),
            2 => Operation::AddAfter(key, [-1, 0, 7, 40][self.index(4)]),
            3 => Operation::AddRateLimited(key),
            4 | 5 if !naive.running.is_empty() => {
                let key = naive.running.iter().nth(self.index(naive.running.len()));
                Operation::Done(*key.expect("it runs"))
            }
            6 => Operation::Forget(key),
            7 => Operation::Wait(1 + self.below(30)),
            _ => Operation::Get,
        }
    }
}

fn settings(flavour: Flavour) -> Settings {
    let runtime = match flavour {
        Flavour::Classic | Flavour::Priority => Runtime::ControllerRuntime,
        Flavour::KubeRs => Runtime::KubeRs,
    };
    Settings { backoff: Backoff { base: 5, max: 60 }, on_error: Some(9), ..Settings::new(runtime) }
}

/// Both do the same; what is due at one instant in client-go's heap has no order, and there the
/// sequence ends. Returns how many operations were compared.
fn compare(flavour: Flavour, seed: u64) -> usize {
    let settings = settings(flavour);
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut queue = Queue::<KEYS>::new(flavour);
    let mut naive = Naive::new(flavour);
    let mut history = vec![];
    for step in 0..OPERATIONS {
        let operation = random.operation(&naive);
        history.push(operation);
        let now = naive.now;
        match operation {
            Operation::Add(key, priority) => {
                queue.add(key, priority, now, &settings);
                naive.add(key, 0, priority);
            }
            Operation::AddAfter(key, delay) => {
                queue.add_after(key, delay, 0, now, &settings);
                naive.add(key, Millis::try_from(delay).unwrap_or(0), 0);
            }
            Operation::AddRateLimited(key) => {
                queue.add_rate_limited(key, 0, now, &settings);
                naive.fail(key, &settings);
            }
            Operation::Get => {
                let ready = naive.ready();
                if !ready.is_empty() {
                    let key = ready[random.index(ready.len())];
                    queue.get(key).unwrap_or_else(|refusal| panic!("{refusal:?}: {history:?}"));
                    assert!(naive.running.insert(key), "two workers have {key}: {history:?}");
                    naive.entries.remove(&key);
                }
            }
            Operation::Done(key) => {
                queue.done(key).expect("it runs");
                naive.done(key);
            }
            Operation::Forget(key) => {
                queue.forget(key);
                naive.failures.remove(&key);
            }
            Operation::Wait(span) => {
                let mut due: Vec<Millis> = naive.delayed.values().copied().collect();
                due.sort_unstable();
                if due.windows(2).any(|pair| pair[0] == pair[1] && pair[0] <= now + span) {
                    return step;
                }
                naive.wait(span);
                queue.advance(naive.now);
            }
        }
        assert_eq!(queue.ready().collect::<Vec<_>>(), naive.ready(), "{flavour}: {history:?}");
        for key in 0..Key::try_from(KEYS).expect("small") {
            let view = queue.view(key);
            assert_eq!(
                (view.ready, view.processing, view.due),
                (naive.has_entry(key), naive.running.contains(&key), naive.due(key)),
                "key {key} of {flavour}: {history:?}"
            );
        }
    }
    OPERATIONS
}

const FLAVOURS: [Flavour; 3] = [Flavour::Classic, Flavour::Priority, Flavour::KubeRs];

#[test]
fn the_queues_do_what_a_naive_model_does() {
    for flavour in FLAVOURS {
        let compared: usize = (1..=SEQUENCES).map(|seed| compare(flavour, seed)).sum();
        let all = usize::try_from(SEQUENCES).expect("small") * OPERATIONS;
        assert!(compared > all / 2, "{flavour}: {compared} of {all}");
    }
}

/// Whatever happened before: when all workers are done and time has passed, each key that was
/// added since it was last handed out is handed out, once.
#[test]
fn no_entry_is_lost_and_none_is_handed_out_twice() {
    for flavour in FLAVOURS {
        let settings = settings(flavour);
        for seed in 1..=SEQUENCES {
            let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1);
            let mut queue = Queue::<KEYS>::new(flavour);
            let mut running = BTreeSet::new();
            // Keys that were added since they were handed out.
            let mut added = BTreeSet::new();
            let mut now = 0;
            let keys = 0..Key::try_from(KEYS).expect("small");
            for _ in 0..OPERATIONS {
                let key = Key::try_from(random.below(KEYS as u64)).expect("small");
                match random.below(5) {
                    0 => {
                        queue.add(key, 0, now, &settings);
                        added.insert(key);
                    }
                    1 => {
                        queue.add_after(key, 20, 0, now, &settings);
                        added.insert(key);
                    }
                    2 => {
                        if let Some(key) = queue.ready().next() {
                            queue.get(key).expect("it is ready");
                            assert!(running.insert(key), "{flavour}: two workers have {key}");
                            // A timer of the classic queue stays beside what was handed out.
                            if queue.view(key).due.is_none() {
                                assert!(added.remove(&key), "{flavour}: {key} from nowhere");
                            }
                        }
                    }
                    3 if running.remove(&key) => {
                        queue.done(key).expect("it runs");
                    }
                    _ => {
                        now += 6;
                        queue.advance(now);
                    }
                }
            }
            for key in running {
                queue.done(key).expect("it runs");
            }
            queue.advance(now + 1_000);
            let mut handed_out = vec![];
            while let Some(key) = queue.ready().next() {
                queue.get(key).expect("it is ready");
                queue.done(key).expect("it runs");
                handed_out.push(key);
            }
            handed_out.sort_unstable();
            assert_eq!(handed_out, added.into_iter().collect::<Vec<_>>(), "{flavour}, {seed}");
            assert!(keys.clone().all(|key| queue.is_idle(key)), "{flavour}: all is done");
        }
    }
}
