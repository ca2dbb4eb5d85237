//! Timers fire and keys are handed out.

use plumb_queue::Millis;

use super::{
    super::{
        model::{Controller, Model},
        slots::{Hand, Operation, Order},
        state::State,
    },
    Class, Edge, Verb,
};

impl Model {
    pub(super) fn queue_moves<const N: usize>(
        &self,
        index: usize,
        controller: &Controller,
        state: &State<N>,
        emit: &mut impl FnMut(Edge, State<N>),
    ) {
        let keys = self.instances(controller.per_key);
        let mut busy = 0;
        // The first in line of the highest priority.
        let mut first: Option<(i32, u64, u8)> = None;
        let mut ready = 0_u8;
        for key in 0..keys {
            busy += u8::from(controller.pc.is_set(state, key));
            let info = controller.slots.info(controller.slot.get(state, key));
            if let Some(due) = info.due.filter(|due| *due <= self.hot) {
                self.fire(index, controller, state, key, due, emit);
            }
            if info.ready {
                ready |= 1 << key;
                let place = (-i32::from(info.priority), controller.rank.get(state, key), key);
                first = Some(first.map_or(place, |first| first.min(place)));
            }
        }
        if busy >= controller.workers {
            return;
        }
        for key in 0..keys {
            let is_next = match controller.slots.hand {
                Hand::Any => ready & (1 << key) != 0,
                Hand::First => first.is_some_and(|(.., first)| first == key),
            };
            if is_next {
                let mut next = *state;
                self.queue(controller, &mut next, key, Operation::Get);
                self.go_to(controller, &mut next, key, controller.entry);
                emit(Edge::plain(Verb::Get, index, key), next);
            }
        }
    }

    pub(super) fn fire<const N: usize>(
        &self,
        index: usize,
        controller: &Controller,
        state: &State<N>,
        key: u8,
        due: Millis,
        emit: &mut impl FnMut(Edge, State<N>),
    ) {
        let mut next = *state;
        self.queue(controller, &mut next, key, Operation::Fire);
        let class = if due > self.hot { Class::Long } else { Class::Plain };
        let edge = Edge::plain(Verb::Fire, index, key);
        emit(Edge { class, timer: Some(due), ..edge }, next);
    }

    /// Changes a key's place in its queue.
    pub(super) fn queue<const N: usize>(
        &self,
        controller: &Controller,
        state: &mut State<N>,
        key: u8,
        operation: Operation,
    ) {
        let (slot, order) = controller.slots.apply(controller.slot.get(state, key), operation);
        controller.slot.set(state, key, slot);
        self.move_rank(controller, state, key, order);
    }

    pub(super) fn move_rank<const N: usize>(
        &self,
        controller: &Controller,
        state: &mut State<N>,
        key: u8,
        order: Order,
    ) {
        let rank = controller.rank;
        if order == Order::Stays || !rank.is_used() {
            return;
        }
        let own = rank.get(state, key);
        let mut last = 0;
        for other in 0..self.keys {
            let mut value = rank.get(state, other);
            if own != 0 && value > own {
                value -= 1;
                rank.set(state, other, value);
            }
            if other != key {
                last = last.max(value);
            }
        }
        rank.set(state, key, if order == Order::Joins { last + 1 } else { 0 });
    }
}
