//! Caches take in events, handlers map them and add keys.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use super::{
    super::{
        model::{Given, Handler, Informer, Model, listing, phase},
        scenario::Cancels,
        slots::Operation,
        state::State,
    },
    Edge, Verb,
    pass::cancel,
};

impl Model {
    pub(super) fn informer_moves<const N: usize>(
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
    pub(super) fn is_idle<const N: usize>(&self, informer: &Informer, state: &State<N>) -> bool {
        let Some(handler) = &informer.handler else { return true };
        let per_key = self.kinds[informer.kind].per_key;
        (0..self.instances(per_key)).all(|key| !handler.phase.is_set(state, key))
    }

    /// The keys that an event about `key` may concern.
    pub(in super::super) fn targets(&self, informer: &Informer, key: u8) -> std::ops::Range<u8> {
        let controller = &self.controllers[informer.controller];
        if controller.per_key && !self.kinds[informer.kind].per_key {
            0..self.keys
        } else {
            key..key + 1
        }
    }

    /// Takes the oldest change out of the history: what was before it, and after it.
    pub(in super::super) fn shift<const N: usize>(
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

    pub(super) fn deliver<const N: usize>(
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

    pub(super) fn deliver_list<const N: usize>(
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
    pub(super) fn begin_event<const N: usize>(
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
    pub(super) fn wake<const N: usize>(
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

    pub(super) fn add<const N: usize>(
        &self,
        informer: &Informer,
        state: &mut State<N>,
        key: u8,
        low: bool,
    ) {
        let controller = &self.controllers[informer.controller];
        if informer.cancels == Cancels::WithAdd {
            cancel(controller, state, key);
        }
        let operation = if low { Operation::AddLow } else { Operation::Add };
        self.queue(controller, state, key, operation);
    }

    pub(super) fn map<const N: usize>(
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

    pub(super) fn add_mapped<const N: usize>(
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
    pub(super) fn end_map<const N: usize>(
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
}
