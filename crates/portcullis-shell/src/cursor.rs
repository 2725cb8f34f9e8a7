//! The parser's state: a position in one text, and what all texts of one parse share.
//!
//! A syntax error does not unwind. [`Parser::fail`] notes it and moves the cursor to the end, so that every production
//! sees the end of the text and returns what it has: the commands before the error stay in the tree. Every move and
//! every look ahead is charged to a budget proportional to the text, which makes the time linear by construction.

use crate::ast::Heredoc;
use crate::source::SourceText;
use crate::span::Span;
use crate::{ParseLimits, ShellToken, SyntaxError, TokenKind};

/// What the parser of the script and those of its side texts share.
#[derive(Debug)]
pub(crate) struct SharedLimits {
    pub(crate) tokens: Vec<ShellToken>,
    pub(crate) errors: Vec<SyntaxError>,
    /// The bodies read so far, by the number their redirection holds until the end of the parse.
    pub(crate) heredocs: Vec<Option<Heredoc>>,
    pub(crate) steps: usize,
    stopped: bool,
    depth: usize,
    depth_limit: usize,
    step_limit: usize,
}

impl SharedLimits {
    pub(crate) fn new(text: &str, limits: ParseLimits) -> Self {
        Self {
            tokens: Vec::new(),
            errors: Vec::new(),
            heredocs: Vec::new(),
            steps: 0,
            stopped: false,
            depth: 0,
            depth_limit: limits.depth,
            step_limit: text.len().saturating_mul(16).saturating_add(4096),
        }
    }
}

/// Where in the nesting the cursor is, as far as here-documents and reserved words depend on it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CursorContext {
    /// Inside `$( … )` or `<( … )` of this text.
    pub(crate) substitution: bool,
    /// Compound commands around, counted from the innermost substitution.
    pub(crate) compounds: usize,
    /// Inside text whose end was decided by counting parentheses, or `${ …; }`.
    pub(crate) no_heredocs: bool,
    /// Where the first command of the innermost substitution begins.
    pub(crate) opening: Option<usize>,
    /// Where a command begins that may not turn out to be a function definition.
    pub(crate) no_function: Option<usize>,
    /// The last token was a word, so a reserved word may not follow.
    pub(crate) after_word: bool,
}

/// A here-document whose body has not been reached.
#[derive(Debug)]
pub(crate) struct PendingHeredoc {
    pub(crate) number: usize,
    pub(crate) heredoc: Heredoc,
}

/// A recursive descent parser over one text.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    pub(crate) source: &'a SourceText<'a>,
    pub(crate) shared: &'a mut SharedLimits,
    pub(crate) pos: usize,
    pub(crate) end: usize,
    pub(crate) context: CursorContext,
    pub(crate) pending: Vec<PendingHeredoc>,
    token_start: usize,
    last_end: usize,
    emits: bool,
}

impl<'a> Parser<'a> {
    /// Makes the parser of the script itself, the one that records tokens.
    pub(crate) fn main(source: &'a SourceText<'a>, shared: &'a mut SharedLimits) -> Self {
        Self { emits: true, ..Self::side(source, shared) }
    }

    /// Makes the parser of a side text.
    pub(crate) fn side(source: &'a SourceText<'a>, shared: &'a mut SharedLimits) -> Self {
        Self {
            end: source.len(),
            source,
            shared,
            pos: 0,
            context: CursorContext::default(),
            pending: Vec::new(),
            token_start: 0,
            last_end: 0,
            emits: false,
        }
    }

    /// Returns the byte at `index` as it stands.
    pub(crate) fn raw(&self, index: usize) -> Option<u8> {
        if index < self.end { self.source.byte(index) } else { None }
    }

