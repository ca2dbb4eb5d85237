//! The objects that an object names, and where they are among those given beside it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Json;
use crate::object::{self, Object};
use crate::pointer;
use crate::profile::Reference;
use crate::rule::View;
use crate::time::Time;

/// One object by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<'r> {
    /// JSON Pointer of the reference.
    pub pointer: String,
    /// API group; nothing if the reference does not tell.
    pub group: Option<&'r str>,
    /// Kind; empty if the reference does not tell.
    pub kind: &'r str,
    /// Namespace.
    pub namespace: &'r str,
    /// Name.
    pub name: &'r str,
}

/// Every object that `reference` names in `object`, and of those that `object` owns every one that
/// is among `related`.
pub fn found<'r>(
    reference: &'r Reference<'_>,
    object: &Object<'r>,
    related: &[View<'r>],
) -> Vec<Named<'r>> {
    if !reference.owned {
        return named(reference, object);
    }
    let owned = related.iter().map(|view| view.object).filter(|other| {
        *other.kind == *reference.kind
            && (reference.group.is_empty() || *reference.group == *other.group())
            && other.namespace == object.namespace
            && owns(object, other)
    });
    owned
        .map(|other| Named {
            pointer: "/metadata/name".into(),
            group: Some(other.group()),
            kind: other.kind,
            namespace: other.namespace,
            name: other.name,
        })
        .collect()
}

fn owns(object: &Object<'_>, other: &Object<'_>) -> bool {
    other.root.at("metadata").at("ownerReferences").items().iter().any(|owner| {
        let text = |key: &str| owner.at(key).str().unwrap_or("");
        text("kind") == object.kind
            && text("name") == object.name
            && object::group(text("apiVersion")) == object.group()
            && (object.uid.is_empty() || text("uid").is_empty() || text("uid") == object.uid)
    })
}

/// Every object that `reference` names in `object`.
pub fn named<'r>(reference: &'r Reference<'_>, object: &Object<'r>) -> Vec<Named<'r>> {
    let found = pointer::find_all(object.root, &reference.field);
    found.into_iter().filter_map(|(pointer, json)| read(pointer, json, reference, object)).collect()
}

fn read<'r>(
    pointer: String,
    json: &'r Json<'_>,
    reference: &'r Reference<'_>,
    object: &Object<'r>,
) -> Option<Named<'r>> {
    let default = (!reference.group.is_empty()).then_some(&*reference.group);
    if let Json::String(text) = json {
        let (namespace, name) = text.split_once('/').unwrap_or((object.namespace, text));
        let kind = &*reference.kind;
        return (!name.is_empty()).then_some(Named {
            pointer,
            group: default,
            kind,
            namespace,
            name,
        });
    }
    let text = |key: &str| json.at(key).str().filter(|text| !text.is_empty());
    let group = text("group").or_else(|| text("apiVersion").map(object::group)).or(default);
    Some(Named {
        pointer,
        group,
        kind: text("kind").unwrap_or(&reference.kind),
        namespace: text("namespace").unwrap_or(object.namespace),
        name: text("name")?,
    })
}

impl Named<'_> {
    /// The named object among `related`, with its place there. A cluster-wide object has no
    /// namespace.
    pub fn find<'v, 'a>(&self, related: &'v [View<'a>]) -> Option<(usize, &'v View<'a>)> {
        related.iter().enumerate().find(|(_, view)| {
            let object = view.object;
            object.name == self.name
                && (self.kind.is_empty() || object.kind == self.kind)
                && self.group.is_none_or(|group| group == object.group())
                && (object.namespace.is_empty() || object.namespace == self.namespace)
        })
    }
}

/// Since when an object has been as it is: the newest transition of its happy conditions, else of
/// any condition.
pub fn since(view: &View<'_>) -> Option<Time> {
    let happy = view.profile.happy.iter().filter_map(|type_| view.object.condition(type_));
    let all = view.object.conditions().iter();
    happy
        .filter_map(object::Condition::transition)
        .max()
        .or_else(|| all.filter_map(object::Condition::transition).max())
}

/// Whether `text` holds `word` with nothing of a name before and after it.
pub fn mentions(text: &str, word: &str) -> bool {
    let part =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    text.match_indices(word).any(|(at, found)| {
        !text[..at].chars().next_back().is_some_and(part)
            && !text[at + found.len()..].chars().next().is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_its_own() {
        assert!(mentions("dependency 'default/db' is not ready", "db"));
        assert!(mentions("HelmChart/flux-system/db.", "db"));
        assert!(!mentions("dependency 'default/db-2' is not ready", "db"));
        assert!(!mentions("adbc", "db"));
    }
}
