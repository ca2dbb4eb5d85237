//! What came of a pass, by the object alone.

use crate::object::Condition;
use crate::pass::OutcomeType;
use crate::phase;
use crate::polarity;
use crate::profile::{PhaseName, Text, test};
use crate::rule::View;

/// What came of the pass that left the object as it is; nothing if it does not tell.
pub(crate) fn read(view: &View<'_>) -> Option<OutcomeType> {
    let (object, profile) = (view.object, view.profile);
    if object.deleting {
        let finalizers = object.root.at("metadata").at("finalizers");
        return Some(if finalizers.is_empty() {
            OutcomeType::Deleted
        } else {
            OutcomeType::Deleting
        });
    }
    if test::any(&profile.suspended, object) {
        return Some(OutcomeType::Suspended);
    }
    if is_stalled(view) {
        return Some(OutcomeType::Terminal);
    }
    let summary = object.condition(profile.happy.first()?)?;
    let among = |list: &[Text<'_>]| list.iter().any(|reason| **reason == *summary.reason);
    let reasons = &profile.reasons;
    if summary.is_true() {
        let works = profile.progress.iter().any(|type_| is_true(view, type_));
        let done = !works && phase::behind(object, profile).is_none();
        return done.then_some(OutcomeType::Succeeded);
    }
    if among(&reasons.canceled) {
        return Some(OutcomeType::Canceled);
    }
    if among(&reasons.waiting) || reasons.waits_by_message(summary.message) {
        return Some(OutcomeType::Waiting);
    }
    if among(&reasons.terminal) {
        return Some(OutcomeType::Terminal);
    }
    if !summary.is_false() || among(&reasons.progressing) {
        return None;
    }
    let fails = among(&reasons.failed)
        || match view.profiled {
            true => profile.unready.is_none_or(|unready| unready == PhaseName::Failed),
            false => polarity::tells_failure(summary.reason),
        };
    fails.then_some(OutcomeType::Failed)
}

/// Whether the object says that only a new spec can help.
pub(crate) fn is_stalled(view: &View<'_>) -> bool {
    view.profile.stalled.iter().any(|type_| is_true(view, type_))
}

fn is_true(view: &View<'_>, type_: &str) -> bool {
    view.object.condition(type_).is_some_and(Condition::is_true)
}
