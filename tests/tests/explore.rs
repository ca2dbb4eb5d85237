//! Scenarios end as they say, under every queue; an independent model checker counts the same
//! states and finds the same shortest way; what is recorded is judged as what it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use plumb_host::explore::{
    self, Decided, Exploration, Limits, Model, Scenario, Space, State, Stop, Verdict, unmet,
};
use plumb_queue::Flavour;
use plumb_tests::generated;
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

/// What is recorded is a history that ends as it was found.
#[test]
fn recorded_traces_end_as_they_were_found() {
    // By the rules of a queue trace an object that is being deleted is owed one pass and no more.
    let known = ["suspended-deletion.unfixed.yaml"];
    for (file, scenario) in scenarios() {
        for queue in QUEUES {
            let exploration = explore(&scenario, queue, &Limits::default());
            let Ok(history) = explore::history(&exploration) else { continue };
            let request = json!({ "trace": { "trace": history } }).to_string();
            let report = plumb_policy::evaluate::evaluate(&request)
                .unwrap_or_else(|fault| panic!("{file} under {queue}: {fault}\n{history:#}"));
            let report: Value = serde_json::from_str(&report).expect("JSON");
            let end = report["state"].as_str().expect("a word");
            let verdict = exploration.verdict;
            assert_eq!(
                verdict.is_end(end),
                !known.contains(&&*file),
                "{file} under {queue}: {} ends {end}",
                verdict.word()
            );
            // Asleep is as bad as stuck only where the scenario's patience or a trap says so.
            if verdict == Verdict::Stuck && exploration.asleep.is_none() && file != known[0] {
                assert_eq!(end, "stuck", "{file} under {queue}");
            }
        }
    }
}

/// What `docs/explore.md` tells with traces is so.
#[test]
fn the_guide_tells_the_traces_that_are_found() {
    let guide = read_doc("explore.md");
    let is_told = |exploration: &Exploration, what: &str| {
        for step in &exploration.trace {
            let line = format!("{:>2} {}", step.step, step.text);
            assert!(guide.lines().any(|told| told == line), "{what} lacks\n{line}");
        }
    };
    let doubled = read("cancelled-health-check.requeue-doubled.yaml");
    let found = explore(&doubled, Flavour::Classic, &Limits::default());
    assert_eq!(found.verdict, Verdict::Doubled);
    is_told(&found, "the second pass of a revision");

    for queue in QUEUES {
        for form in ["requeue", "requeue-no-interval"] {
            let scenario = read(&format!("stale-own-status.{form}.yaml"));
            let found = explore(&scenario, queue, &exhaustive());
            assert_eq!((found.verdict, found.stuck_states), (Verdict::Clean, 0), "{form}, {queue}");
            assert!(found.is_complete());
        }
        let scenario = read("stale-own-status.new-only-no-interval.yaml");
        assert_eq!(explore(&scenario, queue, &Limits::default()).verdict, Verdict::Stuck);
    }
    let scenario = read("stale-own-status.new-only-no-interval.yaml");
    is_told(&explore(&scenario, Flavour::Priority, &Limits::default()), "the dropped event");
}

