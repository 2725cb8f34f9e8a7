//! Blanks, comments and newlines between tokens.

use crate::TokenKind;
use crate::cursor::Parser;

impl Parser<'_> {
    /// Skips blanks, line continuations and a comment.
    pub(crate) fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.advance_to(self.pos + 1);
        }
        self.flush(TokenKind::Blank);
        if self.raw(self.pos) == Some(b'#') {
            while self.raw(self.pos).is_some_and(|byte| byte != b'\n') {
                self.advance_to(self.pos + 1);
            }
            self.flush(TokenKind::Comment);
        }
    }

    /// Skips blanks, comments and newlines, reading the here-documents that wait for a newline.
    pub(crate) fn skip_lines(&mut self) {
        self.skip_space();
        while self.raw(self.pos) == Some(b'\n') {
            self.newline();
            self.skip_space();
        }
    }

    /// Takes a newline and the here-documents that wait for it.
    pub(crate) fn newline(&mut self) {
        self.advance_to(self.pos + 1);
        self.flush(TokenKind::Newline);
        self.read_heredocs();
    }
}

/// Says whether a byte ends an unquoted word, `<` and `>` aside.
pub(crate) fn is_break(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')')
}
