//! Scenarios end as they say, under every queue; an independent model checker counts the same
//! states and finds the same shortest way; what is recorded is judged as what it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use plumb_host::explore::{
    self, Decided, Exploration, Limits, Model, Scenario, Space, State, Stop, Verdict, unmet,
};
use plumb_queue::Flavour;
use serde_json::{Value, json};
use stateright::Checker;

const QUEUES: [Flavour; 3] = [Flavour::Classic, Flavour::Priority, Flavour::KubeRs];

const FOUNDING: &str = "cancelled-health-check.unfixed.yaml";

fn scenarios() -> BTreeMap<String, Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/scenarios");
    let mut scenarios = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("readable");
        scenarios.insert(name.clone(), scenario(&text).unwrap_or_else(|e| panic!("{name}: {e}")));
    }
    scenarios
}

fn scenario(text: &str) -> Result<Scenario, String> {
    let value: Value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    Scenario::from_json(&value).map_err(|error| error.to_string())
}

fn read(name: &str) -> Scenario {
    scenarios().remove(name).unwrap_or_else(|| panic!("{name} is there"))
}

/// Asks the policy itself; its boundary has tests of its own.
fn decide(pass: &Value) -> Result<Decided, String> {
    let answer =
        plumb_policy::evaluate::evaluate(&json!({ "decide": { "pass": pass } }).to_string())?;
    let answer: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
    match answer["action"].as_str() {
        Some("requeue") => Ok(Decided::Requeue),
        Some("after") => Ok(Decided::After(
            answer["delay"].as_u64().and_then(|d| d.try_into().ok()).unwrap_or(0),
        )),
        Some("await") => Ok(Decided::Await),
        Some("stop") => Ok(Decided::Stop),
        _ => Err(format!("no action in {answer}")),
    }
}

fn explore(scenario: &Scenario, queue: Flavour, limits: &Limits) -> Exploration {
    explore::explore(scenario, queue, limits, &mut decide)
        .unwrap_or_else(|error| panic!("{} under {queue}: {error}", scenario.name))
}

fn exhaustive() -> Limits {
    Limits { exhaustive: true, ..Limits::default() }
}

#[test]
fn scenarios_end_as_they_say_under_every_queue() {
    for (file, scenario) in scenarios() {
        let name = file.trim_end_matches(".yaml").replace('.', "-");
        assert_eq!(scenario.name, name, "the name of {file}");
        for queue in QUEUES {
            let exploration = explore(&scenario, queue, &Limits::default());
            let unmet = unmet(&exploration, &scenario.expect.under(queue));
            assert!(unmet.is_empty(), "{file} under {queue}: {unmet:?}");
            assert!(
                matches!(exploration.stopped, None | Some(Stop::Found)),
                "{file} under {queue} is small enough to be seen whole"
            );
            assert_eq!(exploration.trace.is_empty(), exploration.verdict == Verdict::Clean);
        }
    }
}

#[test]
fn every_fault_has_a_fixed_form_beside_it() {
    let scenarios = scenarios();
    for file in scenarios.keys() {
        let (stem, form) = file.split_once('.').expect("stem.form.yaml");
        if form == "unfixed.yaml" {
            let is_clean = |(other, scenario): (&String, &Scenario)| {
                other.starts_with(&format!("{stem}."))
                    && scenario.expect.under(scenario.queue).verdict == Some(Verdict::Clean)
            };
            assert!(scenarios.iter().any(is_clean), "{file}");
        }
    }
}

