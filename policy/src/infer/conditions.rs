//! Which conditions are good news and which are bad, by their names and by what stands beside them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::owned;
use crate::json::Json;
use crate::object::{Condition, Object};
use crate::polarity::{self, Polarity};
use crate::profile::{Profile, Text};

/// Types that usually sum up the others, the most trusted first.
const SUMMARIES: &[&str] = &[
    "Ready",
    "Succeeded",
    "Complete",
    "Completed",
    "Available",
    "Healthy",
    "Programmed",
    "Accepted",
    "Established",
    "Deployed",
    "Synced",
    "Active",
    "Valid",
];

/// Those that tell of work which ends by itself.
const TERMINAL: &[&str] = &["Succeeded", "Complete", "Completed"];

/// The field paths of the condition lists; empty for the usual place.
pub(super) fn lists(roots: &[Json<'_>]) -> Vec<Text<'static>> {
    let usual = roots.iter().any(|root| !root.at("status").at("conditions").items().is_empty());
    let mut found: Vec<String> = Vec::new();
    for root in roots {
        nested(root.at("status"), "status", &mut found);
    }
    found.sort();
    found.dedup();
    found.retain(|path| path != "status.conditions");
    if found.is_empty() {
        return Vec::new();
    }
    let usual = usual.then(|| "status.conditions".to_string());
    usual.into_iter().chain(found).map(owned).collect()
}

fn nested(json: &Json<'_>, path: &str, found: &mut Vec<String>) {
    for (key, member) in json.members() {
        if key.contains(['.', '[', '\'']) {
            continue;
        }
        let path = format!("{path}.{key}");
        let is_list = !member.items().is_empty()
            && member
                .items()
                .iter()
                .all(|item| item.at("type").str().is_some() && item.get("status").is_some());
        if key == "conditions" && is_list {
            found.push(path);
        } else {
            nested(member, &path, found);
            for item in member.items() {
                nested(item, &format!("{path}[*]"), found);
            }
        }
    }
}

/// Fills in what the conditions show.
pub(super) fn propose(objects: &[Object<'_>], profile: &mut Profile<'static>) {
    let all = || objects.iter().flat_map(|object| &object.lists).flat_map(|list| &list.conditions);
    let mut types: Vec<&str> = all().map(|condition| condition.type_).collect();
    types.sort_unstable();
    types.dedup();
    let Some(summary) = SUMMARIES.iter().copied().find(|name| types.contains(name)) else {
        return;
    };
    profile.happy = alloc::vec![owned(summary)];
    profile.terminal = TERMINAL.contains(&summary);
    let reporting = || objects.iter().filter(|object| !object.conditions().is_empty());
    profile.summary =
        reporting().count() > 1 && reporting().all(|object| object.condition(summary).is_some());
    profile.metav1 = all().all(is_metav1);
    // A name suggests; a sample in which it is True beside the summary speaks against it.
    let beside = |type_: &str| {
        objects.iter().any(|object| {
            let is_true = |type_| object.condition(type_).is_some_and(Condition::is_true);
            is_true(type_) && is_true(summary)
        })
    };
    for type_ in types.into_iter().filter(|type_| *type_ != summary && !beside(type_)) {
        match polarity::by_name(type_) {
            _ if type_ == "Stalled" => profile.stalled.push(owned(type_)),
            Polarity::Abnormal => profile.abnormal.push(owned(type_)),
            Polarity::Progress => profile.progress.push(owned(type_)),
            Polarity::Normal | Polarity::Unknown => {}
        }
    }
}

/// Whether a condition has all that `metav1.Condition` requires, and nothing else.
fn is_metav1(condition: &Condition<'_>) -> bool {
    const KEYS: &[&str] =
        &["type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"];
    condition.json.members().iter().all(|(key, _)| KEYS.contains(&key.as_ref()))
        && !condition.reason.is_empty()
        && condition.json.get("message").is_some()
        && condition.transition().is_some()
}
