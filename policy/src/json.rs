//! JSON text as a tree that borrows from it.
//!
//! `serde_json::Value` costs two to five times as much, since it copies every string and sorts
//! every map. `fieldsV1` is skipped: no rule reads it, and it is often half of an object.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// One JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits 64 bits with sign.
    Integer(i64),
    /// A larger integer.
    Unsigned(u64),
    /// Any other number.
    Float(f64),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object in the order of the text; of a repeated key the last one counts.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// What a missing value is read as.
pub static NULL: Json<'static> = Json::Null;

impl<'a> Json<'a> {
    /// The tree of `text`.
    ///
    /// # Errors
    /// Text that is not JSON or nests deeper than 128 levels; the message names line and column.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The member `key` of an object.
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        match self {
            Json::Object(members) => {
                members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The member `key`, or `null`.
    pub fn at(&self, key: &str) -> &Json<'a> {
        self.get(key).unwrap_or(&NULL)
    }

    /// Whether this is `null`, or missing.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// The string.
    pub fn str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The integer.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Json::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The boolean.
    pub fn bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array; empty for anything else.
    pub fn items(&self) -> &[Json<'a>] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    /// The members of an object; empty for anything else.
    pub fn members(&self) -> &[(Cow<'a, str>, Json<'a>)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// Whether there is nothing here: `null`, or an empty array, object or string.
    pub fn is_empty(&self) -> bool {
        match self {
            Json::Null => true,
            Json::String(text) => text.is_empty(),
            Json::Array(items) => items.is_empty(),
            Json::Object(members) => members.is_empty(),
            _ => false,
        }
    }

    /// A scalar as a user would write it; nothing for `null`, arrays and objects.
    pub fn scalar(&self) -> Option<Cow<'_, str>> {
        match self {
            Json::String(text) => Some(Cow::Borrowed(text)),
            Json::Bool(true) => Some(Cow::Borrowed("true")),
            Json::Bool(false) => Some(Cow::Borrowed("false")),
            Json::Integer(number) => Some(Cow::Owned(number.to_string())),
            Json::Unsigned(number) => Some(Cow::Owned(number.to_string())),
            Json::Float(number) => Some(Cow::Owned(number.to_string())),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        }
    }

    /// Whether both say the same, whatever the order of their keys.
    pub fn same(&self, other: &Json<'_>) -> bool {
        match (self, other) {
            (Json::Array(left), Json::Array(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.same(b))
            }
            (Json::Object(left), Json::Object(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|((key, value), (name, there))| {
                        if key == name {
                            value.same(there)
                        } else {
                            other.get(key).is_some_and(|there| value.same(there))
                        }
                    })
            }
            (Json::Null, Json::Null) => true,
            (Json::Bool(left), Json::Bool(right)) => left == right,
            (Json::Integer(left), Json::Integer(right)) => left == right,
            (Json::Unsigned(left), Json::Unsigned(right)) => left == right,
            (Json::Float(left), Json::Float(right)) => left.total_cmp(right).is_eq(),
            (Json::String(left), Json::String(right)) => left == right,
            _ => false,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

/// A string that borrows where the text allows it.
pub struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_string()))
    }
}

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Json::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Json::Unsigned(number), Json::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Json::Float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Json::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Json::String(Cow::Owned(text.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = access.next_key_seed(Text)? {
            if key == "fieldsV1" {
                access.next_value::<IgnoredAny>()?;
            } else {
                members.push((key, access.next_value()?));
            }
        }
        Ok(Json::Object(members))
    }
}
