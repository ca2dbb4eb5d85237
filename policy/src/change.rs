//! What has changed from one state of an object to the next.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Json, NULL};
use crate::object::{Condition, ConditionList, Object};
use crate::pointer;

/// One condition in two states.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'p, 'a> {
    /// The list in the newer state.
    pub list: &'p ConditionList<'a>,
    /// The condition in the newer state.
    pub new: &'p Condition<'a>,
    /// The list in the older state.
    pub old_list: &'p ConditionList<'a>,
    /// The condition in the older state.
    pub old: &'p Condition<'a>,
}

/// Every condition that stands in both states. Lists are matched by what they belong to (a
/// listener's name, a parent's reference), conditions by type; types that repeat are left out.
pub fn conditions<'p, 'a>(old: &'p Object<'a>, new: &'p Object<'a>) -> Vec<Pair<'p, 'a>> {
    let mut pairs = Vec::new();
    for list in &new.lists {
        let Some(old_list) = counterpart(list, new, old) else { continue };
        for condition in &list.conditions {
            if condition.type_.is_empty() || repeats(list, condition.type_) {
                continue;
            }
            if let Some(former) = old_list.get(condition.type_)
                && !repeats(old_list, condition.type_)
            {
                pairs.push(Pair { list, new: condition, old_list, old: former });
            }
        }
    }
    pairs
}

/// Whether a list has more than one condition of this type.
pub fn repeats(list: &ConditionList<'_>, type_: &str) -> bool {
    list.conditions.iter().filter(|condition| condition.type_ == type_).count() > 1
}

/// The list of `there` that belongs to the same thing as `list` of `here`.
pub fn counterpart<'p, 'a>(
    list: &ConditionList<'_>,
    here: &Object<'_>,
    there: &'p Object<'a>,
) -> Option<&'p ConditionList<'a>> {
    let Some(identity) = identity(list, here) else {
        return there.lists.iter().find(|other| other.pointer == list.pointer);
    };
    let stem = stem(&list.pointer);
    there.lists.iter().find(|other| {
        self::stem(&other.pointer) == stem
            && self::identity(other, there).is_some_and(|other| same(&identity, &other))
    })
}

fn same(left: &[&Json<'_>; 4], right: &[&Json<'_>; 4]) -> bool {
    left.iter().zip(right).all(|(left, right)| left.same(right))
}

/// `/status/parents/0/conditions` as `/status/parents`; nothing for a list that is no list's
/// item.
fn stem(pointer: &str) -> Option<&str> {
    let (item, _) = pointer.rsplit_once('/')?;
    let (stem, index) = item.rsplit_once('/')?;
    index.parse::<usize>().ok().map(|_| stem)
}

/// What tells the list's owner from its neighbours.
fn identity<'p, 'a>(list: &ConditionList<'_>, object: &'p Object<'a>) -> Option<[&'p Json<'a>; 4]> {
    stem(&list.pointer)?;
    let (item, _) = list.pointer.rsplit_once('/')?;
    let item = pointer::resolve(object.root, item)?;
    let identity = ["name", "parentRef", "ancestorRef", "controllerName"].map(|key| item.at(key));
    identity.iter().any(|part| !part.is_empty()).then_some(identity)
}

/// Whether the second state can come after the first: neither the generation nor, where it is a
/// number, the resource version falls. Else the two were given in the wrong order.
pub fn follows(old: &Object<'_>, new: &Object<'_>) -> bool {
    let version = |object: &Object<'_>| object.resource_version.parse::<u128>().ok();
    let generation = match (old.generation, new.generation) {
        (Some(old), Some(new)) => old <= new,
        (Some(_) | None, None) | (None, Some(_)) => true,
    };
    generation
        && match (version(old), version(new)) {
            (Some(old), Some(new)) => old <= new,
            (Some(_) | None, None) | (None, Some(_)) => true,
        }
}

