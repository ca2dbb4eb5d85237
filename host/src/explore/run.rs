//! One exploration from a scenario to its verdict.

use std::time::{Duration, Instant};

use plumb_queue::{Flavour, Millis};
use serde_json::Value;

use super::{
    compile::{Answers, MAX_WORDS},
    cycles::{self, Components},
    decide::{Decided, Template},
    describe::{Part, TraceStep},
    model::Model,
    moves::{Edge, Unanswered},
    reader::{ScenarioError, Span},
    record::{ROUNDS, Recording},
    scenario::{Cause, Scenario, Verdict},
    search::{Graph, Limits, Stop, canonical},
    state::State,
};

/// What an exploration found.
#[derive(Debug, Clone)]
pub struct Exploration {
    /// The scenario's name.
    pub scenario: String,
    /// Under which queue.
    pub queue: Flavour,
    /// The worst of what the scenario asks for.
    pub verdict: Verdict,
    /// Why this verdict, as one sentence without a final stop.
    pub reason: String,
    /// Different states seen.
    pub states: usize,
    /// Edges between them.
    pub transitions: usize,
    /// Steps to the farthest of them.
    pub depth: usize,
    /// The bounds that the scenario sets, in words.
    pub bounds: Vec<String>,
    /// The limits that the caller set.
    pub limits: Limits,
    /// Why not everything within the bounds was seen.
    pub stopped: Option<Stop>,
    /// The state in which everything begins.
    pub start: Vec<Part>,
    /// The shortest way to what was found.
    pub trace: Vec<TraceStep>,
    /// The trace as a history of queue events, or why there is none.
    pub(super) recording: Option<Result<Recording, String>>,
    /// The step with which the last part of the trace begins, which then repeats for ever.
    pub repeats_from: Option<usize>,
    /// How many states are stuck, as far as they were counted.
    pub stuck_states: usize,
    /// How many states have a pass that does what is done already.
    pub doubled_states: usize,
    /// The longest sleep with something owed.
    pub asleep: Option<Millis>,
    /// What else was seen that the scenario does not ask for, or that has a worse beside it.
    pub notes: Vec<String>,
    /// How many bits a state takes.
    pub bits: u32,
    /// How often the component was asked.
    pub asked: usize,
    /// How long it took.
    pub elapsed: Duration,
}

/// Why there is no exploration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The component did not answer.
    #[error("failed to ask the component: {0}")]
    Decide(String),
}

/// Explores a scenario under one queue. `decide` is asked for results that the scenario leaves to
/// the component: it gets a document of `kind: Reconcile`.
///
/// # Errors
/// The scenario is wrong, or the component did not answer.
pub fn explore(
    scenario: &Scenario,
    queue: Flavour,
    limits: &Limits,
    decide: &mut dyn FnMut(&Value) -> Result<Decided, String>,
) -> Result<Exploration, Error> {
    let begin = Instant::now();
    let mut answers: Answers = vec![];
    loop {
        let model = Model::with_answers(scenario, queue, &answers)?;
        let time = limits.time.map(|time| time.saturating_sub(begin.elapsed()));
        match run(&model, &Limits { time, ..*limits }) {
            Ok(mut exploration) => {
                exploration.limits = *limits;
                exploration.asked = answers.len();
                exploration.elapsed = begin.elapsed();
                return Ok(exploration);
            }
            Err(unanswered) => {
                let answer = ask(scenario, &model, &unanswered, decide)?;
                answers.push((unanswered.question, unanswered.values, answer.returned()));
            }
        }
    }
}

fn ask(
    scenario: &Scenario,
    model: &Model,
    unanswered: &Unanswered,
    decide: &mut dyn FnMut(&Value) -> Result<Decided, String>,
) -> Result<Decided, Error> {
    let question = &model.questions[unanswered.question];
    let document = scenario.decide.as_ref().unwrap_or(&Value::Null);
    let template = Template::new(document)?;
    let words = question.values.iter().zip(&unanswered.values);
    let words = words.map(|((name, _, field), value)| (name.clone(), field.word(*value))).collect();
    decide(&template.fill(&question.outcome, model.flavour, &words)).map_err(Error::Decide)
}

