//! Caches and handlers.

use super::{
    super::{
        model::{Condition, Handler, Informer, Kind, Model, View},
        reader::Result,
        scenario::{
            Action, Cancels, Controller, Creates, ReadFrom, Scenario, Watch, Which, WorldAction,
        },
        state::{Allocator, bits_for},
    },
    names::{Names, Scope, fail, kind, reads},
    program::actions,
};

/// Every informer's controller, kind, name, and whether it lags; in the order of the model.
pub(super) fn index(
    scenario: &Scenario,
    kinds: &[Kind],
) -> Result<Vec<(usize, usize, String, bool)>> {
    let mut informers = vec![];
    for (index, controller) in scenario.controllers.iter().enumerate() {
        for watch in &controller.watches {
            let kind = kind(kinds, &watch.of, &watch.path)?;
            let same =
                |(c, _, name, _): &(usize, usize, String, bool)| *c == index && *name == watch.name;
            if informers.iter().any(same) {
                return fail(
                    &watch.path,
                    format!("there are two watches `{}`: give one a `name`", watch.name),
                );
            }
            informers.push((index, kind, watch.name.clone(), watch.lag > 0));
        }
    }
    Ok(informers)
}

/// Compiles the watches of one controller. `local` tells which fields its passes keep of a kind.
pub(super) fn compile(
    index: usize,
    scenario: &Scenario,
    names: &Names<'_>,
    local: &dyn Fn(usize) -> u64,
    allocator: &mut Allocator,
    model: &mut Model,
) -> Result<()> {
    let controller = &scenario.controllers[index];
    let own = names.kind(&controller.reconciles, &controller.path)?;
    for watch in &controller.watches {
        let number = model.informers.len();
        let kind_index = names.kind(&watch.of, &watch.path)?;
        let kind = &names.kinds[kind_index];
        let fans_out = names.kinds[own].per_key && !kind.per_key;
        let maps = match &*watch.maps {
            [] if fans_out && watch.wakes => &[Which::Old, Which::New],
            maps => maps,
        };
        if watch.lag == 0 && !maps.is_empty() {
            return fail(&watch.path, "a map function needs `lag: 1` or more");
        }
        let observed = observed(watch, number, kind_index, controller, index, scenario, names)
            | if is_read(watch, number, kind_index, controller, index, names) {
                local(kind_index) | coherent_reads(scenario, kind)
            } else {
                0
            };
        let shared = kind.per_key;
        let history = (0..watch.lag + watch.backlog).map(|_| view(allocator, observed, shared));
        let history = history.collect();
        let can_list = can_list(scenario, controller, watch);
        let bits = |yes: bool, bits: u8| if yes { bits } else { 0 };
        let change = Scope::Change(kind_index);
        let handler = if maps.is_empty() || !watch.wakes {
            None
        } else {
            let event = watch.filter.as_ref().map_or(0, |filter| reads(filter, "event", kind));
            let scope = Scope::Filter { controller: index, event: kind_index };
            Some(Handler {
                maps_old: maps.contains(&Which::Old),
                maps_new: maps.contains(&Which::New),
                filter: watch
                    .filter
                    .as_ref()
                    .map(|filter| names.condition(filter, scope, &format!("{}.filter", watch.path)))
                    .transpose()?,
                dedupe: watch.dedupe,
                phase: allocator.place(3, kind.per_key),
                low: allocator.place(bits(can_list, 1), kind.per_key),
                old: view(
                    allocator,
                    if maps.contains(&Which::Old) { event } else { 0 },
                    kind.per_key,
                ),
                new: (watch.backlog > 0).then(|| view(allocator, event, kind.per_key)),
                mapped: allocator.place(1, names.kinds[own].per_key),
                seen: allocator.place(bits(watch.dedupe, 1), names.kinds[own].per_key),
            })
        };
        let passes = watch.passes.as_ref();
        model.informers.push(Informer {
            name: watch.name.clone(),
            controller: index,
            kind: kind_index,
            lag: watch.lag,
            backlog: watch.backlog,
            wakes: watch.wakes,
            behind: allocator.place(bits_for(usize::from(watch.lag) + 1), kind.per_key),
            ahead: allocator.place(bits_for(usize::from(watch.backlog) + 1), kind.per_key),
            history,
            passes: passes
                .map(|passes| names.condition(passes, change, &format!("{}.passes", watch.path)))
                .transpose()?,
            creates: match &watch.creates {
                Creates::Pass => Condition::Always(true),
                Creates::Drop => Condition::Always(false),
                Creates::When(when) => {
                    names.condition(when, change, &format!("{}.creates", watch.path))?
                }
            },
            cancels: watch.cancels,
            handler,
            listing: allocator.place(bits(can_list, 2), kind.per_key),
        });
        model.bounds.push(bound(watch, controller));
    }
    Ok(())
}

