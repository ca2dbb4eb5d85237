//! From a scenario to a model: names become places, conditions become trees, each controller's
//! queue becomes a table.

mod names;
mod program;
mod watches;
mod world;

use std::collections::BTreeMap;

use plumb_queue::{Flavour, Returned, Runtime};

pub(super) use self::names::{Names, Scope};
use self::{
    names::{MEMORY, fail, field, kind},
    program::{Program, Registers, actions, local_reads},
};
use super::{
    decide::Template,
    model::{
        Answer, Condition, Controller, Doubled, Field, Kind, Model, Operand, Outcome, Owed,
        Question, StaleFlag,
    },
    reader::{Result, Span},
    record::Manner,
    scenario::{self, Action, Domain, Scenario},
    slots::{Setup, Slots},
    state::{Allocator, bits_for},
};

/// The words of the largest state; see `search`.
pub(super) const MAX_WORDS: usize = 16;

/// What the component has answered so far: which question, with which values, the answer.
pub(super) type Answers = Vec<(usize, Vec<u8>, Returned)>;

impl Model {
    /// Compiles a scenario for one queue.
    ///
    /// # Errors
    /// A name that does not exist, unlike values compared, a state too large.
    pub fn new(scenario: &Scenario, flavour: Flavour) -> Result<Self> {
        Self::with_answers(scenario, flavour, &vec![])
    }

    pub(super) fn with_answers(
        scenario: &Scenario,
        flavour: Flavour,
        answers: &Answers,
    ) -> Result<Self> {
        let mut allocator = Allocator::new(scenario.keys);
        let mut model = Self {
            scenario: scenario.name.clone(),
            flavour,
            keys: scenario.keys,
            key_words: 0,
            words: 0,
            bits: 0,
            checks: scenario.checks.clone(),
            patience: scenario.patience,
            hot: scenario.hot,
            long_timers_wait: scenario.long_timers_wait,
            kinds: compile_kinds(scenario, &mut allocator)?,
            informers: vec![],
            controllers: vec![],
            world: vec![],
            owed: vec![],
            doubled: None,
            stale: vec![],
            results: all_results(scenario, answers),
            questions: vec![],
            bounds: own_bounds(scenario),
            settings: setup(scenario, flavour).told(),
            manner: Manner::default(),
        };
        let template = scenario.decide.as_ref().map(Template::new).transpose()?;
        let kinds = std::mem::take(&mut model.kinds);
        let mut names =
            Names { kinds: &kinds, locals: vec![], informers: watches::index(scenario, &kinds)? };
        let local = |controller: usize, kind: usize| {
            let kind = &kinds[kind];
            let controller = &scenario.controllers[controller];
            let asked = template.as_ref().map_or(0, |template| template.reads(kind));
            let asked = if controller.reconciles == kind.name { 0 } else { asked };
            match local_reads(controller, kind, scenario.doubled.as_ref()) {
                _ if !reads_kind(controller, kind) => 0,
                bits => bits | asked,
            }
        };
        for (index, controller) in scenario.controllers.iter().enumerate() {
            let per_key = kinds[names.kind(&controller.reconciles, &controller.path)?].per_key;
            for kind in (0..kinds.len()).filter(|kind| reads_kind(controller, &kinds[*kind])) {
                let view = watches::view(&mut allocator, local(index, kind), per_key);
                names.locals.push((index, kind, view));
            }
        }
        for index in 0..scenario.controllers.len() {
            let local = |kind| local(index, kind);
            watches::compile(index, scenario, &names, &local, &mut allocator, &mut model)?;
        }
        compile_properties(scenario, &names, &mut model)?;
        for index in 0..scenario.controllers.len() {
            compile_controller(
                index,
                scenario,
                &names,
                template.as_ref(),
                &mut allocator,
                &mut model,
            )?;
        }
        for step in &scenario.world {
            let step = world::compile(step, scenario, &names, &mut allocator, &mut model)?;
            model.world.push(step);
        }
        let coherent = scenario.coherent.iter().map(|coherent| {
            let kind = names.kind(&coherent.object, &coherent.path)?;
            Ok((kind, names.condition(&coherent.holds, Scope::About(kind), &coherent.path)?))
        });
        let coherent = coherent.collect::<Result<Vec<_>>>()?;
        model.manner = Manner::new(scenario, &names)?;
        drop(names);
        model.kinds = kinds;
        for (kind, condition) in coherent {
            model.kinds[kind].coherent = Some(condition);
        }
        for (object, path) in &scenario.dependents {
            let kind = kind(&model.kinds, object, path)?;
            model.kinds[kind].has_dependents = true;
        }
        for (index, informer) in model.informers.iter().enumerate() {
            model.kinds[informer.kind].informers.push(index);
        }
        for (question, values, returned) in answers {
            let result = model.results.iter().position(|result| result == returned);
            if let (Some(result), Some(question)) = (result, model.questions.get_mut(*question)) {
                question.answers.insert(values.clone(), result);
            }
        }
        model.words = allocator.words();
        model.key_words = allocator.key_words();
        model.bits = allocator.bits();
        if model.words > MAX_WORDS {
            let message = format!(
                "a state takes {} bits, at most {} are possible: use fewer keys or fields, or less lag",
                model.bits,
                MAX_WORDS * 64
            );
            return fail("spec", message);
        }
        Ok(model)
    }
}

