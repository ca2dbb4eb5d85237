//! Passes in words.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use plumb_queue::{Flavour, Returned, Runtime};

use super::{
    super::{
        model::{Answer, Given, Model, Op, Source},
        moves::{CANCELED, CONFLICT},
        reader::Span,
        state::State,
    },
    Lane, Words, behind, difference, fields,
};

impl Model {
    pub(super) fn pass_words<const N: usize>(
        &self,
        who: usize,
        key: u8,
        branch: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let controller = &self.controllers[who];
        let name = self.key_name(controller.kind, key);
        let text = match &controller.steps[controller.pc.get(before, key) as usize - 1] {
            Op::Read { kind, source, view, .. } => {
                let object = self.object(*source, before, key, &Given::default());
                let mask = view.map_or(0, |view| view.mask);
                let seen = fields(&self.kinds[*kind], object & mask, mask);
                let what = self.key_name(*kind, key);
                let stale = match source {
                    Source::Cache(informer) => {
                        match self.informers[*informer].behind.get(before, key) {
                            0 => String::new(),
                            count => format!(", {}", behind(count)),
                        }
                    }
                    _ => String::new(),
                };
                return Words::new(
                    Lane::Worker,
                    None,
                    match &*seen {
                        "" => format!("the pass of {name} reads {what}{stale}"),
                        seen => format!("the pass of {name} reads {what}: {seen}{stale}"),
                    },
                );
            }
            Op::Write { name: step, kind, .. } => {
                if branch == CONFLICT {
                    let text = format!("the pass of {name} may not {step}: the object has changed");
                    return Words {
                        lost: true,
                        ..Words::new(Lane::Worker, Some(Lane::Object), text)
                    };
                }
                let place = self.kinds[*kind].whole;
                let (old, new) = (place.get(before, key), place.get(after, key));
                let change = if old == new {
                    "nothing changes".to_owned()
                } else {
                    difference(&self.kinds[*kind], old, new)
                };
                let target = self.key_name(*kind, key);
                let text = format!("the pass of {name} does `{step}`: {target} {change}");
                let lane = if *kind == controller.kind { Lane::Object } else { Lane::Source };
                return Words::new(Lane::Worker, Some(lane), text);
            }
            Op::Set { .. } => {
                let changes = self.all_changes(before, after);
                let changes: Vec<String> = changes.into_iter().map(|(_, text)| text).collect();
                match changes.is_empty() {
                    true => format!("the pass of {name} notes what it knew"),
                    false => format!("the pass of {name} notes: {}", changes.join("; ")),
                }
            }
            Op::Work { name: step, ends, .. } => match ends.get(usize::from(branch)) {
                _ if branch == CANCELED => format!("the pass of {name}: `{step}` is canceled"),
                Some(end) if !end.name.is_empty() => {
                    format!("the pass of {name}: `{step}` ends `{}`", end.name)
                }
                _ => format!("the pass of {name} does `{step}`"),
            },
            Op::Return { outcome } => {
                return self.return_words(who, *outcome, key, before, after);
            }
            Op::Branch { .. } => String::new(),
        };
        Words::new(Lane::Worker, None, text)
    }

    pub(super) fn return_words<const N: usize>(
        &self,
        who: usize,
        outcome: usize,
        key: u8,
        before: &State<N>,
        after: &State<N>,
    ) -> Words {
        let controller = &self.controllers[who];
        let name = self.key_name(controller.kind, key);
        let outcome = &controller.outcomes[outcome];
        let result = match outcome.answer {
            Answer::Fixed(result) => Some(result),
            Answer::Decide(question) => self.answer(question, before, key).ok(),
        };
        let returned = result.map_or(Returned::EMPTY, |result| self.results[result]);
        let info = controller.slots.info(controller.slot.get(after, key));
        let old = controller.slots.info(controller.slot.get(before, key));
        let effect = match (info.entry, info.due) {
            (true, _) if old.entry => "it is queued again, as it was added meanwhile".to_owned(),
            (true, _) => "it is queued again".to_owned(),
            (false, Some(due)) if old.due == Some(due) => {
                format!("the timer of {} that was there stays", Span(due))
            }
            (false, Some(due)) => format!("again after {}", Span(due)),
            (false, None) => "nothing is scheduled".to_owned(),
        };
        let answer = returned_words(&returned, self.runtime());
        let text =
            format!("the pass of {name} ends `{}` and returns {answer}: {effect}", outcome.name);
        let lost = !info.entry && info.due.is_none();
        Words { lost, ..Words::new(Lane::Worker, Some(Lane::Queue), text) }
    }

    pub(super) fn runtime(&self) -> Runtime {
        match self.flavour {
            Flavour::KubeRs => Runtime::KubeRs,
            _ => Runtime::ControllerRuntime,
        }
    }
}

/// A result as the runtime's users write it.
fn returned_words(returned: &Returned, runtime: Runtime) -> String {
    let after = |after: i64| {
        let sign = if after < 0 { "-" } else { "" };
        format!("{sign}{}", Span(after.unsigned_abs()))
    };
    if runtime == Runtime::KubeRs {
        return match returned {
            Returned { error: true, .. } => "an error".to_owned(),
            Returned { after: Some(delay), .. } => format!("Action::requeue({})", after(*delay)),
            Returned { requeue: true, .. } => "Action::requeue(0s)".to_owned(),
            _ => "Action::await_change()".to_owned(),
        };
    }
    match returned {
        Returned { terminal: true, .. } => "a terminal error".to_owned(),
        Returned { error: true, .. } => "an error".to_owned(),
        Returned { after: Some(delay), .. } => format!("{{RequeueAfter: {}}}", after(*delay)),
        Returned { requeue: true, .. } => "{Requeue: true}".to_owned(),
        _ => "{}".to_owned(),
    }
}
