//! Caches and handlers in words.

use super::{
    super::{
        model::{Given, Informer, Model, listing, phase},
        moves::Verb,
        reader::Span,
        state::State,
    },
    Lane, Words, fields,
};

impl Model {
    pub(super) fn event_words<const N: usize>(
        &self,
        informer: &Informer,
        verb: Verb,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let name = self.key_name(informer.kind, key);
        let kind = &self.kinds[informer.kind];
        let mask = informer.history.first().map_or(0, |view| view.mask);
        let seen = fields(kind, self.cached(informer, after, key) & mask, mask);
        let seen = if seen.is_empty() { "an update".to_owned() } else { seen };
        let cache =
            if informer.name == kind.name { name } else { format!("{name} ({})", informer.name) };
        let begins = match verb {
            Verb::Deliver => format!("the cache of {cache} sees {seen}"),
            Verb::Handle => format!("the handler of {cache} takes the next event"),
            _ => match informer.listing.get(before, key) {
                listing::CREATES => format!("the first list brings {cache} with {seen}"),
                _ => format!("a resync brings {cache} again, unchanged"),
            },
        };
        if !informer.wakes || (verb == Verb::Deliver && informer.backlog > 0) {
            return Words::new(Lane::Watch, None, begins);
        }
        let is_started = informer.handler.as_ref().is_some_and(|handler| {
            handler.phase.get(before, key) == phase::IDLE
                && handler.phase.get(after, key) != phase::IDLE
        });
        if is_started {
            return Words::new(
                Lane::Watch,
                Some(Lane::Handler),
                format!("{begins}; its handler starts"),
            );
        }
        let who = informer.controller;
        let controller = &self.controllers[who];
        let (old, new) = (controller.slot.get(before, key), controller.slot.get(after, key));
        let target = self.key_name(controller.kind, key);
        if informer.handler.is_none() && self.was_added(informer, verb, key, before) {
            let effect = if old == new {
                "is queued already".to_owned()
            } else {
                self.queue_effect(who, key, before, after)
            };
            let text = format!("{begins}; {target} {effect}");
            return Words::new(Lane::Watch, Some(Lane::Queue), text);
        }
        let text = format!("{begins}; the predicate drops the event");
        Words { lost: true, ..Words::new(Lane::Watch, Some(Lane::Handler), text) }
    }

    /// Whether an event passed the predicate of a watch without a map function.
    pub(in super::super) fn was_added<const N: usize>(
        &self,
        informer: &Informer,
        verb: Verb,
        key: u8,
        before: &State<N>,
    ) -> bool {
        let now = self.cached(informer, before, key);
        let (old, new) = if verb == Verb::List {
            (now, now)
        } else {
            let mut copy = *before;
            self.shift(informer, &mut copy, key)
        };
        let given = Given { event: new, old, new };
        if let (Verb::List, listing::CREATES) = (verb, informer.listing.get(before, key)) {
            self.holds(&informer.creates, before, key, &given)
        } else {
            let passes = informer.passes.as_ref();
            passes.is_none_or(|passes| self.holds(passes, before, key, &given))
        }
    }

    pub(super) fn map_words<const N: usize>(
        &self,
        informer: &Informer,
        verb: Verb,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let Some(handler) = &informer.handler else {
            return Words::new(Lane::Handler, None, String::new());
        };
        let controller = &self.controllers[informer.controller];
        let kind = &self.kinds[informer.kind];
        let (age, event, mask) = match verb {
            Verb::MapOld => ("old", handler.old.get(before, key), handler.old.mask),
            _ => {
                if let Some(view) = &handler.new {
                    ("new", view.get(before, key), view.mask)
                } else {
                    let mask = informer.history.first().map_or(0, |view| view.mask);
                    ("new", self.cached(informer, before, key) & mask, mask)
                }
            }
        };
        let shown = match &*fields(kind, event, mask) {
            "" => String::new(),
            fields => format!(" ({fields})"),
        };
        let object = format!("the {age} {}{shown}", self.key_name(informer.kind, key));
        let mut mapped = vec![];
        let mut canceled = vec![];
        for target in self.targets(informer, key) {
            let name = self.key_name(controller.kind, target);
            if handler.mapped.is_set(after, target) {
                mapped.push(name.clone());
            }
            if !controller.canceled.is_set(before, target)
                && controller.canceled.is_set(after, target)
            {
                canceled.push(name);
            }
        }
        if mapped.is_empty() {
            let text = format!("the handler maps {object}; its filter drops it");
            return Words { lost: true, ..Words::new(Lane::Handler, Some(Lane::Queue), text) };
        }
        let text = format!("the handler maps {object} to {}", mapped.join(", "));
        if canceled.is_empty() {
            return Words::new(Lane::Handler, None, text);
        }
        let text = format!("{text} and cancels the pass of {}", canceled.join(", "));
        Words::new(Lane::Handler, Some(Lane::Worker), text)
    }

    pub(super) fn add_words<const N: usize>(
        &self,
        informer: &Informer,
        verb: Verb,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let controller = &self.controllers[informer.controller];
        let name = self.key_name(controller.kind, key);
        let was_seen = informer.handler.as_ref().is_some_and(|h| h.seen.is_set(before, key));
        if was_seen {
            let which = if verb == Verb::AddNew { "old" } else { "new" };
            let kind = &self.kinds[informer.kind].name;
            let text =
                format!("the add of {name} is skipped: this event added it for the {which} {kind}");
            return Words { lost: true, ..Words::new(Lane::Handler, Some(Lane::Queue), text) };
        }
        let effect = self.queue_effect(informer.controller, key, before, after);
        let mut text = format!("the handler adds {name}: it {effect}");
        if !controller.canceled.is_set(before, key) && controller.canceled.is_set(after, key) {
            text.push_str(", and its pass is canceled");
        }
        Words::new(Lane::Handler, Some(Lane::Queue), text)
    }

    /// What an add or a timer did to a key.
    pub(super) fn queue_effect<const N: usize>(
        &self,
        who: usize,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> String {
        let controller = &self.controllers[who];
        let old = controller.slots.info(controller.slot.get(before, key));
        let new = controller.slots.info(controller.slot.get(after, key));
        let consumed = match (old.due, new.due) {
            (Some(due), None) if new.entry && !old.entry => {
                format!("; its timer of {} is consumed", Span(due))
            }
            _ => String::new(),
        };
        let base = match (old.entry, new.entry) {
            (true, true) => "was queued already",
            (false, true) if new.processing => "will be queued again when its pass is done",
            (false, true) => "is queued",
            _ => "is not queued",
        };
        format!("{base}{consumed}")
    }
}
