//! Values as bytes: every number as it is in memory, little-endian, so that all bits survive, NaN and
//! infinities too, and long arrays take no time.
//!
//! What is written says nothing of its types: [`super::decode`] reads it back as the type that it was.
//! Whole numbers and floats take as many bytes as they have, a `bool` or the mark of an `Option` one;
//! texts, bytes, sequences and maps are their length as 8 bytes and then their content; the variant of
//! an enum is 4 bytes.

use std::fmt;

use serde::ser::{self, Serialize};

/// What cannot be written or read.
#[derive(Debug)]
pub struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error(message.to_string())
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error(message.to_string())
    }
}

/// The bytes of a value.
///
/// # Errors
/// For a sequence or map that does not know its length, and where the value refuses.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut bytes = Bytes(Vec::new());
    value.serialize(&mut bytes)?;
    Ok(bytes.0)
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn put<const N: usize>(&mut self, bytes: [u8; N]) -> Result<(), Error> {
        self.0.extend_from_slice(&bytes);
        Ok(())
    }

    fn length(&mut self, length: Option<usize>) -> Result<&mut Self, Error> {
        let length = length.ok_or_else(|| Error("a sequence of unknown length".into()))?;
        self.put((length as u64).to_le_bytes())?;
        Ok(self)
    }

    fn variant(&mut self, index: u32) -> Result<&mut Self, Error> {
        self.put(index.to_le_bytes())?;
        Ok(self)
    }
}

/// Numbers of these types are their own bytes.
macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {$(
        #[inline]
        fn $name(self, value: $type) -> Result<(), Error> {
            self.put(value.to_le_bytes())
        }
    )*};
}

impl ser::Serializer for &mut Bytes {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_f32: f32, serialize_f64: f64
    );

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.put([u8::from(value)])
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.put(u32::from(value).to_le_bytes())
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.length(Some(value.len()))?.0.extend_from_slice(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.put([0])
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.put([1])?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), Error> {
        self.variant(index).map(drop)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self.variant(index)?)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Error> {
        self.length(length)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Error> {
        self.variant(index)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Error> {
        self.length(length)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Error> {
        self.variant(index)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// What comes one after another.
macro_rules! in_turn {
    ($($of:ident, $put:ident;)*) => {$(
        impl ser::$of for &mut Bytes {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

in_turn! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

/// The same with names, which are left out. What a type would skip would be missed when it is read.
macro_rules! by_name {
    ($($of:ident),*) => {$(
        impl ser::$of for &mut Bytes {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                _: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                value.serialize(&mut **self)
            }

            fn skip_field(&mut self, name: &'static str) -> Result<(), Error> {
                Err(Error(format!("the field {name} is left out")))
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

by_name!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for &mut Bytes {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}
