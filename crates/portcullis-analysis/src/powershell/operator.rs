//! The operators, casts and members whose result literals tell.
//!
//! Only what is used to hide a name is computed: joining, formatting, replacing, splitting, characters,
//! Base64. Everything else is not known.
//!
//! Only what a hider of commands uses is computed: joining, splitting, replacing, formatting, turning codes into letters.
//! Everything else yields an unknown value, and a command made of one is opaque.

use super::value::{ObjectKind, PowerShellValue, parse_number};
use super::{encoded, temporary};
use crate::lists::code::powershell::CONTAINERS;
use crate::shape::{Shape, TextKind};

/// Applies an operator between two values. The name is in lower case and has no dash.
pub(super) fn binary(name: &str, left: PowerShellValue, right: PowerShellValue) -> PowerShellValue {
    let name = name.strip_prefix(['c', 'i']).filter(|bare| is_cased(bare)).unwrap_or(name);
    match name {
        "+" => left.plus(right),
        "*" => left.times(&right),
        "-" => arithmetic(&left, &right, i64::checked_sub),
        "/" => arithmetic(&left, &right, whole_quotient),
        "%" => arithmetic(&left, &right, i64::checked_rem),
        "bxor" => arithmetic(&left, &right, |one, other| Some(one ^ other)),
        "band" => arithmetic(&left, &right, |one, other| Some(one & other)),
        "bor" => arithmetic(&left, &right, |one, other| Some(one | other)),
        ".." => left.range(&right),
        "f" => format(&left, right.into_items()),
        "join" => join(left.into_items(), &right),
        "split" => split(&left, &right),
        "replace" => replace(&left, &right),
        _ => PowerShellValue::unknown(),
    }
}

/// Says whether an operator heeds the case of letters: `-creplace`.
fn is_cased(name: &str) -> bool {
    matches!(name, "replace" | "split")
}

