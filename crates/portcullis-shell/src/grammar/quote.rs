//! Backslashes, `'…'`, `$'…'` and `"…"`.

use super::Quoting;
use crate::ansi;
use crate::cursor::Parser;
use crate::pieces::WordPieces;

impl Parser<'_> {
    /// A backslash and the character it protects.
    pub(crate) fn escape(&mut self, pieces: &mut WordPieces) {
        let start = self.pos;
        let Some(character) = self.source.character(start + 1).filter(|_| start + 1 < self.end) else {
            self.fail(start, "a backslash ends the text");
            return;
        };
        let end = start + 1 + character.len_utf8();
        self.advance_to(end);
        pieces.escaped(self.source.span(start, end), self.source.slice(start + 1, end));
    }

    /// `'…'`.
    pub(crate) fn single_quote(&mut self, pieces: &mut WordPieces) {
        let start = self.pos;
        let Some(close) = self.find_quote(start + 1) else {
            self.fail(start, "this quote is not closed");
            return;
        };
        self.advance_to(close + 1);
        pieces.single(self.source.span(start, close + 1), self.source.slice(start + 1, close));
    }

    /// Returns where the next single quote stands.
    pub(crate) fn find_quote(&mut self, from: usize) -> Option<usize> {
        let mut index = from;
        while self.raw(index)? != b'\'' {
            self.charge(1);
            index += 1;
        }
        Some(index)
    }

    /// `$'…'`.
    pub(crate) fn ansi_quote(&mut self, pieces: &mut WordPieces) {
        let start = self.here();
        self.bump(2);
        let inside = self.pos;
        loop {
            match self.raw(self.pos) {
                None => return self.fail(start, "this quote is not closed"),
                Some(b'\'') => break,
                Some(b'\\') => self.advance_to(self.pos + 2),
                Some(_) => self.advance_to(self.pos + 1),
            }
        }
        let decoded = ansi::decode(self.source.slice(inside, self.pos));
        self.advance_to(self.pos + 1);
        match decoded {
            Some(text) => pieces.ansi(self.source.span(start, self.pos), text),
            None => self.fail(start, "an escape that does not stand for text"),
        }
    }

    /// `"…"` or `$"…"` in text that is quoted as `outer` says.
    pub(crate) fn double_quote(&mut self, pieces: &mut WordPieces, outer: Quoting) {
        let start = self.here();
        let quoting = if outer == Quoting::Unquoted { Quoting::Double } else { Quoting::Mixed };
        self.enter();
        let width = if self.peek() == Some(b'$') { 2 } else { 1 };
        self.bump(width);
        let mut inner = WordPieces::default();
        loop {
            match self.peek() {
                None => {
                    self.fail(start, "this quote is not closed");
                    break;
                }
                Some(b'"') => {
                    self.bump(1);
                    break;
                }
                Some(byte) => self.quoted_piece(&mut inner, quoting, byte),
            }
        }
        self.leave();
        pieces.double(self.source.span(start, self.pos), inner);
    }

    /// A piece of double-quoted text or of a here-document; `byte` is its first.
    pub(crate) fn quoted_piece(&mut self, pieces: &mut WordPieces, quoting: Quoting, byte: u8) {
        match byte {
            b'$' => self.dollar(pieces, quoting),
            b'`' => self.backquote(pieces, quoting),
            b'\\' => match self.raw(self.pos + 1) {
                Some(b'$' | b'`' | b'\\') => self.escape(pieces),
                Some(b'"') if quoting != Quoting::Heredoc => self.escape(pieces),
                None => self.fail(self.pos, "a backslash ends the text"),
                Some(_) => self.literal_bytes(pieces, 1),
            },
            b'"' => self.literal_bytes(pieces, 1),
            _ => self.literal_run(pieces, |byte| matches!(byte, b'$' | b'`' | b'\\' | b'"')),
        }
    }
}
