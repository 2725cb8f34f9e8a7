//! What a simple command writes to its standard output, where that can be told.

use super::decode::{decoded, unescaped};
use super::listing::lines_of;
use crate::argument::Argument;
use crate::invocation::join;
use crate::standard_input::StandardInput;

/// More than this is not worked out.
const LONGEST: usize = 64 * 1024;

/// Returns what a command writes: what `cat` is given, the words of an `echo` or `printf`, what a decoder makes of its
/// input. The newline at the end may be missing.
pub(super) fn output_of(
    arguments: &[Argument],
    stdin: &StandardInput,
    place: Option<&str>,
    home: Option<&str>,
    is_posix: bool,
) -> StandardInput {
    let Some((program, operands)) = arguments.split_first() else {
        return StandardInput::Unknown;
    };
    let name = program.fixed().unwrap_or_default();
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|place| name.strip_prefix(place)).unwrap_or(name);
    match name {
        "cat" if operands.iter().all(|word| word.text == "-") => match stdin {
            StandardInput::Nothing => StandardInput::Unknown,
            stdin => stdin.clone(),
        },
        "echo" => echoed(operands, is_posix),
        "printf" => printed(operands, is_posix),
        "pwd" if operands.is_empty() && program.text == "pwd" => {
            place.map_or(StandardInput::Unknown, |place| StandardInput::Text(place.to_owned()))
        }
        name => decoded(name, operands, stdin)
            .or_else(|| lines_of(name, operands, stdin, place, home))
            .unwrap_or(StandardInput::Unknown),
    }
}

fn echoed(operands: &[Argument], is_posix: bool) -> StandardInput {
    let is_option = |word: &&Argument| {
        word.text.len() > 1
            && word.text.starts_with('-')
            && word.text.chars().skip(1).all(|letter| "neE".contains(letter))
    };
    let options: Vec<&Argument> = operands.iter().take_while(is_option).collect();
    let words = operands.get(options.len()..).unwrap_or_default();
    let text = join_all(words);
    let last = options.iter().flat_map(|word| word.text.chars()).rfind(|letter| "eE".contains(*letter));
    let is_fixed = operands.iter().all(|word| word.fixed().is_some());
    if !is_fixed || (is_posix && last.is_some()) {
        return StandardInput::Partly(text);
    }
    match (text.contains('\\'), last) {
        (false, _) => StandardInput::Text(text),
        (true, Some('e')) => escaped(text),
        // What becomes of a backslash depends on the shell and its settings.
        (true, _) => StandardInput::Partly(text),
    }
}

/// Joins words with blanks; an empty one counts.
fn join_all(words: &[Argument]) -> String {
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    words.join(" ")
}

fn escaped(text: String) -> StandardInput {
    match unescaped(&text, true) {
        Some((text, true)) => StandardInput::Decoded(text),
        Some((text, false)) => StandardInput::Text(text),
        None => StandardInput::Partly(text),
    }
}

/// A `printf` with no conversion but `%s` and `%%`.
fn printed(operands: &[Argument], is_posix: bool) -> StandardInput {
    let operands = match operands.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => operands,
    };
    let Some((format, values)) = operands.split_first().filter(|(format, _)| !format.is_option()) else {
        return StandardInput::Unknown;
    };
    let joined = join(values.iter().map(|word| word.text.as_str()));
    let shown = || StandardInput::Partly(format.text.replace("\\n", "\n").replace("%s", &joined));
    if joined.len().saturating_mul(1 + format.text.matches("%s").count()) > LONGEST {
        return StandardInput::Unknown;
    }
    // Not every shell knows the numbers of letters in this form.
    let is_unsure = is_posix && format.text.contains("\\x");
    if is_unsure || operands.iter().any(|word| word.fixed().is_none()) {
        return shown();
    }
    // A conversion must not be made by an escape, nor an escape by a conversion.
    let Some(pieces) = pieces(&format.text) else { return shown() };
    let places = pieces.iter().filter(|piece| piece.is_none()).count();
    let rounds = if places == 0 { 1 } else { values.len().div_ceil(places).max(1) };
    if rounds.saturating_mul(format.text.len()) > LONGEST {
        return StandardInput::Unknown;
    }
    let mut values = values.iter().map(|word| word.text.as_str());
    let (mut text, mut is_decoded) = (String::new(), false);
    for piece in (0..rounds).flat_map(|_| &pieces) {
        match piece {
            None => text.push_str(values.next().unwrap_or_default()),
            Some((literal, is_encoded)) => {
                text.push_str(literal);
                is_decoded |= is_encoded;
            }
        }
    }
    if is_decoded { StandardInput::Decoded(text) } else { StandardInput::Text(text) }
}

/// Splits a format into literal text, its escapes undone, and `None` for each `%s`.
fn pieces(format: &str) -> Option<Vec<Option<(String, bool)>>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        pieces.push(Some(unescaped(before, false)?));
        if let Some(after) = after.strip_prefix('s') {
            pieces.push(None);
            rest = after;
        } else {
            rest = after.strip_prefix('%')?;
            pieces.push(Some(("%".to_owned(), false)));
        }
    }
    pieces.push(Some(unescaped(rest, false)?));
    Some(pieces)
}
