//! Skimming a record of Claude Code that has nothing to say: which record it is, without reading what a tool returned.
//!
//! Results of tools are most of a session file, and they come twice. They are skipped from quote to quote here, many
//! bytes at once. A line that is not plainly such a record is left to the reader that looks at everything.

use std::borrow::Cow;

use memchr::memchr;

use super::wire::ReferenceWire;

/// A record that holds nobody's words and no call.
#[derive(Debug, Default)]
pub(super) struct SkimmedRecord<'a> {
    pub(super) kind: &'a str,
    pub(super) uuid: Option<&'a str>,
    pub(super) parent: ReferenceWire<'a>,
    pub(super) is_sidechain: bool,
}

/// Skims a line. `None` if it has to be read.
pub(super) fn skim(line: &[u8]) -> Option<SkimmedRecord<'_>> {
    let mut reader = SkimReader { rest: line };
    let mut skimmed = SkimmedRecord::default();
    let mut seen = SeenNames::default();
    reader.take(b'{')?;
    loop {
        let name = reader.plain_text()?;
        reader.take(b':')?;
        match name {
            "type" => {
                once(&mut seen.kind)?;
                skimmed.kind = reader.plain_text()?;
            }
            "uuid" => {
                once(&mut seen.uuid)?;
                skimmed.uuid = Some(reader.plain_text()?);
            }
            "parentUuid" => {
                once(&mut seen.parent)?;
                skimmed.parent = match reader.word("null") {
                    Some(()) => ReferenceWire::None,
                    None => ReferenceWire::To(Cow::Borrowed(reader.plain_text()?)),
                };
            }
            "isSidechain" => {
                once(&mut seen.sidechain)?;
                skimmed.is_sidechain = match reader.word("true") {
                    Some(()) => true,
                    None => reader.word("false").map(|()| false)?,
                };
            }
            "toolUseResult" => {
                once(&mut seen.result)?;
                if reader.word("null").is_some() {
                    return None;
                }
                reader.skip()?;
            }
            "isCompactSummary" => return None,
            _ => reader.skip()?,
        }
        if reader.take(b',').is_none() {
            break;
        }
    }
    reader.take(b'}')?;
    let is_silent = match skimmed.kind {
        "user" => seen.result,
        "assistant" | "attachment" | "system" | "" => false,
        _ => true,
    };
    (is_silent && reader.rest.is_empty()).then_some(skimmed)
}

/// Which names came already.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each name that may come once")]
struct SeenNames {
    kind: bool,
    uuid: bool,
    parent: bool,
    sidechain: bool,
    result: bool,
}

/// Notes that a name came; `None` if it came before.
fn once(seen: &mut bool) -> Option<()> {
    (!std::mem::replace(seen, true)).then_some(())
}

struct SkimReader<'a> {
    rest: &'a [u8],
}

impl<'a> SkimReader<'a> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Takes one sign, and the white space around it.
    fn take(&mut self, sign: u8) -> Option<()> {
        self.blank();
        let (first, rest) = self.rest.split_first()?;
        if *first != sign {
            return None;
        }
        self.rest = rest;
        self.blank();
        Some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(word.as_bytes())?;
        Some(())
    }

    /// Takes a text without escapes.
    fn plain_text(&mut self) -> Option<&'a str> {
        let inner = self.rest.strip_prefix(b"\"")?;
        let end = memchr(b'"', inner)?;
        let (text, rest) = inner.split_at_checked(end)?;
        if memchr(b'\\', text).is_some() {
            return None;
        }
        self.rest = rest.get(1..)?;
        str::from_utf8(text).ok()
    }

    /// Passes over a value.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let (first, rest) = self.rest.split_first()?;
            match first {
                b'"' => {
                    self.rest = rest;
                    self.skip_text()?;
                    if depth == 0 {
                        return Some(());
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 0 => return Some(()),
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.rest = rest;
                        return Some(());
                    }
                }
                b',' if depth == 0 => return Some(()),
                _ => {}
            }
            self.rest = rest;
        }
    }

    /// Passes over the rest of a text whose opening quote was taken.
    fn skip_text(&mut self) -> Option<()> {
        loop {
            let end = memchr(b'"', self.rest)?;
            let (before, rest) = self.rest.split_at_checked(end)?;
            self.rest = rest.get(1..)?;
            let escapes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            if escapes % 2 == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"parentUuid":"a","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"say \"type\":\"assistant\" \\"}]},"uuid":"b","toolUseResult":{"stdout":"}]\"{","list":[1,{"x":null}]}}"#;

    #[test]
    fn the_result_of_a_tool_is_known_by_its_envelope() {
        let skimmed = skim(RESULT.as_bytes()).expect("a result");
        assert_eq!((skimmed.kind, skimmed.uuid, skimmed.is_sidechain), ("user", Some("b"), false));
        assert!(matches!(skimmed.parent, ReferenceWire::To(ref uuid) if uuid == "a"));
        let progress =
            skim(br#" { "type" : "progress" , "uuid" : "c" , "parentUuid" : null , "data" : [ ] } "#);
        assert!(matches!(progress.expect("no words").parent, ReferenceWire::None));
    }

    #[test]
    fn what_may_hold_words_or_calls_is_read() {
        for line in [
            r#"{"type":"user","uuid":"b","message":{"content":"hello"}}"#,
            r#"{"type":"user","uuid":"b","toolUseResult":null,"message":{"content":"hello"}}"#,
            r#"{"type":"assistant","uuid":"b","toolUseResult":{}}"#,
            r#"{"type":"user","isCompactSummary":true,"toolUseResult":{}}"#,
            r#"{"type":"user","type":"progress","toolUseResult":{}}"#,
            r#"{"ty\u0070e":"user","toolUseResult":{}}"#,
            r#"{"type":"user","uuid":"\u0062","toolUseResult":{}}"#,
            r#"{"type":"user","toolUseResult":{}} {}"#,
            r#"{"type":"user","toolUseResult":{}"#,
            r#"{"type":"user","toolUseResult":"x"#,
            r#"{"uuid":"b"}"#,
            r#"["type"]"#,
            "",
            "{",
            "{}",
            "null",
        ] {
            assert!(skim(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn every_beginning_of_a_line_is_refused() {
        for end in 0..RESULT.len() {
            assert!(skim(&RESULT.as_bytes()[..end]).is_none(), "{end}");
        }
    }
}
