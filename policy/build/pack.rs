//! Writes a profile in the form that `src/profile/packed.rs` reads.

use std::fmt::{self, Display};

use serde::ser::{self, Impossible, Serialize, SerializeSeq, SerializeStruct, Serializer};

#[path = "../src/profile/alphabet.rs"]
mod alphabet;

/// The packed form of a value. The text of a profile is its own; the rest is ASCII.
pub(crate) fn pack(value: &impl Serialize) -> Result<String, Unpackable> {
    let mut packed = Packer(String::new());
    value.serialize(&mut packed)?;
    Ok(packed.0)
}

struct Packer(String);

impl Packer {
    fn number(&mut self, mut number: u64) {
        loop {
            let low = u8::try_from(number % alphabet::BASE).expect("a digit");
            number /= alphabet::BASE;
            let more = if number == 0 { 0 } else { alphabet::MORE };
            self.0.push(char::from(low | more));
            if number == 0 {
                return;
            }
        }
    }
}

/// What no profile holds.
#[derive(Debug)]
pub(crate) struct Unpackable(String);

impl Display for Unpackable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Unpackable {}

impl ser::Error for Unpackable {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// A list of known length, or the fields of a structure, counted.
struct Parts<'a> {
    packer: &'a mut Packer,
    /// The number of the field that comes next.
    field: u64,
}

impl SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = Unpackable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Unpackable> {
        item.serialize(&mut *self.packer)
    }

    fn end(self) -> Result<(), Unpackable> {
        Ok(())
    }
}

impl SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = Unpackable;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _key: &'static str,
        value: &T,
    ) -> Result<(), Unpackable> {
        self.packer.number(self.field);
        self.field += 1;
        value.serialize(&mut *self.packer)
    }

    fn skip_field(&mut self, _key: &'static str) -> Result<(), Unpackable> {
        self.field += 1;
        Ok(())
    }

    fn end(self) -> Result<(), Unpackable> {
        self.packer.0.push(char::from(alphabet::END));
        Ok(())
    }
}

macro_rules! refuse {
    ($($method:ident($($type:ty),*) $(-> $ok:ty)?;)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<refuse!(@ $($ok)?), Unpackable> {
            Err(Unpackable(format!("{} has no packed form", stringify!($method))))
        })*
    };
    (@) => { () };
    (@ $ok:ty) => { $ok };
}

impl<'a> Serializer for &'a mut Packer {
    type Ok = ();
    type Error = Unpackable;
    type SerializeSeq = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeTuple = Impossible<(), Unpackable>;
    type SerializeTupleStruct = Impossible<(), Unpackable>;
    type SerializeTupleVariant = Impossible<(), Unpackable>;
    type SerializeMap = Impossible<(), Unpackable>;
    type SerializeStructVariant = Impossible<(), Unpackable>;

    fn serialize_bool(self, value: bool) -> Result<(), Unpackable> {
        self.number(u64::from(value));
        Ok(())
    }

    fn serialize_i64(self, number: i64) -> Result<(), Unpackable> {
        self.number(u64::from(number < 0));
        self.number(number.unsigned_abs());
        Ok(())
    }

    fn serialize_u64(self, number: u64) -> Result<(), Unpackable> {
        self.number(number);
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result<(), Unpackable> {
        self.number(text.len() as u64);
        self.0.push_str(text);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Unpackable> {
        self.number(0);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unpackable> {
        self.number(1);
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
    ) -> Result<(), Unpackable> {
        self.number(u64::from(index));
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Unpackable> {
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Parts<'a>, Unpackable> {
        let length = length.ok_or_else(|| Unpackable("a list without length".to_owned()))?;
        self.number(length as u64);
        Ok(Parts { packer: self, field: 0 })
    }

    fn serialize_struct(self, _name: &'static str, _: usize) -> Result<Parts<'a>, Unpackable> {
        Ok(Parts { packer: self, field: 0 })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _index: u32,
        variant: &'static str,
        _value: &T,
    ) -> Result<(), Unpackable> {
        Err(Unpackable(format!("{name}::{variant} has no packed form")))
    }

    refuse! {
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_bytes(&[u8]);
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeStructVariant;
    }
}
