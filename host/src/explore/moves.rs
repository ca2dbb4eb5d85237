//! What can happen next in a state.

mod pass;
mod queue;
mod watch;
mod world;

use plumb_queue::Millis;

use super::{
    model::{Given, Model},
    scenario::Cause,
    slots::Order,
    state::State,
};

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub(super) verb: Verb,
    /// The world step, the informer or the controller, by `verb`.
    pub(super) who: u8,
    pub(super) key: u8,
    /// Which end of a step; [`CANCELED`] if the pass was canceled, [`CONFLICT`] if a write was
    /// refused.
    pub(super) branch: u8,
}

pub(super) const CANCELED: u8 = 255;
pub(super) const CONFLICT: u8 = 254;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Verb {
    /// A step of the world.
    World,
    /// A cache takes in an event; without a backlog its handler begins at once.
    Deliver,
    /// A handler begins the oldest event of its backlog.
    Handle,
    /// An initial list or a resync is delivered.
    List,
    MapOld,
    AddOld,
    MapNew,
    AddNew,
    /// A timer of the queue fires.
    Fire,
    /// A worker takes a key.
    Get,
    /// A pass takes its next step.
    Pass,
}

/// How a move counts when cycles are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It happens by itself, soon.
    Plain,
    /// The world chooses among several ends; each is chosen again and again.
    Choice,
    /// It happens by itself, after a while.
    Long,
    /// It may never happen.
    Environment,
}

/// A move and what is to be said about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) step: Move,
    pub(super) class: Class,
    /// It waits for a timer of this length.
    pub(super) timer: Option<Millis>,
    /// Somebody reads an object of which the parts disagree.
    pub(super) torn: bool,
    /// A pass does what is done already; what queued it.
    pub(super) doubled: Option<Cause>,
}

/// The component has not been asked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unanswered {
    pub(super) question: usize,
    pub(super) values: Vec<u8>,
}

impl Model {
    /// The state in which the scenario begins.
    pub(super) fn initial<const N: usize>(&self) -> State<N> {
        let mut state = [0; N];
        for kind in &self.kinds {
            for key in 0..self.instances(kind.per_key) {
                kind.whole.set(&mut state, key, kind.initial);
            }
        }
        for controller in &self.controllers {
            let (slot, is_in_line) = controller.slots.start();
            for key in 0..self.instances(controller.per_key) {
                controller.slot.set(&mut state, key, slot);
                if is_in_line {
                    self.move_rank(controller, &mut state, key, Order::Joins);
                }
            }
        }
        for world in &self.world {
            if let (Some(left), Some(times)) = (world.left, world.times) {
                left.set(&mut state, 0, u64::from(times));
            }
        }
        state
    }

    /// Calls `emit` with everything that can happen in `state`.
    ///
    /// # Errors
    /// A pass returns, and the component has not been asked what to return.
    pub(super) fn moves<const N: usize>(
        &self,
        state: &State<N>,
        emit: &mut impl FnMut(Edge, State<N>),
    ) -> Result<(), Unanswered> {
        self.soon(state, emit)?;
        if !self.long_timers_wait {
            self.timers(state, emit);
        }
        Ok(())
    }

    /// The longest time until a timer wakes this key, or may help it in another way; `None` if
    /// none is set.
    pub(super) fn sleep<const N: usize>(&self, state: &State<N>, key: u8) -> Option<Millis> {
        let slots = self.controllers.iter().filter_map(|controller| {
            let info = controller.slots.info(controller.slot.get(state, key));
            info.due
        });
        let world = self.world.iter().filter_map(|world| {
            let is_over = world.left.is_some_and(|left| !left.is_set(state, 0));
            let when = world.actions[0].0.as_ref();
            let is_due = when.is_none_or(|when| self.holds(when, state, key, &Given::default()));
            world.within.filter(|_| is_due && !is_over)
        });
        slots.chain(world).min()
    }

    pub(super) fn is_any_timer_set<const N: usize>(&self, state: &State<N>) -> bool {
        (0..self.keys).any(|key| self.sleep(state, key).is_some())
    }

    /// Everything but what waits for a long timer.
    fn soon<const N: usize>(
        &self,
        state: &State<N>,
        emit: &mut impl FnMut(Edge, State<N>),
    ) -> Result<(), Unanswered> {
        for (index, informer) in self.informers.iter().enumerate() {
            let per_key = self.kinds[informer.kind].per_key;
            for key in 0..self.instances(per_key) {
                self.informer_moves(index, informer, state, key, emit);
            }
        }
        for (index, controller) in self.controllers.iter().enumerate() {
            self.queue_moves(index, controller, state, emit);
            for key in 0..self.instances(controller.per_key) {
                if controller.pc.is_set(state, key) {
                    self.pass_moves(index, controller, state, key, emit)?;
                }
            }
        }
        for (index, world) in self.world.iter().enumerate() {
            for key in 0..self.instances(world.per_key) {
                self.world_move(index, world, state, key, false, emit);
            }
        }
        Ok(())
    }

    /// What waits for a long timer.
    fn timers<const N: usize>(&self, state: &State<N>, emit: &mut impl FnMut(Edge, State<N>)) {
        for (index, controller) in self.controllers.iter().enumerate() {
            for key in 0..self.instances(controller.per_key) {
                let info = controller.slots.info(controller.slot.get(state, key));
                if let Some(due) = info.due.filter(|due| *due > self.hot) {
                    self.fire(index, controller, state, key, due, emit);
                }
            }
        }
        for (index, world) in self.world.iter().enumerate() {
            for key in 0..self.instances(world.per_key) {
                self.world_move(index, world, state, key, true, emit);
            }
        }
    }
}

impl Edge {
    fn plain(verb: Verb, who: usize, key: u8) -> Self {
        let who = u8::try_from(who).unwrap_or(u8::MAX);
        let step = Move { verb, who, key, branch: 0 };
        Self { step, class: Class::Plain, timer: None, torn: false, doubled: None }
    }
}
