//! What happens outside of the controllers.

use super::{
    super::{
        model::{Assign, Model, World, WorldAct},
        reader::Result,
        scenario::{Scenario, WorldAction, WorldStep},
        state::{Allocator, bits_for},
    },
    names::{MEMORY, Names, Scope, fail},
};

pub(super) fn compile(
    step: &WorldStep,
    scenario: &Scenario,
    names: &Names<'_>,
    allocator: &mut Allocator,
    model: &mut Model,
) -> Result<World> {
    let mut actions = vec![];
    for (when, action) in &step.actions {
        let when = when.as_ref();
        let when = when.map(|when| names.condition(when, Scope::Server, &step.path)).transpose()?;
        actions.push((when, compile_action(action, step, scenario, names)?));
    }
    let per_key = actions.iter().any(|(when, action)| {
        when.as_ref().is_some_and(|when| names.is_per_key(when))
            || match action {
                WorldAct::Write { kind, values, .. } => kind
                    .iter()
                    .copied()
                    .chain(values.iter().map(|value| value.kind))
                    .any(|kind| names.kinds[kind].per_key),
                WorldAct::Add(controller) => model.controllers[*controller].per_key,
                WorldAct::Resync(informer) => names.kinds[model.informers[*informer].kind].per_key,
                WorldAct::Restart(_) => false,
            }
    });
    Ok(World {
        name: step.name.clone(),
        per_key,
        position: allocator.place(bits_for(actions.len()), per_key),
        left: step.times.map(|times| allocator.place(bits_for(usize::from(times) + 1), false)),
        times: step.times,
        sure: step.sure,
        within: step.within,
        actions,
    })
}

fn compile_action(
    action: &WorldAction,
    step: &WorldStep,
    scenario: &Scenario,
    names: &Names<'_>,
) -> Result<WorldAct> {
    let path = &*step.path;
    let controller = |name: &str| {
        let index = scenario.controllers.iter().position(|c| c.name == name);
        match index {
            Some(index) => Ok(index),
            None => fail(path, format!("there is no controller `{name}`")),
        }
    };
    Ok(match action {
        WorldAction::Set(assignments) => {
            let values = assignments.iter().map(|a| names.assign(a, Scope::Server));
            let values = values.collect::<Result<Vec<Assign>>>()?;
            let memory = names.kind(MEMORY, path)?;
            let mut kinds: Vec<usize> = values.iter().map(|v| v.kind).collect();
            kinds.retain(|kind| *kind != memory);
            kinds.dedup();
            if kinds.len() > 1 {
                return fail(path, "one write reaches one object: use `steps` for several");
            }
            WorldAct::Write { kind: kinds.first().copied(), values, touch: false }
        }
        WorldAction::Touch(object) => {
            WorldAct::Write { kind: Some(names.kind(object, path)?), values: vec![], touch: true }
        }
        WorldAction::Restart(name) => WorldAct::Restart(controller(name)?),
        WorldAction::Add(name) => WorldAct::Add(controller(name)?),
        WorldAction::Resync { controller: name, object } => {
            let index = controller(name)?;
            let of =
                |(c, _, watch, _): &(usize, usize, String, bool)| (*c, watch) == (index, object);
            match names.informers.iter().position(of) {
                Some(informer) => WorldAct::Resync(informer),
                None => return fail(path, format!("`{name}` has no watch `{object}`")),
            }
        }
    })
}
