//! Moves and states in words.

mod parts;
mod pass;
mod watch;

use serde::Serialize;

use super::{
    model::{Kind, Model},
    moves::{Edge, Verb},
    reader::Span,
    state::State,
};

/// Who acts, and upon whom; the columns of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// Objects that are not reconciled, and whoever changes them.
    Source,
    /// Caches.
    Watch,
    /// Map functions and predicates.
    Handler,
    /// The work queue.
    Queue,
    /// Passes.
    Worker,
    /// The object that is reconciled.
    Object,
}

impl Lane {
    /// All, from left to right.
    pub const ALL: [Self; 6] =
        [Self::Source, Self::Watch, Self::Handler, Self::Queue, Self::Worker, Self::Object];

    /// The heading of the column.
    pub fn word(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Watch => "watch",
            Self::Handler => "handler",
            Self::Queue => "queue",
            Self::Worker => "worker",
            Self::Object => "object",
        }
    }
}

/// One step of a trace, and the state after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceStep {
    /// From 1.
    pub step: usize,
    /// Who acts.
    pub lane: Lane,
    /// Upon whom, if somebody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Lane>,
    /// Whether what was sent got lost on the way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// What happens, as one sentence without a final stop.
    pub text: String,
    /// The state after it: what, and how it is.
    pub state: Vec<Part>,
}

/// One part of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// What.
    pub name: String,
    /// How it is.
    pub value: String,
}

struct Words {
    lane: Lane,
    to: Option<Lane>,
    lost: bool,
    text: String,
}

impl Words {
    fn new(lane: Lane, to: Option<Lane>, text: String) -> Self {
        Self { lane, to, lost: false, text }
    }
}
impl Model {
    /// Tells one move.
    pub(super) fn describe<const N: usize>(
        &self,
        step: usize,
        before: &State<N>,
        edge: &Edge,
        after: &State<N>,
    ) -> TraceStep {
        let words = self.words_of(before, edge, after);
        TraceStep {
            step,
            lane: words.lane,
            to: words.to,
            lost: words.lost,
            text: words.text,
            state: self.parts(after),
        }
    }

    fn words_of<const N: usize>(&self, before: &State<N>, edge: &Edge, after: &State<N>) -> Words {
        let step = edge.step;
        let (who, key) = (usize::from(step.who), step.key);
        match step.verb {
            Verb::World => self.world_words(who, before, after),
            Verb::Deliver | Verb::Handle | Verb::List => {
                self.event_words(&self.informers[who], step.verb, key, before, after)
            }
            Verb::MapOld | Verb::MapNew => {
                self.map_words(&self.informers[who], step.verb, key, before, after)
            }
            Verb::AddOld | Verb::AddNew => {
                self.add_words(&self.informers[who], step.verb, key, before, after)
            }
            Verb::Fire => {
                let controller = &self.controllers[who];
                let timer = edge.timer.unwrap_or(0);
                let name = self.key_name(controller.kind, key);
                let effect = self.queue_effect(who, key, before, after);
                Words::new(
                    Lane::Queue,
                    None,
                    format!("the timer of {} fires: {name} {effect}", Span(timer)),
                )
            }
            Verb::Get => {
                let name = self.key_name(self.controllers[who].kind, key);
                Words::new(Lane::Queue, Some(Lane::Worker), format!("a worker takes {name}"))
            }
            Verb::Pass => self.pass_words(who, key, step.branch, before, after),
        }
    }

    /// The name of an object, with its key's number if there are several.
    pub(super) fn key_name(&self, kind: usize, key: u8) -> String {
        let kind = &self.kinds[kind];
        if kind.per_key && self.keys > 1 {
            format!("{}-{}", kind.name, key + 1)
        } else {
            kind.name.clone()
        }
    }

    fn world_words<const N: usize>(
        &self,
        who: usize,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let world = &self.world[who];
        let changes = self.all_changes(before, after);
        let reconciled = |kind: &usize| self.controllers.iter().any(|c| c.kind == *kind);
        let to = changes.iter().any(|(kind, _)| reconciled(kind)).then_some(Lane::Object);
        let text = if changes.is_empty() {
            world.name.clone()
        } else {
            let changes: Vec<String> = changes.into_iter().map(|(_, text)| text).collect();
            format!("{}: {}", world.name, changes.join("; "))
        };
        Words::new(Lane::Source, to, text)
    }

    /// Every object that differs, with what differs.
    fn all_changes<const N: usize>(
        &self,
        before: &State<N>,
        after: &State<N>,
    ) -> Vec<(usize, String)> {
        let mut changes = vec![];
        for (index, kind) in self.kinds.iter().enumerate() {
            for key in 0..self.instances(kind.per_key) {
                let (old, new) = (kind.whole.get(before, key), kind.whole.get(after, key));
                if old != new {
                    let name = self.key_name(index, key);
                    changes.push((index, format!("{name} {}", difference(kind, old, new))));
                }
            }
        }
        changes
    }
}

fn behind(count: u64) -> String {
    format!("{count} write{} behind", if count == 1 { "" } else { "s" })
}

/// The fields under `mask` as `revision 2, ready false`.
fn fields(kind: &Kind, whole: u64, mask: u64) -> String {
    let shown = kind.fields.iter().filter(|field| field.bits() & mask != 0);
    let words = shown.map(|field| format!("{} {}", field.name, field.word(field.get(whole))));
    words.collect::<Vec<_>>().join(", ")
}

fn difference(kind: &Kind, old: u64, new: u64) -> String {
    let changed = kind.fields.iter().filter(|field| field.get(old) != field.get(new));
    let words = changed.map(|field| {
        format!("{} {} → {}", field.name, field.word(field.get(old)), field.word(field.get(new)))
    });
    words.collect::<Vec<_>>().join(", ")
}