/// Whether nothing outside `metadata` and `status` differs.
pub fn same_spec(old: &Object<'_>, new: &Object<'_>) -> bool {
    let outside = |object: &Object<'_>| {
        object.root.members().iter().filter(|(key, _)| key != "metadata" && key != "status").count()
    };
    outside(old) == outside(new)
        && new
            .root
            .members()
            .iter()
            .filter(|(key, _)| key != "metadata" && key != "status")
            .all(|(key, value)| old.root.get(key).is_some_and(|former| former.same(value)))
}

/// Whether the controller had the same to go by: generation, spec, labels, annotations, deletion.
pub fn same_inputs(old: &Object<'_>, new: &Object<'_>) -> bool {
    old.generation == new.generation
        && old.deleting == new.deleting
        && same_spec(old, new)
        && ["labels", "annotations"].iter().all(|key| {
            let of = |object: &'_ Object<'_>| object.root.at("metadata").at(key).is_empty();
            (of(old) && of(new))
                || old.root.at("metadata").at(key).same(new.root.at("metadata").at(key))
        })
}

/// One place at which two states differ.
#[derive(Debug, Clone)]
pub struct Difference<'r, 'a> {
    /// JSON Pointer in the newer state, or in the older one where the newer has nothing there.
    pub pointer: String,
    /// What was there; null if nothing was.
    pub old: &'r Json<'a>,
    /// What is there; null if nothing is.
    pub new: &'r Json<'a>,
}

impl Difference<'_, '_> {
    /// The last token of the pointer.
    pub fn key(&self) -> &str {
        self.pointer.rsplit('/').next().unwrap_or("")
    }

    /// Whether this is a time at which something was looked at, and says nothing else.
    pub fn is_heartbeat(&self) -> bool {
        matches!(
            self.key(),
            "lastHeartbeatTime" | "lastProbeTime" | "lastUpdateTime" | "lastChecked"
        )
    }
}

/// Every place at which the statuses of two states differ, each as deep as it can be named.
/// Conditions are compared by type, not by place.
pub fn status<'r, 'a>(old: &'r Object<'a>, new: &'r Object<'a>) -> Vec<Difference<'r, 'a>> {
    let mut found = Vec::new();
    let of = |object: &'r Object<'a>| object.root.get("status").unwrap_or(&NULL);
    compare(of(old), of(new), String::from("/status"), &mut found);
    found
}

fn compare<'r, 'a>(
    old: &'r Json<'a>,
    new: &'r Json<'a>,
    at: String,
    found: &mut Vec<Difference<'r, 'a>>,
) {
    match (old, new) {
        (Json::Object(before), Json::Object(after)) => {
            for (key, value) in after {
                let mut place = at.clone();
                pointer::push(&mut place, key);
                compare(old.at(key), value, place, found);
            }
            for (key, value) in before {
                if new.get(key).is_none() {
                    let mut place = at.clone();
                    pointer::push(&mut place, key);
                    compare(value, &NULL, place, found);
                }
            }
        }
        (Json::Array(before), Json::Array(after)) if typed(before) && typed(after) => {
            let of = |items: &'r [Json<'a>], type_: &Json<'_>| {
                items.iter().find(|item| item.at("type").same(type_))
            };
            for (index, item) in after.iter().enumerate() {
                let former = of(before, item.at("type")).unwrap_or(&NULL);
                compare(former, item, format!("{at}/{index}"), found);
            }
            for (index, item) in before.iter().enumerate() {
                if of(after, item.at("type")).is_none() {
                    compare(item, &NULL, format!("{at}/{index}"), found);
                }
            }
        }
        (Json::Array(before), Json::Array(after)) => {
            for index in 0..before.len().max(after.len()) {
                let item = |items: &'r [Json<'a>]| items.get(index).unwrap_or(&NULL);
                compare(item(before), item(after), format!("{at}/{index}"), found);
            }
        }
        _ if old.same(new) || (old.is_empty() && new.is_empty()) => {}
        _ => found.push(Difference { pointer: at, old, new }),
    }
}

/// Whether these are conditions, each of a type of its own.
fn typed(items: &[Json<'_>]) -> bool {
    items.iter().enumerate().all(|(index, item)| {
        let type_ = item.at("type");
        type_.str().is_some() && !items[..index].iter().any(|other| other.at("type").same(type_))
    })
}
