//! Names that stand for something made of themselves: a function that goes down a directory calls itself with
//! `join(directory, entry)`.
//!
//! While it is being found what a name stands for, it stands for a mark. Where nothing but names of entries is joined to
//! the mark, the name stands for what else it is set to, and for what lies below that; anything else is unknown.

use super::value::{ANY_NAME, CodeValue};

/// Stands on both sides of the name, and in no program.
const SIGN: char = '\u{1}';

/// Returns what a name stands for while that is being found.
pub(super) fn mark(name: &str) -> String {
    format!("{SIGN}{name}{SIGN}")
}

/// Says whether a text holds a mark.
pub(super) fn is_marked(text: &str) -> bool {
    text.contains(SIGN)
}

/// Says whether a value holds the mark of a name that is still being found.
pub(super) fn is_open(value: &CodeValue) -> bool {
    holds(value, &SIGN.to_string())
}

fn holds(value: &CodeValue, sign: &str) -> bool {
    match value {
        CodeValue::Text(text)
        | CodeValue::Plain(text)
        | CodeValue::Named(text)
        | CodeValue::Decoded(text)
        | CodeValue::Kind(_, Some(text))
        | CodeValue::Member(_, Some(text), _) => text.contains(sign),
        CodeValue::Partial(pieces) => pieces.iter().flatten().any(|piece| piece.contains(sign)),
        CodeValue::List(values) => values.iter().any(|value| holds(value, sign)),
        CodeValue::Unknown | CodeValue::Own | CodeValue::Kind(_, None) | CodeValue::Member(_, None, _) => {
            false
        }
    }
}

/// Puts what a name stands for in the place of its mark.
pub(super) fn without(values: Vec<CodeValue>, name: &str) -> Vec<CodeValue> {
    let mark = mark(name);
    let (own, mut others): (Vec<_>, Vec<_>) = values.into_iter().partition(|value| holds(value, &mark));
    // Whether entries are joined to the name itself; `None` for anything else that is made of it.
    let below = own.iter().map(|value| match value {
        CodeValue::Text(text) | CodeValue::Kind("path", Some(text)) => {
            let rest = text.strip_prefix(mark.as_str())?;
            rest.chars().all(|letter| matches!(letter, '/' | '*')).then_some(!rest.is_empty())
        }
        _ => None,
    });
    let Some(below) = below.collect::<Option<Vec<bool>>>().filter(|_| own.is_empty() || !others.is_empty())
    else {
        others.push(CodeValue::Unknown);
        return others;
    };
    if below.contains(&true) {
        let entries: Vec<CodeValue> = others.iter().filter_map(entry_of).collect();
        others.extend(entries);
    }
    others
}

/// Returns any entry below a place.
fn entry_of(value: &CodeValue) -> Option<CodeValue> {
    match value {
        CodeValue::Text(top) => Some(CodeValue::Text(format!("{top}/{ANY_NAME}"))),
        CodeValue::Kind("path", Some(top)) => {
            Some(CodeValue::Kind("path", Some(format!("{top}/{ANY_NAME}"))))
        }
        _ => None,
    }
}
