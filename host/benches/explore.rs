//! States per second: the search beside stateright, on the same space, in one run.
//!
//! `cargo bench -p plumb-host --bench explore`

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use plumb_host::explore::{Decided, Limits, Model, Scenario, Space, State, explore};
use plumb_queue::Flavour;
use serde_json::Value;
use stateright::Checker;

/// Words of a state of the scenario below with one key and with two.
const ONE: usize = 1;
const TWO: usize = 3;

/// The founding race with the fix, so that everything is seen, and with more commits.
fn scenario(keys: u8, commits: u8) -> Scenario {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/scenarios");
    let text = std::fs::read_to_string(format!("{folder}/cancelled-health-check.requeue.yaml"))
        .expect("the fixture is there");
    let last = commits + 1;
    let text = text
        .replace("1..2", &format!("1..{last}"))
        .replace("spec:\n", &format!("spec:\n  keys: {keys}\n"))
        .replace(
            "source.revision: next}}",
            &format!("source.revision: next}}, times: {commits}}}"),
        );
    let value: Value = serde_saphyr::from_str(&text).expect("YAML");
    Scenario::from_json(&value).expect("a scenario")
}

struct Peer<'m, const N: usize> {
    space: Space<'m, N>,
}

impl<const N: usize> stateright::Model for Peer<'_, N> {
    type State = State<N>;
    type Action = State<N>;

    fn init_states(&self) -> Vec<Self::State> {
        vec![self.space.initial()]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        self.space.next(state, |next| actions.push(next));
    }

    fn next_state(&self, _: &Self::State, action: Self::Action) -> Option<Self::State> {
        Some(action)
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        vec![stateright::Property::always("not stuck", |peer: &Self, state| {
            !peer.space.is_stuck(state)
        })]
    }
}

fn unasked(_: &Value) -> Result<Decided, String> {
    Err("nothing is asked".to_owned())
}

fn compare<const N: usize>(criterion: &mut Criterion, keys: u8, commits: u8) {
    let scenario = scenario(keys, commits);
    let model: &'static Model =
        Box::leak(Box::new(Model::new(&scenario, Flavour::Priority).expect("compiles")));
    let limits = Limits { exhaustive: true, ..Limits::default() };
    let run = || explore(&scenario, Flavour::Priority, &limits, &mut unasked).expect("explores");
    let states = run().states;
    let mut group = criterion.benchmark_group(format!("{keys} keys, {commits} commits"));
    group.throughput(Throughput::Elements(states as u64)).sample_size(10);
    group.bench_function("plumb", |bencher| bencher.iter(run));
    group.bench_function("stateright, one thread", |bencher| {
        bencher.iter_batched(
            || Peer::<N> { space: Space::new(model).expect("it fits") },
            |peer| {
                let checker = stateright::Model::checker(peer).spawn_bfs().join();
                assert_eq!(checker.unique_state_count(), states);
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    compare::<ONE>(criterion, 1, 4);
    compare::<TWO>(criterion, 2, 2);
}

criterion_group!(all, benches);
criterion_main!(all);
