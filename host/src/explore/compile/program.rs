//! A reconcile as a list of steps, and what a pass must still remember at each.

use super::{
    super::{
        expression::Ast,
        model::{
            Assign, AssignedValue, Condition, Conflict, Kind, Op, Operand, Source, View, WorkEnd,
        },
        reader::Result,
        scenario::{Action, Assigned, Assignment, Controller, Doubled, End, ReadFrom, Step, Write},
        state::Place,
    },
    names::{Names, Scope, atom_reads, fail, reads},
};

/// All actions, those of branches included, in the order of the text.
pub(super) fn actions(steps: &[Step]) -> Vec<&Action> {
    let mut all = vec![];
    for step in steps {
        all.push(&step.action);
        for inner in inner_steps(&step.action) {
            all.extend(actions(inner));
        }
    }
    all
}

fn inner_steps(action: &Action) -> Vec<&[Step]> {
    match action {
        Action::If { then, otherwise, .. } => vec![then, otherwise],
        Action::Work { ends, canceled, .. } => {
            ends.iter().map(|end| &*end.steps).chain(canceled.as_deref()).collect()
        }
        Action::Write(write) => write.conflict.as_deref().into_iter().collect(),
        Action::Read { .. } | Action::Set(_) | Action::Return(_) => vec![],
    }
}

/// Refuses reads of what does not exist, before anything is said of what lacks for it.
pub(super) fn check_reads(steps: &[Step], names: &Names<'_>) -> Result<()> {
    for step in steps {
        if let Action::Read { object, .. } = &step.action {
            names.kind(object, &step.path)?;
        }
        for inner in inner_steps(&step.action) {
            check_reads(inner, names)?;
        }
    }
    Ok(())
}

/// The fields of a kind that the passes of a controller use after reading it.
pub(super) fn local_reads(controller: &Controller, kind: &Kind, doubled: Option<&Doubled>) -> u64 {
    let is_read = actions(&controller.steps)
        .iter()
        .any(|action| matches!(action, Action::Read { object, .. } if *object == kind.name));
    if !is_read {
        return 0;
    }
    let of_doubled = doubled
        .filter(|_| controller.reconciles != kind.name)
        .map_or(0, |doubled| reads(&doubled.when, &kind.name, kind));
    of_doubled | steps_read(&controller.steps, kind)
}

fn steps_read(steps: &[Step], kind: &Kind) -> u64 {
    let condition = |ast: &Ast| reads(ast, &kind.name, kind);
    let assigned = |assignments: &[Assignment]| {
        let value = |assignment: &Assignment| match &assignment.value {
            Assigned::Value(atom) => atom_reads(atom, &kind.name, kind),
            Assigned::Next => 0,
        };
        assignments.iter().map(value).fold(0, |bits, more| bits | more)
    };
    let mut bits = 0;
    for step in steps {
        bits |= step.when.as_ref().map_or(0, condition);
        bits |= match &step.action {
            Action::If { condition: when, .. } => condition(when),
            Action::Write(write) => {
                write.patches.iter().fold(0, |bits, patch| bits | assigned(patch))
            }
            Action::Set(assignments) => assigned(assignments),
            Action::Read { .. } | Action::Work { .. } | Action::Return(_) => 0,
        };
        for inner in inner_steps(&step.action) {
            bits |= steps_read(inner, kind);
        }
    }
    bits
}

/// What a pass holds in its hands.
pub(super) struct Registers {
    pub(super) places: Vec<Place>,
    /// For every kind that is read, its register and where it is kept.
    pub(super) locals: Vec<(usize, usize, View)>,
    /// For every kind whose writes are checked, the register of its flag.
    pub(super) stale: Vec<(usize, usize)>,
    /// The register that tells whether the pass was canceled.
    pub(super) canceled: usize,
}

/// The steps of one controller while they are compiled.
pub(super) struct Program<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) controller: &'a Controller,
    pub(super) index: usize,
    pub(super) own: usize,
    pub(super) registers: &'a Registers,
    pub(super) outcomes: &'a [String],
    pub(super) ops: Vec<Op>,
}

/// The pseudo-step behind the last one.
const END: u16 = u16::MAX;

