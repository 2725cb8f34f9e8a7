//! The lines of a session file, and whose file it is.

use std::io::BufRead as _;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::TranscriptFormat;
use super::wire::{ObjectWire, PresentWire};

/// How much of a file counts, from its end.
pub(super) const LONGEST_FILE: usize = 8 << 20;

/// How long the first line of a cut file may be to be read nevertheless: it says whose session it is.
const LONGEST_HEAD: usize = 1 << 20;

/// How many lines are looked at to find out whose file it is.
const PROBED_LINES: usize = 64;

/// The part of a file that counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct TranscriptWindow<'a> {
    /// The first line of the file if it lies before the part that counts.
    pub(super) head: Option<&'a [u8]>,
    /// What counts, beginning with a whole line.
    pub(super) body: &'a [u8],
    /// Whether something lies before it.
    pub(super) is_cut: bool,
}

impl<'a> TranscriptWindow<'a> {
    /// Takes the end of a file.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let whole = Self { head: None, body: bytes, is_cut: false };
        let Some(start) = bytes.len().checked_sub(LONGEST_FILE).filter(|start| *start > 0) else {
            return whole;
        };
        let Some((before, after)) = bytes.split_at_checked(start) else {
            return whole;
        };
        let head = lines(before).next().filter(|line| line.len() <= LONGEST_HEAD);
        // The line that straddles the cut is not whole, unless the cut is at a line end.
        let body = if before.ends_with(b"\n") { after } else { after_first_line(after) };
        Self { head, body, is_cut: true }
    }

    /// Takes the first line of a file and its end, whose first line may be cut.
    pub(super) fn of_end(first_line: &'a [u8], end: &'a [u8]) -> Self {
        let head = lines(first_line).next().filter(|line| line.len() <= LONGEST_HEAD);
        let end = end.len().checked_sub(LONGEST_FILE).and_then(|start| end.get(start..)).unwrap_or(end);
        let is_whole = end.first() == Some(&b'{')
            && lines(end).next().is_some_and(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok());
        Self { head, body: if is_whole { end } else { after_first_line(end) }, is_cut: true }
    }
}

fn after_first_line(bytes: &[u8]) -> &[u8] {
    let mut after = bytes;
    // Reading from memory cannot fail.
    let length = after.skip_until(b'\n').unwrap_or(bytes.len());
    bytes.get(length..).unwrap_or_default()
}

/// Returns the lines that are not blank, without white space around them.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    let next = move || {
        let mut after = rest;
        // Reading from memory cannot fail. It finds line ends many bytes at once, which a plain search does not.
        let length = after.skip_until(b'\n').unwrap_or(rest.len());
        let line = rest.get(..length).filter(|line| !line.is_empty());
        rest = rest.get(length..).unwrap_or_default();
        line
    };
    std::iter::from_fn(next).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

/// The fields by which session files are told apart.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FormatProbe {
    #[serde(rename = "type")]
    kind: PresentWire,
    payload: PresentWire,
    uuid: PresentWire,
    #[serde(rename = "parentUuid")]
    parent: PresentWire,
    #[serde(rename = "leafUuid")]
    leaf: PresentWire,
    message: PresentWire,
    #[serde(rename = "sessionId")]
    session: PresentWire,
    #[serde(rename = "projectHash")]
    project: PresentWire,
    #[serde(rename = "$set")]
    set: PresentWire,
    #[serde(rename = "$rewindTo")]
    rewind: PresentWire,
    id: PresentWire,
    content: PresentWire,
    messages: PresentWire,
    user: PresentWire,
    notice: PresentWire,
    tool: PresentWire,
}

/// Says whose file it is; our own if nothing in it tells.
pub(super) fn detect(bytes: &[u8]) -> TranscriptFormat {
    if let Some(format) = lines(bytes).take(PROBED_LINES).find_map(tell) {
        return format;
    }
    // A document over several lines is the older form of Gemini CLI's files.
    let is_document = bytes.trim_ascii_start().starts_with(b"{")
        && lines(bytes)
            .next()
            .is_some_and(|line| serde_json::from_slice::<ObjectWire<FormatProbe>>(line).is_err());
    if is_document { TranscriptFormat::Gemini } else { TranscriptFormat::Plain }
}

/// Says whose record a line is, if it tells.
pub(super) fn tell(line: &[u8]) -> Option<TranscriptFormat> {
    let ObjectWire(probe) = serde_json::from_slice::<ObjectWire<FormatProbe>>(line).ok()?;
    format_of(&probe?)
}

fn format_of(probe: &FormatProbe) -> Option<TranscriptFormat> {
    let has = |field: PresentWire| field.0;
    if has(probe.kind) && has(probe.payload) {
        Some(TranscriptFormat::Codex)
    } else if has(probe.set)
        || has(probe.rewind)
        || has(probe.messages)
        || has(probe.session) && has(probe.project)
        || has(probe.kind) && has(probe.id) && has(probe.content)
    {
        Some(TranscriptFormat::Gemini)
    } else if has(probe.kind)
        && (has(probe.uuid)
            || has(probe.parent)
            || has(probe.leaf)
            || has(probe.message)
            || has(probe.session))
    {
        Some(TranscriptFormat::Claude)
    } else if has(probe.user) || has(probe.notice) || has(probe.tool) {
        Some(TranscriptFormat::Plain)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_first_telling_line() {
        for (text, format) in [
            (r#"{"type":"user","uuid":"a","message":{}}"#, TranscriptFormat::Claude),
            ("\n\nnoise\n[1]\n{\"type\":\"last-prompt\",\"sessionId\":\"s\"}", TranscriptFormat::Claude),
            (r#"{"type":"session_meta","payload":{}}"#, TranscriptFormat::Codex),
            (r#"{"sessionId":"s","projectHash":"p","kind":"main"}"#, TranscriptFormat::Gemini),
            (r#"{"$set":{}}"#, TranscriptFormat::Gemini),
            ("{\n  \"sessionId\": \"s\",\n  \"messages\": []\n}", TranscriptFormat::Gemini),
            (r#"{"user":"hello"}"#, TranscriptFormat::Plain),
            (r#"{"tool":"Bash","input":{}}"#, TranscriptFormat::Plain),
            ("", TranscriptFormat::Plain),
            ("\u{0}\u{1}", TranscriptFormat::Plain),
        ] {
            assert_eq!(detect(text.as_bytes()), format, "{text}");
        }
    }

    #[test]
    fn only_the_last_megabytes_count_and_begin_with_a_whole_line() {
        let line = format!("{{\"user\":\"{}\"}}\n", "x".repeat(1000));
        let file = format!("head\n{}", line.repeat(LONGEST_FILE / line.len() + 5));
        let window = TranscriptWindow::of(file.as_bytes());
        assert!(window.is_cut && window.body.len() <= LONGEST_FILE);
        assert_eq!(window.head, Some("head".as_bytes()));
        assert!(window.body.starts_with(b"{\"user\""));
        let small = TranscriptWindow::of(b"a\nb");
        assert!(!small.is_cut && small.head.is_none() && small.body == b"a\nb");
    }

    #[test]
    fn a_file_of_one_endless_line_has_nothing_that_counts() {
        let file = vec![b'x'; LONGEST_FILE + 10];
        let window = TranscriptWindow::of(&file);
        assert!(window.is_cut && window.body.is_empty());
    }
}
