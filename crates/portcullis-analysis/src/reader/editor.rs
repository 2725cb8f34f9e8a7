//! Editors that take commands as arguments.

use super::CommandContext;
use super::{certain, nameless};
use crate::act::Act;
use crate::profile::{Match, Use};

/// Options whose value is code of the editor.
const CODE: &[&str] = &["-c", "--cmd", "-S", "--eval", "-s", "--execute", "-l", "--load", "--funcall", "-f"];

/// Commands that only move or leave.
const HARMLESS: &[&str] =
    &["q", "q!", "qa", "qa!", "wq", "x", "w", "set nonumber", "set number", "syntax off"];

/// Adds the commands of an editor to the files it edits.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let values = found.wanted.options.iter().filter(|(option, _)| CODE.contains(option));
    let values = values.filter_map(|(_, value)| value.as_ref());
    let plus = context
        .invocation
        .operands()
        .iter()
        .filter(|word| word.text.starts_with('+') && !is_line(&word.text));
    let is_code = |text: &str| !HARMLESS.contains(&text.trim_start_matches([':', '+']));
    let codes: Vec<Use> = values
        .chain(plus)
        .filter(|word| is_code(&word.text))
        .map(|word| certain(Act::Unknown, word))
        .collect();
    uses.retain(|found| !found.word.as_ref().is_some_and(|word| word.text.starts_with('+')));
    uses.extend(codes);
    // It takes its commands from standard input, and without a person nothing else gives it any.
    let is_line_editor = matches!(context.invocation.program_name(), Some("ed" | "ex"));
    if is_line_editor {
        uses.push(nameless(Act::Unknown));
    }
    uses
}

fn is_line(text: &str) -> bool {
    text.chars().skip(1).all(|letter| letter.is_ascii_digit())
}
