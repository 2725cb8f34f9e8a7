//! Code that hides in data: bash evaluates array subscripts inside arithmetic and variable names, so that
//! `x='a[$(cmd)]'; echo $((x))` runs `cmd`, and `${x@P}` expands a variable's text once more.

use portcullis_shell::ast::{Word, WordPart};

/// Texts without which nothing in a command line is evaluated as arithmetic or as a variable's name.
const EVALUATORS: &[&str] = &[
    "((",
    "$[",
    "let",
    "declare",
    "typeset",
    "local",
    "readonly",
    "export",
    "unset",
    "${",
    "[[",
    "test",
    "[",
    "printf",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
    "]=",
    "]+=",
    "=(",
];

/// What a word holds that a second evaluation would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HiddenCode {
    /// A substitution that quoting protects.
    Substitution,
    /// Such a substitution inside a subscript.
    Subscript,
}

/// Finds code in the protected text of a word.
pub(crate) fn find_hidden(word: &Word) -> Option<HiddenCode> {
    if !word.traits.quoted {
        return None;
    }
    let mut text = String::new();
    append_literals(&word.parts, &mut text);
    if !holds_substitution(&text) {
        return None;
    }
    let in_subscript = text.match_indices('[').any(|(at, _)| {
        let inside = text.get(at + 1..).unwrap_or_default();
        let inside = inside.rsplit_once(']').map_or(inside, |(inside, _)| inside);
        let before = text.get(..at).unwrap_or_default();
        before.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
            && holds_substitution(inside)
    });
    Some(if in_subscript { HiddenCode::Subscript } else { HiddenCode::Substitution })
}

/// Says whether a command line may evaluate what was found in one of its words.
pub(crate) fn may_run(hidden: HiddenCode, text: &str) -> bool {
    let evaluates_again = text.contains("@P}") || text.contains("@p}");
    match hidden {
        HiddenCode::Substitution => evaluates_again,
        HiddenCode::Subscript => {
            evaluates_again || EVALUATORS.iter().any(|evaluator| text.contains(evaluator))
        }
    }
}

fn holds_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${")
}

/// Appends what the parts say literally, expansions left out.
fn append_literals(parts: &[WordPart], text: &mut String) {
    for part in parts {
        match part {
            WordPart::Literal { text: literal, .. }
            | WordPart::Escaped { text: literal, .. }
            | WordPart::Single { text: literal, .. }
            | WordPart::AnsiC { text: literal, .. }
            | WordPart::Glob { text: literal, .. } => text.push_str(literal),
            WordPart::Double { parts, .. } => append_literals(parts, text),
            WordPart::Parameter { .. }
            | WordPart::Command { .. }
            | WordPart::Process { .. }
            | WordPart::Arithmetic { .. } => {}
        }
    }
}
