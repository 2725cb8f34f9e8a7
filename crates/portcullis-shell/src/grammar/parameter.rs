//! `${…}`: parameters with operators, and the command substitutions `${ …; }` and `${| …; }` of bash 5.3.

use super::Quoting;
use super::dollar::{is_name_start, is_special_parameter};
use super::enclosed::Enclosure;
use crate::ast::WordPart;
use crate::cursor::{CursorContext, Parser};
use crate::pieces::WordPieces;

impl Parser<'_> {
    /// `${…}` with the cursor on the `$`.
    pub(crate) fn braced_parameter(&mut self, pieces: &mut WordPieces, quoting: Quoting) {
        match self.peek_at(2) {
            Some(b' ' | b'\t' | b'\n' | b'|') => self.brace_substitution(pieces),
            Some(b'(') => self.fail(self.pos, "`${(` is not bash"),
            _ => self.parameter(pieces, quoting),
        }
    }

    fn parameter(&mut self, pieces: &mut WordPieces, quoting: Quoting) {
        let start = self.here();
        self.enter();
        self.bump(2);
        let prefixed = self.parameter_prefix();
        let name = self.parameter_name();
        let plain = !prefixed && !name.is_empty() && self.peek() == Some(b'}');
        let mut inner = WordPieces::default();
        let quoting = if self.at_arithmetic_operator() { Quoting::Mixed } else { quoting };
        if self.peek() == Some(b'[') {
            self.parameter_subscript(&mut inner);
        }
        self.enclosed(&mut inner, Enclosure::braces(quoting));
        self.bump(1);
        self.leave();
        let span = self.source.span(start, self.pos);
        let part = WordPart::Parameter { span, name, plain, parts: inner.parts };
        pieces.expansion(part, self.source.slice(start, self.pos));
    }

    /// Says whether a subscript or an offset follows: arithmetic, in which quotes do not hide substitutions.
    fn at_arithmetic_operator(&mut self) -> bool {
        match self.peek() {
            Some(b'[') => true,
            Some(b':') => !matches!(self.peek_at(1), Some(b'-' | b'=' | b'+' | b'?')),
            _ => false,
        }
    }

    /// `[ … ]` after a name. Bash ends the expansion at a `}` in it when it reads the text, but not when it runs it.
    fn parameter_subscript(&mut self, pieces: &mut WordPieces) {
        self.literal_bytes(pieces, 1);
        self.enclosed(pieces, Enclosure::PARAMETER_SUBSCRIPT);
        self.literal_bytes(pieces, 1);
    }

    /// Takes the `#` of a length or the `!` of an indirection.
    fn parameter_prefix(&mut self) -> bool {
        if !matches!(self.peek(), Some(b'#' | b'!')) {
            return false;
        }
        let named = self
            .peek_at(1)
            .is_some_and(|byte| is_name_start(byte) || byte.is_ascii_digit() || is_special_parameter(byte));
        if named {
            self.bump(1);
        }
        named
    }

    fn parameter_name(&mut self) -> String {
        match self.peek() {
            // In `${$(` and its like the dollar sign begins an expansion.
            Some(b'$') if matches!(self.peek_at(1), Some(b'(' | b'{' | b'[' | b'\'' | b'"')) => String::new(),
            Some(byte) if is_special_parameter(byte) => {
                self.bump(1);
                String::from(char::from(byte))
            }
            Some(byte) if byte.is_ascii_digit() => {
                let mut digits = String::new();
                while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
                    digits.push(char::from(digit));
                    self.bump(1);
                }
                digits
            }
            _ => self.name(),
        }
    }

    /// `${ …; }` or `${| …; }`.
    fn brace_substitution(&mut self, pieces: &mut WordPieces) {
        let start = self.here();
        self.flush(crate::TokenKind::Word);
        self.enter();
        let width = if self.peek_at(2) == Some(b'|') { 3 } else { 2 };
        self.operator(width);
        let context = CursorContext { substitution: true, no_heredocs: true, ..CursorContext::default() };
        let outer = std::mem::replace(&mut self.context, context);
        let body = self.list();
        self.expect_keyword("}");
        self.context = outer;
        self.leave();
        let before_close = self.pos.saturating_sub(1);
        if self.source.slice(start, before_close).contains('}') {
            // Bash 5.2 ends it at the first brace, bash 5.3 after a whole command.
            self.fail(start, "a brace inside `${ …; }`");
        }
        let part = WordPart::Command { span: self.source.span(start, self.pos), body };
        pieces.expansion(part, self.source.slice(start, self.pos));
    }
}