impl Program<'_> {
    /// Compiles all steps; returns the number of the first.
    pub(super) fn compile(&mut self) -> Result<u16> {
        let controller = self.controller;
        let entry = self.steps(&controller.steps, END)?;
        if entry == END || self.leads_to_end() {
            return fail(&controller.path, "`reconcile` may end without a `return`");
        }
        Ok(entry)
    }

    fn leads_to_end(&self) -> bool {
        self.ops.iter().any(|op| successors(op).contains(&END))
    }

    fn push(&mut self, op: Op) -> Result<u16> {
        self.ops.push(op);
        match u16::try_from(self.ops.len()) {
            Ok(number) if number < 256 => Ok(number),
            _ => fail(&self.controller.path, "more than 255 steps"),
        }
    }

    /// Compiles from the last step to the first, so that every step knows the next one.
    fn steps(&mut self, steps: &[Step], mut next: u16) -> Result<u16> {
        for step in steps.iter().rev() {
            let first = self.step(step, next)?;
            next = match &step.when {
                None => first,
                Some(when) => {
                    let condition = self.condition(when, &step.path)?;
                    self.push(Op::Branch { condition, yes: first, no: next })?
                }
            };
        }
        Ok(next)
    }

    fn condition(&self, ast: &Ast, path: &str) -> Result<Condition> {
        self.names.condition(ast, Scope::Pass(self.index), path)
    }

    fn step(&mut self, step: &Step, next: u16) -> Result<u16> {
        let path = &*step.path;
        match &step.action {
            Action::Read { object, from } => {
                let kind = self.names.kind(object, path)?;
                if self.names.kinds[kind].per_key && !self.names.kinds[self.own].per_key {
                    return fail(
                        path,
                        format!(
                            "`{object}` exists for each key, but this controller has one object"
                        ),
                    );
                }
                let source = match from {
                    ReadFrom::Server => Source::Server(kind),
                    ReadFrom::Cache => self.names.cache(self.index, kind),
                    ReadFrom::Watch(name) => self.named_cache(name, kind, path)?,
                };
                let view = self.registers.locals.iter().find(|(k, ..)| *k == kind);
                let view = view.map(|(_, _, view)| *view);
                self.push(Op::Read { kind, source, view, next })
            }
            Action::Write(write) => self.write(write, path, next),
            Action::Set(assignments) => {
                let values = self.assign(assignments)?;
                self.push(Op::Set { values, next })
            }
            Action::Work { name, ends, canceled } => {
                let canceled = match canceled {
                    None => None,
                    Some(steps) => Some(self.steps(steps, next)?),
                };
                let ends = ends.iter().map(|end| self.end(end, path, next));
                let ends = ends.collect::<Result<_>>()?;
                self.push(Op::Work { name: name.clone(), ends, canceled })
            }
            Action::If { condition, then, otherwise } => {
                let condition = self.condition(condition, path)?;
                let yes = self.steps(then, next)?;
                let no = self.steps(otherwise, next)?;
                self.push(Op::Branch { condition, yes, no })
            }
            Action::Return(outcome) => {
                match self.outcomes.iter().position(|known| known == outcome) {
                    Some(outcome) => self.push(Op::Return { outcome }),
                    None => fail(path, format!("`{outcome}` is not in `results`")),
                }
            }
        }
    }

    fn end(&mut self, end: &End, path: &str, next: u16) -> Result<WorkEnd> {
        let when = end.when.as_ref();
        let path = format!("{path}.ends.{}", end.name);
        Ok(WorkEnd {
            name: end.name.clone(),
            when: when.map(|when| self.names.condition(when, Scope::Server, &path)).transpose()?,
            next: self.steps(&end.steps, next)?,
        })
    }

    fn named_cache(&self, name: &str, kind: usize, path: &str) -> Result<Source> {
        let of = |(c, k, n, _): &(usize, usize, String, bool)| {
            (*c, *k, &**n) == (self.index, kind, name)
        };
        match self.names.informers.iter().position(of) {
            Some(informer) if self.names.informers[informer].3 => Ok(Source::Cache(informer)),
            Some(_) => Ok(Source::Server(kind)),
            None => fail(path, format!("this controller has no watch `{name}` of this object")),
        }
    }

    fn assign(&self, assignments: &[Assignment]) -> Result<Vec<Assign>> {
        assignments.iter().map(|a| self.names.assign(a, Scope::Pass(self.index))).collect()
    }

    fn write(&mut self, write: &Write, path: &str, next: u16) -> Result<u16> {
        let kind = match &write.to {
            None => self.own,
            Some(name) => self.names.kind(name, path)?,
        };
        let target = &self.names.kinds[kind];
        let flag = self.registers.stale.iter().find(|(k, _)| *k == kind);
        let conflict = match (&write.conflict, flag) {
            (Some(steps), Some((_, register))) => {
                let next = self.steps(steps, next)?;
                Some(Conflict { flag: self.registers.places[*register], next })
            }
            _ => None,
        };
        let mut next = next;
        for patch in write.patches.iter().rev() {
            let mut patch = patch.clone();
            for assignment in &mut patch {
                assignment.object.clone_from(&target.name);
            }
            let values = self.assign(&patch)?;
            let fields: Vec<&str> = patch.iter().map(|a| &*a.field).collect();
            let name = match &write.name {
                Some(name) => name.clone(),
                None => format!("write {}", fields.join(", ")),
            };
            next =
                self.push(Op::Write { name, kind, values, touch: write.touch, conflict, next })?;
        }
        Ok(next)
    }
}