#[test]
fn the_founding_race_is_found_in_eleven_steps() {
    let begin = Instant::now();
    let exploration = explore(&read(FOUNDING), Flavour::Priority, &Limits::default());
    assert!(begin.elapsed() < Duration::from_secs(1));
    let steps: Vec<&str> = exploration.trace.iter().map(|step| &*step.text).collect();
    assert_eq!(
        steps,
        [
            "commit: source revision 1 → 2",
            "the cache of source sees revision 2; its handler starts",
            "the handler maps the old source (revision 1) to app",
            "the handler adds app: it is queued; its timer of 30m is consumed",
            "a worker takes app",
            "the handler maps the new source (revision 2) to app and cancels the pass of app",
            "the add of app is skipped: this event added it for the old source",
            "the pass of app reads source: revision 2",
            "the pass of app does `apply`: app attempted 1 → 2, health failed → checking",
            "the pass of app: `health check` is canceled",
            "the pass of app ends `canceled` and returns {}: nothing is scheduled",
        ]
    );
    let last = exploration.trace.last().expect("eleven steps");
    let part = |name: &str| last.state.iter().find(|p| p.name == name).map(|p| &*p.value);
    assert_eq!(part("queue"), Some("nothing"));
    assert_eq!(part("owed"), Some("the source's revision is not judged"));
}

/// The second story: the revision that was tried is not the source's.
#[test]
fn the_stale_cache_leaves_the_newer_revision_untried() {
    let scenario = read("stale-source-cache.unfixed.yaml");
    let exploration = explore(&scenario, Flavour::Priority, &Limits::default());
    let reads = exploration
        .trace
        .iter()
        .any(|s| s.text.contains("reads source: revision 1, 1 write behind"));
    assert!(reads, "{:#?}", exploration.trace);
}

/// Whether the fix makes a second pass for the same revision, by queue.
#[test]
fn only_the_classic_queue_doubles_work_for_the_fix() {
    for (form, expected) in [
        ("requeue", [Verdict::Doubled, Verdict::Clean, Verdict::Clean]),
        ("requeue-after", [Verdict::Doubled, Verdict::Clean, Verdict::Clean]),
        ("paired", [Verdict::Clean, Verdict::Clean, Verdict::Clean]),
    ] {
        let scenario = read(&format!("cancelled-health-check.{form}-doubled.yaml"));
        let found = QUEUES.map(|queue| explore(&scenario, queue, &Limits::default()).verdict);
        assert_eq!(found, expected, "{form}");
    }
}

#[test]
fn the_same_scenario_gives_the_same_trace() {
    for (file, scenario) in scenarios() {
        let [one, two] = [(); 2].map(|()| {
            let exploration = explore(&scenario, scenario.queue, &Limits::default());
            serde_json::to_string(&explore::json(&exploration)).expect("serializes")
        });
        assert_eq!(one, two, "{file}");
    }
}

/// The space of a model, for stateright.
struct Oracle<'m> {
    space: Space<'m, WORDS>,
    /// Whether it looks for stuck states; else it sees everything.
    looks: bool,
}

const WORDS: usize = 4;

impl stateright::Model for Oracle<'_> {
    type State = State<WORDS>;
    type Action = State<WORDS>;

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
        vec![stateright::Property::always("not stuck", |oracle: &Self, state| {
            !(oracle.looks && oracle.space.is_stuck(state))
        })]
    }
}

impl Clone for Oracle<'_> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

#[test]
fn an_independent_checker_counts_the_same_states() {
    for (file, scenario) in scenarios() {
        for queue in QUEUES {
            let model: &'static Model =
                Box::leak(Box::new(Model::new(&scenario, queue).expect("compiles")));
            let Some(space) = Space::new(model) else {
                // It asks the policy; stateright cannot.
                continue;
            };
            let own = explore(&scenario, queue, &exhaustive());
            let all = stateright::Model::checker(Oracle { space, looks: false }).spawn_bfs().join();
            assert_eq!(all.unique_state_count(), own.states, "{file} under {queue}: states");
            // Every transition generates a state, and so does the beginning.
            assert_eq!(all.state_count(), own.transitions + 1, "{file} under {queue}: transitions");
            let found =
                stateright::Model::checker(Oracle { space, looks: true }).spawn_bfs().join();
            let shortest = found.discovery("not stuck").map(|path| path.into_actions().len());
            let is_stuck =
                own.verdict == Verdict::Stuck && own.reason.contains("nothing will do it");
            assert_eq!(
                shortest,
                is_stuck.then_some(own.trace.len()),
                "{file} under {queue}: the shortest way"
            );
        }
    }
}

