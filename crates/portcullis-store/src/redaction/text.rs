//! A text as bytes that can be asked about any place, and where words begin and end in it.
//!
//! Text that is looked at is often JSON that nobody has decoded. A line break is then a backslash and a letter, and both
//! kinds of break count here.

/// How long an escape sequence of a terminal is at most.
const LONGEST_COLOUR: usize = 12;

/// A text.
#[derive(Debug, Clone, Copy)]
pub(super) struct RedactedText<'a> {
    bytes: &'a [u8],
}

impl<'a> RedactedText<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes() }
    }

    pub(super) const fn len(self) -> usize {
        self.bytes.len()
    }

    /// Returns the byte at a place, and 0 after the end.
    pub(super) fn at(self, place: usize) -> u8 {
        self.bytes.get(place).copied().unwrap_or(0)
    }

    /// Returns the byte some places before a place, and 0 before the beginning.
    pub(super) fn before(self, place: usize, distance: usize) -> u8 {
        place.checked_sub(distance).map_or(0, |place| self.at(place))
    }

    /// Returns the part between two places.
    pub(super) fn part(self, start: usize, end: usize) -> &'a [u8] {
        self.bytes.get(start..end.min(self.len())).unwrap_or_default()
    }

    /// Says whether something stands at a place.
    pub(super) fn has(self, place: usize, what: &[u8]) -> bool {
        self.bytes.get(place..).is_some_and(|rest| rest.starts_with(what))
    }

    /// Returns where a run of certain bytes ends that begins at a place and has at most `most` of them.
    pub(super) fn run(self, place: usize, most: usize, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(place..).unwrap_or_default();
        place + rest.iter().take(most).take_while(|byte| belongs(**byte)).count()
    }

    /// Returns how long the white space or the escaped line break at a place is; 0 if there is none.
    pub(super) fn blank(self, place: usize) -> usize {
        match self.at(place) {
            b' ' | b'\t' | b'\n' | b'\r' => 1,
            b'\\' => self.escaped_blank(place),
            _ => 0,
        }
    }

    /// Returns how long the line break at a place is, escaped or not; 0 if there is none.
    pub(super) fn line_break(self, place: usize) -> usize {
        match self.at(place) {
            b'\n' | b'\r' => 1,
            b'\\' => match self.escaped_blank(place) {
                length if length > 0 && self.at(place + length - 1) != b't' => length,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Several backslashes are escapes that were escaped again.
    fn escaped_blank(self, place: usize) -> usize {
        let letter = self.run(place, 8, |byte| byte == b'\\');
        if matches!(self.at(letter), b'n' | b'r' | b't') { letter + 1 - place } else { 0 }
    }

    /// Returns the first place after spaces and tabs, of which only so many are expected.
    pub(super) fn after_spaces(self, place: usize) -> usize {
        self.run(place, 64, |byte| byte == b' ' || byte == b'\t')
    }

    /// Says whether a word may begin at a place: what stands before it is no letter or digit, or one of an escape.
    pub(super) fn is_start(self, place: usize) -> bool {
        let last = self.before(place, 1);
        !last.is_ascii_alphanumeric() || self.is_after_escape(place)
    }

    /// Says whether an escape sequence ends at a place: `\n`, `\u0020`, `%20` or a colour of a terminal.
    pub(super) fn is_after_escape(self, place: usize) -> bool {
        let last = self.before(place, 1);
        if matches!(last, b'n' | b'r' | b't' | b'b' | b'f') && self.before(place, 2) == b'\\' {
            return true;
        }
        if last.is_ascii_hexdigit() && self.before(place, 2).is_ascii_hexdigit() {
            let is_unicode = self.before(place, 6) == b'\\' && self.before(place, 5) == b'u';
            return is_unicode || self.before(place, 3) == b'%';
        }
        last == b'm' && self.is_after_colour(place - 1)
    }

    fn is_after_colour(self, place: usize) -> bool {
        let start = (1..LONGEST_COLOUR).map(|distance| self.before(place, distance));
        start.into_iter().find(|byte| !byte.is_ascii_digit() && *byte != b';') == Some(b'[')
    }
}

/// Says whether a byte is part of a key as most providers write them.
pub(super) const fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Says whether a byte ends a word wherever it stands: a quote or what separates commands.
pub(super) const fn is_stop(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b';' | b'&' | b'|' | b'<' | b'>' | 0)
}
