//! When `lastTransitionTime` moves, as two states of one object show it.

use crate::object::Object;
use crate::profile::Transitions;

/// The family that every pair of samples of one uid agrees with; nothing if they do not, or if no
/// pair tells.
pub(super) fn propose(objects: &[Object<'_>]) -> Option<Transitions> {
    let (mut kept, mut moved) = (false, None);
    for (index, new) in objects.iter().enumerate() {
        let same = |old: &&Object<'_>| !new.uid.is_empty() && old.uid == new.uid;
        let Some(old) = objects[..index].iter().rev().find(same) else { continue };
        for condition in new.conditions() {
            let Some(before) = old.condition(condition.type_) else { continue };
            let (Some(then), Some(now)) = (before.transition(), condition.transition()) else {
                continue;
            };
            if before.status != condition.status {
                continue;
            }
            let state = (before.reason, before.message) != (condition.reason, condition.message);
            let generation = before.observed_generation != condition.observed_generation;
            if now == then {
                kept |= state;
                continue;
            }
            let family = if state {
                Transitions::State
            } else if generation {
                Transitions::Generation
            } else {
                Transitions::Write
            };
            moved = stronger(moved, family);
        }
    }
    match (kept, moved) {
        (true, None) => Some(Transitions::Status),
        (false, moved) => moved,
        // It moved on one change of reason or message, and not on another.
        (true, Some(_)) => None,
    }
}

/// What moves more often explains what moves more seldom.
fn stronger(left: Option<Transitions>, right: Transitions) -> Option<Transitions> {
    let rank = |family| match family {
        Transitions::Status => 0,
        Transitions::State => 1,
        Transitions::Generation => 2,
        Transitions::Write => 3,
    };
    left.into_iter().chain([right]).max_by_key(|family| rank(*family))
}
