//! A state in words.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use super::{
    super::{
        model::{Controller, Given, Model, Op},
        reader::Span,
        state::State,
    },
    Part, behind, fields,
};

impl Model {
    /// The whole state.
    pub(in super::super) fn parts<const N: usize>(&self, state: &State<N>) -> Vec<Part> {
        let mut parts = vec![];
        let mut push = |name: String, value: String| parts.push(Part { name, value });
        for (index, kind) in self.kinds.iter().enumerate() {
            if kind.fields.is_empty() {
                continue;
            }
            for key in 0..self.instances(kind.per_key) {
                let whole = kind.whole.get(state, key);
                push(self.key_name(index, key), fields(kind, whole, u64::MAX));
            }
        }
        for informer in &self.informers {
            let kind = &self.kinds[informer.kind];
            for key in 0..self.instances(kind.per_key) {
                let count = informer.behind.get(state, key);
                if count == 0 {
                    continue;
                }
                let mask = informer.history[0].mask;
                let seen = fields(kind, self.cached(informer, state, key) & mask, mask);
                let name = if informer.name == kind.name {
                    format!("cache of {}", self.key_name(informer.kind, key))
                } else {
                    format!("cache {} of {}", informer.name, self.key_name(informer.kind, key))
                };
                push(
                    name,
                    if seen.is_empty() {
                        behind(count)
                    } else {
                        format!("{seen}, {}", behind(count))
                    },
                );
            }
        }
        for controller in &self.controllers {
            for key in 0..self.instances(controller.per_key) {
                let name = match self.controllers.len() {
                    1 if self.keys == 1 => String::new(),
                    1 => format!(" of {}", self.key_name(controller.kind, key)),
                    _ if self.keys == 1 => format!(" of {}", controller.name),
                    _ => format!(
                        " of {} for {}",
                        controller.name,
                        self.key_name(controller.kind, key)
                    ),
                };
                push(format!("queue{name}"), queue_words(controller, state, key));
                let pc = controller.pc.get(state, key);
                if pc != 0 {
                    let at = match &controller.steps[pc as usize - 1] {
                        Op::Read { kind, .. } => {
                            format!("before reading {}", self.kinds[*kind].name)
                        }
                        Op::Write { name, .. } | Op::Work { name, .. } => {
                            format!("before `{name}`")
                        }
                        Op::Set { .. } => "before noting".to_owned(),
                        Op::Return { outcome } => {
                            format!("before returning `{}`", controller.outcomes[*outcome].name)
                        }
                        Op::Branch { .. } => String::new(),
                    };
                    let canceled = controller.canceled.is_set(state, key);
                    let canceled = if canceled { ", canceled" } else { "" };
                    push(format!("pass{name}"), format!("{at}{canceled}"));
                }
            }
        }
        let owed = self.owed_words(state);
        if !owed.is_empty() {
            push("owed".to_owned(), owed);
        }
        parts
    }

    pub(super) fn owed_words<const N: usize>(&self, state: &State<N>) -> String {
        let mut words = vec![];
        for owed in &self.owed {
            let keys = self.instances(owed.per_key);
            let open = |key: &u8| self.holds(&owed.when, state, *key, &Given::default());
            let open: Vec<String> =
                (0..keys).filter(open).map(|key| format!("{}", key + 1)).collect();
            match (open.is_empty(), keys) {
                (true, _) => {}
                (false, 1) => words.push(owed.name.clone()),
                (false, _) => words.push(format!("{} (key {})", owed.name, open.join(", "))),
            }
        }
        words.join("; ")
    }
}

fn queue_words<const N: usize>(controller: &Controller, state: &State<N>, key: u8) -> String {
    let info = controller.slots.info(controller.slot.get(state, key));
    let mut words = vec![];
    if info.processing {
        words.push("running".to_owned());
    }
    if info.entry {
        words.push(if info.processing { "added again" } else { "ready" }.to_owned());
    }
    if let Some(due) = info.due {
        words.push(format!("timer {}", Span(due)));
    }
    if words.is_empty() {
        words.push("nothing".to_owned());
    }
    words.join(", ")
}
