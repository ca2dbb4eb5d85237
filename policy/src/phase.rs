//! Is it truly ready? One phase, and one sentence why.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::finding::Phase;
use crate::generation::{self, Observed};
use crate::object::{Condition, Object, Status};
use crate::polarity::{self, Polarity};
use crate::profile::{PhaseName, PhaseRule, Profile, Text, test};
use crate::rule::View;

/// A phase and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The phase.
    pub phase: Phase,
    /// One sentence without a final stop.
    pub reason: String,
}

fn is(phase: Phase, reason: impl Into<String>) -> Judgement {
    Judgement { phase, reason: reason.into() }
}

/// The phase of an object by its own words; the verdict may still find them incoherent.
///
/// The order: deletion, suspension, the profile's own rules, the generation, stalled and abnormal
/// conditions, work under way, the happy conditions. What is left is unknown.
pub fn judge(view: &View<'_>) -> Judgement {
    let (object, profile) = (view.object, view.profile);
    if object.deleting {
        return is(Phase::Terminating, "metadata.deletionTimestamp is set");
    }
    if test::any(&profile.suspended, object) {
        return is(Phase::Suspended, "the object is suspended, its status describes the past");
    }
    let behind = behind(object, profile);
    let counts = |rule: &&PhaseRule<'_>| {
        match rule.is {
            // What the status says of an older generation is neither success nor failure now.
            PhaseName::Settled | PhaseName::Unknown => behind.is_none(),
            PhaseName::Failed => behind.is_none() || profile.generation.at_rest,
            PhaseName::Progressing | PhaseName::Suspended | PhaseName::Terminating => true,
        }
    };
    for rule in profile.phases.iter().filter(counts) {
        // Without a status only what the spec says can be enough.
        if matches!(rule.is, PhaseName::Settled | PhaseName::Failed)
            && object.status().is_empty()
            && !profile.statusless
            && (rule.when.is_empty() || rule.when.iter().any(test::speaks_of_status))
        {
            continue;
        }
        if test::all(&rule.when, object) {
            return is(name(rule.is), because(rule, object));
        }
    }
    if profile.statusless {
        return is(Phase::Settled, "the kind has no status, it is there once it exists");
    }
    if object.status().is_empty() {
        return match view.profiled {
            true => is(Phase::Progressing, "the controller has not written a status so far"),
            false => is(Phase::Unknown, "there is no status"),
        };
    }
    conditions(view, behind)
}

fn conditions(view: &View<'_>, behind: Option<String>) -> Judgement {
    let (object, profile) = (view.object, view.profile);
    let summary = profile.happy.first().and_then(|type_| object.condition(type_));
    // A failure that speaks of the current generation counts even where the number is behind:
    // some kinds move the number only once they are ready.
    if let Some(condition) = summary
        && condition.is_false()
        && condition.observed_generation.is_none_or(|number| Some(number) == object.generation)
        && (behind.is_none() || profile.generation.at_rest)
        && let Some(judgement) = unhappy(condition, view)
        && judgement.phase == Phase::Failed
    {
        return judgement;
    }
    if let Some(reason) = behind {
        return is(Phase::Progressing, reason);
    }
    for type_ in &profile.stalled {
        if let Some(condition) = object.condition(type_).filter(|condition| condition.is_true()) {
            return is(Phase::Failed, told(condition));
        }
    }
    for type_ in &profile.progress {
        if let Some(condition) = object.condition(type_).filter(|condition| condition.is_true()) {
            return is(Phase::Progressing, told(condition));
        }
    }
    for type_ in &profile.abnormal {
        if let Some(condition) = object.condition(type_).filter(|condition| condition.is_true()) {
            return is(Phase::Failed, told(condition));
        }
    }
    for type_ in &profile.happy {
        match object.condition(type_) {
            Some(condition) if condition.is_true() => {
                // A reason of another state: the controller contradicts itself.
                let reasons = &profile.reasons;
                for (list, phase) in [
                    (&reasons.failed, Phase::Failed),
                    (&reasons.terminal, Phase::Failed),
                    (&reasons.progressing, Phase::Progressing),
                ] {
                    if list.iter().any(|reason| **reason == *condition.reason) {
                        return is(phase, told(condition));
                    }
                }
            }
            Some(condition) => {
                return unhappy(condition, view)
                    .unwrap_or_else(|| is(Phase::Unknown, told(condition)));
            }
            // What a summary sums up may be missing, the summary itself may not.
            None if (profile.summary || profile.exclusive)
                && summary.is_some_and(Condition::is_true) => {}
            None if view.profiled => {
                return is(Phase::Progressing, format!("there is no condition {type_} so far"));
            }
            None => return is(Phase::Unknown, format!("there is no condition {type_}")),
        }
    }
    let Some(summary) = summary else {
        return is(Phase::Unknown, "nothing in the status is known to say whether it is ready");
    };
    if !view.profiled
        && let Some(doubt) = doubt(summary, view)
    {
        return is(Phase::Unknown, doubt);
    }
    is(Phase::Settled, format!("{} is True", summary.type_))
}

