//! What the readers of JSON share: objects read field by field, tagged unions, interned text.
//!
//! Nothing here builds a tree of values. A reader is handed each field as it stands in the
//! text and puts it where it belongs.

use std::borrow::Cow;
use std::fmt;

use graven_ir::{NameId, Names};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Reads the fields of one object.
pub(crate) trait Fields<'de>: Sized {
    /// What the object becomes.
    type Output;
    /// What it is called in errors.
    const WHAT: &'static str;

    /// Reads the value of `key` from `map`.
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;

    /// Called at the end of the object.
    fn finish<E: de::Error>(self) -> Result<Self::Output, E>;
}

/// An object, read by its [`Fields`].
pub(crate) struct Object<F>(pub(crate) F);

impl<'de, F: Fields<'de>> DeserializeSeed<'de> for Object<F> {
    type Value = F::Output;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<F::Output, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: Fields<'de>> Visitor<'de> for Object<F> {
    type Value = F::Output;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(F::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<F::Output, A::Error> {
        while let Some(Text(key)) = map.next_key()? {
            self.0.field(&key, &mut map)?;
        }
        self.0.finish()
    }
}

/// Reads an object that has exactly one field, whose name says what the value is.
pub(crate) trait Union<'de>: Sized {
    /// What the value becomes.
    type Output;
    /// What it is called in errors.
    const WHAT: &'static str;

    /// Reads the value of the form `tag` from `map`.
    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<Self::Output, A::Error>;
}

/// A tagged union, read by its [`Union`].
pub(crate) struct Tagged<U>(pub(crate) U);

impl<'de, U: Union<'de>> DeserializeSeed<'de> for Tagged<U> {
    type Value = U::Output;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<U::Output, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, U: Union<'de>> Visitor<'de> for Tagged<U> {
    type Value = U::Output;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(U::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<U::Output, A::Error> {
        let Some(Text(tag)) = map.next_key()? else {
            return Err(de::Error::custom(format_args!(
                "{} without a form",
                U::WHAT
            )));
        };
        let value = self.0.value(&tag, &mut map)?;
        if let Some(Text(second)) = map.next_key()? {
            return Err(de::Error::custom(format_args!(
                "{} with two forms, `{tag}` and `{second}`",
                U::WHAT
            )));
        }
        Ok(value)
    }
}

/// The error of a form that this reader does not know.
pub(crate) fn unknown_form<E: de::Error>(what: &str, tag: &str) -> E {
    E::custom(format_args!("{what} of the unknown form `{tag}`"))
}

/// Reads the elements of an array into `out`, each with the seed that `seed` makes.
///
/// A plain function pointer and a state, since a seed borrows the state for one element.
pub(crate) struct Elements<'a, C, T, S> {
    pub(crate) state: &'a mut C,
    pub(crate) read: S,
    pub(crate) out: Vec<T>,
}

/// Reads one element of an array.
pub(crate) trait Element<C, T> {
    /// Reads the next element of `seq`, if there is one.
    fn next<'de, A: SeqAccess<'de>>(
        &self,
        state: &mut C,
        seq: &mut A,
    ) -> Result<Option<T>, A::Error>;
}

impl<'de, C, T, S: Element<C, T>> DeserializeSeed<'de> for Elements<'_, C, T, S> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, C, T, S: Element<C, T>> Visitor<'de> for Elements<'_, C, T, S> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Vec<T>, A::Error> {
        while let Some(item) = self.read.next(self.state, &mut seq)? {
            self.out.push(item);
        }
        Ok(self.out)
    }
}

/// Reads the items of a list to where they belong.
pub(crate) trait List<'de> {
    /// Reads the next item; `false` at the end.
    fn item<A: SeqAccess<'de>>(&mut self, seq: &mut A) -> Result<bool, A::Error>;
}

/// A list, read by its [`List`]; becomes the count of its items.
pub(crate) struct Counted<L>(pub(crate) L);

impl<'de, L: List<'de>> DeserializeSeed<'de> for Counted<L> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, L: List<'de>> Visitor<'de> for Counted<L> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<usize, A::Error> {
        let mut count = 0;
        while self.0.item(&mut seq)? {
            count += 1;
        }
        Ok(count)
    }
}

/// A list whose elements `read` reads.
pub(crate) fn elements<C, T, S>(state: &mut C, read: S) -> Elements<'_, C, T, S> {
    Elements {
        state,
        read,
        out: Vec::new(),
    }
}

/// Text, borrowed where it has no escapes.
pub(crate) struct Text<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Reads a string into the table of names.
pub(crate) struct Interned<'a>(pub(crate) &'a mut Names);

impl<'de> DeserializeSeed<'de> for Interned<'_> {
    type Value = NameId;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<NameId, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Interned<'_> {
    type Value = NameId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<NameId, E> {
        Ok(self.0.intern(text))
    }
}

/// Reads what its seed reads, or `null`.
pub(crate) struct OptionalSeed<S>(pub(crate) S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for OptionalSeed<S> {
    type Value = Option<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for OptionalSeed<S> {
    type Value = Option<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(deserializer).map(Some)
    }
}

/// A number that may be infinite or no number: torch writes those as strings.
pub(crate) struct Float(pub(crate) f64);

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FloatVisitor;
        impl Visitor<'_> for FloatVisitor {
            type Value = Float;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"Infinity\", \"-Infinity\" or \"NaN\"")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Float, E> {
                Ok(Float(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Float, E> {
                Ok(Float(value as f64))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Float, E> {
                Ok(Float(value as f64))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Float, E> {
                match text {
                    "Infinity" => Ok(Float(f64::INFINITY)),
                    "-Infinity" => Ok(Float(f64::NEG_INFINITY)),
                    "NaN" => Ok(Float(f64::NAN)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(FloatVisitor)
    }
}

/// A field that graven does not know: its name and its JSON text.
pub(crate) fn unknown_field<'de, A: MapAccess<'de>>(
    names: &mut Names,
    key: &str,
    map: &mut A,
) -> Result<(NameId, NameId), A::Error> {
    let text = raw_value(map)?;
    Ok((names.intern(key), names.intern(text)))
}

/// The JSON text of a value, kept as it is. Whoever reads it later may recurse: it nests no
/// deeper than what is parsed here.
pub(crate) fn raw_value<'de, A: MapAccess<'de>>(map: &mut A) -> Result<&'de str, A::Error> {
    let text: &RawValue = map.next_value()?;
    let text = text.get();
    if nesting(text) > MAX_NESTING {
        return Err(de::Error::custom(format_args!(
            "JSON nested more than {MAX_NESTING} deep"
        )));
    }
    Ok(text)
}

/// serde_json's own limit.
const MAX_NESTING: usize = 128;

/// How deep lists and objects nest in sound JSON.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The error of a field that has to be there.
pub(crate) fn missing<T, E: de::Error>(value: Option<T>, field: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(field))
}
