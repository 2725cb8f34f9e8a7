//! What an expression is known to yield.

use super::encoded;
use super::temporary;
use crate::shape::Shape;

/// A value, as far as literals tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PowerShellValue {
    /// A text.
    Text(String),
    /// A text that was decoded from something unreadable.
    Decoded(String),
    /// A whole number.
    Number(i64),
    /// A list.
    List(Vec<PowerShellValue>),
    /// Bytes, decoded from Base64.
    Bytes(Vec<u8>),
    /// A table of keys in lower case and values.
    Table(Vec<(String, PowerShellValue)>),
    /// A type, by its canonical name.
    Type(String),
    /// A script block whose commands are listed already.
    Block,
    /// Text, numbers or the like that only running tells: no file that another command would open.
    Data,
    /// An object of a type that keeps values and does nothing else.
    Instance(ObjectKind),
    /// What a listing of files found, or a text of a known shape.
    Found(FoundText),
    /// Not known; the text has what is known of it and the rest in its source form.
    Open(String),
}

/// Objects that keep values and do nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectKind {
    /// What JSON or CSV text says: it has properties and no methods of its own, and so have they.
    Record,
    /// A document, whose parts are read and changed by their names.
    Document,
    /// A collection, a watch, a builder of texts.
    Container,
    /// A process that this text started.
    StartedProcess,
    /// The folder for temporary files, where a variable such as `$env:TEMP` is set.
    TemporaryFolder,
}

/// A text that only running tells, of a known shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundText {
    /// What it looks like. Paths of what was listed begin at the root.
    pub(super) shape: Shape,
    /// Whether it is the file itself, whose text is its path in newer versions of PowerShell and its name in older ones.
    pub(super) is_file: bool,
    /// Whether it is exactly one, and not one of any number.
    pub(super) is_one: bool,
}

/// The longest list or text one operation may make.
const LARGEST: usize = 1 << 16;

impl PowerShellValue {
    /// Makes a text.
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Makes an unknown value whose source form is filled in later.
    pub(super) fn unknown() -> Self {
        Self::Open(String::new())
    }

    /// Makes one value of the outputs of statements.
    pub(super) fn of_outputs(mut outputs: Vec<PowerShellValue>) -> Self {
        match outputs.len() {
            0 => Self::unknown(),
            1 => outputs.pop().unwrap_or_else(Self::unknown),
            _ => Self::List(outputs),
        }
    }

