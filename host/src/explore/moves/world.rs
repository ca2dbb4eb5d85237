//! What happens outside of the controllers.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use super::{
    super::{
        model::{Given, Model, World, WorldAct, listing, phase},
        slots::Operation,
        state::State,
    },
    Class, Edge, Verb,
    pass::Written,
};

impl Model {
    pub(super) fn world_move<const N: usize>(
        &self,
        index: usize,
        world: &World,
        state: &State<N>,
        key: u8,
        long: bool,
        emit: &mut impl FnMut(Edge, State<N>),
    ) {
        let position = world.position.get(state, key);
        let is_first = position == 0;
        let class = match world.within.filter(|_| is_first) {
            Some(within) if within > self.hot => Class::Long,
            Some(_) => Class::Plain,
            None if world.sure || !is_first => Class::Plain,
            None => Class::Environment,
        };
        if long != (class == Class::Long) {
            return;
        }
        if is_first && world.left.is_some_and(|left| !left.is_set(state, 0)) {
            return;
        }
        let (when, act) = &world.actions[position as usize];
        if when.as_ref().is_some_and(|when| !self.holds(when, state, key, &Given::default())) {
            return;
        }
        let mut next = *state;
        let Some(torn) = self.act(act, &mut next, key) else { return };
        if next == *state && world.actions.len() == 1 {
            return;
        }
        let is_last = position as usize + 1 == world.actions.len();
        world.position.set(&mut next, key, if is_last { 0 } else { position + 1 });
        if is_first && let Some(left) = world.left {
            let value = left.get(state, 0) - 1;
            left.set(&mut next, 0, value);
        }
        let timer = world.within.filter(|_| is_first);
        emit(Edge { class, timer, torn, ..Edge::plain(Verb::World, index, key) }, next);
    }

    /// `None` if it is not possible now; else whether it tears an object for its dependents.
    pub(super) fn act<const N: usize>(
        &self,
        act: &WorldAct,
        state: &mut State<N>,
        key: u8,
    ) -> Option<bool> {
        match act {
            WorldAct::Write { kind, values, touch } => {
                let before = *state;
                for assign in values.iter().filter(|assign| Some(assign.kind) != *kind) {
                    let place = self.kinds[assign.kind].whole;
                    let whole = self.assigned(assign, place.get(state, key), &before, key)?;
                    place.set(state, key, whole);
                }
                let Some(kind) = kind else { return Some(false) };
                let mut whole = self.kinds[*kind].whole.get(state, key);
                for assign in values.iter().filter(|assign| assign.kind == *kind) {
                    whole = self.assigned(assign, whole, &before, key)?;
                }
                match self.write(state, *kind, key, whole, *touch, None) {
                    Written::Blocked => None,
                    Written::Unchanged => Some(false),
                    Written::Changed { torn } => Some(torn),
                }
            }
            WorldAct::Restart(controller) => {
                self.restart(*controller, state);
                Some(false)
            }
            WorldAct::Resync(informer) => {
                let informer = &self.informers[*informer];
                if informer.listing.is_set(state, key) {
                    return None;
                }
                informer.listing.set(state, key, listing::RESYNC);
                Some(false)
            }
            WorldAct::Add(controller) => {
                self.queue(&self.controllers[*controller], state, key, Operation::Add);
                Some(false)
            }
        }
    }

    /// The process dies and comes back: queue, passes, caches and memory are gone; every watch
    /// begins with a list.
    pub(super) fn restart<const N: usize>(&self, index: usize, state: &mut State<N>) {
        let controller = &self.controllers[index];
        for key in 0..self.instances(controller.per_key) {
            controller.slot.set(state, key, 0);
            controller.rank.set(state, key, 0);
            controller.pc.set(state, key, 0);
            for place in &controller.registers {
                place.set(state, key, 0);
            }
        }
        if let Some(memory) = self.kinds.last() {
            for key in 0..self.keys {
                memory.whole.set(state, key, memory.first);
            }
        }
        for informer in self.informers.iter().filter(|informer| informer.controller == index) {
            for key in 0..self.instances(self.kinds[informer.kind].per_key) {
                informer.behind.set(state, key, 0);
                informer.ahead.set(state, key, 0);
                for view in &informer.history {
                    view.set(state, key, 0);
                }
                if informer.wakes {
                    informer.listing.set(state, key, listing::CREATES);
                }
                let Some(handler) = &informer.handler else { continue };
                handler.phase.set(state, key, phase::IDLE);
                handler.low.set(state, key, 0);
                handler.old.set(state, key, 0);
                if let Some(view) = &handler.new {
                    view.set(state, key, 0);
                }
                for target in self.targets(informer, key) {
                    handler.mapped.set(state, target, 0);
                    handler.seen.set(state, target, 0);
                }
            }
        }
    }
}
