//! The small language in which profiles test an object.

extern crate alloc;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Text, is_default};

/// One test. All that is written in it must hold.
///
/// It speaks of one condition (`condition`), of one field (`field`), of the items of a list
/// (`some`, `every`), or of other tests (`all`, `any`, `none`).
///
/// A number is a field path, an integer, `count(path)` or `sum(path)`; a path may name what to take
/// where it is missing (`spec.replicas|1`, else 0), and terms may be added and subtracted
/// (`spec.replicas|1 - spec.updateStrategy.rollingUpdate.partition`).
///
/// Within `where`, paths and conditions are the item's own; `@` is the item itself, and `$.` begins
/// a path of the object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Test<'a> {
    /// A condition type of the main list (of the item's `conditions` within `where`); `*` for any.
    #[serde(skip_serializing_if = "is_default")]
    pub condition: Text<'a>,
    /// The condition's status is one of these.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Vec<Text<'a>>,
    /// The condition's reason is one of these.
    #[serde(skip_serializing_if = "is_default")]
    pub reason: Vec<Text<'a>>,
    /// The condition's reason is none of these.
    #[serde(skip_serializing_if = "is_default")]
    pub not_reason: Vec<Text<'a>>,
    /// With `condition: "*"`: types that are left out.
    #[serde(skip_serializing_if = "is_default")]
    pub except: Vec<Text<'a>>,
    /// The condition's message, or the field's text, contains one of these.
    #[serde(skip_serializing_if = "is_default")]
    pub contains: Vec<Text<'a>>,

    /// A field path; with `below` and `least` any number.
    #[serde(skip_serializing_if = "is_default")]
    pub field: Text<'a>,
    /// The field's value is one of these, as text.
    #[serde(rename = "in", skip_serializing_if = "is_default")]
    pub one_of: Vec<Text<'a>>,
    /// The field is missing, or its value is none of these.
    #[serde(skip_serializing_if = "is_default")]
    pub not_in: Vec<Text<'a>>,
    /// Whether the condition or the field exists and is not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
    /// The field equals this other field; two missing fields are equal.
    #[serde(skip_serializing_if = "is_default")]
    pub equals: Text<'a>,
    /// The field's text reads like this template of a witness, with the values of the object.
    #[serde(skip_serializing_if = "is_default")]
    pub reads: Text<'a>,
    /// The field, a number (0 if missing), is less than this number. With `some`: the count of the
    /// items that fit is.
    #[serde(skip_serializing_if = "is_default")]
    pub below: Text<'a>,
    /// The field, a number (0 if missing), is at least this number. With `some`: the count of the
    /// items that fit is.
    #[serde(skip_serializing_if = "is_default")]
    pub least: Text<'a>,
    /// What `below` and `least` take for a missing other field; 0 if missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<i64>,
    /// The field is a time at least this long ago (`15s`; `0s` for any past time). Does not hold
    /// without a clock.
    #[serde(skip_serializing_if = "is_default")]
    pub age: Text<'a>,
    /// The field is a time before that of this other field.
    #[serde(skip_serializing_if = "is_default")]
    pub before: Text<'a>,
    /// The field is text such as `2/3`, and whether its numbers are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,

    /// A path such as `status.parents[*]`: at least one of its values fits `where`.
    #[serde(skip_serializing_if = "is_default")]
    pub some: Text<'a>,
    /// A path such as `status.parents[*]`: all of its values fit `where`, also if there are none.
    #[serde(skip_serializing_if = "is_default")]
    pub every: Text<'a>,
    /// What an item of `some` or `every` must fit.
    #[serde(rename = "where", skip_serializing_if = "is_default")]
    pub item: Vec<Test<'a>>,

    /// All of these hold.
    #[serde(skip_serializing_if = "is_default")]
    pub all: Vec<Test<'a>>,
    /// At least one of these holds.
    #[serde(skip_serializing_if = "is_default")]
    pub any: Vec<Test<'a>>,
    /// None of these holds.
    #[serde(skip_serializing_if = "is_default")]
    pub none: Vec<Test<'a>>,
}
