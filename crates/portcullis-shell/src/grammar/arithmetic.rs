//! `(( … ))`, `$(( … ))` and `$[ … ]`.
//!
//! Whether `((` opens arithmetic or two subshells is decided as bash decides it: by counting parentheses up to the
//! pair of the second one, which must be followed by another `)`. The count is made ahead and then checked against
//! the real parse; where the two disagree the text is refused.

use super::enclosed::Enclosure;
use crate::TokenKind;
use crate::ast::{CommandKind, WordPart};
use crate::cursor::Parser;
use crate::pieces::WordPieces;

/// What counting parentheses from a `((` on says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DoubleParenthesis {
    /// Arithmetic, whose closing pair begins here.
    Arithmetic(usize),
    /// Something else, in which the second parenthesis closes here.
    Commands(usize),
    /// The second parenthesis does not close.
    Open,
}

/// Whether a backslash protects the next byte in a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuoteEscapes {
    Counted,
    Ignored,
}

impl Parser<'_> {
    /// `(( … ))`, unless the parentheses are two subshells.
    pub(crate) fn opt_arithmetic_command(&mut self) -> Option<CommandKind> {
        let start = self.here();
        let close = match self.double_parenthesis(start + 1) {
            DoubleParenthesis::Arithmetic(close) => close,
            DoubleParenthesis::Commands(second) => {
                self.refuse_reread(start, second);
                return None;
            }
            DoubleParenthesis::Open => {
                self.fail(start, "expected `))`");
                return None;
            }
        };
        self.operator(2);
        let mut pieces = WordPieces::default();
        self.arithmetic_text(&mut pieces, close);
        self.flush(TokenKind::Word);
        self.operator(2);
        Some(CommandKind::Arithmetic(pieces.parts))
    }

    /// Fails for text that bash 5.2 may read differently the second time, after it has found that `((` opens subshells.
    fn refuse_reread(&mut self, start: usize, second: usize) {
        let text = self.source.slice(start, second);
        self.charge(text.len());
        if text.contains(['\n', '#']) || text.contains("<<") {
            self.fail(start, "a newline, comment or here-document in `((` that is not arithmetic");
        }
    }

    /// `$(( … ))` or, as bash has it, a command substitution that begins with a subshell.
    pub(crate) fn dollar_double_parenthesis(&mut self, pieces: &mut WordPieces) {
        let start = self.here();
        let dollar = self.after_continuations(start + 1);
        match self.double_parenthesis(dollar + 1) {
            DoubleParenthesis::Arithmetic(close) => self.arithmetic_expansion(pieces, start, close),
            DoubleParenthesis::Commands(second) => {
                let close = self.closing_parenthesis(second + 1);
                let outer = std::mem::replace(&mut self.context.no_heredocs, true);
                self.command_substitution(pieces);
                self.context.no_heredocs = outer;
                if close.is_none_or(|close| self.pos != close + 1) {
                    self.fail(start, "`$((` that is neither arithmetic nor a plain command substitution");
                }
            }
            DoubleParenthesis::Open => self.fail(start, "expected `))`"),
        }
    }

    fn arithmetic_expansion(&mut self, pieces: &mut WordPieces, start: usize, close: usize) {
        self.enter();
        self.bump(3);
        let mut inner = WordPieces::default();
        self.arithmetic_text(&mut inner, close);
        self.bump(2);
        self.leave();
        let part = WordPart::Arithmetic { span: self.source.span(start, self.pos), parts: inner.parts };
        pieces.expansion(part, self.source.slice(start, self.pos));
    }

    fn arithmetic_text(&mut self, pieces: &mut WordPieces, close: usize) {
        let start = self.pos;
        let outer = std::mem::replace(&mut self.context.no_heredocs, true);
        self.enclosed(pieces, Enclosure::ARITHMETIC);
        self.context.no_heredocs = outer;
        if self.pos != close || self.peek_at(1) != Some(b')') {
            self.fail(start, "arithmetic whose end is ambiguous");
        }
    }

    /// `$[ … ]`.
    pub(crate) fn bracket_arithmetic(&mut self, pieces: &mut WordPieces) {
        let start = self.here();
        self.enter();
        self.bump(2);
        let mut inner = WordPieces::default();
        let outer = std::mem::replace(&mut self.context.no_heredocs, true);
        self.enclosed(&mut inner, Enclosure::SUBSCRIPT);
        self.context.no_heredocs = outer;
        self.bump(1);
        self.leave();
        let part = WordPart::Arithmetic { span: self.source.span(start, self.pos), parts: inner.parts };
        pieces.expansion(part, self.source.slice(start, self.pos));
    }

    /// Decides what a `((` opens; `from` is just after its first parenthesis.
    fn double_parenthesis(&mut self, from: usize) -> DoubleParenthesis {
        let second = self.after_continuations(from);
        let Some(close) = self.closing_parenthesis(second + 1) else { return DoubleParenthesis::Open };
        let after = self.after_continuations(close + 1);
        if self.raw(after) == Some(b')') {
            DoubleParenthesis::Arithmetic(close)
        } else {
            DoubleParenthesis::Commands(close)
        }
    }

    /// Returns where the parenthesis closes that is open at `from`, quotes and nested pairs skipped.
    fn closing_parenthesis(&mut self, from: usize) -> Option<usize> {
        let mut index = from;
        let mut depth = 0_usize;
        loop {
            self.charge(1);
            match self.raw(index)? {
                b'(' => depth += 1,
                b')' if depth == 0 => return Some(index),
                b')' => depth -= 1,
                b'\\' => index += 1,
                b'$' if self.raw(index + 1) == Some(b'\'') => {
                    index = self.skip_quote(index + 1, QuoteEscapes::Counted);
                }
                b'\'' => index = self.skip_quote(index, QuoteEscapes::Ignored),
                b'"' | b'`' => index = self.skip_quote(index, QuoteEscapes::Counted),
                _ => {}
            }
            index += 1;
        }
    }

    /// Returns the index of the quote that closes the one at `index`, or of the end.
    fn skip_quote(&mut self, index: usize, escapes: QuoteEscapes) -> usize {
        let quote = self.raw(index);
        let mut index = index + 1;
        while let Some(byte) = self.raw(index) {
            self.charge(1);
            if Some(byte) == quote {
                return index;
            }
            index += if byte == b'\\' && escapes == QuoteEscapes::Counted { 2 } else { 1 };
        }
        index
    }
}
