//! What a `$` begins.

use super::Quoting;
use crate::ast::WordPart;
use crate::cursor::Parser;
use crate::pieces::WordPieces;

impl Parser<'_> {
    /// An expansion, a `$'…'` or `$"…"`, or a plain dollar sign.
    pub(crate) fn dollar(&mut self, pieces: &mut WordPieces, quoting: Quoting) {
        match self.peek_at(1) {
            Some(b'(') if self.peek_at(2) == Some(b'(') => self.dollar_double_parenthesis(pieces),
            Some(b'(') => self.command_substitution(pieces),
            Some(b'{') => self.braced_parameter(pieces, quoting),
            Some(b'[') => self.bracket_arithmetic(pieces),
            Some(b'\'') if quoting == Quoting::Unquoted => self.ansi_quote(pieces),
            Some(b'"') if quoting == Quoting::Unquoted => self.double_quote(pieces, quoting),
            Some(b'"') if quoting == Quoting::Mixed => {
                // Bash removes the quote first: `"${x:-"$"(c)}"` runs `c`.
                self.fail(self.pos, "a dollar sign before a quote inside a quoted expansion");
            }
            Some(byte) if is_name_start(byte) => self.named_parameter(pieces),
            Some(b'$') if self.at_ambiguous_process_id(quoting) => {
                self.fail(self.pos, "`$$` before an opening bracket");
            }
            Some(byte) if byte.is_ascii_digit() || is_special_parameter(byte) => self.short_parameter(pieces),
            _ => self.literal_bytes(pieces, 1),
        }
    }

    /// Says whether a bracket follows `$$`. Some parts of bash then see an expansion in the second dollar sign.
    fn at_ambiguous_process_id(&mut self, quoting: Quoting) -> bool {
        match self.peek_at(2) {
            Some(b'(') => true,
            Some(b'{' | b'[') => quoting == Quoting::Mixed,
            _ => false,
        }
    }

    fn named_parameter(&mut self, pieces: &mut WordPieces) {
        let start = self.here();
        self.bump(1);
        let name = self.name();
        self.push_plain_parameter(pieces, start, name);
    }

    fn short_parameter(&mut self, pieces: &mut WordPieces) {
        let start = self.here();
        self.bump(1);
        let name = self.peek().map(char::from).map(String::from).unwrap_or_default();
        self.bump(1);
        self.push_plain_parameter(pieces, start, name);
    }

    fn push_plain_parameter(&mut self, pieces: &mut WordPieces, start: usize, name: String) {
        let span = self.source.span(start, self.pos);
        let part = WordPart::Parameter { span, name, plain: true, parts: Vec::new() };
        pieces.expansion(part, self.source.slice(start, self.pos));
    }

    /// A variable's name; possibly empty.
    pub(crate) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek().filter(|byte| is_name_byte(*byte)) {
            name.push(char::from(byte));
            self.advance_to(self.pos + 1);
        }
        name
    }
}

/// Says whether a name may begin with this byte.
pub(crate) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Says whether a name may hold this byte.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Says whether this is a special parameter such as `$?`.
pub(crate) fn is_special_parameter(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}
