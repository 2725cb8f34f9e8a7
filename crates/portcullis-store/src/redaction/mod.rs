//! Blacks out secrets in any text or JSON: each becomes `[redacted:KIND]`, everything else stays byte for byte.
//!
//! Three things give a secret away: its own shape ([`shape`], [`custom`]), the name before it ([`label`], [`option`],
//! [`phrase`]) and the place it stands in ([`address`], [`block`], [`piped`]). What providers and programs have is data, in
//! [`forms`]. Each finder walks the text once and looks only a bounded way ahead, or steps
//! over what it has read, so that the time is linear whatever the text is.
//!
//! What is missed is printed, so a doubtful value goes when a name says what it is, and stays when only its look does: a
//! commit hash is not a key. What is blacked out is bounded too, because a command must not hide in a dump: a value
//! without quotes ends where a shell would end it.

mod address;
mod block;
mod custom;
mod forms;
mod json;
mod label;
mod name;
mod option;
mod phrase;
mod piped;
mod shape;
mod text;
mod value;

use std::borrow::Cow;

pub use custom::set_custom_forms;
pub use json::redact_json;
use text::RedactedText;

/// What stands before the kind.
pub(crate) const MARK: &str = "[redacted:";

/// How often a text is gone over: what is left after one round may show what a secret hid.
const ROUNDS: u32 = 4;

/// A part of the text that is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SecretSpan {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// Replaces every secret in a text with `[redacted:KIND]`. Doing it again changes nothing.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_moving(text, &mut [])
}

/// Does what [`redact`] does, and moves places of the text along. A place inside a secret becomes the end of what stands
/// there, except for the first one of two, which are taken for the ends of a part: that becomes its beginning.
pub(crate) fn redact_moving<'a>(text: &'a str, places: &mut [usize]) -> Cow<'a, str> {
    let mut redacted = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        let spans = find(&redacted);
        if spans.is_empty() {
            break;
        }
        for (index, place) in places.iter_mut().enumerate() {
            *place = moved(*place, &spans, index == 0);
        }
        redacted = Cow::Owned(replace(&redacted, &spans));
    }
    redacted
}

/// Returns where a place is after secrets were replaced.
fn moved(place: usize, spans: &[SecretSpan], is_start: bool) -> usize {
    let (mut removed, mut added) = (0, 0);
    for span in spans.iter().filter(|span| span.start < place) {
        let length = mark(span.kind).len();
        if place < span.end {
            let offset = if is_start { 0 } else { length };
            return span.start - removed + added + offset;
        }
        removed += span.end - span.start;
        added += length;
    }
    place - removed + added
}

/// Returns what stands in the place of a secret.
fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Finds the secrets of a text, in order and apart from each other.
fn find(text: &str) -> Vec<SecretSpan> {
    let view = RedactedText::new(text);
    let mut spans = Vec::new();
    // Of two that begin at the same place the first one found names the kind.
    block::find(view, &mut spans);
    shape::find(view, &mut spans);
    address::find(view, &mut spans);
    label::find(view, &mut spans);
    option::find(view, &mut spans);
    custom::find(view, &mut spans);
    for span in &mut spans {
        (span.start, span.end) = (text.floor_char_boundary(span.start), text.ceil_char_boundary(span.end));
    }
    spans.retain(|span| span.start < span.end);
    spans.sort_by_key(|span| span.start);
    let mut apart: Vec<SecretSpan> = Vec::with_capacity(spans.len());
    for span in spans {
        match apart.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => apart.push(span),
        }
    }
    apart
}

fn replace(text: &str, spans: &[SecretSpan]) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut kept_from = 0;
    for span in spans {
        // Spans begin and end between characters, so this is never `None`.
        replaced.push_str(text.get(kept_from..span.start).unwrap_or_default());
        replaced.push_str(&mark(span.kind));
        kept_from = span.end;
    }
    replaced.push_str(text.get(kept_from..).unwrap_or_default());
    replaced
}
