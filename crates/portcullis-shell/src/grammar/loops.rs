//! `for` and `select`.

use super::enclosed::Enclosure;
use crate::ast::{CommandKind, List, Word};
use crate::cursor::Parser;
use crate::pieces::WordPieces;

impl Parser<'_> {
    /// `for … done`.
    pub(crate) fn for_clause(&mut self) -> CommandKind {
        self.take_keyword("for".len());
        if self.looking_at(b"((") { self.arithmetic_for() } else { self.word_loop() }
    }

    /// `select … done`.
    pub(crate) fn select_clause(&mut self) -> CommandKind {
        self.take_keyword("select".len());
        self.word_loop()
    }

    fn word_loop(&mut self) -> CommandKind {
        let variable = self.plain_name("a loop variable");
        self.skip_space();
        let mut terminated = false;
        let words = if self.peek() == Some(b';') {
            self.operator(1);
            terminated = true;
            None
        } else {
            terminated |= self.peek() == Some(b'\n');
            self.skip_lines();
            self.opt_in_words(&mut terminated)
        };
        self.skip_lines();
        let body = self.loop_body(terminated);
        CommandKind::For { variable, words, body }
    }

    /// The words after `in`, up to a `;` or newline.
    fn opt_in_words(&mut self, terminated: &mut bool) -> Option<Vec<Word>> {
        if !self.at_keyword("in") {
            return None;
        }
        self.take_keyword("in".len());
        let mut words = Vec::new();
        while let Some(word) = self.opt_word() {
            words.push(word);
            self.skip_space();
        }
        match self.peek() {
            Some(b';') => self.operator(1),
            Some(b'\n') => self.newline(),
            _ => self.unexpected(),
        }
        *terminated = true;
        Some(words)
    }

    /// `do … done`, or `{ … }` where bash takes that too.
    fn loop_body(&mut self, braces_fit: bool) -> List {
        if braces_fit && self.at_keyword("{") {
            self.take_keyword(1);
            let body = self.body();
            self.expect_keyword("}");
            return body;
        }
        self.expect_keyword("do");
        let body = self.body();
        self.expect_keyword("done");
        body
    }

    fn arithmetic_for(&mut self) -> CommandKind {
        let start = self.here();
        self.operator(2);
        let mut pieces = WordPieces::default();
        let outer = std::mem::replace(&mut self.context.no_heredocs, true);
        let semicolons = self.enclosed(&mut pieces, Enclosure::ARITHMETIC);
        self.context.no_heredocs = outer;
        if semicolons != 2 {
            self.fail(start, "expected three expressions after `for ((`");
        }
        self.flush(crate::TokenKind::Word);
        if self.looking_at(b"))") {
            self.operator(2);
        } else {
            self.missing("))");
        }
        self.skip_space();
        if self.peek() == Some(b';') {
            self.operator(1);
        }
        self.skip_lines();
        CommandKind::ArithmeticFor { header: pieces.parts, body: self.loop_body(true) }
    }

    /// A word without quotes or expansions, as names are here; `what` says which.
    pub(crate) fn plain_name(&mut self, what: &str) -> String {
        let start = self.here();
        match self.opt_word() {
            Some(word) if word.fixed().is_some() && !word.traits.quoted => word.text,
            Some(_) => {
                self.fail(start, format!("quotes or expansions in the name of {what}"));
                String::new()
            }
            None => {
                self.unexpected();
                String::new()
            }
        }
    }
}
