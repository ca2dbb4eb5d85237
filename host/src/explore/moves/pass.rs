//! A pass takes its steps.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use super::{
    super::{
        model::{Answer, Assign, AssignedValue, Controller, Given, Model, Op, Source, WorkEnd},
        scenario::Cause,
        slots::Operation,
        state::State,
    },
    CANCELED, CONFLICT, Class, Edge, Move, Unanswered, Verb,
};

/// What a write did.
pub(super) enum Written {
    /// A cache would be further behind than the scenario allows.
    Blocked,
    Unchanged,
    Changed {
        torn: bool,
    },
}

impl Model {
    /// The pass goes on at the first step that is not a branch, and lets go of what it no longer
    /// needs.
    pub(super) fn go_to<const N: usize>(
        &self,
        controller: &Controller,
        state: &mut State<N>,
        key: u8,
        mut pc: u16,
    ) {
        while let Op::Branch { condition, yes, no } = &controller.steps[usize::from(pc) - 1] {
            pc = if self.holds(condition, state, key, &Given::default()) { *yes } else { *no };
        }
        controller.pc.set(state, key, u64::from(pc));
        let_go(controller, state, key, u64::from(pc));
    }

    pub(super) fn pass_moves<const N: usize>(
        &self,
        index: usize,
        controller: &Controller,
        state: &State<N>,
        key: u8,
        emit: &mut impl FnMut(Edge, State<N>),
    ) -> Result<(), Unanswered> {
        let edge = Edge::plain(Verb::Pass, index, key);
        let mut next = *state;
        match &controller.steps[controller.pc.get(state, key) as usize - 1] {
            Op::Read { kind, source, view, next: pc } => {
                let object = self.object(*source, state, key, &Given::default());
                let torn = self.is_torn(*kind, object);
                if let Some(view) = view {
                    view.set(&mut next, key, object);
                }
                for flag in &self.stale {
                    if (flag.controller, flag.kind) == (index, *kind) {
                        let is_behind = match source {
                            Source::Cache(informer) => {
                                self.informers[*informer].behind.is_set(state, key)
                            }
                            _ => false,
                        };
                        flag.place.set(&mut next, key, u64::from(is_behind));
                    }
                }
                self.go_to(controller, &mut next, key, *pc);
                emit(Edge { torn, ..edge }, next);
            }
            Op::Write { name, kind, values, touch, conflict, next: pc } => {
                let doubled = self.doubled(index, name, controller, state, key);
                if let Some(conflict) = conflict.filter(|c| c.flag.is_set(state, key)) {
                    self.go_to(controller, &mut next, key, conflict.next);
                    let step = Move { branch: CONFLICT, ..edge.step };
                    emit(Edge { step, ..edge }, next);
                    return Ok(());
                }
                let mut whole = self.kinds[*kind].whole.get(state, key);
                for assign in values {
                    whole = self.assigned(assign, whole, state, key).unwrap_or(whole);
                }
                let torn = match self.write(&mut next, *kind, key, whole, *touch, Some(index)) {
                    Written::Blocked => return Ok(()),
                    Written::Unchanged => false,
                    Written::Changed { torn } => torn,
                };
                self.go_to(controller, &mut next, key, *pc);
                emit(Edge { torn, doubled, ..edge }, next);
            }
            Op::Set { values, next: pc } => {
                for assign in values {
                    let place = self.kinds[assign.kind].whole;
                    let whole = place.get(&next, key);
                    let whole = self.assigned(assign, whole, state, key).unwrap_or(whole);
                    place.set(&mut next, key, whole);
                }
                self.go_to(controller, &mut next, key, *pc);
                emit(edge, next);
            }
            Op::Work { name, ends, canceled } => {
                let doubled = self.doubled(index, name, controller, state, key);
                let edge = Edge { doubled, ..edge };
                if let Some(pc) = canceled.filter(|_| controller.canceled.is_set(state, key)) {
                    self.go_to(controller, &mut next, key, pc);
                    let step = Move { branch: CANCELED, ..edge.step };
                    emit(Edge { step, ..edge }, next);
                    return Ok(());
                }
                let is_possible = |end: &&WorkEnd| {
                    let when = end.when.as_ref();
                    when.is_none_or(|when| self.holds(when, state, key, &Given::default()))
                };
                let count = ends.iter().filter(is_possible).count();
                let class = if count > 1 { Class::Choice } else { Class::Plain };
                for (branch, end) in ends.iter().enumerate() {
                    if is_possible(&end) {
                        let mut next = *state;
                        self.go_to(controller, &mut next, key, end.next);
                        let branch = u8::try_from(branch).unwrap_or(u8::MAX);
                        emit(Edge { step: Move { branch, ..edge.step }, class, ..edge }, next);
                    }
                }
            }
            Op::Return { outcome } => {
                let result = match controller.outcomes[*outcome].answer {
                    Answer::Fixed(result) => result,
                    Answer::Decide(question) => self.answer(question, state, key)?,
                };
                let settled = self.doubled.as_ref().is_some_and(|doubled| {
                    doubled.controller == index
                        && self.holds(&doubled.when, state, key, &Given::default())
                });
                self.queue(controller, &mut next, key, Operation::Return { result, settled });
                controller.pc.set(&mut next, key, 0);
                for place in &controller.registers {
                    place.set(&mut next, key, 0);
                }
                emit(edge, next);
            }
            Op::Branch { .. } => {}
        }
        Ok(())
    }