    /// Returns the next byte, having skipped line continuations.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let byte = self.raw(self.pos)?;
        if byte != b'\\' || !self.continues(self.pos) {
            return Some(byte);
        }
        while self.continues(self.pos) {
            self.advance_to(self.pos + 2);
        }
        self.raw(self.pos)
    }

    /// Returns the byte `distance` bytes on, line continuations not counted.
    pub(crate) fn peek_at(&mut self, distance: usize) -> Option<u8> {
        self.peek()?;
        let mut index = self.pos;
        for _ in 0..distance {
            index = self.after_continuations(index + 1);
        }
        self.raw(index)
    }

    /// Says whether the bytes `expected` come next, line continuations not counted.
    pub(crate) fn looking_at(&mut self, expected: &[u8]) -> bool {
        expected.iter().enumerate().all(|(distance, byte)| self.peek_at(distance) == Some(*byte))
    }

    /// Moves over `count` bytes, line continuations not counted.
    pub(crate) fn bump(&mut self, count: usize) {
        for _ in 0..count {
            if self.peek().is_some() {
                self.advance_to(self.pos + 1);
            }
        }
    }

    /// Moves to `index`, which lies ahead.
    pub(crate) fn advance_to(&mut self, index: usize) {
        let distance = index.saturating_sub(self.pos);
        self.pos = index.min(self.end);
        self.charge(distance);
    }

    /// Says whether a line continuation stands at `index`.
    pub(crate) fn continues(&self, index: usize) -> bool {
        self.raw(index) == Some(b'\\') && self.raw(index + 1) == Some(b'\n')
    }

    /// Returns the first index from `index` on where no line continuation stands.
    pub(crate) fn after_continuations(&mut self, index: usize) -> usize {
        let mut index = index;
        while self.continues(index) {
            self.charge(1);
            index += 2;
        }
        index
    }

    /// Pays for looking at `count` bytes.
    pub(crate) fn charge(&mut self, count: usize) {
        if self.stopped() {
            return;
        }
        let steps = self.shared.steps.saturating_add(count);
        if steps > self.shared.step_limit {
            self.fail(self.pos, "this text needs too much look-ahead");
        } else {
            self.shared.steps = steps;
        }
    }

    /// Goes one level down; past the limit the parse stops. Every call is paired with [`Self::leave`].
    pub(crate) fn enter(&mut self) {
        self.shared.depth += 1;
        if self.shared.depth > self.shared.depth_limit {
            self.fail(self.pos, "nested too deeply");
        }
    }

    /// Goes one level up.
    pub(crate) fn leave(&mut self) {
        self.shared.depth = self.shared.depth.saturating_sub(1);
    }

    /// Ends the token that began where the last one ended.
    pub(crate) fn flush(&mut self, kind: TokenKind) {
        if self.stopped() || self.pos <= self.token_start {
            return;
        }
        if self.emits {
            self.shared.tokens.push(ShellToken { span: Span::new(self.token_start, self.pos), kind });
        }
        if matches!(kind, TokenKind::Word | TokenKind::Operator) {
            self.last_end = self.pos;
        }
        if matches!(kind, TokenKind::Operator | TokenKind::Newline) {
            self.context.after_word = false;
        }
        self.token_start = self.pos;
    }

    /// Takes the operator of `count` bytes that comes next.
    pub(crate) fn operator(&mut self, count: usize) {
        self.bump(count);
        self.flush(TokenKind::Operator);
    }

    /// Says whether an error has ended the parse.
    pub(crate) fn stopped(&self) -> bool {
        self.shared.stopped
    }

    /// Gives the whole text back as the place to read, after a part of it was read on its own.
    pub(crate) fn widen(&mut self, end: usize) {
        self.end = end;
        if self.stopped() {
            self.pos = end;
        }
    }

    /// Notes that the text at `at` was not understood and ends the parse.
    pub(crate) fn fail(&mut self, at: usize, message: impl Into<String>) {
        if !self.stopped() {
            self.shared.stopped = true;
            let width = self.source.character(at).map_or(0, char::len_utf8);
            let span = self.source.span(at, at + width);
            self.shared.errors.push(SyntaxError { span, message: message.into() });
        }
        self.pos = self.end;
    }

    /// Notes that what comes next has no place here and ends the parse.
    pub(crate) fn unexpected(&mut self) {
        let message = match self.peek() {
            None => "unexpected end of the text".to_owned(),
            Some(b'\n') => "unexpected end of the line".to_owned(),
            Some(_) => {
                let found = self.source.character(self.pos).unwrap_or_default();
                format!("unexpected `{found}`")
            }
        };
        self.fail(self.pos, message);
    }

    /// Returns the position of the next byte after line continuations.
    pub(crate) fn here(&mut self) -> usize {
        self.peek();
        self.pos
    }

    /// Returns the span from `start` to the end of the last word or operator.
    pub(crate) fn span_from(&self, start: usize) -> Span {
        let end = if self.stopped() { self.end } else { self.last_end };
        self.source.span(start.min(end), end)
    }

    /// Records what is left after an error as one opaque token and returns where it stands.
    pub(crate) fn finish_tokens(&mut self) -> Option<Span> {
        if !self.stopped() {
            return None;
        }
        let span = Span::new(self.token_start, self.source.len());
        if span.start < span.end {
            self.shared.tokens.push(ShellToken { span, kind: TokenKind::Opaque });
        }
        Some(span)
    }
}
