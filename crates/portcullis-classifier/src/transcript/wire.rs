//! Lenient pieces of JSON records: what has another type than expected is absent, never an error.
//!
//! Session files are somebody else's, and their shape changes. Texts are borrowed from the file where they can be, and
//! what is not asked for (tool results above all) is skipped without being built.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use portcullis_core::{ToolInput, Value};
use portcullis_hosts::json::ValueWire;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, or nothing.
#[derive(Debug, Default)]
pub(super) struct TextWire<'a>(pub(super) Option<Cow<'a, str>>);

/// A switch: off if absent, null or false. Anything else counts as on.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct FlagWire(pub(super) bool);

/// Whether a field is there at all, whatever it holds; null is not there.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct PresentWire(pub(super) bool);

/// A whole number, or nothing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct CountWire(pub(super) Option<u64>);

/// A field that tells absent, null and given apart.
#[derive(Debug, Default)]
pub(super) enum ReferenceWire<'a> {
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
pub(super) struct ObjectWire<T>(pub(super) Option<T>);

impl<T> Default for ObjectWire<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A list; items that are of another kind are left out by their own type.
#[derive(Debug)]
pub(super) struct ListWire<T>(pub(super) Vec<T>);

impl<T> Default for ListWire<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Texts by their names, in their order; a value of another kind is left out.
#[derive(Debug, Default)]
pub(super) struct AnswersWire<'a>(pub(super) Vec<(Cow<'a, str>, Cow<'a, str>)>);

/// What a message says: one text or a list of blocks.
#[derive(Debug, Default)]
pub(super) struct ContentWire<'a>(pub(super) Vec<ContentBlockWire<'a>>);

/// One block of a message. The result of a tool stays unread: there is no field for it here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContentBlockWire<'a> {
    /// What it is.
    #[serde(borrow, rename = "type")]
    pub(super) kind: TextWire<'a>,
    /// Its text.
    #[serde(borrow)]
    pub(super) text: TextWire<'a>,
    /// The id of a tool call.
    #[serde(borrow)]
    pub(super) id: TextWire<'a>,
    /// The tool.
    #[serde(borrow)]
    pub(super) name: TextWire<'a>,
    /// What the tool was given.
    pub(super) input: ToolInputWire,
}

/// The input of a tool call; empty if it is not an object.
#[derive(Debug, Default)]
pub(super) struct ToolInputWire(pub(super) ToolInput);

impl TextWire<'_> {
    /// Returns the text; empty if there is none.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

impl ContentWire<'_> {
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
    type Value = TextWire<'de>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);
    nothing_for_lists!();
    nothing_for_objects!();

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<TextWire<'de>, E> {
        Ok(TextWire(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<TextWire<'de>, E> {
        Ok(TextWire(Some(Cow::Owned(text.to_owned()))))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TextWire<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct ReferenceVisitor;

impl<'de> Visitor<'de> for ReferenceVisitor {
    type Value = ReferenceWire<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(ReferenceWire::None)
    }

    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);
    nothing_for_lists!();
    nothing_for_objects!();

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<ReferenceWire<'de>, E> {
        Ok(ReferenceWire::To(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<ReferenceWire<'de>, E> {
        Ok(ReferenceWire::To(Cow::Owned(text.to_owned())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ReferenceWire<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReferenceVisitor)
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = FlagWire;

    anything!();

    fn visit_bool<E>(self, is_on: bool) -> Result<FlagWire, E> {
        Ok(FlagWire(is_on))
    }

    fn visit_u64<E>(self, _: u64) -> Result<FlagWire, E> {
        Ok(FlagWire(true))
    }

    fn visit_i64<E>(self, _: i64) -> Result<FlagWire, E> {
        Ok(FlagWire(true))
    }

    fn visit_f64<E>(self, _: f64) -> Result<FlagWire, E> {
        Ok(FlagWire(true))
    }

    fn visit_str<E>(self, _: &str) -> Result<FlagWire, E> {
        Ok(FlagWire(true))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<FlagWire, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(FlagWire(true))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<FlagWire, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(FlagWire(true))
    }
}

impl<'de> Deserialize<'de> for FlagWire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

impl<'de> Deserialize<'de> for PresentWire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::<IgnoredAny>::deserialize(deserializer)?.is_some()))
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = CountWire;

    anything!();
    nothing_for!(visit_bool: bool, visit_i64: i64, visit_f64: f64, visit_str: &str);
    nothing_for_lists!();
    nothing_for_objects!();

    fn visit_u64<E>(self, number: u64) -> Result<CountWire, E> {
        Ok(CountWire(Some(number)))
    }
}

impl<'de> Deserialize<'de> for CountWire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = ObjectWire<T>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);
    nothing_for_lists!();

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<ObjectWire<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(|object| ObjectWire(Some(object)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ObjectWire<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = ListWire<T>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);
    nothing_for_objects!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ListWire<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(ListWire(all))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ListWire<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

struct AnswersVisitor;

impl<'de> Visitor<'de> for AnswersVisitor {
    type Value = AnswersWire<'de>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);
    nothing_for_lists!();

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<AnswersWire<'de>, A::Error> {
        let mut all = Vec::new();
        while let Some((name, value)) = fields.next_entry::<TextWire<'de>, TextWire<'de>>()? {
            all.extend(name.0.zip(value.0));
        }
        Ok(AnswersWire(all))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for AnswersWire<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnswersVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = ContentWire<'de>;

    anything!();
    nothing_for!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<ContentWire<'de>, E> {
        Ok(ContentWire(vec![ContentBlockWire {
            text: TextWire(Some(Cow::Borrowed(text))),
            ..ContentBlockWire::default()
        }]))
    }

    fn visit_str<E>(self, text: &str) -> Result<ContentWire<'de>, E> {
        Ok(ContentWire(vec![ContentBlockWire {
            text: TextWire(Some(Cow::Owned(text.to_owned()))),
            ..ContentBlockWire::default()
        }]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ContentWire<'de>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(ObjectWire(block)) = items.next_element::<ObjectWire<ContentBlockWire<'de>>>()? {
            blocks.extend(block);
        }
        Ok(ContentWire(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<ContentWire<'de>, A::Error> {
        Ok(ContentWire(vec![ContentBlockWire::deserialize(MapAccessDeserializer::new(fields))?]))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ContentWire<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

impl<'de> Deserialize<'de> for ToolInputWire {
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