/// States come in these sizes; the next larger one is taken.
fn run(model: &Model, limits: &Limits) -> Result<Exploration, Unanswered> {
    match model.words {
        0..=1 => run_sized::<1>(model, limits),
        2 => run_sized::<2>(model, limits),
        3 => run_sized::<3>(model, limits),
        4 => run_sized::<4>(model, limits),
        5..=6 => run_sized::<6>(model, limits),
        7..=8 => run_sized::<8>(model, limits),
        9..=12 => run_sized::<12>(model, limits),
        _ => run_sized::<MAX_WORDS>(model, limits),
    }
}

fn run_sized<const N: usize>(model: &Model, limits: &Limits) -> Result<Exploration, Unanswered> {
    let graph = Graph::<N>::search(model, limits)?;
    let mut found = find(model, &graph);
    found.sort_by_key(|find| find.verdict);
    let is_asked =
        |find: &Find<N>| model.checks.iter().any(|check| Verdict::from(*check) == find.verdict);
    let at = found.iter().position(is_asked);
    let main = at.map(|at| found.remove(at));
    let mut notes: Vec<String> = found
        .iter()
        .map(|find| {
            let asked =
                if is_asked(find) { "" } else { ", which this scenario does not ask about" };
            format!(
                "also {}{asked}: {} ({} steps)",
                find.verdict.word(),
                find.reason,
                find.trace.len()
            )
        })
        .collect();
    let asleep = graph.finds.asleep.map(|(sleep, _)| sleep);
    if let Some(sleep) = asleep {
        notes.push(format!("with something owed, the longest sleep is {}", Span(sleep)));
    }
    let trace = main.as_ref().map(|find| tell(model, &find.trace)).unwrap_or_default();
    let recording = main.as_ref().map(|find| {
        let mut moves = find.trace.clone();
        if let Some(from) = find.repeats_from {
            let cycle = moves[from - 1..].to_vec();
            for _ in 1..ROUNDS {
                moves.extend(&cycle);
            }
        }
        model.recording(&moves)
    });
    Ok(Exploration {
        scenario: model.scenario.clone(),
        queue: model.flavour,
        verdict: main.as_ref().map_or(Verdict::Clean, |find| find.verdict),
        reason: main.as_ref().map_or_else(String::new, |find| find.reason.clone()),
        states: graph.states.len(),
        transitions: graph.transitions(),
        depth: graph.depth,
        bounds: model.bounds.clone(),
        limits: *limits,
        stopped: graph.stopped,
        start: model.parts(&model.initial::<N>()),
        trace,
        recording,
        repeats_from: main.and_then(|find| find.repeats_from),
        stuck_states: graph.finds.stuck_count,
        doubled_states: graph.finds.doubled_states,
        asleep,
        notes,
        bits: model.bits,
        asked: 0,
        elapsed: Duration::ZERO,
    })
}

struct Find<const N: usize> {
    verdict: Verdict,
    reason: String,
    trace: Vec<(Edge, State<N>)>,
    repeats_from: Option<usize>,
}

