//! Text between brackets of some kind: `${…}`, `$((…))`, `$[…]`, subscripts, and groups in patterns.
//!
//! Bash finds the closing bracket first and makes sense of the inside later, often as if it were double-quoted, so
//! single quotes hide brackets but not substitutions: `"${x:-'$(c)'}"` runs `c`. Text in such quotes is therefore read
//! twice, once for its end and once for its substitutions.

use super::Quoting;
use crate::cursor::Parser;
use crate::pieces::WordPieces;

/// What encloses a text, and how it is quoted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Enclosure {
    /// The bracket that opens a nested pair; none where the first closing bracket ends the text.
    open: Option<u8>,
    close: u8,
    quoting: Quoting,
    /// Whether `<(` is a comparison here. Elsewhere bash makes it a process substitution, though it looked for the
    /// end of the text as if it were not one.
    compares: bool,
    /// A byte that may not stand in the text, as bash would see its end there.
    forbidden: Option<u8>,
}

impl Enclosure {
    /// `(( … ))` and `$(( … ))`, up to the first parenthesis of the closing pair.
    pub(crate) const ARITHMETIC: Self =
        Self { open: Some(b'('), close: b')', quoting: Quoting::Mixed, compares: true, forbidden: None };
    /// `$[ … ]`, and the subscript of an assignment.
    pub(crate) const SUBSCRIPT: Self =
        Self { open: Some(b'['), close: b']', quoting: Quoting::Mixed, compares: false, forbidden: None };
    /// The subscript in `${name[ … ]}`.
    pub(crate) const PARAMETER_SUBSCRIPT: Self = Self { forbidden: Some(b'}'), ..Self::SUBSCRIPT };
    /// A group in a regular expression or an extended glob.
    pub(crate) const GROUP: Self =
        Self { open: Some(b'('), close: b')', quoting: Quoting::Unquoted, compares: false, forbidden: None };

    /// `${ … }` in text that is quoted so.
    pub(crate) fn braces(outer: Quoting) -> Self {
        Self { open: None, close: b'}', quoting: outer.inside(), compares: false, forbidden: None }
    }

    fn stops(self, byte: u8) -> bool {
        byte == self.close
            || Some(byte) == self.open
            || Some(byte) == self.forbidden
            || matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$' | b'<' | b'>' | b';')
    }
}

impl Parser<'_> {
    /// Reads up to the closing bracket, which is left; returns the number of `;` outside nested constructs.
    pub(crate) fn enclosed(&mut self, pieces: &mut WordPieces, enclosure: Enclosure) -> usize {
        let opened = self.pos;
        let mut depth = 0_usize;
        let mut semicolons = 0;
        loop {
            let Some(byte) = self.peek() else {
                let close = char::from(enclosure.close);
                self.fail(opened.min(self.pos), format!("expected `{close}`"));
                break;
            };
            if Some(byte) == enclosure.forbidden {
                self.fail(self.pos, format!("`{}` in a subscript", char::from(byte)));
                break;
            }
            if byte == enclosure.close {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            } else if Some(byte) == enclosure.open {
                depth += 1;
            } else if byte == b';' {
                semicolons += 1;
            } else {
                self.enclosed_piece(pieces, enclosure, byte);
                continue;
            }
            self.literal_bytes(pieces, 1);
        }
        semicolons
    }

    fn enclosed_piece(&mut self, pieces: &mut WordPieces, enclosure: Enclosure, byte: u8) {
        let quoting = enclosure.quoting;
        match byte {
            b'\\' => self.escape(pieces),
            b'\'' if quoting == Quoting::Unquoted => self.single_quote(pieces),
            b'\'' => self.transparent_quote(pieces),
            b'"' => self.double_quote(pieces, quoting),
            b'`' => self.backquote(pieces, quoting),
            b'$' if self.peek_at(1) == Some(b'\'') => self.enclosed_ansi_quote(pieces, quoting),
            b'$' => self.dollar(pieces, quoting),
            b'<' | b'>' if !enclosure.compares && self.peek_at(1) == Some(b'(') => {
                self.fail(self.pos, "a process substitution inside an expansion or a pattern");
            }
            b'<' | b'>' => self.literal_bytes(pieces, 1),
            _ => self.literal_run(pieces, |byte| enclosure.stops(byte)),
        }
    }

    /// `'…'` that hides brackets but not substitutions.
    fn transparent_quote(&mut self, pieces: &mut WordPieces) {
        let start = self.pos;
        let Some(close) = self.find_quote(start + 1) else {
            self.fail(start, "this quote is not closed");
            return;
        };
        self.literal_bytes(pieces, 1);
        let end = std::mem::replace(&mut self.end, close);
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.escape(pieces),
                b'`' => self.backquote(pieces, Quoting::Mixed),
                b'$' => self.dollar(pieces, Quoting::Mixed),
                _ => self.literal_run(pieces, |byte| matches!(byte, b'\\' | b'`' | b'$')),
            }
        }
        self.widen(end);
        self.literal_bytes(pieces, 1);
    }

    /// `$'…'`, which bash decodes before it reads the expansion around it.
    fn enclosed_ansi_quote(&mut self, pieces: &mut WordPieces, quoting: Quoting) {
        let start = self.pos;
        let before = pieces.text.len();
        self.ansi_quote(pieces);
        let decoded = pieces.text.get(before..).unwrap_or_default();
        if quoting != Quoting::Unquoted
            && decoded.contains(['$', '`', '\\', '"', '\'', '}', '(', ')', '[', ']'])
        {
            self.fail(start, "an escaped quote that is read again inside an expansion");
        }
    }
}