    /// Says whether it is not known, wholly or in part.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Open(_) | Self::Data | Self::Instance(_) | Self::Found(_))
    }

    /// Makes the value of a text of a known shape; nothing is known if there is no shape.
    pub(super) fn found(shape: Option<Shape>, is_file: bool, is_one: bool) -> Self {
        shape.map_or(Self::Data, |shape| Self::Found(FoundText { shape, is_file, is_one }))
    }

    /// Says whether its methods compute or keep values and do nothing else, those that run a block left out.
    pub(super) fn is_plain_object(&self) -> bool {
        match self {
            Self::Text(_)
            | Self::Decoded(_)
            | Self::Number(_)
            | Self::Data
            | Self::Table(_)
            | Self::Bytes(_) => true,
            Self::Instance(kind) => matches!(kind, ObjectKind::Record | ObjectKind::Container),
            Self::Found(found) => !found.is_file,
            Self::List(_) | Self::Type(_) | Self::Block | Self::Open(_) => false,
        }
    }

    /// Returns the values that come through a pipe one after the other, each as what it is by itself.
    pub(super) fn items_of_pipe(&self) -> Vec<PowerShellValue> {
        let one = |value: &Self| match value {
            Self::Found(found) => Self::Found(FoundText { is_one: true, ..found.clone() }),
            other => other.clone(),
        };
        match self {
            Self::List(items) => items.iter().map(one).collect(),
            other => vec![one(other)],
        }
    }

    /// Says whether an encoding hid it or a part of it.
    pub(super) fn is_decoded(&self) -> bool {
        match self {
            Self::Decoded(_) | Self::Bytes(_) => true,
            Self::List(items) => items.iter().any(Self::is_decoded),
            _ => false,
        }
    }

    /// Returns how much work it is to copy it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) | Self::Decoded(text) | Self::Open(text) | Self::Type(text) => text.len() + 1,
            Self::Bytes(bytes) => bytes.len() + 1,
            Self::List(items) => items.iter().map(Self::size).sum::<usize>() + 1,
            Self::Table(entries) => {
                entries.iter().map(|(key, value)| key.len() + value.size()).sum::<usize>() + 1
            }
            Self::Number(_) | Self::Block | Self::Data | Self::Instance(_) | Self::Found(_) => 1,
        }
    }

    /// Returns it as text, if it is wholly known.
    pub(super) fn known_text(&self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Decoded(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::List(items) => {
                let texts: Option<Vec<String>> = items.iter().map(Self::known_text).collect();
                texts.map(|texts| texts.join(" "))
            }
            _ => None,
        }
    }

    /// Returns what is known of it as text; `source` stands for what is not.
    pub(super) fn shown(&self, source: &str) -> String {
        match self {
            Self::Open(text) if !text.is_empty() => text.clone(),
            Self::Found(found) => temporary::shown(found).unwrap_or_else(|| source.to_owned()),
            Self::List(items) => {
                let texts: Vec<String> = items.iter().map(|item| item.shown("$_")).collect();
                texts.join(" ")
            }
            other => other.known_text().unwrap_or_else(|| source.to_owned()),
        }
    }

    /// Returns it as a number.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => parse_number(text),
            _ => None,
        }
    }

    /// Returns its items; a single value is a list of one.
    pub(super) fn into_items(self) -> Vec<PowerShellValue> {
        match self {
            Self::List(items) => items,
            Self::Bytes(bytes) => bytes.into_iter().map(|byte| Self::Number(byte.into())).collect(),
            other => vec![other],
        }
    }

    /// Adds another value to it, as `+` does.
    pub(super) fn plus(self, other: PowerShellValue) -> PowerShellValue {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => {
                left.checked_add(right).map_or_else(Self::unknown, Self::Number)
            }
            (Self::List(mut items), other) => {
                items.extend(other.into_items());
                Self::List(items)
            }
            (Self::Instance(ObjectKind::TemporaryFolder), right) => {
                let below = right.text_shape().and_then(|rest| temporary::below_variable(&rest));
                below.unwrap_or_else(Self::unknown)
            }
            (left, right) if left.joined_shape(&right).is_some() => {
                Self::found(left.joined_shape(&right), false, true)
            }
            (Self::Text(text), other) => append(text, &other, Self::Text),
            (Self::Decoded(text), other) => append(text, &other, Self::Decoded),
            (Self::Open(mut text), other) if !text.is_empty() => {
                text.push_str(&other.shown(""));
                Self::Open(text)
            }
            _ => Self::unknown(),
        }
    }

    /// Returns the characters of a text, or the items of a list, at some places.
    pub(super) fn at(&self, places: &[PowerShellValue]) -> PowerShellValue {
        let items: Vec<PowerShellValue> = match self {
            Self::Text(text) | Self::Decoded(text) => {
                text.chars().map(|letter| Self::Text(letter.to_string())).collect()
            }
            Self::List(items) => items.clone(),
            _ => return Self::unknown(),
        };
        let picked: Option<Vec<PowerShellValue>> = places.iter().map(|place| pick(&items, place)).collect();
        match picked {
            Some(picked) if picked.len() == 1 => Self::of_outputs(picked),
            Some(picked) => Self::List(picked),
            None => Self::unknown(),
        }
    }

    /// Returns the numbers from one to another, as `..` does.
    pub(super) fn range(&self, other: &PowerShellValue) -> PowerShellValue {
        let (Some(first), Some(last)) = (self.number(), other.number()) else {
            return Self::unknown();
        };
        if usize::try_from(first.abs_diff(last)).map_or(true, |length| length > LARGEST / 64) {
            return Self::unknown();
        }
        let numbers = first.min(last)..=first.max(last);
        let items: Vec<PowerShellValue> = if first <= last {
            numbers.map(Self::Number).collect()
        } else {
            numbers.rev().map(Self::Number).collect()
        };
        Self::List(items)
    }

    /// Repeats a text or multiplies numbers.
    pub(super) fn times(&self, other: &PowerShellValue) -> PowerShellValue {
        let Some(count) = other.number() else { return Self::unknown() };
        match self {
            Self::Number(number) => number.checked_mul(count).map_or_else(Self::unknown, Self::Number),
            Self::Text(text) => match usize::try_from(count) {
                Ok(count) if text.len().saturating_mul(count) <= LARGEST => Self::Text(text.repeat(count)),
                _ => Self::unknown(),
            },
            _ => Self::unknown(),
        }
    }

    /// Reads it as characters: a number is a code point.
    pub(super) fn to_character(&self) -> PowerShellValue {
        match self {
            Self::Number(number) => u32::try_from(*number)
                .ok()
                .and_then(char::from_u32)
                .map_or_else(Self::unknown, |letter| Self::Text(letter.to_string())),
            Self::Text(text) if text.chars().count() == 1 => self.clone(),
            Self::Text(text) => {
                Self::List(text.chars().map(|letter| Self::Text(letter.to_string())).collect())
            }
            Self::List(items) => Self::List(items.iter().map(Self::to_character).collect()),
            Self::Bytes(bytes) => {
                Self::List(bytes.iter().map(|byte| Self::Text(char::from(*byte).to_string())).collect())
            }
            _ => Self::unknown(),
        }
    }

    /// Reads bytes in a named encoding.
    pub(super) fn decoded_as(&self, encoding: &str) -> PowerShellValue {
        let bytes = match self {
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::List(items) => {
                items.iter().map(|item| item.number().and_then(|number| u8::try_from(number).ok())).collect()
            }
            _ => None,
        };
        match bytes {
            Some(bytes) if encoding.ends_with("unicode") => Self::Decoded(encoded::utf16(&bytes)),
            Some(bytes) => Self::Decoded(String::from_utf8_lossy(&bytes).into_owned()),
            None => Self::unknown(),
        }
    }
}

