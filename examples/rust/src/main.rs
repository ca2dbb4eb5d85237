//! Judges a Kubernetes object with plumb's component, by wasmtime alone.

use wasmtime::component::{Component, Linker, bindgen};
use wasmtime::{Config, Engine, Error, Result, Store, StoreLimits, StoreLimitsBuilder};

bindgen!({ world: "policy", path: "../../wit" });

use exports::plumb::policy::evaluator::Observation;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(component), Some(object)) = (arguments.next(), arguments.next()) else {
        return Err(Error::msg("usage: plumb-example-rust COMPONENT OBJECT.json"));
    };

    // Once: compile. A policy imports nothing, so the linker is empty.
    let engine = Engine::new(Config::new().consume_fuel(true))?;
    let component = Component::from_file(&engine, component)?;
    let policy = PolicyPre::new(Linker::new(&engine).instantiate_pre(&component)?)?;

    // For each evaluation: an instance, time and memory of its own.
    let limits: StoreLimits = StoreLimitsBuilder::new().memory_size(64 << 20).build();
    let mut store = Store::new(&engine, limits);
    store.limiter(|limits| limits);
    store.set_fuel(50_000_000)?;
    let observation = Observation {
        object: std::fs::read_to_string(object)?,
        old: None,
        history: Vec::new(),
        related: Vec::new(),
        now: None,
        settings: String::new(),
    };
    let instance = policy.instantiate(&mut store)?;
    let verdict = instance.plumb_policy_evaluator().call_check(&mut store, &observation)?;
    let verdict = verdict.map_err(|fault| Error::msg(format!("{fault:?}")))?;
    println!("{:?} {:?}", verdict.coherence, verdict.phase);
    for finding in verdict.findings {
        println!("{:?} {} {}: {}", finding.severity, finding.rule, finding.path, finding.message);
    }
    Ok(())
}
