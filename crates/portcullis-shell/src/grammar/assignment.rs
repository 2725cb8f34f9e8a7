//! Assignments before the program's name, and array values as arguments of `declare` and its kin.

use super::dollar::{is_name_byte, is_name_start};
use super::enclosed::Enclosure;
use super::space::is_break;
use crate::TokenKind;
use crate::ast::{Assignment, AssignmentValue, Word, WordPart};
use crate::cursor::Parser;
use crate::pieces::{WordPieces, WordRole};

/// What stands after a name that may be the target of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssignmentTarget {
    /// `=` or `+=`, this many bytes after the line continuations are skipped.
    Value { width: usize },
    /// `[`.
    Subscript,
}

impl Parser<'_> {
    /// Says whether an assignment comes next.
    pub(crate) fn at_assignment(&mut self) -> bool {
        self.find_target().is_some()
    }

    /// An assignment, if one comes next.
    pub(crate) fn opt_assignment(&mut self) -> Option<Assignment> {
        let start = self.here();
        let (target, name_end) = self.find_target()?;
        let name = self.name();
        if name.len() != name_end - start {
            self.fail(start, "a line continuation inside the name of an assignment");
        }
        let mut subscript = Vec::new();
        let width = match target {
            AssignmentTarget::Value { width } => width,
            AssignmentTarget::Subscript => {
                subscript = self.subscript();
                self.assignment_operator().unwrap_or_else(|| {
                    self.fail(start, "a subscript that is not part of an assignment");
                    0
                })
            }
        };
        self.bump(width);
        let value = if self.peek() == Some(b'(') {
            AssignmentValue::Array(self.array())
        } else {
            AssignmentValue::Word(self.value_word())
        };
        self.flush(TokenKind::Word);
        Some(Assignment { span: self.source.span(start, self.pos), name, subscript, value })
    }

    /// An argument of `declare` with an array value, as one word, if such a one comes next.
    pub(crate) fn opt_array_argument(&mut self) -> Option<Word> {
        let start = self.here();
        let (AssignmentTarget::Value { width }, name_end) = self.find_target()? else { return None };
        let after = name_end + width;
        if self.raw(after) != Some(b'(') {
            return None;
        }
        let mut pieces = WordPieces::default();
        self.advance_to(after);
        pieces.literal(self.source.span(start, after), self.source.slice(start, after));
        let open = self.source.span(after, after + 1);
        let elements = self.array();
        let mut separator = (open, "(");
        for element in elements {
            pieces.literal(separator.0, separator.1);
            separator = (crate::Span::new(element.span.end, element.span.end), " ");
            pieces.quoted |= element.traits.quoted;
            pieces.dynamic |= element.traits.dynamic;
            pieces.text.push_str(&element.text);
            pieces.parts.extend(element.parts);
        }
        let end = self.pos;
        let open_paren = if separator.1 == "(" { "()" } else { ")" };
        pieces.literal(self.source.span(end.saturating_sub(1), end), open_paren);
        Some(pieces.into_word(self.source.span(start, end), WordRole::Argument))
    }

    /// Finds the name that comes next and what makes it the target of an assignment.
    fn find_target(&mut self) -> Option<(AssignmentTarget, usize)> {
        let start = self.here();
        if !self.raw(start).is_some_and(is_name_start) {
            return None;
        }
        let mut index = start;
        loop {
            self.charge(1);
            if self.raw(index).is_some_and(is_name_byte) {
                index += 1;
            } else if self.continues(index) {
                index += 2;
            } else {
                break;
            }
        }
        let target = match self.raw(index)? {
            b'=' => AssignmentTarget::Value { width: 1 },
            b'[' => AssignmentTarget::Subscript,
            b'+' => {
                let after = self.after_continuations(index + 1);
                (self.raw(after) == Some(b'=')).then_some(AssignmentTarget::Value { width: 2 })?
            }
            _ => return None,
        };
        Some((target, index))
    }

    /// `[ … ]`; its parts.
    fn subscript(&mut self) -> Vec<WordPart> {
        self.enter();
        self.bump(1);
        let mut pieces = WordPieces::default();
        let outer = std::mem::replace(&mut self.context.no_heredocs, true);
        self.enclosed(&mut pieces, Enclosure::SUBSCRIPT);
        self.context.no_heredocs = outer;
        self.bump(1);
        self.leave();
        pieces.parts
    }

    fn assignment_operator(&mut self) -> Option<usize> {
        if self.peek() == Some(b'=') {
            Some(1)
        } else if self.looking_at(b"+=") {
            Some(2)
        } else {
            None
        }
    }

    /// `( … )`: the elements.
    fn array(&mut self) -> Vec<Word> {
        self.enter();
        self.flush(TokenKind::Word);
        self.operator(1);
        let mut elements = Vec::new();
        loop {
            self.skip_lines();
            let element =
                if self.peek() == Some(b'[') { Some(self.subscripted_element()) } else { self.opt_word() };
            match element {
                Some(element) => {
                    self.refuse_escape(&element);
                    elements.push(element);
                }
                None => break,
            }
        }
        self.expect_parenthesis();
        if self.peek().is_some_and(|byte| !is_break(byte) && !matches!(byte, b'<' | b'>')) {
            self.fail(self.pos, "text directly after an array");
        }
        self.leave();
        elements
    }

    /// Fails for a backslash in an array inside a substitution, which bash 5.2 does not always honour there.
    fn refuse_escape(&mut self, element: &Word) {
        let escapes = element.parts.iter().any(|part| matches!(part, WordPart::Escaped { .. }));
        if escapes && self.context.substitution {
            self.fail(self.pos, "a backslash in an array inside a substitution");
        }
    }

    /// An element that begins with `[`: bash reads to the `]`, blanks included.
    fn subscripted_element(&mut self) -> Word {
        let start = self.here();
        let mut pieces = WordPieces::default();
        self.bump(1);
        pieces.glob(self.source.span(start, self.pos), self.source.slice(start, self.pos));
        self.enter();
        let outer = std::mem::replace(&mut self.context.no_heredocs, true);
        self.enclosed(&mut pieces, Enclosure::SUBSCRIPT);
        self.context.no_heredocs = outer;
        self.leave();
        if self.source.slice(start, self.pos).contains('\\') {
            // Bash expands this subscript twice: `x=([\$(a)]=1)` runs `a`.
            self.fail(start, "a backslash in the subscript of an array's element");
        }
        self.literal_bytes(&mut pieces, 1);
        self.word_pieces(&mut pieces, super::word::WordMode::Ordinary);
        self.flush(TokenKind::Word);
        pieces.into_word(self.source.span(start, self.pos), WordRole::Argument)
    }
}
