//! JSON with positions: what every setting needs to say where it stands.
//!
//! The reader takes strict JSON and, beside it, comments and trailing commas; it says where the first of those is, so
//! that strictness is the caller's choice and the text is read once. It keeps what stands before a mistake: restrictions
//! in a broken file still count (see `extract`).

mod reader;
mod scalar;

use std::borrow::Cow;

pub(crate) use reader::read;

/// Where a token stands in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPosition {
    /// The line, from 1.
    pub(crate) line: u32,
    /// The column, from 1, in characters.
    pub(crate) column: u32,
    /// How many characters to underline.
    pub(crate) length: u32,
}

/// A value and where it begins; a list or an object is marked at its bracket.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonNode<'text> {
    pub(crate) value: JsonValue<'text>,
    pub(crate) position: TextPosition,
}

/// A JSON value. Objects keep every member in order, repeated names included.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonValue<'text> {
    Null,
    Bool(bool),
    Number(f64),
    String(Cow<'text, str>),
    Array(Vec<JsonNode<'text>>),
    Object(Vec<JsonMember<'text>>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonMember<'text> {
    pub(crate) name: Cow<'text, str>,
    pub(crate) name_position: TextPosition,
    pub(crate) node: JsonNode<'text>,
}

impl JsonValue<'_> {
    /// Names the kind of value for a message, with its article.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// What the reader made of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedJson<'text> {
    /// The value, or as much of it as stands before the mistake.
    pub(crate) root: Option<JsonNode<'text>>,
    /// The mistake that ended the reading.
    pub(crate) mistake: Option<SyntaxMistake>,
    /// The first thing that strict JSON does not have.
    pub(crate) extension: Option<JsoncExtension>,
}

/// A mistake in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxMistake {
    pub(crate) message: String,
    pub(crate) position: TextPosition,
}

/// Something JSONC has and JSON has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsoncExtension {
    /// `a comment` or `a trailing comma`.
    pub(crate) name: &'static str,
    pub(crate) position: TextPosition,
}