impl PowerShellValue {
    /// Returns the shape of a text that is one and no more.
    pub(super) fn text_shape(&self) -> Option<Shape> {
        match self {
            Self::Found(FoundText { shape, is_file: false, is_one: true }) => Some(shape.clone()),
            Self::Text(text) if !text.contains(['*', '?', '[']) => {
                Some(Shape::text(&text.replace('\\', "/")))
            }
            Self::Number(number) => Some(Shape::text(&number.to_string())),
            _ => None,
        }
    }

    /// Returns the shape of two texts one after the other, if one of them is only known by its shape.
    fn joined_shape(&self, other: &Self) -> Option<Shape> {
        let is_found = matches!(self, Self::Found(_)) || matches!(other, Self::Found(_));
        is_found.then(|| self.text_shape()?.join(&other.text_shape()?))?
    }
}

/// Adds a value to a text; an unknown one leaves it open with its source, a decoded one makes it decoded.
fn append(mut text: String, other: &PowerShellValue, make: fn(String) -> PowerShellValue) -> PowerShellValue {
    let Some(more) = other.known_text() else {
        text.push_str(&other.shown("$_"));
        return PowerShellValue::Open(text);
    };
    text.push_str(&more);
    if other.is_decoded() { PowerShellValue::Decoded(text) } else { make(text) }
}

/// Takes an item by its number, from the end if it is negative.
fn pick(items: &[PowerShellValue], place: &PowerShellValue) -> Option<PowerShellValue> {
    let index = place.number()?;
    let index = if index < 0 { index.checked_add(i64::try_from(items.len()).ok()?)? } else { index };
    items.get(usize::try_from(index).ok()?).cloned()
}

/// Reads a whole number as PowerShell writes it.
pub(super) fn parse_number(text: &str) -> Option<i64> {
    let lower = text.to_ascii_lowercase();
    if let Some(hexadecimal) = lower.strip_prefix("0x") {
        return i64::from_str_radix(hexadecimal, 16).ok();
    }
    let (digits, factor) = [("kb", 1 << 10), ("mb", 1 << 20), ("gb", 1 << 30), ("l", 1)]
        .into_iter()
        .find_map(|(suffix, factor)| lower.strip_suffix(suffix).map(|digits| (digits, factor)))
        .unwrap_or((lower.as_str(), 1));
    digits.parse::<i64>().ok()?.checked_mul(factor)
}
