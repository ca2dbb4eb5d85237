//! `plumb.dev/explore/v1`

use serde::Serialize;

use super::super::{describe::TraceStep, run::Exploration, search::Stop};

/// The value of `schema`.
const SCHEMA: &str = "plumb.dev/explore/v1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    scenario: &'a str,
    bounds: Bounds<'a>,
    states: usize,
    transitions: usize,
    depth: usize,
    verdict: &'static str,
    trace: &'a [TraceStep],
}

/// Within what the verdict holds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bounds<'a> {
    queue: String,
    /// Those of the scenario, in words.
    scenario: &'a [String],
    max_states: usize,
    max_depth: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_seconds: Option<u64>,
    /// Whether every state within the scenario's bounds was seen.
    complete: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    /// The longest sleep with something owed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    asleep: Option<u64>,
    /// From this step on the trace repeats for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats_from: Option<usize>,
}

/// One exploration as a value for JSON.
pub fn json(exploration: &Exploration) -> impl Serialize + '_ {
    let limits = &exploration.limits;
    Document {
        schema: SCHEMA,
        scenario: &exploration.scenario,
        bounds: Bounds {
            queue: exploration.queue.to_string(),
            scenario: &exploration.bounds,
            max_states: limits.states,
            max_depth: limits.depth,
            timeout_seconds: limits.time.map(|time| time.as_secs()),
            complete: exploration.is_complete(),
            stopped: exploration.stopped.map(|stop| match stop {
                Stop::Found => "found",
                Stop::States => "max-states",
                Stop::Depth => "max-depth",
                Stop::Time => "timeout",
            }),
            asleep: exploration.asleep,
            repeats_from: exploration.repeats_from,
        },
        states: exploration.states,
        transitions: exploration.transitions,
        depth: exploration.depth,
        verdict: exploration.verdict.word(),
        trace: &exploration.trace,
    }
}