/// The worked example: from the report to the fixes.
#[test]
fn the_example_of_the_guide_ends_as_the_guide_says() {
    let guide = read_doc("explore.md");
    let example = guide.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let example = example.expect("a scenario");
    let found = |text: &str| {
        let scenario = scenario(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        QUEUES.map(|queue| {
            let found = explore(&scenario, queue, &Limits::default());
            (found.verdict, found.trace.len(), found.asleep)
        })
    };
    let with = |from: &str, to: &str| {
        assert!(example.contains(from), "{from}");
        found(&example.replace(from, to))
    };
    assert_eq!(found(example), [(Verdict::Stuck, 7, None); 3]);
    let scenario = scenario(example).expect("a scenario");
    for step in explore(&scenario, Flavour::Priority, &Limits::default()).trace {
        let words: String = step.text.split_whitespace().collect();
        let guide: String = guide.split_whitespace().filter(|word| *word != "│").collect();
        assert!(guide.contains(&words), "{}", step.text);
    }
    let later = with("waiting: {}", "waiting: {requeueAfter: 30s}");
    assert_eq!(later, [(Verdict::Clean, 0, Some(30_000)); 3]);
    let wider = with(
        "passes: old.revision != new.revision",
        "passes: old.revision != new.revision || old.ready != new.ready",
    );
    assert_eq!(wider, [(Verdict::Clean, 0, None); 3]);
}

/// Every field of the language is in the guide.
#[test]
fn the_guide_names_every_field() {
    let guide = read_doc("explore.md");
    let code = guide.split('`').skip(1).step_by(2);
    let told: BTreeSet<&str> =
        code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric())).collect();
    let wrong = |path: &[&str], inner: Value| {
        let mut value = inner;
        for name in path.iter().rev() {
            value = match name.strip_suffix("[]") {
                Some(name) => json!({ name: [value] }),
                None => json!({ *name: value }),
            };
        }
        let mut spec = json!({ "owed": { "x": "true" } });
        spec.as_object_mut().expect("a map").extend(value.as_object().expect("a map").clone());
        let document = json!({
            "apiVersion": "plumb.dev/v1alpha1", "kind": "Scenario", "metadata": { "name": "x" },
            "spec": spec,
        });
        Scenario::from_json(&document).expect_err("it is refused").to_string()
    };
    let unknown = json!({ "nobody knows": 1 });
    let of = |name: &str, more: Value| {
        let mut value = more;
        value[name] = Value::from(1);
        value
    };
    let controller = json!({ "reconciles": "a", "reconcile": [], "results": {} });
    let controller_with = |field: &str, value: Value| {
        let mut controller = controller.clone();
        controller[field] = value;
        controller
    };
    let unknown_in = |mut value: Value| {
        value["nobody knows"] = Value::from(1);
        value
    };
    let errors = [
        wrong(&[], unknown.clone()),
        wrong(&["expect"], unknown.clone()),
        wrong(&["backoff"], unknown.clone()),
        wrong(&["record"], unknown.clone()),
        wrong(&["objects", "a"], of("nobody knows", json!({ "fields": {} }))),
        wrong(&["doubled"], unknown_in(json!({ "at": "a", "when": "true" }))),
        wrong(&["world[]"], unknown_in(json!({ "name": "a", "touch": "a" }))),
        wrong(&["controllers", "a"], unknown_in(controller.clone())),
        wrong(
            &["controllers", "a"],
            controller_with("watches", json!([unknown_in(json!({ "of": "a" }))])),
        ),
        wrong(&["controllers", "a"], controller_with("results", json!({ "a": unknown.clone() }))),
        wrong(
            &["controllers", "a"],
            controller_with("reconcile", json!([unknown_in(json!({ "write": {} }))])),
        ),
        wrong(
            &["controllers", "a"],
            controller_with("reconcile", json!([unknown_in(json!({ "read": "a" }))])),
        ),
    ];
    for error in errors {
        let known = error.split("known here: ").nth(1).unwrap_or_else(|| panic!("{error}"));
        for field in known.split(", ") {
            assert!(told.contains(field), "`{field}` of {error}");
        }
    }
}

/// `docs/scenarios.md`: every scenario, and what is found under each queue.
#[test]
fn the_table_of_scenarios_is_what_is_found() {
    let mut page = String::from(
        "# Scenarios\n\n\
         What `plumb explore --queue all` finds in each scenario of `fixtures/scenarios`, written by \
         a\ntest. A cell is the verdict with the length of the shortest trace, or the longest sleep \
         with\nsomething owed; then states, transitions and depth, up to the first bad state where \
         it is stuck;\nthen how often the policy was asked, where it is.\n\n\
         | scenario | bits | classic | priority | kube-rs |\n| --- | --- | --- | --- | --- |\n",
    );
    for (file, scenario) in scenarios() {
        let found = QUEUES.map(|queue| explore(&scenario, queue, &Limits::default()));
        let name = file.trim_end_matches(".yaml");
        let bits = found.iter().map(|found| found.bits).max().unwrap_or_default();
        page += &format!("| [{name}](../fixtures/scenarios/{file}) | {bits} |");
        for found in &found {
            page += &format!(" {} |", cell(found));
        }
        page.push('\n');
    }
    generated::check("docs", &[("scenarios.md".to_owned(), page)], false)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

fn cell(found: &Exploration) -> String {
    let sleep = found
        .notes
        .iter()
        .find_map(|note| note.strip_prefix("with something owed, the longest sleep is "));
    let verdict = match (found.verdict, sleep) {
        (Verdict::Clean, None) => "clean".to_owned(),
        (Verdict::Clean, Some(sleep)) => format!("clean, asleep {sleep}"),
        (verdict, _) => format!("**{}** in {}", verdict.word(), found.trace.len()),
    };
    let asked = if found.asked == 0 { String::new() } else { format!("; asked {}", found.asked) };
    format!("{verdict}<br>{} · {} · {}{asked}", found.states, found.transitions, found.depth)
}

fn read_doc(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    fs::read_to_string(folder.join(name)).expect("readable")
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
