//! `[[ … ]]`.
//!
//! The tree keeps operands and operators as words in order; the grammar below only decides what is valid and which
//! word is a pattern or a regular expression.

use super::word::WordMode;
use crate::TokenKind;
use crate::ast::{CommandKind, Word};
use crate::cursor::Parser;
use crate::pieces::{WordPieces, WordRole};

const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

const BINARY: [&str; 13] =
    ["=", "==", "!=", "=~", "-nt", "-ot", "-ef", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Parser<'_> {
    /// `[[ … ]]`.
    pub(crate) fn conditional(&mut self) -> CommandKind {
        self.take_keyword(2);
        let mut words = Vec::new();
        self.condition(&mut words);
        if self.at_bare_word("]]") {
            self.bump(2);
            self.flush(TokenKind::Operator);
        } else {
            self.missing("]]");
        }
        CommandKind::Conditional(words)
    }

    /// Terms joined by `&&` and `||`.
    fn condition(&mut self, words: &mut Vec<Word>) {
        loop {
            self.term(words);
            self.skip_lines();
            if !self.looking_at(b"&&") && !self.looking_at(b"||") {
                break;
            }
            words.push(self.operator_word(2));
        }
    }

    fn term(&mut self, words: &mut Vec<Word>) {
        loop {
            self.skip_lines();
            if !self.at_bare_word("!") {
                break;
            }
            words.push(self.operator_word(1));
        }
        if self.peek() == Some(b'(') {
            self.enter();
            words.push(self.operator_word(1));
            self.condition(words);
            if self.peek() == Some(b')') {
                words.push(self.operator_word(1));
            } else {
                self.missing(")");
            }
            self.leave();
            return;
        }
        self.test(words);
    }

    /// `-f x`, `x`, or `x == y`.
    fn test(&mut self, words: &mut Vec<Word>) {
        let first = self.operand(WordMode::Ordinary);
        let unary = is_unary(&first);
        words.push(first);
        self.skip_space();
        if unary {
            words.push(self.operand(WordMode::Ordinary));
            return;
        }
        if matches!(self.peek(), Some(b'<' | b'>')) && self.peek_at(1) != Some(b'(') {
            words.push(self.operator_word(1));
            self.skip_space();
            words.push(self.operand(WordMode::Ordinary));
            return;
        }
        if self.at_bare_word("]]") || matches!(self.peek(), Some(b')' | b'&' | b'|')) {
            return;
        }
        let operator = self.operand(WordMode::Ordinary);
        if operator.traits.quoted || !BINARY.contains(&operator.text.as_str()) {
            self.fail(self.pos, "expected an operator of `[[`");
        }
        let mode = match operator.text.as_str() {
            "=" | "==" | "!=" => WordMode::Pattern,
            "=~" => WordMode::Regex,
            _ => WordMode::Ordinary,
        };
        words.push(operator);
        self.skip_space();
        words.push(self.operand(mode));
    }

    fn operand(&mut self, mode: WordMode) -> Word {
        if self.at_bare_word("]]") {
            self.unexpected();
        }
        match self.opt_word_in(mode) {
            Some(word) => word,
            None => self.required_word(),
        }
    }

    /// An operator as a word, so that the list of words reads like the text.
    fn operator_word(&mut self, width: usize) -> Word {
        let start = self.here();
        let mut pieces = WordPieces::default();
        self.literal_bytes(&mut pieces, width);
        self.flush(TokenKind::Operator);
        pieces.into_word(self.source.span(start, self.pos), WordRole::Argument)
    }
}

fn is_unary(word: &Word) -> bool {
    let mut letters = word.text.strip_prefix('-').unwrap_or_default().chars();
    let letter = letters.next();
    !word.traits.quoted && letters.next().is_none() && letter.is_some_and(|letter| UNARY.contains(letter))
}
