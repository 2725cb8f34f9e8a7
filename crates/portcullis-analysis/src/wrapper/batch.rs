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
