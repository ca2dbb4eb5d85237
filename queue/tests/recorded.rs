//! Replays what the real queues did.
//!
//! `recorded/*.tsv` was written by the upstream Go code under a fake clock (`testing/synctest`):
//! sixty random operations on three keys a line, and after each the key and priority that a
//! waiting worker was given, if any. client-go is `util/workqueue` at 32ce75a (v0.36.2 and later),
//! controller-runtime is `pkg/controller/priorityqueue` of v0.24.1. The limiter is 5 ms up to 1 s.
//! kube-rs is `kube-runtime/src/scheduler.rs` of 4.2.0 on a paused clock, as it is and with a
//! debounce of 7 ms; a `take` is answered at once, with any key that is free.

use std::{env, fs, path::Path};

use plumb_queue::{Backoff, Flavour, Key, Millis, Queue, Runtime, Settings};

/// A queue with one worker that may be waiting.
struct Recorded {
    queue: Queue<3>,
    settings: Settings,
    now: Millis,
    is_waiting: bool,
}

impl Recorded {
    /// What the waiting worker is given now.
    fn given(&mut self) -> Option<(Key, i16)> {
        if !self.is_waiting {
            return None;
        }
        let key = self.queue.ready().next()?;
        self.queue.get(key).expect("it is ready");
        self.is_waiting = false;
        Some((key, self.queue.view(key).priority))
    }

    /// Whether two timers fire at one instant, for which client-go's heap has no order.
    fn is_tied(&self) -> bool {
        let mut due: Vec<Millis> = (0..3).filter_map(|key| self.queue.view(key).due).collect();
        due.sort_unstable();
        due.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// What a worker was given that takes what there is, if that is possible here.
    fn takes(&mut self, expected: &str) -> Option<(Key, i16)> {
        let Some((key, _)) = expected.split_once(':') else {
            return self.queue.ready().next().map(|key| (key, 0));
        };
        let key = key.parse().expect("a key");
        self.queue.get(key).ok().map(|_| (key, 0))
    }

    fn apply(&mut self, operation: &str, expected: &str) -> Option<(Key, i16)> {
        let words: Vec<&str> = operation.split(' ').collect();
        let number = |index: usize| -> i64 { words[index].parse().expect("a number") };
        let key = || Key::try_from(number(1)).expect("a key");
        let priority = |index: usize| i16::try_from(number(index)).expect("a priority");
        let now = self.now;
        let settings = self.settings;
        match words[0] {
            "take" => return self.takes(expected),
            "add" => {
                self.queue.add(key(), priority(2), now, &settings);
            }
            "after" => {
                self.queue.add_after(key(), number(2), priority(3), now, &settings);
            }
            "limited" => {
                self.queue.add_rate_limited(key(), priority(2), now, &settings);
            }
            "get" => self.is_waiting = true,
            "done" => {
                self.queue.done(key()).expect("a worker has it");
            }
            "forget" => self.queue.forget(key()),
            "sleep" => {
                let end = now + number(1).cast_unsigned();
                let mut given = None;
                while let Some(due) = self.queue.next_due().filter(|&due| due <= end) {
                    self.queue.advance(due);
                    given = given.or(self.given());
                }
                self.now = end;
                return given.or_else(|| self.given());
            }
            other => panic!("{other} is no operation"),
        }
        self.given()
    }
}

/// Replays a file; returns how many operations were compared.
fn replay(file: &Path) -> usize {
    let mut compared = 0;
    let text = fs::read_to_string(file).expect("the recording is there");
    for (number, line) in text.lines().enumerate() {
        let [flavour, operations, given] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{}:{}: three columns", file.display(), number + 1)
        };
        let (flavour, runtime, debounce) = match flavour {
            "classic" => (Flavour::Classic, Runtime::ControllerRuntime, 0),
            "priority" => (Flavour::Priority, Runtime::ControllerRuntime, 0),
            "kube-rs" => (Flavour::KubeRs, Runtime::KubeRs, 0),
            "kube-rs+7" => (Flavour::KubeRs, Runtime::KubeRs, 7),
            other => panic!("{other} is no flavour"),
        };
        let backoff = Backoff { base: 5, max: 1_000 };
        let settings = Settings { backoff, debounce, ..Settings::new(runtime) };
        let queue = Queue::new(flavour);
        let mut recorded = Recorded { queue, settings, now: 0, is_waiting: false };
        let steps = operations.split(',').zip(given.split(','));
        for (index, (operation, expected)) in steps.enumerate() {
            if flavour == Flavour::Classic && recorded.is_tied() {
                break;
            }
            let given = recorded
                .apply(operation, expected)
                .map_or("-".to_owned(), |(key, priority)| format!("{key}:{priority}"));
            assert_eq!(
                given,
                expected,
                "{}:{}, operation {index}: {operation}\n{operations}",
                file.display(),
                number + 1
            );
            compared += 1;
        }
    }
    compared
}

#[test]
fn the_state_machines_do_what_the_real_queues_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    for name in ["client-go.tsv", "controller-runtime.tsv", "kube-rs.tsv"] {
        let compared = replay(&folder.join(name));
        assert!(compared > 3_000, "{name}: {compared} operations");
    }
    // A longer recording, for who has made one.
    if let Some(file) = env::var_os("PLUMB_QUEUE_RECORDING") {
        println!("{} operations", replay(Path::new(&file)));
    }
}
