//! What an expression may stand for.

/// One thing an expression may stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodeValue {
    /// Something only known at run time.
    Unknown,
    /// A text.
    Text(String),
    /// A text of which some pieces are only known at run time.
    Partial(Vec<Option<String>>),
    /// A number, a truth or nothing.
    Plain(String),
    /// A list.
    List(Vec<CodeValue>),
    /// A list that is changed, so that each of these may be an element, in any place or in none.
    Mixed(Vec<CodeValue>),
    /// Something of a library, by its full name.
    Named(String),
    /// A value of a known kind, and the path or host it stands for.
    Kind(&'static str, Option<String>),
    /// A member of a value of a known kind; `?` if the kind is unknown.
    Member(&'static str, Option<String>, String),
    /// Text that was decoded from something written in the program.
    Decoded(String),
    /// A function or class of the program itself.
    Own,
}

impl CodeValue {
    /// Returns the pieces it adds to a longer text.
    pub(super) fn pieces(&self) -> Vec<Option<String>> {
        match self {
            Self::Text(text) | Self::Plain(text) => vec![Some(text.clone())],
            Self::Partial(pieces) => pieces.clone(),
            Self::Kind("name", _) => vec![Some(ANY_NAME.to_owned())],
            Self::Kind(_, Some(text)) => vec![Some(text.clone())],
            _ => vec![None],
        }
    }

    /// Returns the kind of foreign text it is, if it is some.
    pub(super) fn foreign(&self) -> Option<&'static str> {
        match self {
            Self::Kind(kind, _) | Self::Member(kind, ..)
                if matches!(*kind, "fetched" | "received" | "hidden") =>
            {
                Some(kind)
            }
            _ => None,
        }
    }
}

/// The kind of what comes out of a file of the project.
pub(super) const PROJECT: &str = "project";

/// The kind of what comes out of a package that no list speaks of.
pub(super) const PACKAGE: &str = "package";

/// Joins pieces to one value.
pub(super) fn joined(pieces: Vec<Option<String>>) -> CodeValue {
    let mut merged: Vec<Option<String>> = Vec::new();
    for piece in pieces {
        match (merged.last_mut(), piece) {
            (Some(Some(last)), Some(text)) => last.push_str(&text),
            (_, Some(text)) if text.is_empty() => {}
            (Some(None), None) => {}
            (_, piece) => merged.push(piece),
        }
    }
    match merged.as_slice() {
        [] => CodeValue::Text(String::new()),
        [Some(text)] => CodeValue::Text(text.clone()),
        [None] => CodeValue::Unknown,
        _ => CodeValue::Partial(merged),
    }
}

/// Stands in a path for the name of any file of a directory.
pub(super) const ANY_NAME: &str = "*";

/// Stands at the beginning of a path for the user's home directory.
pub(super) const HOME: &str = "~";

/// Variables that hold the user's home directory.
const HOMES: &[&str] = &["HOME", "USERPROFILE"];

/// Returns the value of an environment variable, if its name tells.
pub(super) fn variable(name: &CodeValue) -> Option<CodeValue> {
    match name {
        CodeValue::Text(name) | CodeValue::Named(name) if HOMES.contains(&name.as_str()) => {
            Some(CodeValue::Kind("path", Some(HOME.to_owned())))
        }
        _ => None,
    }
}

/// Returns what one of several names gets that an element is taken apart into: `for root, dirs, files in os.walk(top)`.
pub(super) fn element_part(value: &CodeValue, place: usize) -> CodeValue {
    match (value, place) {
        (CodeValue::Kind("tree", Some(top)), 0) => CodeValue::Kind("path", Some(format!("{top}/{ANY_NAME}"))),
        (CodeValue::Kind("tree", _), 1 | 2) => CodeValue::Kind("names", None),
        _ => CodeValue::Unknown,
    }
}

/// Says whether a name of Ruby is that of a constant, which is no call.
pub(super) fn is_constant(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.starts_with(char::is_uppercase))
}

/// Says whether something may be put into a value.
pub(super) fn may_grow(value: &CodeValue) -> bool {
    !matches!(
        value,
        CodeValue::Text(_)
            | CodeValue::Partial(_)
            | CodeValue::Plain(_)
            | CodeValue::Decoded(_)
            | CodeValue::Own
            | CodeValue::Named(_)
            | CodeValue::Kind("file" | "name" | "path" | "table", _)
    )
}

/// Returns what an element of a value may be.
pub(super) fn element(value: CodeValue) -> Vec<CodeValue> {
    match value {
        CodeValue::List(values) | CodeValue::Mixed(values) => values,
        CodeValue::Kind("entries" | "names", _) => vec![CodeValue::Kind("name", None)],
        CodeValue::Kind("found", pattern) => vec![CodeValue::Kind("path", pattern)],
        CodeValue::Kind(kind @ (PROJECT | PACKAGE), of)
        | CodeValue::Member(kind @ (PROJECT | PACKAGE), of, _) => {
            vec![CodeValue::Kind(kind, of)]
        }
        CodeValue::Kind(kind @ ("process" | "path" | "fetched" | "received" | "hidden"), _) => {
            vec![CodeValue::Kind(kind, None)]
        }
        _ => vec![CodeValue::Unknown],
    }
}

/// Fills the places of a template.
pub(super) fn fill(template: &str, mark: char, values: &[CodeValue]) -> CodeValue {
    let mut pieces = Vec::new();
    let mut values = values.iter();
    let mut letters = template.chars();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        if letter != mark {
            plain.push(letter);
            continue;
        }
        pieces.push(Some(std::mem::take(&mut plain)));
        let mut rest = letters.clone();
        let place: String = rest
            .by_ref()
            .take_while(|letter| if mark == '{' { *letter != '}' } else { !letter.is_alphabetic() })
            .collect();
        let is_plain = place.is_empty();
        pieces.extend(match values.next() {
            Some(value) if is_plain => value.pieces(),
            _ => vec![None],
        });
        letters = rest;
    }
    pieces.push(Some(plain));
    joined(pieces)
}

// Names that stand for something made of themselves: a function that goes down a directory calls itself with
// `join(directory, entry)`. While it is being found what a name stands for, it stands for a mark. Where nothing but names
// of entries is joined to the mark, the name stands for what else it is set to, and for what lies below that; anything
// else is unknown.

/// Stands on both sides of the name, and in no program.
const CIRCLE_SIGN: char = '\u{1}';

/// Returns what a name stands for while that is being found.
pub(super) fn circle_mark(name: &str) -> String {
    format!("{CIRCLE_SIGN}{name}{CIRCLE_SIGN}")
}

/// Says whether a text holds a mark.
pub(super) fn is_marked(text: &str) -> bool {
    text.contains(CIRCLE_SIGN)
}

/// Says whether a value holds the mark of a name that is still being found.
pub(super) fn is_open(value: &CodeValue) -> bool {
    holds(value, &CIRCLE_SIGN.to_string())
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
        CodeValue::List(values) | CodeValue::Mixed(values) => values.iter().any(|value| holds(value, sign)),
        CodeValue::Unknown | CodeValue::Own | CodeValue::Kind(_, None) | CodeValue::Member(_, None, _) => {
            false
        }
    }
}

/// Puts what a name stands for in the place of its mark.
pub(super) fn without_circle(values: Vec<CodeValue>, name: &str) -> Vec<CodeValue> {
    let mark = circle_mark(name);
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