/// What is recorded is a history that the policy can judge.
#[test]
fn recorded_traces_are_possible_histories() {
    let mut agree = 0;
    for (file, scenario) in scenarios() {
        for queue in QUEUES {
            let exploration = explore(&scenario, queue, &Limits::default());
            let Ok(history) = explore::history(&exploration) else { continue };
            let request = json!({ "trace": { "trace": history } }).to_string();
            let report = plumb_policy::evaluate::evaluate(&request)
                .unwrap_or_else(|fault| panic!("{file} under {queue}: {fault}\n{history:#}"));
            let report: Value = serde_json::from_str(&report).expect("JSON");
            let expected = match exploration.verdict {
                Verdict::Stuck => "stuck",
                Verdict::Lasso => "hot",
                _ => continue,
            };
            agree += usize::from(report["state"] == expected);
            if file == FOUNDING || file.starts_with("stale-") {
                assert_eq!(report["state"], expected, "{file} under {queue}");
            }
        }
    }
    assert!(agree >= 25, "{agree} recorded traces are judged as they were found");
}

/// The words for what is wrong with a scenario, and where.
#[test]
fn what_is_wrong_is_named_with_its_path() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/scenarios");
    let good = fs::read_to_string(folder.join(FOUNDING)).expect("readable");
    for (from, to, expected) in [
        (
            "maps: [old, new]",
            "mapps: [old, new]",
            "spec.controllers.app.watches[0].mapps: unknown field; known here: of, name, lag",
        ),
        (
            "maps: [old, new]",
            "maps: [both]",
            "spec.controllers.app.watches[0].maps[0]: expected `old` or `new`, found `both`",
        ),
        (
            "app.attempted != source.revision ||",
            "app.attempted = source.revision ||",
            "spec.owed.the source's revision is not judged: unexpected `=` at character 15",
        ),
        ("revision: 1..2", "revision: 1..", "spec.objects.source.fields.revision: expected"),
        ("- return: canceled", "- return: cancelled", "`cancelled` is not in `results`"),
        (
            "read: source",
            "read: sauce",
            "there is no object `sauce`; there are app, source, memory",
        ),
        ("event.revision", "event.version", "`source` has no field `version`; it has revision"),
        (
            "app.health == checking",
            "app.health == chequing",
            "`chequing` is not among the values failed | checking | healthy",
        ),
        ("{requeueAfter: 30m}", "{requeueAfter: thirty}", "expected a duration as `750ms`"),
        ("reconciles: app", "reconciled: app", "spec.controllers.app: `reconciles` is missing"),
        (
            "wait: health check",
            "wate: health check",
            "one of read, write, set, do, wait, if, return",
        ),
        ("source.revision: next", "app.health: next", "`next` is for numbers"),
    ] {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let error = match scenario(&text) {
            Err(error) => error,
            Ok(scenario) => match Model::new(&scenario, Flavour::Priority) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("{to} is accepted"),
            },
        };
        assert!(error.contains(expected), "{to}:\n{error}\ninstead of\n{expected}");
    }
}

/// Limits stop a search, and the outcome says so.
#[test]
fn limits_are_kept_and_told() {
    let scenario = read("stale-own-status.requeue.yaml");
    let few = Limits { states: 100, ..Limits::default() };
    let exploration = explore(&scenario, Flavour::Priority, &few);
    assert_eq!((exploration.stopped, exploration.verdict), (Some(Stop::States), Verdict::Clean));
    assert!(
        exploration.within().contains(&format!("the first {} states only", exploration.states))
    );
    let shallow = Limits { depth: 5, ..Limits::default() };
    let exploration = explore(&scenario, Flavour::Priority, &shallow);
    assert_eq!((exploration.stopped, exploration.depth), (Some(Stop::Depth), 5));
}
