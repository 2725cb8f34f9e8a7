//! Words: runs of literal text, quotes, expansions and glob characters.

use super::Quoting;
use super::enclosed::Enclosure;
use super::space::is_break;
use crate::TokenKind;
use crate::ast::Word;
use crate::cursor::Parser;
use crate::pieces::{WordPieces, WordRole};

/// Which characters are special in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordMode {
    /// An ordinary word.
    Ordinary,
    /// The pattern after `==` in `[[ … ]]`, where extended globs count.
    Pattern,
    /// The regular expression after `=~` in `[[ … ]]`, where parentheses and `|` are text.
    Regex,
}

impl Parser<'_> {
    /// An ordinary word, if one comes next.
    pub(crate) fn opt_word(&mut self) -> Option<Word> {
        self.opt_word_in(WordMode::Ordinary)
    }

    /// A word, if one comes next.
    pub(crate) fn opt_word_in(&mut self, mode: WordMode) -> Option<Word> {
        let start = self.here();
        let mut pieces = WordPieces::default();
        self.word_pieces(&mut pieces, mode);
        if self.pos == start {
            return None;
        }
        self.flush(TokenKind::Word);
        Some(pieces.into_word(self.source.span(start, self.pos), WordRole::Argument))
    }

    /// The value of an assignment, possibly empty.
    pub(crate) fn value_word(&mut self) -> Word {
        let start = self.here();
        let mut pieces = WordPieces::default();
        self.word_pieces(&mut pieces, WordMode::Ordinary);
        self.flush(TokenKind::Word);
        pieces.into_word(self.source.span(start, self.pos), WordRole::Value)
    }

    /// The pieces of a word up to the byte that ends it.
    pub(crate) fn word_pieces(&mut self, pieces: &mut WordPieces, mode: WordMode) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => self.single_quote(pieces),
                b'"' => self.double_quote(pieces, Quoting::Unquoted),
                b'`' => self.backquote(pieces, Quoting::Unquoted),
                b'\\' => self.escape(pieces),
                b'$' => self.dollar(pieces, Quoting::Unquoted),
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => self.process_substitution(pieces),
                b'<' | b'>' => break,
                b'(' if mode == WordMode::Regex => self.pattern_group(pieces, 1),
                b'|' if mode == WordMode::Regex => self.literal_bytes(pieces, 1),
                _ if is_break(byte) => break,
                b'?' | b'*' | b'+' | b'@' | b'!'
                    if mode == WordMode::Pattern && self.peek_at(1) == Some(b'(') =>
                {
                    self.pattern_group(pieces, 2);
                }
                b'*' | b'?' | b'[' => self.glob_byte(pieces),
                b'+' | b'@' | b'!' => self.literal_bytes(pieces, 1),
                _ => self.literal_run(pieces, |byte| stops(byte, mode)),
            }
        }
    }

    fn glob_byte(&mut self, pieces: &mut WordPieces) {
        let start = self.pos;
        self.advance_to(start + 1);
        let end = self.pos.min(start + 1);
        pieces.glob(self.source.span(start, end), self.source.slice(start, end));
    }

    /// `( … )` in a regular expression or extended glob, whose opening is `width` bytes long.
    fn pattern_group(&mut self, pieces: &mut WordPieces, width: usize) {
        let start = self.pos;
        self.enter();
        self.bump(width);
        let opened = self.pos;
        pieces.glob(self.source.span(start, opened), self.source.slice(start, opened));
        self.enclosed(pieces, Enclosure::GROUP);
        self.literal_bytes(pieces, 1);
        self.leave();
    }

    /// Adds the next `count` bytes, which are ASCII, as text.
    pub(crate) fn literal_bytes(&mut self, pieces: &mut WordPieces, count: usize) {
        for _ in 0..count {
            let start = self.here();
            self.bump(1);
            pieces.literal(self.source.span(start, self.pos), self.source.slice(start, self.pos));
        }
    }

    /// Adds the text up to a byte that `stops`, at least one character of it.
    pub(crate) fn literal_run(&mut self, pieces: &mut WordPieces, stops: impl Fn(u8) -> bool) {
        let start = self.here();
        let mut index = start;
        while self.raw(index).is_some_and(|byte| index == start || !stops(byte) && byte != b'\\') {
            index += 1;
            while self.raw(index).is_some_and(|byte| (0x80..0xc0).contains(&byte)) {
                index += 1;
            }
        }
        self.advance_to(index);
        let end = self.pos.min(index);
        pieces.literal(self.source.span(start, end), self.source.slice(start, end));
    }
}

fn stops(byte: u8, mode: WordMode) -> bool {
    is_break(byte)
        || matches!(byte, b'\'' | b'"' | b'`' | b'\\' | b'$' | b'<' | b'>' | b'*' | b'?' | b'[')
        || mode == WordMode::Pattern && matches!(byte, b'+' | b'@' | b'!')
}