fn reads_kind(controller: &scenario::Controller, kind: &Kind) -> bool {
    actions(&controller.steps)
        .iter()
        .any(|action| matches!(action, Action::Read { object, .. } if *object == kind.name))
}

/// The objects, and the memory of the controllers as one more.
fn compile_kinds(scenario: &Scenario, allocator: &mut Allocator) -> Result<Vec<Kind>> {
    let mut kinds = vec![];
    let memory = (MEMORY, true, &scenario.memory);
    let objects = scenario.objects.iter().map(|o| (&*o.name, o.per_key, &o.fields));
    for (name, per_key, declared) in objects.chain([memory]) {
        let mut shift = 0;
        let mut initial = 0;
        let mut fields = vec![];
        for scenario::Field { name, domain, path } in declared {
            let (count, first) = match domain {
                Domain::Numbers { low, high } => (usize::from(*high) + 1, *low),
                Domain::Labels(labels) => (labels.len(), 0),
            };
            let bits = bits_for(count);
            if shift + bits > 64 {
                return fail(path, "the fields of one object take more than 64 bits");
            }
            let mask = (1 << bits) - 1;
            fields.push(Field { name: name.clone(), domain: domain.clone(), shift, mask });
            initial |= u64::from(first) << shift;
            shift += bits;
        }
        kinds.push(Kind {
            name: name.to_owned(),
            per_key,
            fields,
            whole: allocator.place(shift, per_key),
            initial,
            first: initial,
            informers: vec![],
            coherent: None,
            has_dependents: false,
        });
    }
    let starts = scenario.start.iter().map(|(object, name, atom, path)| {
        let assignment = scenario::Assignment {
            object: object.clone(),
            field: name.clone(),
            value: scenario::Assigned::Value(atom.clone()),
            path: path.clone(),
        };
        let names = Names { kinds: &kinds, locals: vec![], informers: vec![] };
        let assign = names.assign(&assignment, Scope::Server)?;
        match assign.value {
            super::model::AssignedValue::Operand(Operand::Constant(value)) => {
                Ok((assign.kind, field(&kinds[assign.kind], name, path)?.clone(), value))
            }
            _ => fail(path, "expected a value"),
        }
    });
    for (kind, field, value) in starts.collect::<Result<Vec<_>>>()? {
        let initial = &mut kinds[kind].initial;
        *initial = (*initial & !field.bits()) | (u64::from(value) << field.shift);
    }
    Ok(kinds)
}