/// Computes with whole numbers; what does not fit or divide is unknown.
fn arithmetic(
    left: &PowerShellValue,
    right: &PowerShellValue,
    compute: fn(i64, i64) -> Option<i64>,
) -> PowerShellValue {
    match (left.number(), right.number()) {
        (Some(left), Some(right)) => {
            compute(left, right).map_or_else(PowerShellValue::unknown, PowerShellValue::Number)
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Divides if nothing is left over: PowerShell would yield a fraction.
fn whole_quotient(left: i64, right: i64) -> Option<i64> {
    let rest = left.checked_rem(right)?;
    if rest == 0 { left.checked_div(right) } else { None }
}

/// Applies an operator before a value.
pub(super) fn unary(name: &str, operand: PowerShellValue) -> PowerShellValue {
    match name {
        "join" => join(operand.into_items(), &PowerShellValue::text("")),
        "split" => match operand.known_text() {
            Some(text) => PowerShellValue::List(text.split_whitespace().map(PowerShellValue::text).collect()),
            None => PowerShellValue::unknown(),
        },
        "-" => match operand {
            PowerShellValue::Number(number) => {
                number.checked_neg().map_or_else(PowerShellValue::unknown, PowerShellValue::Number)
            }
            _ => PowerShellValue::unknown(),
        },
        "+" => operand,
        "," => PowerShellValue::List(vec![operand]),
        _ => PowerShellValue::unknown(),
    }
}

/// Casts a value to a type, by the type's canonical name.
pub(super) fn cast(type_name: &str, operand: PowerShellValue) -> PowerShellValue {
    match type_name {
        "char" | "char[]" | "system.char" | "system.char[]" => operand.to_character(),
        "string" | "system.string" => match operand.known_text() {
            Some(text) if operand.is_decoded() => PowerShellValue::Decoded(text),
            Some(text) => PowerShellValue::Text(text),
            None => operand,
        },
        "int" | "int32" | "int64" | "long" | "byte" | "system.int32" | "uint32" => match &operand {
            PowerShellValue::Text(text) => {
                parse_number(text).map_or_else(PowerShellValue::unknown, PowerShellValue::Number)
            }
            PowerShellValue::Number(_) => operand,
            _ => PowerShellValue::unknown(),
        },
        "byte[]" | "int[]" | "object[]" | "array" | "string[]" => operand,
        "system.management.managementclass" => match operand.known_text() {
            Some(text) => PowerShellValue::Type(format!("wmi:{}", text.to_lowercase())),
            None => PowerShellValue::unknown(),
        },
        "xml" | "system.xml" | "system.xml.xmldocument" => PowerShellValue::Instance(ObjectKind::Document),
        "double" | "decimal" | "float" | "single" | "datetime" | "timespan" | "version" | "guid" | "bool"
        | "uint64" | "int16" | "uint16" | "short" | "bigint" | "semver" => PowerShellValue::Data,
        "system.management.automation.scriptblock" if operand == PowerShellValue::Block => operand,
        _ => PowerShellValue::unknown(),
    }
}

/// Calls a method, or reads a property if there are no arguments, as far as it is known what that yields.
pub(super) fn member(
    receiver: &PowerShellValue,
    name: &str,
    arguments: &[PowerShellValue],
) -> PowerShellValue {
    match receiver {
        PowerShellValue::Type(type_name) => static_member(type_name, name, arguments),
        PowerShellValue::Text(text) | PowerShellValue::Decoded(text) => {
            let result = text_member(text, name, arguments);
            match result {
                PowerShellValue::Text(text) if receiver.is_decoded() => PowerShellValue::Decoded(text),
                other => other,
            }
        }
        PowerShellValue::Found(found) if name == "tostring" && !found.is_file => receiver.clone(),
        PowerShellValue::Number(_) if name == "tostring" => {
            receiver.known_text().map_or_else(PowerShellValue::unknown, PowerShellValue::Text)
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Computes a member of a text.
fn text_member(text: &str, name: &str, arguments: &[PowerShellValue]) -> PowerShellValue {
    let first = arguments.first();
    let first_text = first.and_then(PowerShellValue::known_text);
    match (name, first_text) {
        ("tolower" | "tolowerinvariant", _) => PowerShellValue::Text(text.to_lowercase()),
        ("toupper" | "toupperinvariant", _) => PowerShellValue::Text(text.to_uppercase()),
        ("tostring" | "normalize" | "clone", _) => PowerShellValue::text(text),
        ("trim", None) => PowerShellValue::text(text.trim()),
        ("trimstart", None) => PowerShellValue::text(text.trim_start()),
        ("trimend", None) => PowerShellValue::text(text.trim_end()),
        ("tochararray", _) => PowerShellValue::text(text).to_character(),
        ("trim" | "trimstart" | "trimend", Some(set)) => PowerShellValue::text(trimmed(text, name, &set)),
        ("replace", Some(old)) if !old.is_empty() => {
            match arguments.get(1).and_then(PowerShellValue::known_text) {
                Some(new) if text.len().saturating_mul(new.len() + 1) <= 1 << 20 => {
                    PowerShellValue::Text(text.replace(&old, &new))
                }
                _ => PowerShellValue::unknown(),
            }
        }
        ("split", Some(set)) => PowerShellValue::List(
            text.split(|letter| set.contains(letter)).map(PowerShellValue::text).collect(),
        ),
        ("substring", Some(_)) => substring(text, arguments),
        _ => PowerShellValue::unknown(),
    }
}

/// Drops letters at the ends of a text, by the name of the method.
fn trimmed<'t>(text: &'t str, name: &str, set: &str) -> &'t str {
    let is_in_set = |letter: char| set.contains(letter);
    match name {
        "trimstart" => text.trim_start_matches(is_in_set),
        "trimend" => text.trim_end_matches(is_in_set),
        _ => text.trim_matches(is_in_set),
    }
}

/// Cuts a text by numbers of letters.
fn substring(text: &str, arguments: &[PowerShellValue]) -> PowerShellValue {
    let place = |index: usize| {
        let number = arguments.get(index).and_then(PowerShellValue::number);
        number.and_then(|number| usize::try_from(number).ok())
    };
    let Some(start) = place(0) else { return PowerShellValue::unknown() };
    let letters = text.chars().skip(start);
    if arguments.len() < 2 {
        return PowerShellValue::Text(letters.collect());
    }
    place(1)
        .map_or_else(PowerShellValue::unknown, |length| PowerShellValue::Text(letters.take(length).collect()))
}

/// Computes a member of a type: conversions, decodings, joins.
fn static_member(type_name: &str, name: &str, arguments: &[PowerShellValue]) -> PowerShellValue {
    let first = arguments.first();
    match (type_name, name) {
        ("string" | "system.string", "join") => match (first, arguments.get(1..)) {
            (Some(separator), Some([list])) => join(list.clone().into_items(), separator),
            (Some(separator), Some(rest)) => join(rest.to_vec(), separator),
            _ => PowerShellValue::unknown(),
        },
        ("string" | "system.string", "concat") => join(arguments.to_vec(), &PowerShellValue::text("")),
        ("string" | "system.string", "format") => match arguments.split_first() {
            Some((pattern, rest)) => format(pattern, rest.to_vec()),
            None => PowerShellValue::unknown(),
        },
        ("char" | "system.char", "convertfromutf32") => {
            first.map_or_else(PowerShellValue::unknown, PowerShellValue::to_character)
        }
        ("system.management.automation.scriptblock", "create")
            if first.is_some_and(|text| !text.is_unknown()) =>
        {
            PowerShellValue::Block
        }
        ("system.convert", "frombase64string") => first
            .and_then(PowerShellValue::known_text)
            .and_then(|text| encoded::decode_base64(&text))
            .map_or_else(PowerShellValue::unknown, PowerShellValue::Bytes),
        ("system.convert", "toint32" | "toint16" | "tobyte") => to_integer(arguments),
        ("system.convert", "tochar") => {
            first.map_or_else(PowerShellValue::unknown, PowerShellValue::to_character)
        }
        ("system.text.encoding", "utf8" | "unicode" | "ascii" | "default" | "utf7" | "latin1") => {
            PowerShellValue::Type(format!("encoding.{name}"))
        }
        _ if name == "getstring" && type_name.starts_with("encoding.") => {
            first.map_or_else(PowerShellValue::unknown, |bytes| bytes.decoded_as(type_name))
        }
        _ if name == "new" && instance(type_name) != PowerShellValue::unknown() => instance(type_name),
        ("system.diagnostics.stopwatch", "startnew") => instance(type_name),
        ("system.io.path", "gettemppath") => PowerShellValue::Instance(ObjectKind::TemporaryFolder),
        ("system.io.path", "gettempfilename") => temporary::made_file(false),
        ("guid" | "system.guid", "newguid") | ("system.io.path", "getrandomfilename") => {
            PowerShellValue::found(Some(Shape::of(TextKind::Word)), false, true)
        }
        ("system.io.file", "readalltext" | "readalllines" | "readallbytes")
        | ("system.math" | "system.bitconverter", _) => PowerShellValue::Data,
        _ if name == "new" && is_encoding(type_name) => {
            PowerShellValue::Type(type_name.replace("encoding", ""))
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Returns a new object of a type that keeps values and does nothing else; anything else is not known.
pub(super) fn instance(type_name: &str) -> PowerShellValue {
    if CONTAINERS.contains(&type_name) {
        PowerShellValue::Instance(ObjectKind::Container)
    } else if matches!(type_name, "xml" | "system.xml.xmldocument") {
        PowerShellValue::Instance(ObjectKind::Document)
    } else {
        PowerShellValue::unknown()
    }
}

/// Says whether a type turns bytes into text.
fn is_encoding(type_name: &str) -> bool {
    type_name.starts_with("system.text.") && type_name.ends_with("encoding")
}

/// Reads a number in a base, as `[convert]::ToInt32('68', 16)` does.
fn to_integer(arguments: &[PowerShellValue]) -> PowerShellValue {
    let text = arguments.first().and_then(PowerShellValue::known_text);
    let radix =
        arguments.get(1).map_or(Some(10), |radix| radix.number().and_then(|radix| u32::try_from(radix).ok()));
    match (text, radix) {
        (Some(text), Some(radix @ (2 | 8 | 10 | 16))) => {
            let digits = if radix == 16 { text.trim_start_matches("0x") } else { &text };
            i64::from_str_radix(digits, radix)
                .map_or_else(|_| PowerShellValue::unknown(), PowerShellValue::Number)
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Joins items; one unknown item makes all of it unknown, and a decoded one makes it decoded.
fn join(items: Vec<PowerShellValue>, separator: &PowerShellValue) -> PowerShellValue {
    let Some(separator) = separator.known_text() else { return PowerShellValue::unknown() };
    let is_decoded = items.iter().any(PowerShellValue::is_decoded);
    let items: Vec<PowerShellValue> = items.into_iter().flat_map(PowerShellValue::into_items).collect();
    let texts: Option<Vec<String>> = items.iter().map(PowerShellValue::known_text).collect();
    match texts {
        // A separator longer than what it separates could make the result much longer than its source.
        Some(texts) if texts.len().saturating_mul(separator.len()) <= 1 << 16 => {
            let joined = texts.join(&separator);
            if is_decoded { PowerShellValue::Decoded(joined) } else { PowerShellValue::Text(joined) }
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Fills the places `{0}`, `{1}` of a pattern.
fn format(pattern: &PowerShellValue, items: Vec<PowerShellValue>) -> PowerShellValue {
    let Some(pattern) = pattern.known_text() else { return PowerShellValue::unknown() };
    let items: Vec<PowerShellValue> = items.into_iter().flat_map(PowerShellValue::into_items).collect();
    let texts: Vec<Option<String>> = items.iter().map(PowerShellValue::known_text).collect();
    let mut made = String::new();
    let mut rest = pattern.as_str();
    while let Some((before, after)) = rest.split_once(['{', '}']) {
        made.push_str(before);
        let brace = rest.get(before.len()..=before.len()).unwrap_or_default();
        if let Some(doubled) = after.strip_prefix(brace) {
            made.push_str(brace);
            rest = doubled;
            continue;
        }
        let Some((place, following)) = after.split_once('}') else { return PowerShellValue::unknown() };
        let index = place.trim().parse::<usize>().ok();
        let Some(Some(text)) = index.and_then(|index| texts.get(index)) else {
            return PowerShellValue::unknown();
        };
        made.push_str(text);
        if made.len() > 1 << 16 {
            return PowerShellValue::unknown();
        }
        rest = following;
    }
    made.push_str(rest);
    PowerShellValue::Text(made)
}

/// Splits by a plain separator; a pattern that means more is not computed.
fn split(left: &PowerShellValue, separator: &PowerShellValue) -> PowerShellValue {
    let (Some(text), Some(pattern)) = (left.known_text(), separator.known_text()) else {
        return PowerShellValue::unknown();
    };
    match literal_pattern(&pattern) {
        Some(separator) if !separator.is_empty() => {
            PowerShellValue::List(text.split(separator.as_str()).map(PowerShellValue::text).collect())
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Replaces plain text; a pattern that means more is not computed.
fn replace(left: &PowerShellValue, operands: &PowerShellValue) -> PowerShellValue {
    let (pattern, new) = match operands {
        PowerShellValue::List(items) => (items.first(), items.get(1).and_then(PowerShellValue::known_text)),
        other => (Some(other), Some(String::new())),
    };
    let pattern = pattern.and_then(PowerShellValue::known_text).and_then(|pattern| literal_pattern(&pattern));
    match (left.known_text(), pattern, new) {
        (Some(text), Some(old), Some(new)) if !old.is_empty() && !new.contains('$') => {
            replace_any_case(&text, &old, &new).map_or_else(PowerShellValue::unknown, PowerShellValue::Text)
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Replaces a text whatever its case; `None` if case folding is not simple.
fn replace_any_case(text: &str, old: &str, new: &str) -> Option<String> {
    let folded = text.to_ascii_lowercase();
    let wanted = old.to_ascii_lowercase();
    let mut made = String::new();
    let mut done = 0;
    for (place, _) in folded.match_indices(&wanted) {
        made.push_str(text.get(done..place)?);
        made.push_str(new);
        done = place + wanted.len();
        if made.len() > 1 << 16 {
            return None;
        }
    }
    made.push_str(text.get(done..)?);
    Some(made)
}

/// Returns the text a pattern matches, if it matches just one.
fn literal_pattern(pattern: &str) -> Option<String> {
    let mut literal = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => literal.push(letters.next().filter(|escaped| !escaped.is_alphanumeric())?),
            '.' | '*' | '+' | '?' | '[' | ']' | '(' | ')' | '{' | '}' | '|' | '^' | '$' => return None,
            other => literal.push(other),
        }
    }
    Some(literal)
}
