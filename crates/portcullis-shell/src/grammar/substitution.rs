//! `$( … )`, `<( … )` and `>( … )`.

use crate::TokenKind;
use crate::ast::{List, WordPart};
use crate::cursor::{CursorContext, Parser};
use crate::pieces::WordPieces;

impl Parser<'_> {
    /// `$( … )`.
    pub(crate) fn command_substitution(&mut self, pieces: &mut WordPieces) {
        let start = self.here();
        let body = self.substitution_body();
        let part = WordPart::Command { span: self.source.span(start, self.pos), body };
        pieces.expansion(part, self.source.slice(start, self.pos));
    }

    /// `<( … )` or `>( … )`.
    pub(crate) fn process_substitution(&mut self, pieces: &mut WordPieces) {
        let start = self.here();
        let body = self.substitution_body();
        let part = WordPart::Process { span: self.source.span(start, self.pos), body };
        pieces.expansion(part, self.source.slice(start, self.pos));
    }

    /// The inside of a substitution with a two-byte opening, which has here-documents of its own.
    fn substitution_body(&mut self) -> List {
        self.flush(TokenKind::Word);
        self.enter();
        self.operator(2);
        let context = CursorContext {
            substitution: true,
            no_heredocs: self.context.no_heredocs,
            ..CursorContext::default()
        };
        let outer = std::mem::replace(&mut self.context, context);
        let pending = std::mem::take(&mut self.pending);
        self.skip_space();
        self.context.opening = Some(self.pos);
        let body = self.list();
        if !self.pending.is_empty() {
            self.fail(self.pos, "a substitution ends before the body of its here-document");
        }
        self.expect_parenthesis();
        self.pending = pending;
        self.context = outer;
        self.leave();
        body
    }
}
