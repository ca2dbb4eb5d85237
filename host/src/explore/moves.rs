//! What can happen next in a state.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use plumb_queue::Millis;

use super::{
    model::{
        Answer, Assign, AssignedValue, Controller, Given, Handler, Informer, Model, Op, Source,
        World, WorldAct, listing, phase,
    },
    scenario::{Cancels, Cause},
    slots::{Hand, Operation, Order},
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

enum Written {
    /// A cache would be further behind than the scenario allows.
    Blocked,
    Unchanged,
    Changed {
        torn: bool,
    },
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
            world.within.filter(|_| !is_over)
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

    fn fire<const N: usize>(
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

    fn informer_moves<const N: usize>(
        &self,
        index: usize,
        informer: &Informer,
        state: &State<N>,
        key: u8,
        emit: &mut impl FnMut(Edge, State<N>),
    ) {
        let mut plain = |verb, key, next| emit(Edge::plain(verb, index, key), next);
        let list = informer.listing.get(state, key);
        if list == listing::NOTHING
            && informer.behind.is_set(state, key)
            && let Some(next) = self.deliver(informer, state, key)
        {
            plain(Verb::Deliver, key, next);
        }
        if !informer.wakes {
            return;
        }
        if list != listing::NOTHING
            && !informer.ahead.is_set(state, key)
            && self.is_idle(informer, state)
        {
            plain(Verb::List, key, self.deliver_list(informer, state, key, list));
        }
        if informer.ahead.is_set(state, key) && self.is_idle(informer, state) {
            let mut next = *state;
            let (old, new) = self.shift(informer, &mut next, key);
            let ahead = informer.ahead.get(state, key) - 1;
            informer.ahead.set(&mut next, key, ahead);
            self.begin_event(informer, &mut next, key, old, new, false);
            plain(Verb::Handle, key, next);
        }
        let Some(handler) = &informer.handler else { return };
        match handler.phase.get(state, key) {
            phase::MAP_OLD => {
                plain(Verb::MapOld, key, self.map(informer, handler, state, key, true));
            }
            phase::MAP_NEW => {
                plain(Verb::MapNew, key, self.map(informer, handler, state, key, false));
            }
            adding @ (phase::ADD_OLD | phase::ADD_NEW) => {
                let is_old = adding == phase::ADD_OLD;
                let verb = if is_old { Verb::AddOld } else { Verb::AddNew };
                for target in self.targets(informer, key) {
                    if handler.mapped.is_set(state, target) {
                        let next = self.add_mapped(informer, handler, state, key, target, is_old);
                        plain(verb, target, next);
                    }
                }
            }
            _ => {}
        }
    }

    /// One goroutine runs a handler for all keys.
    fn is_idle<const N: usize>(&self, informer: &Informer, state: &State<N>) -> bool {
        let Some(handler) = &informer.handler else { return true };
        let per_key = self.kinds[informer.kind].per_key;
        (0..self.instances(per_key)).all(|key| !handler.phase.is_set(state, key))
    }

    /// The keys that an event about `key` may concern.
    pub(super) fn targets(&self, informer: &Informer, key: u8) -> std::ops::Range<u8> {
        let controller = &self.controllers[informer.controller];
        if controller.per_key && !self.kinds[informer.kind].per_key {
            0..self.keys
        } else {
            key..key + 1
        }
    }

    /// Takes the oldest change out of the history: what was before it, and after it.
    pub(super) fn shift<const N: usize>(
        &self,
        informer: &Informer,
        state: &mut State<N>,
        key: u8,
    ) -> (u64, u64) {
        let count = informer.behind.get(state, key) + informer.ahead.get(state, key);
        let old = informer.history[0].get(state, key);
        for at in 1..count as usize {
            let value = informer.history[at].get(state, key);
            informer.history[at - 1].set(state, key, value);
        }
        informer.history[count as usize - 1].set(state, key, 0);
        let new = if count > 1 {
            informer.history[0].get(state, key)
        } else {
            self.kinds[informer.kind].whole.get(state, key)
        };
        (old, new)
    }

    fn deliver<const N: usize>(
        &self,
        informer: &Informer,
        state: &State<N>,
        key: u8,
    ) -> Option<State<N>> {
        let mut next = *state;
        let behind = informer.behind.get(state, key);
        if informer.wakes && informer.backlog > 0 {
            let ahead = informer.ahead.get(state, key);
            if ahead == u64::from(informer.backlog) {
                return None;
            }
            informer.behind.set(&mut next, key, behind - 1);
            informer.ahead.set(&mut next, key, ahead + 1);
            return Some(next);
        }
        if informer.wakes && !self.is_idle(informer, state) {
            return None;
        }
        let (old, new) = self.shift(informer, &mut next, key);
        informer.behind.set(&mut next, key, behind - 1);
        if informer.wakes {
            self.begin_event(informer, &mut next, key, old, new, false);
        }
        Some(next)
    }

    fn deliver_list<const N: usize>(
        &self,
        informer: &Informer,
        state: &State<N>,
        key: u8,
        list: u64,
    ) -> State<N> {
        let mut next = *state;
        informer.listing.set(&mut next, key, listing::NOTHING);
        let object = self.cached(informer, state, key);
        if list == listing::RESYNC {
            self.begin_event(informer, &mut next, key, object, object, true);
            return next;
        }
        let given = Given { event: object, old: object, new: object };
        if self.holds(&informer.creates, state, key, &given) {
            self.wake(informer, &mut next, key, None, object, true);
        }
        next
    }

    /// An update passes the predicate and reaches the handler.
    fn begin_event<const N: usize>(
        &self,
        informer: &Informer,
        state: &mut State<N>,
        key: u8,
        old: u64,
        new: u64,
        low: bool,
    ) {
        let given = Given { event: new, old, new };
        let passes = informer.passes.as_ref();
        if passes.is_none_or(|passes| self.holds(passes, state, key, &given)) {
            self.wake(informer, state, key, Some(old), new, low);
        }
    }

    /// The handler is called; without a map function it adds the event's key.
    fn wake<const N: usize>(
        &self,
        informer: &Informer,
        state: &mut State<N>,
        key: u8,
        old: Option<u64>,
        new: u64,
        low: bool,
    ) {
        let Some(handler) = &informer.handler else {
            return self.add(informer, state, key, low);
        };
        let begin = match old {
            Some(old) if handler.maps_old => {
                handler.old.set(state, key, old);
                phase::MAP_OLD
            }
            _ if handler.maps_new => phase::MAP_NEW,
            _ => return,
        };
        handler.phase.set(state, key, begin);
        if low {
            handler.low.set(state, key, 1);
        }
        if handler.maps_new
            && let Some(view) = &handler.new
        {
            view.set(state, key, new);
        }
    }

    fn add<const N: usize>(&self, informer: &Informer, state: &mut State<N>, key: u8, low: bool) {
        let controller = &self.controllers[informer.controller];
        if informer.cancels == Cancels::WithAdd {
            cancel(controller, state, key);
        }
        let operation = if low { Operation::AddLow } else { Operation::Add };
        self.queue(controller, state, key, operation);
    }

    fn map<const N: usize>(
        &self,
        informer: &Informer,
        handler: &Handler,
        state: &State<N>,
        key: u8,
        is_old: bool,
    ) -> State<N> {
        let mut next = *state;
        let event = match (is_old, &handler.new) {
            (true, _) => handler.old.get(state, key),
            (false, Some(view)) => view.get(state, key),
            (false, None) => self.cached(informer, state, key),
        };
        let given = Given { event, ..Given::default() };
        let controller = &self.controllers[informer.controller];
        let mut any = false;
        for target in self.targets(informer, key) {
            let filter = handler.filter.as_ref();
            if filter.is_some_and(|filter| !self.holds(filter, state, target, &given)) {
                continue;
            }
            any = true;
            handler.mapped.set(&mut next, target, 1);
            if informer.cancels == Cancels::InMap {
                cancel(controller, &mut next, target);
            }
        }
        if is_old {
            handler.old.set(&mut next, key, 0);
        }
        match (any, is_old) {
            (true, true) => handler.phase.set(&mut next, key, phase::ADD_OLD),
            (true, false) => handler.phase.set(&mut next, key, phase::ADD_NEW),
            (false, _) => self.end_map(informer, handler, &mut next, key, is_old),
        }
        next
    }

    fn add_mapped<const N: usize>(
        &self,
        informer: &Informer,
        handler: &Handler,
        state: &State<N>,
        key: u8,
        target: u8,
        is_old: bool,
    ) -> State<N> {
        let mut next = *state;
        handler.mapped.set(&mut next, target, 0);
        if !handler.seen.is_set(state, target) {
            let low = handler.low.is_set(state, key);
            self.add(informer, &mut next, target, low);
            if handler.dedupe {
                handler.seen.set(&mut next, target, 1);
            }
        }
        if self.targets(informer, key).all(|target| !handler.mapped.is_set(&next, target)) {
            self.end_map(informer, handler, &mut next, key, is_old);
        }
        next
    }

    /// After the old object the new one; after that the event is done.
    fn end_map<const N: usize>(
        &self,
        informer: &Informer,
        handler: &Handler,
        state: &mut State<N>,
        key: u8,
        is_old: bool,
    ) {
        if is_old && handler.maps_new {
            return handler.phase.set(state, key, phase::MAP_NEW);
        }
        handler.phase.set(state, key, phase::IDLE);
        handler.low.set(state, key, 0);
        if let Some(view) = &handler.new {
            view.set(state, key, 0);
        }
        for target in self.targets(informer, key) {
            handler.seen.set(state, target, 0);
        }
    }

    fn queue_moves<const N: usize>(
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

    /// Changes a key's place in its queue.
    fn queue<const N: usize>(
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

    fn move_rank<const N: usize>(
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

    /// The pass goes on at the first step that is not a branch, and lets go of what it no longer
    /// needs.
    fn go_to<const N: usize>(
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

    fn pass_moves<const N: usize>(
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
                let is_possible = |end: &&super::model::WorkEnd| {
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
                let owed = self.is_owed(state, key);
                self.queue(controller, &mut next, key, Operation::Return { result, owed });
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
    pub(super) fn question_values<const N: usize>(
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
    pub(super) fn answer<const N: usize>(
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

    fn is_torn(&self, kind: usize, object: u64) -> bool {
        let given = Given { event: object, ..Given::default() };
        let coherent = self.kinds[kind].coherent.as_ref();
        coherent.is_some_and(|coherent| !self.holds::<1>(coherent, &[0], 0, &given))
    }

    fn doubled<const N: usize>(
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
    fn assigned<const N: usize>(
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
    fn write<const N: usize>(
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

    fn world_move<const N: usize>(
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
    fn act<const N: usize>(&self, act: &WorldAct, state: &mut State<N>, key: u8) -> Option<bool> {
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
    fn restart<const N: usize>(&self, index: usize, state: &mut State<N>) {
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
                memory.whole.set(state, key, memory.initial);
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

/// The pass of this key learns that it is canceled, if it will ever look.
fn cancel<const N: usize>(controller: &Controller, state: &mut State<N>, key: u8) {
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

impl Edge {
    fn plain(verb: Verb, who: usize, key: u8) -> Self {
        let who = u8::try_from(who).unwrap_or(u8::MAX);
        let step = Move { verb, who, key, branch: 0 };
        Self { step, class: Class::Plain, timer: None, torn: false, doubled: None }
    }
}
