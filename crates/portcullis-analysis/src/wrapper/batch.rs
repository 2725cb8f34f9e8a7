//! `xargs` and `parallel`, which make commands of what they read.

use super::forms::{PARALLEL, XARGS};
use super::layout::ArgumentReading;
use super::search::{marked, unknown_piece};
use super::{Unwrapped, WrappedPart};
use crate::argument::{Argument, Bound};
use crate::shape::{Shape, TextKind};

/// Finds the command of `xargs`, with a word nobody knows yet where its input goes.
pub(super) fn peel_xargs(rest: &[Argument]) -> Option<Unwrapped> {
    let readings = XARGS.readings(rest);
    let values: Vec<&Argument> =
        readings.iter().flat_map(|reading| reading.values_of(&["-I", "-J", "-i", "--replace"])).collect();
    let marks: Vec<&str> =
        values.iter().map(|mark| if mark.text.is_empty() { "{}" } else { mark.text.as_str() }).collect();
    // Of options that exclude each other the last one counts.
    let limits = &["-n", "-L", "-l", "--max-args", "--max-lines"];
    let may_append =
        marks.is_empty() || readings.iter().any(|reading| reading.values_of(limits).next().is_some());
    let is_open =
        readings.iter().any(|reading| reading.is_open) || values.iter().any(|mark| !mark.is_known());
    let mut parts: Vec<WrappedPart> = Vec::new();
    for words in readings.iter().map(|reading| &reading.words) {
        let Some(last) = words.last() else { continue };
        let bound = appended_by(&readings);
        let appended = may_append.then(|| Argument { bound: bound.clone(), ..Argument::unknown(last.span) });
        let mark_in = |word: &Argument| marks.iter().find(|mark| word.text.contains(**mark)).copied();
        let fill = |word: &Argument| match mark_in(word) {
            // Both may append and fill in, which only one of them does.
            Some(mark) if !may_append && marks.len() == 1 && bound.is_some() => marked(word, mark),
            Some(_) => unknown_piece(word),
            None => word.clone(),
        };
        parts.push(WrappedPart::Command(words.iter().map(fill).chain(appended).collect()));
    }
    if is_open {
        parts.push(WrappedPart::Unknown("what comes before the wrapped command is only known at run time"));
    }
    (!parts.is_empty()).then(|| Unwrapped::changing(parts))
}

/// Says what is appended: all words, or one at a time; `None` if another number.
fn appended_by(readings: &[ArgumentReading]) -> Option<Box<Bound>> {
    // A file to read from takes the place of the input.
    let odd = &["-s", "--max-chars", "-d", "--delimiter", "-E", "--eof", "-a", "--arg-file"];
    if readings.iter().any(|reading| reading.values_of(odd).next().is_some()) {
        return None;
    }
    let limits = &["-n", "-L", "-l", "--max-args", "--max-lines"];
    let mut found = readings.iter().flat_map(|reading| reading.values_of(limits));
    let shape = Shape::of(TextKind::Input);
    match found.next() {
        None => Some(Box::new(Bound { shape, is_many: true, may_be_empty: true })),
        Some(only) if only.text == "1" && found.all(|other| other.text == "1") => {
            Some(Box::new(Bound { shape, is_many: false, may_be_empty: true }))
        }
        Some(_) => None,
    }
}

/// Finds the command of `parallel`: shell text with places to fill in, or whole commands after `:::` or on its input.
pub(super) fn peel_parallel(rest: &[Argument]) -> Unwrapped {
    let readings = PARALLEL.readings(rest);
    if let [only] = readings.as_slice()
        && let Some(commands) = plain_commands(rest, only)
    {
        return Unwrapped::changing(commands.into_iter().map(WrappedPart::Command).collect());
    }
    let mut parts: Vec<WrappedPart> = Vec::new();
    if readings.iter().any(|reading| reading.is_open) {
        parts.push(WrappedPart::Unknown("what comes before the wrapped command is only known at run time"));
    }
    for words in readings.into_iter().map(|reading| reading.words) {
        let command: Vec<Argument> =
            words.iter().take_while(|word| !word.text.starts_with(":::")).cloned().collect();
        if let Some(first) = command.first() {
            let text = command.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let known =
                if command.iter().all(Argument::is_known) { first.clone() } else { unknown_piece(first) };
            parts.push(WrappedPart::Text(vec![known.piece(&filled(&text))]));
        } else if words.is_empty() {
            parts.push(WrappedPart::Input);
        } else {
            parts.extend(words.iter().skip(1).map(|word| WrappedPart::Text(vec![word.clone()])));
        }
    }
    Unwrapped::changing(parts)
}