/// Why the happy condition of a kind of which nothing is known cannot be believed.
fn doubt(summary: &Condition<'_>, view: &View<'_>) -> Option<String> {
    let (object, profile) = (view.object, view.profile);
    let known = generation::of_condition(summary, object, profile);
    // The first generation needs no number: there is no older one to speak of.
    if known.is_none() && object.generation.is_some_and(|generation| generation > 1) {
        return Some(format!("{} is True, but of no known generation", summary.type_));
    }
    let against = object.conditions().iter().find(|condition| {
        match (polarity::by_name(condition.type_), condition.status) {
            (Polarity::Abnormal | Polarity::Progress, Status::True)
            | (Polarity::Normal, Status::False | Status::Unknown) => true,
            (Polarity::Abnormal | Polarity::Progress | Polarity::Normal | Polarity::Unknown, _) => {
                false
            }
        }
    })?;
    Some(format!("{} is True, but {}", summary.type_, told(against)))
}

/// What a happy condition that is not True means.
fn unhappy(condition: &Condition<'_>, view: &View<'_>) -> Option<Judgement> {
    let reasons = &view.profile.reasons;
    let among = |list: &[Text<'_>]| list.iter().any(|reason| **reason == *condition.reason);
    let phase = match condition.status {
        Status::False => {
            let under_way = [&reasons.progressing, &reasons.waiting, &reasons.canceled];
            if among(&reasons.failed) || among(&reasons.terminal) {
                Phase::Failed
            } else if under_way.into_iter().any(|list| among(list))
                || reasons.waits_by_message(condition.message)
            {
                Phase::Progressing
            } else if view.profiled {
                name(view.profile.unready.unwrap_or(PhaseName::Failed))
            } else if polarity::tells_failure(condition.reason) {
                Phase::Failed
            } else {
                Phase::Progressing
            }
        }
        Status::Unknown if among(&reasons.failed) => Phase::Failed,
        Status::Unknown => Phase::Progressing,
        Status::True | Status::Other(_) | Status::Missing => return None,
    };
    Some(is(phase, told(condition)))
}

/// Why the status does not speak of the current generation, if so.
pub fn behind(object: &Object<'_>, profile: &Profile<'_>) -> Option<String> {
    let is_static = |rule: &PhaseRule<'_>| rule.any_generation && test::all(&rule.when, object);
    if profile.phases.iter().any(is_static) {
        return None;
    }
    let generation = object.generation?;
    match generation::observed(object, profile) {
        Observed::Number(number) if number < generation => {
            return Some(format!("the status is of generation {number}, the spec of {generation}"));
        }
        Observed::Unset => {
            return Some("the controller has not observed any generation to the end so far".into());
        }
        Observed::Number(_) | Observed::Absent => {}
    }
    if !profile.generation.conditions {
        return None;
    }
    let summary = profile.happy.first().and_then(|type_| object.condition(type_))?;
    let number = summary.observed_generation.filter(|number| *number > 0)?;
    (number < generation)
        .then(|| format!("{} is of generation {number}, the spec of {generation}", summary.type_))
}

fn told(condition: &Condition<'_>) -> String {
    let (type_, status, reason) = (condition.type_, condition.status.text(), condition.reason);
    if reason.is_empty() {
        format!("{type_} is {status}")
    } else {
        format!("{type_} is {status} with reason {reason}")
    }
}

fn name(name: PhaseName) -> Phase {
    match name {
        PhaseName::Settled => Phase::Settled,
        PhaseName::Progressing => Phase::Progressing,
        PhaseName::Failed => Phase::Failed,
        PhaseName::Suspended => Phase::Suspended,
        PhaseName::Terminating => Phase::Terminating,
        PhaseName::Unknown => Phase::Unknown,
    }
}

fn because(rule: &PhaseRule<'_>, object: &Object<'_>) -> String {
    if !rule.because.is_empty() {
        return rule.because.to_string();
    }
    let told: Vec<String> =
        rule.when.iter().filter_map(|test| test::told(test, object)).take(2).collect();
    if told.is_empty() {
        format!("the kind's own fields say {:?}", rule.is).to_lowercase()
    } else {
        told.join(" and ")
    }
}
