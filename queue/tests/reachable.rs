//! Every state that two keys can reach in each queue, and what must hold in all of them.

use std::collections::{BTreeSet, VecDeque};

use plumb_queue::{Backoff, Flavour, Key, Queue, Returned, Runtime, Settings, View};

type Small = Queue<2>;

const KEYS: [Key; 2] = [0, 1];

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add(Key, i16),
    AddAfter(Key, i64),
    AddRateLimited(Key),
    Get(Key),
    Return(Key, Returned),
    Done(Key),
    Forget(Key),
    Tick,
}

fn settings(flavour: Flavour) -> Settings {
    let runtime = match flavour {
        Flavour::Classic | Flavour::Priority => Runtime::ControllerRuntime,
        Flavour::KubeRs => Runtime::KubeRs,
    };
    Settings { backoff: Backoff { base: 5, max: 20 }, on_error: Some(7), ..Settings::new(runtime) }
}

fn operations(queue: &Small) -> Vec<Operation> {
    let mut operations = vec![];
    for key in KEYS {
        operations.extend([
            Operation::Add(key, 0),
            Operation::Add(key, -100),
            Operation::AddAfter(key, -1),
            Operation::AddAfter(key, 3),
            Operation::AddAfter(key, 10),
            Operation::AddRateLimited(key),
            Operation::Forget(key),
        ]);
        if queue.view(key).processing {
            operations.push(Operation::Done(key));
            operations.extend(
                [
                    Returned::EMPTY,
                    Returned::REQUEUE,
                    Returned::ERROR,
                    Returned::TERMINAL,
                    Returned::after(10),
                    Returned::after(-1),
                ]
                .map(|returned| Operation::Return(key, returned)),
            );
        }
    }
    operations.extend(queue.ready().map(Operation::Get));
    operations.extend(queue.next_due().map(|_| Operation::Tick));
    operations
}

/// The state after the operation, on a clock that starts at the operation's end.
fn apply(mut queue: Small, operation: Operation, settings: &Settings) -> Small {
    let now = 0;
    match operation {
        Operation::Add(key, priority) => {
            queue.add(key, priority, now, settings);
        }
        Operation::AddAfter(key, delay) => {
            queue.add_after(key, delay, 0, now, settings);
        }
        Operation::AddRateLimited(key) => {
            queue.add_rate_limited(key, 0, now, settings);
        }
        Operation::Get(key) => {
            queue.get(key).expect("ready");
        }
        Operation::Return(key, returned) => {
            queue.after_return(key, &returned, now, settings).expect("processing");
            queue.done(key).expect("processing");
        }
        Operation::Done(key) => {
            queue.done(key).expect("processing");
        }
        Operation::Forget(key) => queue.forget(key),
        Operation::Tick => {
            let due = queue.next_due().expect("a timer is set");
            queue.advance(due);
            queue.rebase(due);
        }
    }
    queue
}

fn check_state(queue: &Small) {
    let waiting: Vec<Key> = queue.waiting_for_a_worker().collect();
    let ready: Vec<Key> = queue.ready().collect();
    assert_eq!(waiting.is_empty(), ready.is_empty(), "work and a free worker meet: {queue:?}");
    if queue.flavour() != Flavour::KubeRs {
        assert!(ready.len() <= 1, "the queue has an order: {queue:?}");
    }
    for key in KEYS {
        let View { ready, processing, due, .. } = queue.view(key);
        let mut copy = *queue;
        assert_eq!(copy.get_out_of_order(key).is_ok(), ready && !processing, "{queue:?}");
        if queue.flavour() != Flavour::Classic {
            assert!(!(ready && due.is_some()), "one entry per key: {queue:?}");
        }
    }
}

fn check_step(before: &Small, operation: Operation, after: &Small, settings: &Settings) {
    let context = || format!("{operation:?}\nbefore {before:?}\nafter  {after:?}");
    for key in KEYS {
        let (old, new) = (before.view(key), after.view(key));
        let is_get = matches!(operation, Operation::Get(k) if k == key);
        let is_done = matches!(operation, Operation::Done(k) | Operation::Return(k, _) if k == key);
        if old.ready && !is_get {
            assert!(new.ready, "only a worker takes an entry away: {}", context());
        }
        if old.due.is_some() && new.due.is_none() {
            assert!(new.ready, "a timer leaves an entry behind: {}", context());
            if before.flavour() == Flavour::Classic {
                assert!(matches!(operation, Operation::Tick), "only time fires it: {}", context());
            }
        }
        if let (Some(old), Some(new)) = (old.due, new.due) {
            assert!(new <= old, "a timer never moves away: {}", context());
        }
        if old.processing != new.processing {
            assert!(is_get || is_done, "{}", context());
        }
        match operation {
            Operation::Add(k, _) | Operation::AddAfter(k, -1) if k == key => {
                assert!(new.ready, "an add is never lost: {}", context());
            }
            Operation::AddAfter(k, delay) if k == key => {
                let is_owed = new.ready || new.due.is_some_and(|due| due <= delay.cast_unsigned());
                assert!(is_owed, "{}", context());
            }
            Operation::Return(k, returned) if k == key => {
                let is_kept = returned.error && !returned.terminal
                    || returned.requeue
                    || returned.after.is_some_and(|after| after > 0)
                    || settings.runtime == Runtime::KubeRs && returned.after.is_some();
                assert!(!is_kept || !new.is_idle(), "the runtime keeps its word: {}", context());
            }
            Operation::Forget(_) => {
                assert_eq!(View { failures: 0, ..old }, View { failures: 0, ..new });
            }
            _ => {}
        }
    }
}

