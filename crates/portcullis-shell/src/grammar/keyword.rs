//! Reserved words, which count only where a command may begin.

use super::space::is_break;
use crate::TokenKind;
use crate::cursor::Parser;

const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

const LONGEST: usize = "function".len();

impl Parser<'_> {
    /// Returns the reserved word that comes next, without taking it.
    pub(crate) fn keyword(&mut self) -> Option<&'static str> {
        if self.context.after_word {
            return None;
        }
        let first = self.peek()?;
        if !matches!(first, b'a'..=b'z' | b'!' | b'[' | b']' | b'{' | b'}') {
            return None;
        }
        let mut candidate = [0_u8; LONGEST];
        let length = self.bare_word(&mut candidate)?;
        let candidate = candidate.get(..length)?;
        RESERVED.into_iter().find(|word| word.as_bytes() == candidate)
    }

    /// Says whether the reserved word `expected` comes next.
    pub(crate) fn at_keyword(&mut self, expected: &str) -> bool {
        self.keyword() == Some(expected)
    }

    /// Says whether the plain word `expected` comes next, reserved or not.
    pub(crate) fn at_bare_word(&mut self, expected: &str) -> bool {
        let mut candidate = [0_u8; LONGEST];
        let length = self.bare_word(&mut candidate);
        length.and_then(|length| candidate.get(..length)) == Some(expected.as_bytes())
    }

    /// Takes the word of `length` bytes that comes next as a reserved one, and the blanks after it.
    pub(crate) fn take_keyword(&mut self, length: usize) {
        self.bump(length);
        self.flush(TokenKind::Operator);
        self.skip_space();
    }

    /// Takes the reserved word `expected`, or fails.
    pub(crate) fn expect_keyword(&mut self, expected: &str) {
        if self.at_keyword(expected) {
            self.bump(expected.len());
            self.flush(TokenKind::Operator);
        } else {
            self.missing(expected);
        }
    }

    /// Fails because `expected` is not what comes next.
    pub(crate) fn missing(&mut self, expected: &str) {
        let at = self.here();
        self.fail(at, format!("expected `{expected}`"));
    }

    /// Copies the unquoted word that comes next, if it is a short one; returns its length.
    fn bare_word(&mut self, candidate: &mut [u8; LONGEST]) -> Option<usize> {
        let mut length = 0;
        let mut index = self.here();
        while let Some(byte) = self.raw(index) {
            self.charge(1);
            match byte {
                b'<' | b'>' => {
                    let after = self.after_continuations(index + 1);
                    if self.raw(after) == Some(b'(') {
                        return None;
                    }
                    break;
                }
                _ if is_break(byte) => break,
                b'\'' | b'"' | b'\\' | b'`' | b'$' => return None,
                _ => *candidate.get_mut(length)? = byte,
            }
            length += 1;
            index = self.after_continuations(index + 1);
        }
        (length > 0).then_some(length)
    }
}
