//! Private keys as blocks of text between `-----BEGIN … PRIVATE KEY-----` and its end, also where the end is missing.
//!
//! The block may be escaped, quoted line by line, numbered by a tool that shows files, or marked by a diff.

use super::SecretSpan;
use super::text::RedactedText;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// How many bytes of a key must stand in one piece. Less is talk about keys.
const LEAST: usize = 16;

/// What may stand in a block besides the key.
const HEADERS: &[&[u8]] = &[b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:", b"Charset:"];

/// Finds the blocks.
pub(super) fn find(text: RedactedText<'_>, spans: &mut Vec<SecretSpan>) {
    let mut place = 0;
    while place < text.len() {
        if text.at(place) != b'-' || !text.has(place, BEGIN) {
            place += 1;
            continue;
        }
        let title_start = place + BEGIN.len();
        let title_end = text.run(title_start, 64, is_title);
        let title = text.part(title_start, title_end);
        let is_key = title.windows(11).any(|part| part == b"PRIVATE KEY") && text.has(title_end, DASHES);
        let end = if is_key { read(text, title_end + DASHES.len()) } else { None };
        if let Some(end) = end {
            spans.push(SecretSpan { start: place, end, kind: "private-key" });
        }
        place = end.unwrap_or(title_end);
    }
}

/// Reads lines as long as they can belong to a key. Returns where the block ends, if there was a key in it.
fn read(text: RedactedText<'_>, start: usize) -> Option<usize> {
    let (mut place, mut end, mut longest) = (start, start, 0);
    while place < text.len() {
        let line = read_line(text, place);
        longest = longest.max(line.longest);
        if let Some(end) = line.closed_at {
            return (longest >= LEAST).then_some(end);
        }
        if !line.is_key {
            // What is cut off in the middle of a line is still a key.
            end = end.max(line.end_of_key);
            break;
        }
        end = end.max(line.end_of_key);
        place = line.next;
    }
    (longest >= LEAST).then_some(end)
}

struct KeyLine {
    /// Whether all of it can belong to a key.
    is_key: bool,
    /// The length of the longest piece of a key.
    longest: usize,
    /// Where its last piece of a key ends, before anything that is none.
    end_of_key: usize,
    /// Where the block ends, if it does here.
    closed_at: Option<usize>,
    /// Where the next line begins.
    next: usize,
}

fn read_line(text: RedactedText<'_>, start: usize) -> KeyLine {
    let mut line = KeyLine { is_key: true, longest: 0, end_of_key: start, closed_at: None, next: start };
    let mut place = start;
    let (mut is_header, mut pieces) = (false, 0);
    while place < text.len() {
        let line_break = text.line_break(place);
        if line_break > 0 {
            place += line_break;
            break;
        }
        if text.has(place, END) {
            let title = text.run(place + END.len(), 64, is_title);
            if text.has(title, DASHES) {
                line.closed_at = Some(title + DASHES.len());
                return line;
            }
        }
        is_header = is_header || HEADERS.iter().any(|header| text.has(place, header));
        let piece = text.run(place, usize::MAX, is_base64);
        if piece > place {
            pieces += 1;
            line.longest = line.longest.max(piece - place);
            line.end_of_key = piece;
            place = piece;
        } else if is_header || is_frame(text.at(place)) {
            place += 1;
        } else {
            line.is_key = false;
            break;
        }
    }
    line.next = place;
    // A line of words is a key only if one of them is long: few may be a number and the last bytes of a key.
    if line.longest < LEAST && !is_header && (!line.is_key || pieces > 2) {
        line.is_key = false;
        line.end_of_key = start;
    }
    line
}

const fn is_title(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Says whether a byte may stand around the lines of a key. Those of characters beyond ASCII are arrows after a number.
const fn is_frame(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b',' | b'\\' | b'>' | b':') || byte >= 0x80
}