    /// The values that a question shows in this state.
    pub(in super::super) fn question_values<const N: usize>(
        &self,
        question: usize,
        state: &State<N>,
        key: u8,
    ) -> Vec<u8> {
        let values = &self.questions[question].values;
        let value = |(_, operand, _): &_| self.value(operand, state, key, &Given::default());
        values.iter().map(value).collect()
    }

    /// The component's answer, as an index into the results.
    pub(in super::super) fn answer<const N: usize>(
        &self,
        question: usize,
        state: &State<N>,
        key: u8,
    ) -> Result<usize, Unanswered> {
        let values = self.question_values(question, state, key);
        match self.questions[question].answers.get(&values) {
            Some(result) => Ok(*result),
            None => Err(Unanswered { question, values }),
        }
    }

    pub(super) fn is_torn(&self, kind: usize, object: u64) -> bool {
        let given = Given { event: object, ..Given::default() };
        let coherent = self.kinds[kind].coherent.as_ref();
        coherent.is_some_and(|coherent| !self.holds::<1>(coherent, &[0], 0, &given))
    }

    pub(super) fn doubled<const N: usize>(
        &self,
        index: usize,
        name: &str,
        controller: &Controller,
        state: &State<N>,
        key: u8,
    ) -> Option<Cause> {
        let doubled = self.doubled.as_ref()?;
        if doubled.controller != index || doubled.at != name {
            return None;
        }
        let cause = controller.slots.info(controller.slot.get(state, key)).pass?;
        let counts = match doubled.woken_by {
            None => cause != Cause::Period,
            Some(wanted) => cause == wanted,
        };
        (counts && self.holds(&doubled.when, state, key, &Given::default())).then_some(cause)
    }

    /// The whole with one more field set; `None` if `next` leads beyond the last value.
    pub(super) fn assigned<const N: usize>(
        &self,
        assign: &Assign,
        whole: u64,
        state: &State<N>,
        key: u8,
    ) -> Option<u64> {
        let value = match &assign.value {
            AssignedValue::Operand(operand) => self.value(operand, state, key, &Given::default()),
            AssignedValue::Next { high } => {
                let value = ((whole >> assign.shift) & assign.mask) as u8;
                if value >= *high {
                    return None;
                }
                value + 1
            }
        };
        Some((whole & !(assign.mask << assign.shift)) | (u64::from(value) << assign.shift))
    }

    /// Writes an object on the server; every cache of it falls behind by one.
    pub(super) fn write<const N: usize>(
        &self,
        state: &mut State<N>,
        kind_index: usize,
        key: u8,
        new: u64,
        touch: bool,
        writer: Option<usize>,
    ) -> Written {
        let kind = &self.kinds[kind_index];
        let old = kind.whole.get(state, key);
        if old == new && !touch {
            return Written::Unchanged;
        }
        let informers = || kind.informers.iter().map(|informer| &self.informers[*informer]);
        if informers().any(|i| i.lag > 0 && i.behind.get(state, key) == u64::from(i.lag)) {
            return Written::Blocked;
        }
        kind.whole.set(state, key, new);
        for informer in informers() {
            if informer.lag == 0 {
                if informer.wakes {
                    self.begin_event(informer, state, key, old, new, false);
                }
                continue;
            }
            let behind = informer.behind.get(state, key);
            let at = behind + informer.ahead.get(state, key);
            informer.history[at as usize].set(state, key, old);
            informer.behind.set(state, key, behind + 1);
        }
        for flag in self.stale.iter().filter(|flag| flag.kind == kind_index) {
            let controller = &self.controllers[flag.controller];
            let concerned =
                if kind.per_key || !controller.per_key { key..key + 1 } else { 0..self.keys };
            for other in concerned {
                let is_own = writer == Some(flag.controller) && other == key;
                if !is_own && controller.pc.is_set(state, other) {
                    flag.place.set(state, other, 1);
                    let_go(controller, state, other, controller.pc.get(state, other));
                }
            }
        }
        Written::Changed { torn: kind.has_dependents && self.is_torn(kind_index, new) }
    }
}

/// The pass of this key learns that it is canceled, if it will ever look.
pub(super) fn cancel<const N: usize>(controller: &Controller, state: &mut State<N>, key: u8) {
    let pc = controller.pc.get(state, key);
    if pc != 0 && controller.live[pc as usize] & controller.canceled_bit != 0 {
        controller.canceled.set(state, key, 1);
    }
}

/// The pass drops what it no longer needs at the step where it is.
fn let_go<const N: usize>(controller: &Controller, state: &mut State<N>, key: u8, pc: u64) {
    let live = controller.live[pc as usize];
    for (register, place) in controller.registers.iter().enumerate() {
        if live & (1 << register) == 0 {
            place.set(state, key, 0);
        }
    }
}