/// Every result that a pass may return.
fn all_results(scenario: &Scenario, answers: &Answers) -> Vec<Returned> {
    let fixed = scenario.controllers.iter().flat_map(|c| c.results.values());
    let fixed = fixed.filter_map(|answer| match answer {
        scenario::Answer::Fixed(returned) => Some(*returned),
        scenario::Answer::Decide => None,
    });
    let mut results: Vec<Returned> = fixed.chain(answers.iter().map(|(.., r)| *r)).collect();
    results.sort_unstable();
    results.dedup();
    results
}

fn compile_properties(scenario: &Scenario, names: &Names<'_>, model: &mut Model) -> Result<()> {
    for owed in &scenario.owed {
        let when = names.condition(&owed.when, Scope::Server, &owed.path)?;
        let per_key = names.is_per_key(&when);
        model.owed.push(Owed { name: owed.name.clone(), when, per_key });
    }
    Ok(())
}

fn compile_controller(
    index: usize,
    scenario: &Scenario,
    names: &Names<'_>,
    template: Option<&Template>,
    allocator: &mut Allocator,
    model: &mut Model,
) -> Result<()> {
    let controller = &scenario.controllers[index];
    let own = names.kind(&controller.reconciles, &controller.path)?;
    program::check_reads(&controller.steps, names)?;
    let per_key = names.kinds[own].per_key;
    let doubled = scenario.doubled.as_ref().map(|doubled| {
        let scope = Scope::Doubled { controller: index, own };
        Ok((&*doubled.at, names.condition(&doubled.when, scope, &doubled.path)?))
    });
    let doubled = doubled.transpose()?;
    let outcome_names: Vec<String> = controller.results.keys().cloned().collect();
    let mut registers =
        Registers { places: vec![], locals: vec![], stale: vec![], canceled: usize::MAX };
    for (controller, kind, view) in &names.locals {
        if *controller == index {
            registers.locals.push((*kind, registers.places.len(), *view));
            registers.places.push(view.place);
        }
    }
    registers.canceled = registers.places.len();
    let cancels = watches::cancels(controller);
    let canceled = allocator.place(u8::from(cancels), per_key);
    registers.places.push(canceled);
    for action in actions(&controller.steps) {
        let Action::Write(write) = action else { continue };
        let Some(_) = write.conflict else { continue };
        let kind =
            names.kind(write.to.as_ref().unwrap_or(&controller.reconciles), &controller.path)?;
        if registers.stale.iter().all(|(known, _)| *known != kind) {
            let place = allocator.place(1, per_key);
            registers.stale.push((kind, registers.places.len()));
            registers.places.push(place);
            model.stale.push(StaleFlag { controller: index, kind, place });
        }
    }
    let mut program = Program {
        names,
        controller,
        index,
        own,
        registers: &registers,
        outcomes: &outcome_names,
        ops: vec![],
    };
    let entry = program.compile()?;
    let steps = program.ops;
    let mut outcomes = vec![];
    for (name, answer) in &controller.results {
        let answer = match answer {
            scenario::Answer::Fixed(returned) => {
                Answer::Fixed(model.results.iter().position(|r| r == returned).unwrap_or(0))
            }
            scenario::Answer::Decide => {
                let Some(template) = template else {
                    return fail(
                        "spec",
                        "`decide` is missing; it says what the component is shown",
                    );
                };
                let scope = Scope::Doubled { controller: index, own };
                let values = template.values(names, scope)?;
                model.questions.push(Question {
                    outcome: name.clone(),
                    values,
                    answers: BTreeMap::new(),
                });
                Answer::Decide(model.questions.len() - 1)
            }
        };
        outcomes.push(Outcome { name: name.clone(), answer });
    }
    let asked = |outcome: usize| match outcomes[outcome].answer {
        Answer::Fixed(_) => vec![],
        Answer::Decide(question) => {
            model.questions[question].values.iter().map(|(_, operand, _)| *operand).collect()
        }
    };
    let doubled_at = doubled.as_ref().map(|(at, when)| (*at, when));
    let live = program::live(&steps, &registers, doubled_at, &asked);
    let slots = Slots::new(&setup(scenario, model.flavour), controller.starts, &model.results);
    let is_ordered = model.keys > 1 && per_key && slots.hand == super::slots::Hand::First;
    let ranks = if is_ordered { bits_for(usize::from(model.keys) + 1) } else { 0 };
    let is_doubled_here = doubled.as_ref().is_some_and(|(at, _)| program::has_step(&steps, at));
    if is_doubled_here && let (Some((at, when)), Some(declared)) = (doubled, &scenario.doubled) {
        model.doubled = Some(Doubled {
            controller: index,
            at: at.to_owned(),
            when,
            woken_by: declared.woken_by,
        });
    }
    model.bounds.push(workers(controller));
    model.controllers.push(Controller {
        name: controller.name.clone(),
        kind: own,
        per_key,
        workers: controller.workers,
        slot: allocator.place(bits_for(slots.len()), per_key),
        rank: allocator.place(ranks, per_key),
        pc: allocator.place(bits_for(steps.len() + 1), per_key),
        slots,
        steps,
        entry,
        canceled,
        canceled_bit: 1 << registers.canceled,
        registers: registers.places,
        live,
        outcomes,
    });
    Ok(())
}

