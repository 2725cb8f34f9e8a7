//! A bracket expression of a gitignore pattern: `[a-z]`, `[!0-9]`, `[[:alpha:]_]`.

use super::gitignore::LetterCase;

/// A set of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ByteClass {
    members: Vec<(u8, u8)>,
    is_negated: bool,
}

impl ByteClass {
    /// Reads what follows the `[` and returns the class with what follows its `]`; `None` if it is malformed.
    pub(super) fn parse(text: &[u8], case: LetterCase) -> Option<(Self, &[u8])> {
        let (is_negated, mut rest) = match text {
            [b'!' | b'^', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let mut members = Vec::new();
        // What a following `-` would start a range from.
        let mut range_start = None;
        let mut is_first = true;
        loop {
            let (&byte, after) = rest.split_first()?;
            rest = match (byte, after) {
                (b']', _) if !is_first => return Some((Self { members, is_negated }, after)),
                (b'-', [next, ..]) if *next != b']' && range_start.is_some() => {
                    let (end, after_end) = unescaped(after)?;
                    members.push((range_start.take()?, end));
                    after_end
                }
                (b'[', [b':', name @ ..]) => {
                    let length = name.iter().position(|byte| *byte == b']')?;
                    range_start = None;
                    if let Some((b':', name_only)) = name.get(..length)?.split_last() {
                        members.extend(named(name_only, case)?);
                        name.get(length + 1..)?
                    } else {
                        members.push((b'[', b'['));
                        range_start = Some(b'[');
                        after
                    }
                }
                _ => {
                    let (single, after_single) = unescaped(rest)?;
                    members.push((single, single));
                    range_start = Some(single);
                    after_single
                }
            };
            is_first = false;
        }
    }

    /// Says whether a byte belongs to the class.
    pub(super) fn contains(&self, byte: u8) -> bool {
        self.members.iter().any(|(low, high)| (*low..=*high).contains(&byte)) != self.is_negated
    }
}

fn unescaped(text: &[u8]) -> Option<(u8, &[u8])> {
    match text {
        [b'\\', escaped, rest @ ..] => Some((*escaped, rest)),
        [b'\\'] | [] => None,
        [byte, rest @ ..] => Some((*byte, rest)),
    }
}

fn named(name: &[u8], case: LetterCase) -> Option<Vec<(u8, u8)>> {
    let ranges: &[(u8, u8)] = match name {
        b"upper" if case == LetterCase::Insensitive => &[(b'A', b'Z'), (b'a', b'z')],
        b"alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        b"alpha" => &[(b'A', b'Z'), (b'a', b'z')],
        b"blank" => &[(b' ', b' '), (b'\t', b'\t')],
        b"cntrl" => &[(0, 31), (127, 127)],
        b"digit" => &[(b'0', b'9')],
        b"graph" => &[(33, 126)],
        b"lower" => &[(b'a', b'z')],
        b"print" => &[(32, 126)],
        b"punct" => &[(33, 47), (58, 64), (91, 96), (123, 126)],
        // Git's own idea of space leaves out form feed and vertical tab.
        b"space" => &[(b' ', b' '), (b'\t', b'\n'), (b'\r', b'\r')],
        b"upper" => &[(b'A', b'Z')],
        b"xdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
        _ => return None,
    };
    Some(ranges.to_vec())
}
