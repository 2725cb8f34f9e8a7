//! Bash text to a tree with byte spans.
//!
//! [`parse`] never fails: it returns a [`Script`] with the tree, every token and the errors. What is not understood
//! is [`ast::CommandKind::Opaque`] and has an error, so a caller that wants to approve a command asks for
//! [`Script::is_clear`] first. Pure: no I/O, no clock, no environment, and time linear in the text.
//!
//! ```
//! let script = portcullis_shell::parse("git add -A && git commit -m \"$(date)\"");
//! assert!(script.is_clear());
//! assert_eq!(script.body.items.len(), 1);
//! assert!(!portcullis_shell::parse("echo 'never closed").is_clear());
//! ```
//!
//! The text is read as `bash -c` of bash 5.2 reads it, with its defaults. So these are assumed, and a caller that
//! sees a command change one of them (`shopt`, `set -o posix`, `alias` with `expand_aliases`) knows that later lines may
//! mean something else:
//!
//! - no aliases and no history expansion, as in any shell that is not interactive;
//! - no extended globs outside `[[ … ]]` and no POSIX mode;
//! - a UTF-8 locale, which decides what `$'\u00e9'` stands for.
//!
//! What other versions read differently, what bash reads twice with two results, and what cannot be told at all is
//! refused with an error rather than guessed: here-documents of compound commands inside `$( … )`, here-documents inside
//! `$(( … ))`, expansions in a here-document's delimiter or in the name of a function or loop variable, a backslash at
//! the end, line continuations in an assignment's name, and a few more that the tests in `refusals.rs` list. Only
//! `${ …; }` and `${| …; }`, which bash 5.2 does not know, are read as the command substitutions they are in bash 5.3.
//!
//! A parse goes down a level of Rust's stack for each level of nesting, at most [`Limits::depth`] levels.

mod ansi;
pub mod ast;
mod attach;
mod brace;
mod cursor;
mod grammar;
mod pieces;
mod source;
mod span;

pub use ast::nested_lists;
pub use span::Span;

use ast::{AndOr, Command, CommandKind, Pipeline, PipelineLink};
use attach::HeredocBodies;
use cursor::{Parser, SharedLimits};
use source::SourceText;

/// What [`parse`] returns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedScript {
    /// The commands.
    pub body: ast::List,
    /// Every token in order; their spans cover the text without gap or overlap.
    pub tokens: Vec<ShellToken>,
    /// What was not understood, in order of appearance. Empty means the whole text was read as bash reads it.
    pub errors: Vec<SyntaxError>,
}

impl ParsedScript {
    /// Says whether everything was understood.
    pub fn is_clear(&self) -> bool {
        self.errors.is_empty()
    }
}

/// A piece of the text as the lexer cut it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellToken {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: TokenKind,
}

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Blanks and line continuations.
    Blank,
    /// `# …` to the end of the line.
    Comment,
    /// A newline.
    Newline,
    /// Word text or a piece of one.
    Word,
    /// An operator or reserved punctuation.
    Operator,
    /// The lines of a here-document with its delimiter line.
    HeredocBody,
    /// Text that was not understood.
    Opaque,
}

/// Something that was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub span: Span,
    /// What, in one clause: lower case, no final period.
    pub message: String,
}

/// The limits past which the rest of the text is opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// Bytes of text.
    pub bytes: usize,
    /// Nesting of compounds, substitutions and quotes.
    pub depth: usize,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self { bytes: 2 << 20, depth: 100 }
    }
}

/// Reads `text` as a bash script.
pub fn parse(text: &str) -> ParsedScript {
    parse_with(text, ParseLimits::default())
}

/// Reads `text` as a bash script within `limits`.
pub fn parse_with(text: &str, limits: ParseLimits) -> ParsedScript {
    parse_counted(text, limits).0
}

/// Reads `text` as [`parse_with`] does, and also returns the number of steps it took.
///
/// For tests of the promise that there are never more than sixteen times the bytes of text, plus 4096.
#[doc(hidden)]
pub fn parse_counted(text: &str, limits: ParseLimits) -> (ParsedScript, usize) {
    let source = SourceText::original(text);
    let mut shared = SharedLimits::new(text, limits);
    let mut parser = Parser::main(&source, &mut shared);
    if text.len() > limits.bytes {
        parser.fail(0, "the text is too long");
    } else if let Some(at) = text.bytes().position(|byte| byte == 0) {
        parser.fail(at, "a NUL byte, which no shell can be given");
    }
    let mut body = parser.script();
    let rest = parser.finish_tokens();
    let SharedLimits { tokens, errors, heredocs, steps, .. } = shared;
    if !heredocs.is_empty() {
        HeredocBodies(heredocs).attach(&mut body);
    }
    body.items.extend(rest.map(opaque));
    (ParsedScript { body, tokens, errors }, steps)
}

/// A command that stands for text that was not understood.
fn opaque(span: Span) -> AndOr {
    let command = Command { span, kind: CommandKind::Opaque, redirects: Vec::new() };
    let pipeline = Pipeline { span, negated: false, timed: false, stages: vec![command] };
    AndOr { span, pipelines: vec![(PipelineLink::First, pipeline)], background: false }
}
