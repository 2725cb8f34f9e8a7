//! Statements, keywords and blocks.
//!
//! Nothing here decides which way a script takes: every block is read once, in the order of the text. What a loop or a
//! function changes is forgotten rather than guessed.

use super::super::cursor::{is_dash, is_name, is_newline};
use super::super::value::PowerShellValue;
use super::PowerShellReader;

/// The keywords after which nothing means anything else than before, and that do not repeat without end.
const FLOW_KEYWORDS: &[&str] = &[
    "break", "catch", "continue", "else", "elseif", "exit", "finally", "for", "foreach", "if", "return",
    "switch", "throw", "try",
];

impl PowerShellReader<'_, '_> {
    /// Reads statements up to a closing bracket, or to the end; returns what they yield.
    pub(super) fn statements(&mut self, close: Option<char>) -> Vec<PowerShellValue> {
        let start = self.cursor.position();
        let mut outputs = Vec::new();
        loop {
            self.cursor.skip_trivia();
            match self.cursor.peek() {
                None => {
                    if close.is_some() {
                        self.opaque(start, "a bracket is not closed");
                    }
                    return outputs;
                }
                Some(';') => {
                    self.cursor.bump();
                }
                letter if letter == close => {
                    self.cursor.bump();
                    return outputs;
                }
                Some(_) => self.one_statement(&mut outputs),
            }
        }
    }

    fn one_statement(&mut self, outputs: &mut Vec<PowerShellValue>) {
        let start = self.cursor.position();
        outputs.extend(self.statement());
        if self.cursor.position() == start {
            self.cursor.bump();
            self.opaque(start, "it is not PowerShell as it is read here");
        }
    }

    /// Reads one statement; returns what it yields, if anything.
    pub(super) fn statement(&mut self) -> Option<PowerShellValue> {
        self.skip_label();
        let mut ahead = self.cursor;
        let word = ahead.take_while(is_name).to_lowercase();
        let ends =
            ahead.peek().is_none_or(|next| next.is_whitespace() || matches!(next, '(' | '{' | ';' | '}'));
        if !word.is_empty() && ends {
            let before = self.cursor;
            self.cursor = ahead;
            if self.keyword(&word) {
                self.collector.is_plain = false;
                if !FLOW_KEYWORDS.contains(&word.as_str()) {
                    self.collector.lose();
                }
                return Some(PowerShellValue::unknown());
            }
            self.cursor = before;
        }
        self.chain()
    }

    /// Skips the name of a loop: `:outer foreach`.
    fn skip_label(&mut self) {
        if self.cursor.peek() == Some(':') && self.cursor.peek_second().is_some_and(is_name) {
            self.collector.lose();
            self.cursor.bump();
            self.cursor.take_while(is_name);
            self.cursor.skip_trivia();
        }
    }

    /// Reads what follows a keyword; `false` if the word is none here.
    fn keyword(&mut self, word: &str) -> bool {
        match word {
            "if" | "elseif" | "while" | "until" => self.condition(),
            "switch" => self.switch(),
            "else" if self.is_before_keyword("if") => {}
            "else" | "do" | "try" | "finally" => self.block(),
            "begin" | "process" | "end" | "clean" | "dynamicparam" | "data" => {
                if !self.is_before('{') {
                    return false;
                }
                self.block();
            }
            "catch" | "trap" => self.handler(),
            "for" => self.counted_loop(),
            "foreach" => return self.each_loop(),
            "function" | "filter" | "workflow" | "configuration" => self.definition(),
            "class" | "enum" => {
                let start = self.cursor.position();
                self.definition();
                self.opaque(start, "it defines a type");
            }
            "param" => return self.parameters(),
            "return" | "throw" | "exit" => {
                self.cursor.skip_blanks();
                if !self.is_at_statement_end() {
                    self.chain();
                }
            }
            "break" | "continue" => {
                self.cursor.skip_blanks();
                self.cursor.take_while(is_name);
            }
            _ => return false,
        }
        true
    }

    /// Says whether a bracket comes next, over blanks and lines.
    fn is_before(&mut self, bracket: char) -> bool {
        let mut ahead = self.cursor;
        ahead.skip_trivia();
        ahead.peek() == Some(bracket)
    }

    /// Says whether a word comes next, over blanks and lines.
    fn is_before_keyword(&self, word: &str) -> bool {
        let mut ahead = self.cursor;
        ahead.skip_trivia();
        ahead.take_while(is_name).eq_ignore_ascii_case(word)
    }

    /// Says whether a statement ends here.
    pub(super) fn is_at_statement_end(&self) -> bool {
        self.cursor
            .peek()
            .is_none_or(|letter| is_newline(letter) || matches!(letter, ';' | ')' | '}' | '|' | '&'))
    }

