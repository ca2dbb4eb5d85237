//! What a kind promises of its ends, its instances, its deadlines and of other objects.

extern crate alloc;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Test, Text, is_default};

/// How bounded work shows that it has come to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Finish<'a> {
    /// Tests that all hold once it has.
    pub when: Vec<Test<'a>>,
    /// Field path of the time at which it did; empty if there is none.
    #[serde(skip_serializing_if = "is_default")]
    pub time: Text<'a>,
    /// Whether that time is there only once it has.
    #[serde(skip_serializing_if = "is_default")]
    pub strict: bool,
    /// Whether it stays so for ever: the object never starts again.
    #[serde(skip_serializing_if = "is_default")]
    pub absorbing: bool,
    /// Field path of what changes with each new attempt, which may begin anew.
    #[serde(skip_serializing_if = "is_default")]
    pub attempt: Text<'a>,
}

/// How many instances an object needs to be ready.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Instances<'a> {
    /// Field path of how many are ready; a missing field says nothing.
    pub ready: Text<'a>,
    /// Field paths of how many are needed; the first that is there counts.
    pub desired: Vec<Text<'a>>,
    /// Tests that must all hold for the number to be needed.
    #[serde(skip_serializing_if = "is_default")]
    pub when: Vec<Test<'a>>,
}

/// A state that must not last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Deadline<'a> {
    /// Tests that all hold while it lasts.
    pub when: Vec<Test<'a>>,
    /// Field path of the time since when.
    pub since: Text<'a>,
    /// How long it may last: a field path, or a duration such as `30s`. A field that is missing, or
    /// not more than zero, sets no deadline.
    pub within: Text<'a>,
    /// How much longer it may last before anything is said; a duration.
    #[serde(skip_serializing_if = "is_default")]
    pub slack: Text<'a>,
    /// What is wrong then, as one sentence without a final stop.
    pub message: Text<'a>,
}

/// Another object that this kind names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Reference<'a> {
    /// Field path of the references: each an object with `name`, and perhaps `kind`, `namespace`
    /// and `apiVersion` or `group`; or a text `namespace/name` or `name`.
    #[serde(skip_serializing_if = "is_default")]
    pub field: Text<'a>,
    /// Or the objects of `kind` that name this one as their owner. Others of them may not be at
    /// hand, so nothing can be said of all.
    #[serde(skip_serializing_if = "is_default")]
    pub owned: bool,
    /// The kind of a reference that names none.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: Text<'a>,
    /// The API group of a reference that names none; any if empty.
    #[serde(skip_serializing_if = "is_default")]
    pub group: Text<'a>,
    /// Tests of which any one means that this object waits for the named ones.
    #[serde(skip_serializing_if = "is_default")]
    pub waits: Vec<Test<'a>>,
    /// Tests that must all hold on a named object, beside being settled, for nothing to be waited
    /// for.
    #[serde(skip_serializing_if = "is_default")]
    pub ready: Vec<Test<'a>>,
    /// Whether this object does not become ready while a named one has failed. It may stay ready
    /// when a named one fails later.
    #[serde(skip_serializing_if = "is_default")]
    pub gates: bool,
    /// Whether this object is never ready for long while a named one has failed.
    #[serde(skip_serializing_if = "is_default")]
    pub follows: bool,
    /// The revision that this object takes from the named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision<'a>>,
}

/// A revision that one object takes from another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Revision<'a> {
    /// Field path in the object that takes it.
    pub mine: Text<'a>,
    /// Field path in the object that has it.
    pub theirs: Text<'a>,
    /// Field path, in the object that has it, of the time since when.
    pub since: Text<'a>,
}

/// A list in the status whose items stand for items of the spec.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Mirror<'a> {
    /// Field path of what names an item in the status: `status.parents[*].parentRef`.
    pub status: Text<'a>,
    /// Field path of what it must be found among: `spec.parentRefs[*]`.
    pub spec: Text<'a>,
    /// The members that both are compared by, where the spec's item has them; all of the value if
    /// empty.
    #[serde(skip_serializing_if = "is_default")]
    pub by: Vec<Text<'a>>,
}
