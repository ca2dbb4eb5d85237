//! Walks all interleavings of a scenario, to stated bounds, and finds the shortest one that ends
//! badly.
//!
//! ```text
//!   kind: Scenario ── document ──▶ Scenario ── compile ──▶ Model ── search ──▶ Graph
//!                                                            ▲                   │ cycles
//!                                  plumb-queue ── slots ─────┘                   ▼
//!                         human, json, mermaid, svg, QueueTrace ◀── describe ── trace
//! ```
//!
//! Nothing here knows a condition type, a reason or a rule: what is owed is said by the scenario,
//! and what a controller should return may be asked of the component.

mod compile;
mod cycles;
mod decide;
mod describe;
mod document;
mod expression;
mod model;
mod moves;
mod reader;
mod record;
mod report;
mod run;
mod scenario;
mod search;
mod slots;
mod space;
mod state;

pub use self::{
    decide::Decided,
    describe::{Lane, Part, TraceStep},
    model::Model,
    reader::ScenarioError,
    record::{fixture, history},
    report::{Format, human, json, mermaid, svg, unmet},
    run::{Error, Exploration, explore},
    scenario::{Check, Expectation, Expectations, Scenario, Verdict},
    search::{Limits, Stop},
    space::Space,
    state::State,
};