    /// Reads a condition in brackets, and the block after it. `do … while (…)` has no block.
    fn condition(&mut self) {
        self.bracketed();
        if self.is_before('{') {
            self.block();
        }
    }

    /// Reads statements in round brackets.
    fn bracketed(&mut self) {
        let start = self.cursor.position();
        self.cursor.skip_trivia();
        if self.cursor.peek() != Some('(') {
            self.opaque(start, "a keyword has no condition in brackets");
            return;
        }
        if self.enter() {
            self.cursor.bump();
            self.statements(Some(')'));
            self.collector.leave();
        }
    }

    /// Reads `switch`, whose options may name a file that is read.
    fn switch(&mut self) {
        self.cursor.skip_trivia();
        while self.cursor.peek().is_some_and(is_dash) {
            self.argument();
            self.cursor.skip_blanks();
            if !matches!(self.cursor.peek(), Some('(' | '{')) && !self.cursor.peek().is_some_and(is_dash) {
                self.argument();
                self.cursor.skip_blanks();
                break;
            }
        }
        if self.is_before('(') {
            self.bracketed();
        }
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        if self.cursor.peek() != Some('{') {
            self.opaque(start, "a keyword has no block");
        } else if self.enter() {
            self.cursor.bump();
            self.cases(start);
            self.collector.leave();
        }
    }

    /// Reads the cases of a `switch`; which of them fits is not decided. What is not understood is stepped over letter by
    /// letter, so that it always ends.
    fn cases(&mut self, start: usize) {
        loop {
            self.cursor.skip_trivia();
            let before = self.cursor.position();
            match self.cursor.peek() {
                None => {
                    self.opaque(start, "a bracket is not closed");
                    return;
                }
                Some('}') => {
                    self.cursor.bump();
                    return;
                }
                Some('{') => self.block(),
                Some(';') => {
                    self.cursor.bump();
                }
                Some(_) => {
                    self.argument();
                }
            }
            if self.cursor.position() == before {
                self.cursor.bump();
                self.opaque(before, "it is not PowerShell as it is read here");
            }
        }
    }

    /// Reads the types a handler is for, and its block.
    fn handler(&mut self) {
        loop {
            self.cursor.skip_trivia();
            if self.cursor.peek() == Some('[') {
                self.type_literal();
            } else if !self.cursor.eat(',') {
                break;
            }
        }
        self.block();
    }

    /// Reads `for (…; …; …) { … }`.
    fn counted_loop(&mut self) {
        self.bracketed();
        self.block();
    }

    /// Reads `foreach ($name in …) { … }`, whose variable never has one value. `foreach` without brackets is a command.
    fn each_loop(&mut self) -> bool {
        self.cursor.skip_trivia();
        while self.cursor.peek().is_some_and(is_dash) {
            self.argument();
            self.cursor.skip_blanks();
        }
        if self.cursor.peek() != Some('(') {
            return false;
        }
        let mut ahead = self.cursor;
        ahead.bump();
        ahead.skip_trivia();
        if ahead.peek() == Some('$') {
            self.cursor = ahead;
            let (name, _) = self.variable_name();
            self.collector.scope.never_keep(name);
            self.cursor.skip_trivia();
            self.cursor.take_while(is_name);
            if self.enter() {
                self.statements(Some(')'));
                self.collector.leave();
            }
        } else {
            self.bracketed();
        }
        self.block();
        true
    }

    /// Reads the name, parameters and block of what is defined.
    fn definition(&mut self) {
        self.cursor.skip_blanks();
        self.cursor.take_while(|letter| !letter.is_whitespace() && !matches!(letter, '(' | '{' | ';'));
        self.cursor.skip_trivia();
        if self.cursor.peek() == Some('(') {
            self.parameters();
        }
        self.cursor.skip_trivia();
        self.cursor.take_while(|letter| !is_newline(letter) && !matches!(letter, '{' | ';'));
        self.block();
    }

    /// Reads a list of parameters. Their defaults are no constants: a caller may give others.
    fn parameters(&mut self) -> bool {
        self.cursor.skip_trivia();
        if self.cursor.peek() != Some('(') {
            return false;
        }
        let start = self.cursor.position();
        self.bracketed();
        self.forget_variables(start);
        true
    }

    /// Reads a block.
    pub(super) fn block(&mut self) {
        self.collector.is_plain = false;
        let start = self.cursor.position();
        self.cursor.skip_trivia();
        if self.cursor.peek() != Some('{') {
            self.opaque(start, "a keyword has no block");
            return;
        }
        if self.enter() {
            self.cursor.bump();
            self.statements(Some('}'));
            self.collector.leave();
        }
    }
}
