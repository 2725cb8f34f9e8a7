//! Lenient pieces of JSON records: what has another type than expected is absent, never an error.
//!
//! Session files are somebody else's, and their shape changes. Texts are borrowed from the file where they can be, and
//! what is not asked for (tool results above all) is skipped without being built.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use portcullis_core::{Input, Value};
use portcullis_hosts::json::ValueWire;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, or nothing.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

/// A switch: off if absent, null or false. Anything else counts as on.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Flag(pub(super) bool);

/// Whether a field is there at all, whatever it holds; null is not there.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Present(pub(super) bool);

/// A whole number, or nothing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Count(pub(super) Option<u64>);

/// A field that tells absent, null and given apart.
#[derive(Debug, Default)]
pub(super) enum Reference<'a> {
    /// Absent, or not a text.
    #[default]
    Unknown,
    /// Null: it says that there is none.
    None,
    /// Given.
    To(Cow<'a, str>),
}

/// An object, or nothing.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A list; items that are of another kind are left out by their own type.
#[derive(Debug)]
pub(super) struct Many<T>(pub(super) Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// What a message says: one text or a list of blocks.
#[derive(Debug, Default)]
pub(super) struct Content<'a>(pub(super) Vec<Block<'a>>);

/// One block of a message. The result of a tool stays unread: there is no field for it here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    /// What it is.
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    /// Its text.
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    /// The id of a tool call.
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    /// The tool.
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    /// What the tool was given.
    pub(super) input: Fields,
}

/// The input of a tool call; empty if it is not an object.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Input);

impl Text<'_> {
    /// Returns the text; empty if there is none.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Content<'_> {
    /// Returns the texts of the blocks that are nothing but text.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(|block| matches!(block.kind.as_str(), "" | "text" | "input_text"))
            .filter_map(|block| block.text.0.as_deref())
    }
}

macro_rules! nothing_for {
    ($($method:ident: $type:ty),*) => {
        $(fn $method<E>(self, _: $type) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        })*
    };
}

macro_rules! nothing_for_lists {
    () => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

macro_rules! nothing_for_objects {
    () => {
        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

macro_rules! anything {
    () => {
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("any JSON value")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);
    nothing_for_lists!();
    nothing_for_objects!();

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct ReferenceVisitor;

impl<'de> Visitor<'de> for ReferenceVisitor {
    type Value = Reference<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Reference::None)
    }

    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);
    nothing_for_lists!();
    nothing_for_objects!();

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Reference<'de>, E> {
        Ok(Reference::To(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Reference<'de>, E> {
        Ok(Reference::To(Cow::Owned(text.to_owned())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Reference<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReferenceVisitor)
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    anything!();

    fn visit_bool<E>(self, is_on: bool) -> Result<Flag, E> {
        Ok(Flag(is_on))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Flag, E> {
        Ok(Flag(true))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Flag, E> {
        Ok(Flag(true))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Flag, E> {
        Ok(Flag(true))
    }

    fn visit_str<E>(self, _: &str) -> Result<Flag, E> {
        Ok(Flag(true))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Flag, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Flag(true))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Flag, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Flag(true))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::<IgnoredAny>::deserialize(deserializer)?.is_some()))
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    anything!();
    nothing_for!(visit_bool: bool, visit_i64: i64, visit_f64: f64, visit_str: &str);
    nothing_for_lists!();
    nothing_for_objects!();

    fn visit_u64<E>(self, number: u64) -> Result<Count, E> {
        Ok(Count(Some(number)))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);
    nothing_for_lists!();

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(|object| Object(Some(object)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct ManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ManyVisitor<T> {
    type Value = Many<T>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);
    nothing_for_objects!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Many<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Many(all))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ManyVisitor(PhantomData))
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
        Ok(Content(vec![Block { text: Text(Some(Cow::Borrowed(text))), ..Block::default() }]))
    }

    fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
        Ok(Content(vec![Block { text: Text(Some(Cow::Owned(text.to_owned()))), ..Block::default() }]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content<'de>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Object(block)) = items.next_element::<Object<Block<'de>>>()? {
            blocks.extend(block);
        }
        Ok(Content(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Content<'de>, A::Error> {
        Ok(Content(vec![Block::deserialize(MapAccessDeserializer::new(fields))?]))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Of a name given twice the last counts, as it did for the host.
        Ok(match ValueWire::<false>::deserialize(deserializer)?.0 {
            Value::Object(fields) => Self(fields.into_iter().collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
                Self::default()
            }
        })
    }
}