/// Which steps may follow.
pub(super) fn successors(op: &Op) -> Vec<u16> {
    match op {
        Op::Read { next, .. } | Op::Set { next, .. } => vec![*next],
        Op::Write { next, conflict, .. } => {
            conflict.iter().map(|conflict| conflict.next).chain([*next]).collect()
        }
        Op::Work { ends, canceled, .. } => {
            ends.iter().map(|end| end.next).chain(*canceled).collect()
        }
        Op::Branch { yes, no, .. } => vec![*yes, *no],
        Op::Return { .. } => vec![],
    }
}

/// For every step, from 1, the registers whose content still matters when it is next.
pub(super) fn live(
    ops: &[Op],
    registers: &Registers,
    doubled: Option<(&str, &Condition)>,
    asked: &dyn Fn(usize) -> Vec<Operand>,
) -> Vec<u64> {
    let mut live = vec![0_u64; ops.len() + 1];
    loop {
        let mut changed = false;
        for (index, op) in ops.iter().enumerate() {
            let after =
                successors(op).into_iter().fold(0, |bits, next| bits | live[usize::from(next)]);
            let (uses, kills) = effects(op, registers, doubled, asked);
            let before = uses | (after & !kills);
            changed |= live[index + 1] != before;
            live[index + 1] = before;
        }
        if !changed {
            return live;
        }
    }
}

fn effects(
    op: &Op,
    registers: &Registers,
    doubled: Option<(&str, &Condition)>,
    asked: &dyn Fn(usize) -> Vec<Operand>,
) -> (u64, u64) {
    let operand = |operand: &Operand| match operand {
        Operand::Field { source: Source::Local(view), .. } => registers
            .locals
            .iter()
            .find(|(_, _, local)| local.place == view.place)
            .map_or(0, |(_, register, _)| 1 << register),
        _ => 0,
    };
    let stale = |kind: &usize| {
        let flag = registers.stale.iter().find(|(k, _)| k == kind);
        flag.map_or(0, |(_, register)| 1_u64 << register)
    };
    let values = |values: &[Assign]| {
        values.iter().fold(0, |bits, assign| match &assign.value {
            AssignedValue::Operand(value) => bits | operand(value),
            AssignedValue::Next { .. } => bits,
        })
    };
    let uses_of_doubled = doubled.map_or(0, |(_, when)| condition_uses(when, &operand));
    let doubled = |name: &str| match doubled {
        Some((at, _)) if at == name => uses_of_doubled,
        _ => 0,
    };
    match op {
        Op::Read { kind, view, .. } => {
            let local = registers.locals.iter().find(|(k, ..)| k == kind && view.is_some());
            (0, stale(kind) | local.map_or(0, |(_, register, _)| 1 << register))
        }
        Op::Write { name, kind, values: assigned, conflict, .. } => {
            let flag = if conflict.is_some() { stale(kind) } else { 0 };
            (values(assigned) | flag | doubled(name), 0)
        }
        Op::Set { values: assigned, .. } => (values(assigned), 0),
        Op::Work { name, canceled, .. } => {
            let flag = if canceled.is_some() { 1 << registers.canceled } else { 0 };
            (flag | doubled(name), 0)
        }
        Op::Branch { condition, .. } => (condition_uses(condition, &operand), 0),
        Op::Return { outcome } => {
            // At the end it says whether the pass has done all it knew of.
            (asked(*outcome).iter().fold(uses_of_doubled, |bits, value| bits | operand(value)), 0)
        }
    }
}

fn condition_uses(condition: &Condition, operand: &dyn Fn(&Operand) -> u64) -> u64 {
    match condition {
        Condition::Always(_) => 0,
        Condition::Not(inner) => condition_uses(inner, operand),
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter().fold(0, |bits, part| bits | condition_uses(part, operand))
        }
        Condition::Compare(left, _, right) => operand(left) | operand(right),
    }
}

/// Whether a step that changes or waits for something has this name.
pub(super) fn has_step(ops: &[Op], wanted: &str) -> bool {
    ops.iter().any(|op| match op {
        Op::Write { name, .. } | Op::Work { name, .. } => name == wanted,
        _ => false,
    })
}
