//! Regular expressions and replacements.

use super::dialect::{StringEscapes, StringHoles};
use super::quote::{OpenString, StringPurpose, closing};
use super::{CodeLexer, LexedStretch};
use crate::code::Language;
use crate::code::tree::{CodeItem, StringPiece};

impl CodeLexer {
    /// Lexes a regular expression, if the slash does not divide. A wrong guess would hide code in a pattern or the other way
    /// round, so that every doubt is reported.
    pub(super) fn lex_slash(&mut self) -> bool {
        if !self.begins_term() {
            if self.dialect.language != Language::Awk
                && matches!(self.last(), Some(CodeItem::Group('(' | '{', _)))
                && self.may_hide_a_quote()
            {
                self.report("has a slash that may begin a regular expression");
            }
            return false;
        }
        if let Some(CodeItem::Name(name)) = self.last()
            && !is_known_before_regex(name)
        {
            self.report("has a slash that may be a division");
        }
        let holes =
            if self.dialect.language == Language::Ruby { StringHoles::HashBrace } else { StringHoles::None };
        if self.dialect.language == Language::JavaScript || self.dialect.language == Language::Awk {
            self.lex_simple_regex();
        } else {
            self.begin(1, OpenString::new(StringPurpose::Regex, "/", StringEscapes::Raw, holes));
        }
        true
    }

    /// Says whether a quote stands before the end of the line, so that the guess matters.
    fn may_hide_a_quote(&self) -> bool {
        (1..200)
            .map_while(|ahead| self.peek(ahead))
            .take_while(|letter| *letter != '\n')
            .any(|letter| "'\"`".contains(letter))
    }

    /// Lexes a regular expression in which brackets hide the slash.
    fn lex_simple_regex(&mut self) {
        self.at += 1;
        let mut in_class = false;
        loop {
            match self.peek(0) {
                None | Some('\n') => {
                    self.report("ends inside a regular expression");
                    break;
                }
                Some('\\') => self.at += 1,
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                Some('/') if !in_class => break,
                Some(_) => {}
            }
            self.at += 1;
        }
        self.at = (self.at + 1).min(self.end);
        self.push(CodeItem::Regex(Vec::new()));
        self.skip_flags();
    }

    /// Steps over the flags of a regular expression and returns them.
    pub(super) fn skip_flags(&mut self) -> String {
        let mut flags = String::new();
        while let Some(letter) = self.peek(0).filter(char::is_ascii_alphabetic) {
            flags.push(letter);
            self.at += 1;
        }
        flags
    }

    /// Lexes both halves of `s/…/…/` and `tr/…/…/`; the second half is code if the flag says so.
    pub(super) fn lex_replacement(&mut self, open: char) {
        let mut last = (self.at, self.at);
        for half in 0..2 {
            if half == 1 && closing(open) != open {
                while self.peek(0).is_some_and(|letter| letter != open) {
                    self.at += 1;
                }
                self.at += 1;
            }
            let start = self.at;
            self.skip_delimited(open);
            last = (start, self.at.saturating_sub(1).max(start));
            self.check_regex(start, self.at);
        }
        let flags = self.skip_flags();
        let mut pieces = Vec::new();
        if flags.contains('e') {
            let group = self.new_group();
            self.parts.push(LexedStretch { start: last.0, end: last.1, group, string: None });
            pieces.push(StringPiece::Hole(group));
            if flags.matches('e').count() > 1 {
                self.report("evaluates what it replaces");
            }
        }
        let is_in_place = !flags.contains('r');
        self.push(if is_in_place { CodeItem::Replacement(pieces) } else { CodeItem::Regex(pieces) });
    }

    fn skip_delimited(&mut self, open: char) {
        let close = closing(open);
        let mut depth = 0_usize;
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            if letter == '\\' {
                self.at += 1;
            } else if letter == close {
                if depth == 0 {
                    return;
                }
                depth -= 1;
            } else if letter == open {
                depth += 1;
            }
        }
        self.report("ends inside a regular expression");
    }

    /// Reports code inside a regular expression of Perl.
    fn check_regex(&mut self, start: usize, end: usize) {
        let body: String = self.letters.iter().take(end).skip(start).collect();
        if ["(?{", "(??{", "@{", "${"].iter().any(|code| body.contains(code)) {
            self.report("has code inside a regular expression");
        }
    }
}

/// Says whether a regular expression, not a division, follows this name.
fn is_known_before_regex(name: &str) -> bool {
    matches!(
        name,
        "return"
            | "typeof"
            | "case"
            | "in"
            | "of"
            | "throw"
            | "else"
            | "do"
            | "if"
            | "unless"
            | "while"
            | "until"
            | "when"
            | "and"
            | "or"
            | "not"
            | "elsif"
            | "split"
            | "grep"
            | "map"
            | "join"
            | "print"
            | "puts"
            | "then"
            | "printf"
    )
}
