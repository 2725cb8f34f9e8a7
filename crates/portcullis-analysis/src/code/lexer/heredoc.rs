//! Heredocs of Ruby, Perl and PHP: the body begins on the next line and is lexed as a part of its own.

use super::dialect::{StringEscapes, StringHoles};
use super::quote::{OpenString, StringPurpose};
use super::{CodeLexer, LexedStretch};
use crate::code::Language;
use crate::code::tree::{CodeItem, StringPiece};

impl CodeLexer {
    /// Lexes the beginning of a heredoc and queues its body, if one begins here.
    pub(super) fn lex_heredoc(&mut self) -> bool {
        let is_php = self.dialect.language == Language::Php;
        let mark = if is_php { "<<<" } else { "<<" };
        if !self.looking_at(mark) {
            return false;
        }
        let mut length = mark.len();
        let may_indent = matches!(self.peek(length), Some('~' | '-'));
        if may_indent && !is_php {
            length += 1;
        }
        let quote = self.peek(length).filter(|letter| "'\"`".contains(*letter));
        let first = self.peek(length + usize::from(quote.is_some()));
        let begins = first.is_some_and(|letter| {
            letter.is_ascii_uppercase()
                || letter == '_'
                || (quote.is_some() || may_indent || is_php) && letter.is_alphabetic()
        });
        if !begins {
            return false;
        }
        self.at += length + usize::from(quote.is_some());
        let mut label = String::new();
        while let Some(letter) = self.peek(0).filter(|letter| letter.is_alphanumeric() || *letter == '_') {
            label.push(letter);
            self.at += 1;
        }
        self.at += usize::from(quote.is_some());
        self.queue_body(&label, quote, may_indent || is_php);
        true
    }

    fn queue_body(&mut self, label: &str, quote: Option<char>, may_indent: bool) {
        let start = self.body.unwrap_or_else(|| self.find_line_end(self.at));
        let (end, next) = self.find_terminator(start, label, may_indent);
        self.body = Some(next);
        let group = self.new_group();
        let interpolates = quote != Some('\'');
        let holes = if interpolates { self.dialect.double } else { StringHoles::None };
        let escapes = if interpolates { StringEscapes::All } else { StringEscapes::Raw };
        let string = OpenString::new(StringPurpose::Text, "", escapes, holes);
        self.parts.push(LexedStretch { start, end, group, string: Some(string) });
        let pieces = vec![StringPiece::Hole(group)];
        self.push(if quote == Some('`') { CodeItem::Shell(pieces) } else { CodeItem::Text(pieces) });
    }

    /// Returns where the line after this place begins.
    fn find_line_end(&self, from: usize) -> usize {
        let rest = self.letters.iter().take(self.end).skip(from);
        let length = rest.take_while(|letter| **letter != '\n').count();
        (from + length + 1).min(self.end)
    }

    /// Returns where the body ends and where the code goes on.
    fn find_terminator(&mut self, start: usize, label: &str, may_indent: bool) -> (usize, usize) {
        let mut line = start;
        while line < self.end {
            let next = self.find_line_end(line);
            let text: String = self.letters.iter().take(next).skip(line).collect();
            let text = text.trim_end_matches(['\n', '\r']);
            let trimmed = if may_indent { text.trim_start() } else { text };
            let rest = trimmed.strip_prefix(label);
            let is_php = self.dialect.language == Language::Php;
            if rest.is_some_and(|rest| {
                rest.is_empty() || (is_php && !rest.starts_with(|letter: char| letter.is_alphanumeric()))
            }) {
                let after = if is_php {
                    next.saturating_sub(rest.map_or(0, |rest| rest.chars().count()) + 1).max(line)
                } else {
                    next
                };
                return (line, after);
            }
            line = next;
        }
        self.report("ends inside a heredoc");
        (self.end, self.end)
    }
}