fn find<const N: usize>(model: &Model, graph: &Graph<N>) -> Vec<Find<N>> {
    let mut found = vec![];
    let finds = &graph.finds;
    let concrete = |state: usize| {
        stem(model, graph, state).last().map_or_else(|| model.initial(), |(_, state)| *state)
    };
    let (lasso, trap) = if graph.stopped == Some(Stop::Found) {
        (None, None)
    } else {
        let components = Components::new(graph);
        (
            cycles::lasso(model, graph, &components, &concrete),
            cycles::trap(model, graph, &components, &concrete),
        )
    };
    let overslept = finds.overslept.map(|(sleep, state)| {
        (state, format!("something is owed, and the key sleeps for up to {}", Span(sleep)))
    });
    let stuck = finds.stuck.map(|state| {
        (
            state,
            "something is owed, and nothing will do it: no entry, no timer, no event on its way"
                .to_owned(),
        )
    });
    let mut stuck = [stuck, overslept].into_iter().flatten().collect::<Vec<_>>();
    stuck.sort_by_key(|(state, _)| *state);
    if let Some((state, reason)) = stuck.into_iter().next() {
        found.push(Find {
            verdict: Verdict::Stuck,
            reason,
            trace: stem(model, graph, state),
            repeats_from: None,
        });
    } else if let Some((state, cycle)) = trap.filter(|_| lasso.is_none()) {
        let mut trace = stem(model, graph, state);
        let repeats_from = Some(trace.len() + 1);
        trace.extend(cycle.walk);
        let reason = "something is owed, the key wakes again and again, and no pass ever does it";
        found.push(Find {
            verdict: Verdict::Stuck,
            reason: reason.to_owned(),
            trace,
            repeats_from,
        });
    }
    if let Some((state, cycle)) = lasso {
        let mut trace = stem(model, graph, state);
        let repeats_from = Some(trace.len() + 1);
        trace.extend(cycle.walk);
        let reason = "the same steps repeat for ever, though nothing outside changes";
        found.push(Find {
            verdict: Verdict::Lasso,
            reason: reason.to_owned(),
            trace,
            repeats_from,
        });
    }
    if let Some((state, _)) = finds.torn {
        found.push(Find {
            verdict: Verdict::TornRead,
            reason: "a reader gets an object of which the parts disagree".to_owned(),
            trace: stem_and(model, graph, state, |edge| edge.torn),
            repeats_from: None,
        });
    }
    if let Some((state, _, cause)) = finds.doubled {
        let by = match cause {
            Cause::Event => "an event",
            Cause::Requeue => "the result of an earlier pass",
            Cause::Period => "the interval",
        };
        found.push(Find {
            verdict: Verdict::Doubled,
            reason: format!("a pass, queued by {by}, does what is done already"),
            trace: stem_and(model, graph, state, |edge| edge.doubled.is_some()),
            repeats_from: None,
        });
    }
    found
}

/// The moves from the first state to `state`, with the keys told apart.
fn stem<const N: usize>(model: &Model, graph: &Graph<N>, state: usize) -> Vec<(Edge, State<N>)> {
    let mut at: State<N> = model.initial();
    let mut moves = vec![];
    for next in graph.path(state).into_iter().skip(1) {
        let wanted = graph.states[next];
        let found = first_move(model, &at, |_, next| canonical(model, *next) == wanted);
        let Some((edge, next)) = found else { break };
        moves.push((edge, next));
        at = next;
    }
    moves
}

fn stem_and<const N: usize>(
    model: &Model,
    graph: &Graph<N>,
    state: usize,
    wanted: impl Fn(&Edge) -> bool,
) -> Vec<(Edge, State<N>)> {
    let mut moves = stem(model, graph, state);
    let at = moves.last().map_or_else(|| model.initial(), |(_, state)| *state);
    moves.extend(first_move(model, &at, |edge, _| wanted(edge)));
    moves
}

fn first_move<const N: usize>(
    model: &Model,
    state: &State<N>,
    wanted: impl Fn(&Edge, &State<N>) -> bool,
) -> Option<(Edge, State<N>)> {
    let mut found = None;
    // The graph was searched, so every answer is known.
    let _ = model.moves(state, &mut |edge, next| {
        if found.is_none() && wanted(&edge, &next) {
            found = Some((edge, next));
        }
    });
    found
}

fn tell<const N: usize>(model: &Model, moves: &[(Edge, State<N>)]) -> Vec<TraceStep> {
    let mut before = model.initial();
    let mut steps = vec![];
    for (index, (edge, after)) in moves.iter().enumerate() {
        steps.push(model.describe(index + 1, &before, edge, after));
        before = *after;
    }
    steps
}
