//! Code that hides in data: bash evaluates array subscripts inside arithmetic and variable names, so that
//! `x='a[$(cmd)]'; echo $((x))` runs `cmd`.

use portcullis_shell::Span;

use crate::invocation::Invocation;

/// Texts without which nothing in a command line is evaluated as arithmetic or as a variable's name.
const EVALUATORS: &[&str] = &[
    "((",
    "$[",
    "let ",
    "declare",
    "typeset",
    "local ",
    "readonly",
    "export",
    "unset",
    "${",
    "[[",
    "test ",
    "[ ",
    "printf",
    "read ",
    "mapfile",
    "readarray",
    "getopts",
    "wait ",
];

/// Finds a fixed argument or value that would run a command if it were evaluated, in a text that may evaluate it.
pub(crate) fn find_hidden_code(text: &str, invocations: &[Invocation]) -> Option<Span> {
    if !text.contains('[') || !EVALUATORS.iter().any(|evaluator| text.contains(evaluator)) {
        return None;
    }
    invocations
        .iter()
        .flat_map(|invocation| {
            invocation.arguments.iter().chain(invocation.assignments.iter().map(|variable| &variable.value))
        })
        .find(|argument| argument.is_known() && is_subscript_with_code(&argument.text))
        .map(|argument| argument.span)
}

/// Says whether a text holds `name[` and later a substitution.
fn is_subscript_with_code(text: &str) -> bool {
    let Some((before, after)) = text.split_once('[') else {
        return false;
    };
    before.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
        && (after.contains("$(") || after.contains('`'))
}
