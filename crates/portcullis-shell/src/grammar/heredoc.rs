//! Here-documents.
//!
//! The operator queues the document, the next newline token reads the bodies in order. In an unquoted one bash joins
//! continued lines before anything else, so the delimiter is looked for in joined lines and the body is read from a
//! side text.

use super::Quoting;
use crate::TokenKind;
use crate::ast::{Heredoc, RedirectOperator, RedirectTarget, Word, WordPart};
use crate::cursor::{Parser, PendingHeredoc};
use crate::pieces::WordPieces;
use crate::source::SideText;
use crate::span::Span;

/// A line that has been added to a body.
#[derive(Debug, Clone, Copy)]
struct BodyLine {
    /// Where its text begins in the parent.
    start: usize,
    /// After its newline in the parent.
    end: usize,
    /// Whether it was continued on another line.
    joined: bool,
}

impl Parser<'_> {
    /// The delimiter; the body comes later.
    pub(crate) fn heredoc_start(&mut self, strip_tabs: bool) -> RedirectTarget {
        let at = self.here();
        self.refuse_descriptor(RedirectOperator::Heredoc);
        let word = self.required_word();
        if self.context.no_heredocs {
            self.fail(at, "a here-document inside arithmetic or `${ …; }`");
        }
        if self.context.substitution && self.context.compounds > 0 {
            self.fail(at, "a here-document of a compound command inside a substitution");
        }
        if !is_plain_delimiter(&word) || word.text.contains('\n') {
            self.fail(at, "a here-document whose delimiter is not plain text");
        }
        let number = self.shared.heredocs.len();
        let heredoc = Heredoc {
            delimiter: word.text,
            quoted: word.traits.quoted,
            strip_tabs,
            body: Span::new(number, number),
            text: String::new(),
            parts: Vec::new(),
        };
        self.shared.heredocs.push(None);
        self.pending.push(PendingHeredoc { number, heredoc: heredoc.clone() });
        RedirectTarget::Heredoc(heredoc)
    }

    /// Reads the bodies that wait, with the cursor after a newline or at the end.
    pub(crate) fn read_heredocs(&mut self) {
        for PendingHeredoc { number, heredoc } in std::mem::take(&mut self.pending) {
            if self.stopped() {
                return;
            }
            let heredoc = self.read_heredoc(heredoc);
            self.flush(TokenKind::HeredocBody);
            if let Some(slot) = self.shared.heredocs.get_mut(number) {
                *slot = Some(heredoc);
            }
        }
    }

    fn read_heredoc(&mut self, mut heredoc: Heredoc) -> Heredoc {
        let start = self.pos;
        let mut body = SideText::new(start);
        let mut end = start;
        while self.pos < self.end {
            let kept = body.text().len();
            let line = self.add_line(&mut body, &heredoc);
            let added = body.text().get(kept..).unwrap_or_default();
            let rest = added.strip_prefix(heredoc.delimiter.as_str());
            if rest.is_some_and(|rest| rest.is_empty() || rest == "\n") {
                body.truncate(kept);
                self.advance_to(line.end);
                break;
            }
            if self.context.substitution && rest.is_some_and(|rest| rest.contains(')')) {
                body.truncate(kept);
                self.end_before_parenthesis(line, heredoc.delimiter.len());
                break;
            }
            self.advance_to(line.end);
            end = self.pos;
        }
        heredoc.body = self.source.span(start, end);
        self.heredoc_parts(&mut heredoc, &body);
        heredoc
    }

    /// Adds the line at the cursor to `body`: without the tabs of `<<-` and, unless quoted, without continuations.
    fn add_line(&mut self, body: &mut SideText, heredoc: &Heredoc) -> BodyLine {
        let mut index = self.pos;
        let mut joined = false;
        loop {
            if heredoc.strip_tabs && self.raw(index) == Some(b'\t') {
                index += 1;
            } else if !heredoc.quoted && self.continues(index) {
                joined = true;
                index += 2;
            } else {
                break;
            }
        }
        let start = index;
        let mut copied = index;
        while let Some(byte) = self.raw(index) {
            if byte == b'\n' {
                index += 1;
                break;
            }
            if byte == b'\\' && !heredoc.quoted {
                if self.continues(index) {
                    body.push(self.source, copied, index);
                    copied = index + 2;
                    joined = true;
                }
                index += 1;
            }
            index += 1;
        }
        let end = index.min(self.end);
        body.push(self.source, copied, end);
        self.charge(end - self.pos);
        BodyLine { start, end, joined }
    }

    /// Ends the document as bash does inside `$( … )` at a line such as `EOF)`: the rest of it is read as commands.
    fn end_before_parenthesis(&mut self, line: BodyLine, length: usize) {
        if line.joined {
            self.fail(line.start, "a here-document that ends in a continued line");
        } else {
            self.advance_to(line.start + length);
        }
    }

    fn heredoc_parts(&mut self, heredoc: &mut Heredoc, body: &SideText) {
        if heredoc.quoted {
            let text = body.text().to_owned();
            heredoc.parts = vec![WordPart::Literal { span: heredoc.body, text: text.clone() }];
            heredoc.text = text;
            return;
        }
        let source = body.source(self.source);
        let mut inner = Parser::side(&source, self.shared);
        let mut pieces = WordPieces::default();
        inner.enter();
        while let Some(byte) = inner.peek() {
            inner.quoted_piece(&mut pieces, Quoting::Heredoc, byte);
        }
        inner.leave();
        self.widen(self.end);
        heredoc.text = pieces.text;
        heredoc.parts = pieces.parts;
    }
}

/// Says whether a delimiter has no expansion, and no dollar sign or escape whose quoting would matter.
fn is_plain_delimiter(word: &Word) -> bool {
    word.parts.iter().all(|part| match part {
        WordPart::Literal { text, .. } => !text.contains('$'),
        WordPart::Escaped { .. } | WordPart::Single { .. } | WordPart::Glob { .. } => true,
        WordPart::Double { parts, span } => {
            let inside: usize = parts.iter().map(|part| part.span().end - part.span().start).sum();
            let plain =
                |part: &WordPart| matches!(part, WordPart::Literal { text, .. } if !text.contains(['$', '\\']));
            parts.iter().all(plain) && span.end - span.start == inside + 2
        }
        _ => false,
    })
}