fn bound(watch: &Watch, controller: &Controller) -> String {
    let Watch { name, lag, backlog, .. } = watch;
    let s = if *lag == 1 { "" } else { "s" };
    let backlog =
        if *backlog == 0 { String::new() } else { format!(", its handler {backlog} more") };
    format!("cache `{name}` of {} at most {lag} write{s} behind{backlog}", controller.name)
}

pub(super) fn view(allocator: &mut Allocator, mask: u64, per_key: bool) -> View {
    let low = u8::try_from(mask.trailing_zeros() % 64).unwrap_or(0);
    let bits = u8::try_from(u64::BITS - (mask >> low).leading_zeros()).unwrap_or(64);
    View { place: allocator.place(bits, per_key), mask, low }
}

/// The fields that handlers look at through this informer.
fn observed(
    watch: &Watch,
    number: usize,
    kind_index: usize,
    controller: &Controller,
    index: usize,
    scenario: &Scenario,
    names: &Names<'_>,
) -> u64 {
    let _ = scenario;
    let kind = &names.kinds[kind_index];
    let mut bits = 0;
    if let Some(passes) = &watch.passes {
        bits |= reads(passes, "old", kind) | reads(passes, "new", kind);
    }
    if let Creates::When(when) = &watch.creates {
        bits |= reads(when, "old", kind) | reads(when, "new", kind);
    }
    if let Some(filter) = &watch.filter {
        bits |= reads(filter, "event", kind);
    }
    let is_cache = matches!(
        names.cache(index, kind_index),
        super::super::model::Source::Cache(cache) if cache == number
    );
    if is_cache {
        for filter in controller.watches.iter().filter_map(|watch| watch.filter.as_ref()) {
            bits |= reads(filter, &kind.name, kind);
        }
    }
    bits
}

/// Whether passes read through this informer.
fn is_read(
    watch: &Watch,
    number: usize,
    kind_index: usize,
    controller: &Controller,
    index: usize,
    names: &Names<'_>,
) -> bool {
    let is_cache = matches!(
        names.cache(index, kind_index),
        super::super::model::Source::Cache(cache) if cache == number
    );
    actions(&controller.steps).iter().any(|action| match action {
        Action::Read { object, from } if *object == watch.of => match from {
            ReadFrom::Cache => is_cache,
            ReadFrom::Server => false,
            ReadFrom::Watch(name) => *name == watch.name,
        },
        _ => false,
    })
}

fn coherent_reads(scenario: &Scenario, kind: &Kind) -> u64 {
    scenario
        .coherent
        .iter()
        .filter(|coherent| coherent.object == kind.name)
        .fold(0, |bits, coherent| bits | reads(&coherent.holds, &kind.name, kind))
}

/// Whether a restart or a resync may make this informer deliver a list.
fn can_list(scenario: &Scenario, controller: &Controller, watch: &Watch) -> bool {
    watch.wakes
        && scenario.world.iter().flat_map(|step| &step.actions).any(|(_, action)| match action {
            WorldAction::Restart(name) => *name == controller.name,
            WorldAction::Resync { controller: name, object } => {
                *name == controller.name && *object == watch.name
            }
            _ => false,
        })
}

/// Whether any watch of the controller cancels passes.
pub(super) fn cancels(controller: &Controller) -> bool {
    controller.watches.iter().any(|watch| watch.cancels != Cancels::Never)
}