fn setup(scenario: &Scenario, flavour: Flavour) -> Setup {
    let runtime = match flavour {
        Flavour::KubeRs => Runtime::KubeRs,
        Flavour::Priority => Runtime::ControllerRuntime,
        Flavour::Classic => scenario.runtime.unwrap_or(Runtime::ControllerRuntime),
    };
    Setup {
        flavour,
        runtime,
        backoff: scenario.backoff,
        counted: scenario.counted,
        on_error: scenario.on_error,
        causes: scenario.doubled.is_some(),
    }
}

fn workers(controller: &scenario::Controller) -> String {
    let s = if controller.workers == 1 { "" } else { "s" };
    format!("{} worker{s} of {}", controller.workers, controller.name)
}

fn own_bounds(scenario: &Scenario) -> Vec<String> {
    let s = if scenario.keys == 1 { "" } else { "s" };
    let mut bounds = vec![format!("{} key{s}", scenario.keys)];
    for step in &scenario.world {
        bounds.push(match step.times {
            None => format!("{} without limit", step.name),
            Some(1) => format!("{} at most once", step.name),
            Some(times) => format!("{} at most {times} times", step.name),
        });
    }
    let has_backoff = scenario.controllers.iter().flat_map(|c| c.results.values()).any(|answer| {
        matches!(answer, scenario::Answer::Fixed(r) if r.requeue || (r.error && !r.terminal))
            || *answer == scenario::Answer::Decide
    });
    bounds.push(match scenario.long_timers_wait {
        true => format!("timers beyond {} do not fire within the story", Span(scenario.hot)),
        false => "timers fire at any moment".to_owned(),
    });
    if has_backoff {
        bounds.push(format!(
            "failures counted up to {}, then a backoff of {}",
            scenario.counted,
            Span(scenario.backoff.max)
        ));
    }
    bounds
}

impl Names<'_> {
    /// Whether a condition about the server speaks of objects that exist for each key.
    fn is_per_key(&self, condition: &Condition) -> bool {
        let of = |operand: &Operand| match operand {
            Operand::Field { source: super::model::Source::Server(kind), .. } => {
                self.kinds[*kind].per_key
            }
            _ => false,
        };
        match condition {
            Condition::Always(_) => false,
            Condition::Not(inner) => self.is_per_key(inner),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().any(|part| self.is_per_key(part))
            }
            Condition::Compare(left, _, right) => of(left) || of(right),
        }
    }
}
