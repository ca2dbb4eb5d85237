//! Reads the built-in profiles, which `build.rs` packs.
//!
//! Reading one as JSON takes longer than reading the object that it is for. The packed form has
//! the fields of the schema by number and strings by length; it is text, so that strings are
//! borrowed from it without another check.

use core::fmt::{self, Display};

use serde::de::value::U64Deserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::alphabet;

/// What is left to read.
pub(super) struct Packed<'de>(pub(super) &'de str);

/// Bytes that `build.rs` did not write.
#[derive(Debug)]
pub(super) struct Damaged;

impl Display for Damaged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a packed profile is damaged")
    }
}

impl core::error::Error for Damaged {}

impl de::Error for Damaged {
    fn custom<T: Display>(_message: T) -> Self {
        Damaged
    }
}

impl<'de> Packed<'de> {
    fn byte(&mut self) -> Result<u8, Damaged> {
        let byte = *self.0.as_bytes().first().ok_or(Damaged)?;
        self.0 = self.0.get(1..).ok_or(Damaged)?;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0;
        let mut worth = 1;
        loop {
            let byte = self.byte()?;
            let digit = u64::from(byte & !alphabet::MORE);
            number += digit * worth;
            if byte & alphabet::MORE == 0 {
                return Ok(number);
            }
            worth *= alphabet::BASE;
        }
    }

    fn length(&mut self) -> Result<usize, Damaged> {
        usize::try_from(self.number()?).map_err(|_| Damaged)
    }

    fn text(&mut self) -> Result<&'de str, Damaged> {
        let length = self.length()?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        Ok(text)
    }
}

impl<'de> Deserializer<'de> for &mut Packed<'de> {
    type Error = Damaged;

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Damaged> {
        visitor.visit_bool(self.number()? != 0)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Damaged> {
        let negative = self.number()? != 0;
        let size = i64::try_from(self.number()?).map_err(|_| Damaged)?;
        visitor.visit_i64(if negative { -size } else { size })
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Damaged> {
        visitor.visit_u64(self.number()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Damaged> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Damaged> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Damaged> {
        if self.number()? == 0 { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Damaged> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Damaged> {
        let left = self.length()?;
        visitor.visit_seq(Items { packed: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Damaged> {
        visitor.visit_map(Fields(self))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Damaged> {
        let variant = self.number()?;
        visitor.visit_enum(Variant(variant))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Damaged> {
        Err(Damaged)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct map identifier ignored_any
    }
}

/// The items of a list.
struct Items<'p, 'de> {
    packed: &'p mut Packed<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Damaged;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Damaged> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(&mut *self.packed).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// The fields of a structure.
struct Fields<'p, 'de>(&'p mut Packed<'de>);

impl<'de> MapAccess<'de> for Fields<'_, 'de> {
    type Error = Damaged;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Damaged> {
        if self.0.0.as_bytes().first() == Some(&alphabet::END) {
            self.0.byte()?;
            return Ok(None);
        }
        let field: U64Deserializer<Damaged> = self.0.number()?.into_deserializer();
        seed.deserialize(field).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Damaged> {
        seed.deserialize(&mut *self.0)
    }
}

/// A case without content.
struct Variant(u64);

impl<'de> EnumAccess<'de> for Variant {
    type Error = Damaged;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Damaged> {
        let index: U64Deserializer<Damaged> = self.0.into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant {
    type Error = Damaged;

    fn unit_variant(self) -> Result<(), Damaged> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, Damaged> {
        Err(Damaged)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _visitor: V) -> Result<V::Value, Damaged> {
        Err(Damaged)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Damaged> {
        Err(Damaged)
    }
}