/// Walks all reachable states; returns how many there are.
fn walk(flavour: Flavour) -> usize {
    let settings = settings(flavour);
    let start = Small::new(flavour);
    let mut seen = BTreeSet::from([start]);
    let mut open = VecDeque::from([start]);
    while let Some(queue) = open.pop_front() {
        check_state(&queue);
        for operation in operations(&queue) {
            let next = apply(queue, operation, &settings);
            check_step(&queue, operation, &next, &settings);
            if seen.insert(next) {
                open.push_back(next);
            }
        }
    }
    seen.len()
}

#[test]
fn every_reachable_state_of_each_queue_keeps_the_invariants() {
    for flavour in [Flavour::Classic, Flavour::Priority, Flavour::KubeRs] {
        let states = walk(flavour);
        assert!(states > 100, "{flavour}: {states}");
        println!("{flavour}: {states} states");
    }
}

/// The interval entry of an object, and an event that comes before it is due: what is left after
/// the run that the event started.
fn interval_after_event(flavour: Flavour, returned: Returned) -> View {
    let settings = settings(flavour);
    let mut queue = Small::new(flavour);
    queue.add_after(0, 10, 0, 0, &settings);
    queue.add(0, 0, 1, &settings);
    queue.get(0).expect("added");
    queue.after_return(0, &returned, 2, &settings).expect("processing");
    queue.done(0).expect("processing");
    queue.view(0)
}

#[test]
fn only_the_classic_queue_keeps_a_timer_beside_an_add() {
    assert_eq!(interval_after_event(Flavour::Classic, Returned::EMPTY).due, Some(10));
    assert!(interval_after_event(Flavour::Priority, Returned::EMPTY).is_idle());
    assert!(interval_after_event(Flavour::KubeRs, Returned::EMPTY).is_idle());
}

#[test]
fn a_zero_or_negative_delay_is_nothing_to_controller_runtime_and_now_to_a_loop_by_hand() {
    for after in [0, -3] {
        let returned = Returned::after(after);
        assert!(interval_after_event(Flavour::Priority, returned).is_idle());
        let settings = Settings::new(Runtime::ClientGo);
        let mut queue = Small::new(Flavour::Classic);
        queue.add(0, 0, 0, &settings);
        queue.get(0).expect("added");
        queue.after_return(0, &returned, 0, &settings).expect("processing");
        assert!(queue.view(0).ready);
    }
}

#[test]
fn the_priority_queue_hands_out_by_priority_then_by_when_an_item_became_ready() {
    let settings = settings(Flavour::Priority);
    let mut queue = Queue::<4>::new(Flavour::Priority);
    queue.add(0, -100, 0, &settings);
    queue.add_after(1, 5, 0, 0, &settings);
    queue.add(2, 0, 0, &settings);
    queue.add(3, 0, 0, &settings);
    queue.advance(5);
    queue.add(0, 0, 6, &settings);
    let mut order = vec![];
    while let Some(key) = queue.ready().next() {
        queue.get(key).expect("ready");
        order.push(key);
    }
    assert_eq!(order, [2, 3, 1, 0], "a raised priority goes behind its equals");
}

#[test]
fn a_run_is_added_again_with_the_priority_it_was_handed_out_with() {
    let settings = settings(Flavour::Priority);
    let mut queue = Small::new(Flavour::Priority);
    queue.add(0, -100, 0, &settings);
    queue.get(0).expect("added");
    queue.after_return(0, &Returned::ERROR, 0, &settings).expect("processing");
    queue.done(0).expect("processing");
    assert_eq!(queue.view(0).priority, -100);
}

#[test]
fn a_debounced_scheduler_starves_under_a_steady_stream() {
    let settings = Settings { debounce: 10, ..Settings::new(Runtime::KubeRs) };
    let mut queue = Small::new(Flavour::KubeRs);
    for now in (0..100).step_by(5) {
        queue.advance(now);
        queue.add(0, 0, now, &settings);
        assert_eq!(queue.ready().next(), None);
    }
    queue.advance(105);
    assert_eq!(queue.ready().next(), Some(0));
}
