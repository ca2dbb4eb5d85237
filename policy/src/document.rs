//! Reads what users write (settings, passes, traces) and says where it is wrong.
//!
//! The text becomes a tree first, and the tree the typed document. A second reader of JSON for
//! each type would be most of the component's code; and a tree knows the place of what it refuses.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Display};

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

use crate::json::Json;
use crate::pointer;

/// The document in `text`.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Wrong> {
    let root = Json::parse(text).map_err(|message| Wrong { path: Vec::new(), message })?;
    T::deserialize(Tree { json: &root })
}

/// What is wrong with a document.
#[derive(Debug)]
pub struct Wrong {
    /// From the outermost key or index to the innermost.
    path: Vec<Step>,
    /// What is wrong there.
    pub message: String,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl Wrong {
    /// Where, as a JSON Pointer.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) => pointer::push(&mut pointer, key),
                Step::Index(index) => pointer::push(&mut pointer, &index.to_string()),
            }
        }
        pointer
    }

    fn within(mut self, step: Step) -> Self {
        self.path.insert(0, step);
        self
    }
}

/// The place as a user writes it, and what is wrong.
impl Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.path.iter().enumerate() {
            match step {
                Step::Key(key) if number == 0 => formatter.write_str(key)?,
                Step::Key(key) => write!(formatter, ".{key}")?,
                Step::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        if !self.path.is_empty() {
            formatter.write_str(": ")?;
        }
        formatter.write_str(&self.message)
    }
}

impl core::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: Display>(message: T) -> Self {
        Wrong { path: Vec::new(), message: message.to_string() }
    }
}

/// A value of the tree.
#[derive(Clone, Copy)]
struct Tree<'t, 'de> {
    json: &'t Json<'de>,
}

impl<'de> Deserializer<'de> for Tree<'_, 'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.json {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Integer(number) => match u64::try_from(*number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_i64(*number),
            },
            Json::Unsigned(number) => visitor.visit_u64(*number),
            Json::Float(number) => visitor.visit_f64(*number),
            Json::String(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Json::String(Cow::Owned(text)) => visitor.visit_str(text),
            Json::Array(items) => visitor.visit_seq(Items { items, next: 0 }),
            Json::Object(members) => visitor.visit_map(Members { members, next: 0 }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.json {
            Json::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.json {
            Json::String(case) => visitor.visit_enum(Case { case, content: None }),
            Json::Object(members) => match members.as_slice() {
                [(case, content)] => visitor.visit_enum(Case { case, content: Some(content) }),
                _ => Err(de::Error::custom(format_args!(
                    "expected an object with one key, not with {}",
                    members.len()
                ))),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'t, 'de> {
    items: &'t [Json<'de>],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Wrong> {
        let index = self.next;
        let Some(json) = self.items.get(index) else { return Ok(None) };
        self.next += 1;
        seed.deserialize(Tree { json }).map(Some).map_err(|wrong| wrong.within(Step::Index(index)))
    }
}

struct Members<'t, 'de> {
    members: &'t [(Cow<'de, str>, Json<'de>)],
    next: usize,
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let Some((key, _)) = self.members.get(self.next) else { return Ok(None) };
        let read = match key {
            Cow::Borrowed(key) => seed.deserialize(de::value::BorrowedStrDeserializer::new(key)),
            Cow::Owned(key) => seed.deserialize(StrDeserializer::new(key)),
        };
        read.map(Some).map_err(|wrong: Wrong| wrong.within(Step::Key(key.to_string())))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let (key, json) = &self.members[self.next];
        self.next += 1;
        seed.deserialize(Tree { json }).map_err(|wrong| wrong.within(Step::Key(key.to_string())))
    }
}

/// A case of an enumeration.
struct Case<'t, 'de> {
    case: &'t str,
    content: Option<&'t Json<'de>>,
}

impl<'de> EnumAccess<'de> for Case<'_, 'de> {
    type Error = Wrong;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Wrong> {
        Ok((seed.deserialize(StrDeserializer::new(self.case))?, self))
    }
}

impl<'t, 'de> Case<'t, 'de> {
    fn content(self) -> Result<(Tree<'t, 'de>, Step), Wrong> {
        match self.content {
            Some(json) => Ok((Tree { json }, Step::Key(self.case.to_string()))),
            None => Err(de::Error::custom(format!("`{}` needs more than its name", self.case))),
        }
    }
}

impl<'de> VariantAccess<'de> for Case<'_, 'de> {
    type Error = Wrong;

    fn unit_variant(self) -> Result<(), Wrong> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(de::Error::custom(format!("`{}` is a name alone", self.case))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Wrong> {
        let (tree, step) = self.content()?;
        seed.deserialize(tree).map_err(|wrong| wrong.within(step))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Wrong> {
        let (tree, step) = self.content()?;
        tree.deserialize_any(visitor).map_err(|wrong| wrong.within(step))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let (tree, step) = self.content()?;
        tree.deserialize_any(visitor).map_err(|wrong| wrong.within(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Outer {
        list: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Inner {
        #[serde(rename = "a/b")]
        number: u8,
    }

    #[test]
    fn the_place_of_what_is_wrong_is_told() {
        for (text, pointer, message) in [
            (
                r#"{"list":[{"a/b":1},{"a/b":"x"}]}"#,
                "/list/1/a~1b",
                r#"list[1].a/b: invalid type: string "x", expected u8"#,
            ),
            (
                r#"{"list":[{"a/b":1,"c":2}]}"#,
                "/list/0/c",
                "list[0].c: unknown field `c`, expected `a/b`",
            ),
            (r#"{"list":[{}]}"#, "/list/0", "list[0]: missing field `a/b`"),
            (r#"{"list":[{"a/b":-1}]}"#, "/list/0/a~1b", ""),
            ("{", "", "EOF while parsing an object at line 1 column 1"),
        ] {
            let wrong = read::<Outer>(text).unwrap_err();
            assert_eq!(wrong.pointer(), pointer, "{text}");
            assert!(wrong.to_string().starts_with(message), "{text}: {wrong}");
        }
    }
}
