//! Values from the bytes that [`super::encode`] made of them.

use serde::de::value::U32Deserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::encode::Error;

/// The value of these bytes, all of which must be used.
///
/// # Errors
/// For bytes that are those of no such value. Nothing is allocated for a length that the bytes do not
/// have.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let mut left = Left(bytes);
    let value = T::deserialize(&mut left)?;
    match left.0.len() {
        0 => Ok(value),
        n => Err(Error(format!("{n} bytes too many"))),
    }
}

/// Bytes that have not been read.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, left) =
            self.0.split_first_chunk().ok_or_else(|| Error("the bytes end too early".into()))?;
        self.0 = left;
        Ok(*taken)
    }

    /// A length, which cannot be more than the bytes that are left.
    fn length(&mut self) -> Result<usize, Error> {
        let length = u64::from_le_bytes(self.take()?);
        usize::try_from(length).map_err(|_| Error(format!("a length of {length}")))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let length = self.length()?;
        let (taken, left) = self
            .0
            .split_at_checked(length)
            .ok_or_else(|| Error("the bytes end too early".into()))?;
        self.0 = left;
        Ok(taken)
    }

    fn text(&mut self) -> Result<&'a str, Error> {
        std::str::from_utf8(self.bytes()?).map_err(|e| Error(e.to_string()))
    }
}

macro_rules! numbers {
    ($($name:ident, $visit:ident: $type:ty;)*) => {$(
        #[inline]
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(<$type>::from_le_bytes(self.take()?))
        }
    )*};
}

impl<'de> de::Deserializer<'de> for &mut Left<'de> {
    type Error = Error;

    numbers! {
        deserialize_i8, visit_i8: i8;
        deserialize_i16, visit_i16: i16;
        deserialize_i32, visit_i32: i32;
        deserialize_i64, visit_i64: i64;
        deserialize_u8, visit_u8: u8;
        deserialize_u16, visit_u16: u16;
        deserialize_u32, visit_u32: u32;
        deserialize_u64, visit_u64: u64;
        deserialize_f32, visit_f32: f32;
        deserialize_f64, visit_f64: f64;
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error("bytes do not say what they are".into()))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.take()? {
            [0] => visitor.visit_bool(false),
            [1] => visitor.visit_bool(true),
            [other] => Err(Error(format!("{other} is neither true nor false"))),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let code = u32::from_le_bytes(self.take()?);
        let found = char::from_u32(code).ok_or_else(|| Error(format!("{code} is no character")))?;
        visitor.visit_char(found)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_bytes(self.bytes()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.take()? {
            [0] => visitor.visit_none(),
            [1] => visitor.visit_some(self),
            [other] => Err(Error(format!("{other} is neither something nor nothing"))),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let length = self.length()?;
        visitor.visit_seq(Items { left: self, length })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Items { left: self, length })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let length = self.length()?;
        visitor.visit_map(Items { left: self, length })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_u32(visitor)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// So many values one after another.
struct Items<'l, 'a> {
    left: &'l mut Left<'a>,
    length: usize,
}

impl Items<'_, '_> {
    /// What room may be made for, since every value takes a byte or none.
    fn hint(&self) -> Option<usize> {
        Some(self.length.min(self.left.0.len()))
    }

    fn next(&mut self) -> bool {
        let more = self.length > 0;
        self.length -= usize::from(more);
        more
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.next() { seed.deserialize(&mut *self.left).map(Some) } else { Ok(None) }
    }

    fn size_hint(&self) -> Option<usize> {
        self.hint()
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.left)
    }

    fn size_hint(&self) -> Option<usize> {
        self.hint()
    }
}

impl<'de> EnumAccess<'de> for &mut Left<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let index = u32::from_le_bytes(self.take()?);
        let index: U32Deserializer<Error> = index.into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for &mut Left<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        de::Deserializer::deserialize_tuple(self, length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        de::Deserializer::deserialize_tuple(self, fields.len(), visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::super::encode::encode;
    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Kind {
        Nothing,
        One(i16),
        Two(u8, char),
        Named { text: String, set: Option<bool> },
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct All {
        numbers: Vec<f64>,
        kinds: Vec<Kind>,
        map: BTreeMap<u64, (String, Option<Vec<u32>>)>,
        unit: (),
        fixed: [f32; 2],
        wide: u128,
    }

    #[test]
    fn every_bit_comes_back() {
        let nan = f64::from_bits(0x7ff8_dead_beef_0001);
        let all = All {
            numbers: vec![0.1, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE / 8.0],
            kinds: vec![
                Kind::Nothing,
                Kind::One(-3),
                Kind::Two(255, 'ß'),
                Kind::Named { text: "aé\0".into(), set: Some(false) },
            ],
            map: [(u64::MAX, (String::new(), None)), (1, ("x".into(), Some(vec![7, 8])))].into(),
            unit: (),
            fixed: [1.5, f32::NAN],
            wide: 1,
        };
        // 128 bits are not written, so that none get lost.
        assert!(encode(&all).is_err());
        let bytes = encode(&(&all.numbers, &all.kinds, &all.map, all.unit, nan)).unwrap();
        type Read = (Vec<f64>, Vec<Kind>, BTreeMap<u64, (String, Option<Vec<u32>>)>, (), f64);
        let (numbers, kinds, map, (), read) = decode::<Read>(&bytes).unwrap();
        let bits = |numbers: &[f64]| numbers.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&numbers), bits(&all.numbers));
        assert_eq!((kinds, map), (all.kinds, all.map));
        assert_eq!(read.to_bits(), nan.to_bits());
        // No shorter bytes are those of such a value, nor longer ones.
        for end in 0..bytes.len() {
            assert!(decode::<Read>(&bytes[..end]).is_err(), "{end}");
        }
        assert!(decode::<Read>(&[&bytes[..], &[0]].concat()).is_err());
        assert!(decode::<Vec<u64>>(&u64::MAX.to_le_bytes()).is_err());
    }
}