/// Options of `parallel` that say how much is run at once and what is shown of it, and not what.
const SHOWING: &[&str] = &[
    "-j",
    "-P",
    "--jobs",
    "-k",
    "--keep-order",
    "--bar",
    "--eta",
    "--progress",
    "--tag",
    "--will-cite",
    "-v",
    "-t",
];

/// Letters by which a word is more than itself for the shell that runs the command.
const SPECIAL: &[char] = &[
    ' ', '\t', '\n', '$', '`', '\\', '"', '\'', ';', '&', '|', '<', '>', '(', ')', '*', '?', '[', '~', '#',
    '!',
];

/// Where something is put in.
const PLACE: &str = "{}";

/// So many words after `:::` are put in one by one.
const MOST_LISTED: usize = 64;

/// Returns the commands where each is plain words with what is read or listed put in as one of them; `None` where the text
/// is for a shell to read.
fn plain_commands(rest: &[Argument], reading: &ArgumentReading) -> Option<Vec<Vec<Argument>>> {
    let before = rest.get(..rest.len().checked_sub(reading.words.len())?)?;
    let at = reading.words.iter().position(|word| word.text.starts_with(":::"));
    let (command, listed) = reading.words.split_at_checked(at.unwrap_or(reading.words.len()))?;
    let (program, operands) = command.split_first()?;
    let is_program_plain = is_plain(program) && !program.text.contains(PLACE);
    if reading.is_open
        || !is_program_plain
        || !before.iter().all(is_showing)
        || !operands.iter().all(is_plain)
    {
        return None;
    }
    let is_placed = operands.iter().any(|word| word.text.contains(PLACE));
    let end = (!is_placed).then(|| program.piece(PLACE));
    let words: Vec<Argument> = command.iter().cloned().chain(end).collect();
    let Some((mark, values)) = listed.split_first() else {
        let mark =
            |word: &Argument| if word.text.contains(PLACE) { marked(word, PLACE) } else { word.clone() };
        return Some(vec![words.iter().map(mark).collect()]);
    };
    if mark.text != ":::" || values.len() > MOST_LISTED {
        return None;
    }
    let put = |word: &Argument, value: &Argument| match word.text.as_str() {
        PLACE => Some(value.clone()),
        text if !text.contains(PLACE) => Some(word.clone()),
        text => value.fixed().map(|value| word.piece(&text.replace(PLACE, value))),
    };
    let is_listed = |value: &Argument| value.is_known() && !value.text.starts_with(":::");
    let fill = |value: &Argument| -> Option<Vec<Argument>> {
        let filled = words.iter().map(|word| put(word, value));
        is_listed(value).then(|| filled.collect()).flatten()
    };
    values.iter().map(fill).collect()
}

/// Says whether a word before the command says how much is run at once, or what is shown.
fn is_showing(word: &Argument) -> bool {
    let number = word.text.trim_start_matches("-j").trim_start_matches("-P");
    SHOWING.contains(&word.text.as_str()) || number.bytes().all(|letter| letter.is_ascii_digit())
}

/// Says whether a word is the same to the shell that runs the command, but for what is put in.
fn is_plain(word: &Argument) -> bool {
    let around = word.text.replace(PLACE, "");
    let is_empty = word.text.is_empty();
    word.fixed().is_some() && !is_empty && !around.contains(SPECIAL) && !around.contains(['{', '='])
}

/// Writes an expansion in every place that is filled in, and at the end if there is none.
fn filled(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_filled = false;
    while let Some((before, after)) = rest.split_once('{') {
        result.push_str(before);
        let place = after.split_once('}').filter(|(part, _)| !part.contains([' ', '{', '\n']));
        if let Some((_, tail)) = place {
            result.push_str("$_");
            is_filled = true;
            rest = tail;
        } else {
            result.push('{');
            rest = after;
        }
    }
    result.push_str(rest);
    if !is_filled {
        result.push_str(" $_");
    }
    result
}
