//! The words from which the keys of a wallet are made: a phrase of 12 to 24 small words behind a name that says so.

use super::SecretSpan;
use super::text::RedactedText;

/// How many words a phrase has.
const COUNTS: [usize; 5] = [12, 15, 18, 21, 24];

/// How much may stand between the name and the phrase.
const FARTHEST: usize = 24;

/// Last parts of names that a phrase follows.
const NAMES: [&str; 5] = ["mnemonic", "seed", "phrase", "seedwords", "words"];

/// Reads a phrase behind a name that ends at a place.
pub(super) fn read(text: RedactedText<'_>, name: &[u8], end: usize) -> Option<SecretSpan> {
    let is_named = |known: &str| {
        let tail = name.len().checked_sub(known.len()).and_then(|start| name.get(start..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(known.as_bytes()))
    };
    // Most names are told apart by their last letter.
    let last = name.last().map(u8::to_ascii_lowercase)?;
    if !matches!(last, b'c' | b'd' | b'e' | b's') || !NAMES.into_iter().any(is_named) {
        return None;
    }
    let start = text.run(end, FARTHEST, |byte| {
        matches!(byte, b' ' | b'\t' | b'=' | b':' | b'"' | b'\'' | b'\\' | b'(' | b'-' | b'`')
    });
    let after_is = if text.has(start, b"is ") { start + 3 } else { start };
    let start = text.run(after_is, FARTHEST, |byte| matches!(byte, b' ' | b':' | b'"' | b'\'' | b'\\'));
    let (mut place, mut count) = (start, 0);
    while count <= 24 {
        let word = text.run(place, 9, |byte| byte.is_ascii_lowercase());
        if !(place + 3..place + 9).contains(&word) {
            break;
        }
        count += 1;
        place = word;
        if text.at(word) != b' ' || !text.at(word + 1).is_ascii_lowercase() {
            break;
        }
        place += 1;
    }
    let is_whole = !text.at(place).is_ascii_alphanumeric() && text.before(place, 1) != b' ';
    (COUNTS.contains(&count) && is_whole).then_some(SecretSpan { start, end: place, kind: "mnemonic" })
}
