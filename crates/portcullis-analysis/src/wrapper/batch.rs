//! `xargs` and `parallel`, which make commands of what they read.

use super::forms::{PARALLEL, XARGS};
use super::search::unknown_piece;
use super::{Unwrapped, WrappedPart};
use crate::argument::Argument;

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
        let appended = may_append.then(|| Argument::unknown(last.span));
        let is_filled = |word: &Argument| marks.iter().any(|mark| word.text.contains(mark));
        let fill = |word: &Argument| if is_filled(word) { unknown_piece(word) } else { word.clone() };
        parts.push(WrappedPart::Command(words.iter().map(fill).chain(appended).collect()));
    }
    if is_open {
        parts.push(WrappedPart::Unknown("what comes before the wrapped command is only known at run time"));
    }
    (!parts.is_empty()).then(|| Unwrapped::changing(parts))
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
