//! Brackets, operators and comments.

use super::dialect::MARKS;
use super::{CodeLexer, DEPTH_LIMIT, LexerFrame};
use crate::code::Language;
use crate::code::tree::{CodeItem, WHOLE};

impl CodeLexer {
    /// Opens a bracket: its content is a group of its own.
    pub(super) fn open(&mut self, letter: char) {
        if self.stack.len() >= DEPTH_LIMIT {
            self.report("nests too deep");
            self.at = self.end;
            return;
        }
        let group = self.new_group();
        self.push(CodeItem::Group(letter, group));
        self.stack.push(LexerFrame::Bracket(letter, group));
        self.at += 1;
    }

    /// Closes a bracket, or the code inside a string, which then goes on. Brackets that do not match make everything after
    /// them doubtful.
    pub(super) fn close(&mut self, letter: char) {
        self.at += 1;
        match self.stack.last() {
            Some(LexerFrame::Bracket(open, _)) => {
                if !matches!((*open, letter), ('(', ')') | ('[', ']') | ('{', '}')) {
                    self.report("has brackets that do not match");
                }
                self.stack.pop();
                self.spaced = false;
            }
            Some(LexerFrame::Hole(..)) if letter == '}' => {
                if let Some(LexerFrame::Hole(_, string)) = self.stack.pop() {
                    self.continue_string(string);
                }
            }
            _ => self.report("has brackets that do not match"),
        }
    }

    /// Lexes an operator. A letter that no program has is reported and stepped over, so that the rest is still read.
    pub(super) fn lex_mark(&mut self, letter: char) {
        if letter == ':' && self.begins_format() {
            self.at += 1;
            self.lex_format();
            return;
        }
        // It joins lines in some languages and means nothing in others; either way lines are not what they seem.
        if letter == '\\' && self.dialect.language != Language::Perl && self.dialect.language != Language::Php
        {
            self.report("has a backslash outside of a string");
        }
        if self.dialect.language == Language::JavaScript && self.looking_at("<!--") {
            self.report("has a comment in the form of HTML");
        }
        if let Some(mark) = MARKS.iter().find(|mark| self.looking_at(mark)) {
            self.at += mark.len();
            self.push(CodeItem::Mark(mark));
        } else {
            self.report("has a letter that means nothing in it");
            self.at += 1;
        }
    }

    /// Skips a comment, if one begins here.
    pub(super) fn skip_comment(&mut self, letter: char) -> bool {
        let line_comment = match letter {
            '#' => self.dialect.has_hash_comments || self.at == 0,
            '/' if self.dialect.has_slash_comments => self.peek(1) == Some('/'),
            _ => false,
        };
        if line_comment && !(letter == '#' && self.is_php_attribute()) {
            self.note_comment();
            self.skip_to_line_end();
            return true;
        }
        if self.dialect.has_slash_comments && self.looking_at("/*") {
            self.skip_block_comment();
            return true;
        }
        letter == '=' && self.begins_line() && self.skip_pod()
    }

    /// Notes a comment before which nothing stands on its line, unless it stands in the code of a string.
    fn note_comment(&mut self) {
        let is_whole = matches!(self.stack.first(), Some(LexerFrame::Part(WHOLE)))
            && !self.stack.iter().any(|frame| matches!(frame, LexerFrame::Hole(..)));
        let mut before = self.letters.iter().take(self.at).rev().take_while(|letter| **letter != '\n');
        if is_whole && before.all(|letter| letter.is_whitespace()) {
            self.tree.comments.push(self.at);
        }
    }

    /// Says whether `#[` is an attribute and no comment.
    fn is_php_attribute(&self) -> bool {
        self.dialect.language == Language::Php && self.peek(1) == Some('[')
    }

    /// Skips the rest of a line; `?>` ends a comment of PHP and the code with it.
    fn skip_to_line_end(&mut self) {
        while self.peek(0).is_some_and(|letter| letter != '\n') {
            if self.dialect.language == Language::Php && self.looking_at("?>") {
                return;
            }
            self.at += 1;
        }
    }

    /// Skips `/* … */`.
    fn skip_block_comment(&mut self) {
        self.at += 2;
        while self.at < self.end && !self.looking_at("*/") {
            self.at += 1;
        }
        if self.at >= self.end {
            self.report("ends inside a comment");
        }
        self.at = (self.at + 2).min(self.end);
    }

    /// Skips `=begin … =end` of Ruby and the documentation of Perl.
    fn skip_pod(&mut self) -> bool {
        let closing = match self.dialect.language {
            Language::Ruby if self.looking_at("=begin") => "=end",
            Language::Perl if self.peek(1).is_some_and(char::is_alphabetic) => "=cut",
            _ => return false,
        };
        while self.at < self.end && !(self.begins_line() && self.looking_at(closing)) {
            self.at += 1;
        }
        self.skip_to_line_end();
        true
    }
}
