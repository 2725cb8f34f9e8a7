//! Splits a program of any of the dynamic languages into items, in one pass with a stack of its own.
//!
//! Code inside strings is lexed in place; the bodies of heredocs and the code of replacements are lexed afterwards, as
//! parts of the text with their own bounds.

mod dialect;
mod heredoc;
mod mark;
mod quote;
mod quote_operator;
mod regex;
mod word;

use dialect::LexerDialect;
use quote::OpenString;

use super::Language;
use super::tree::{CodeItem, CodeToken, CodeTree, WHOLE};

/// How deep brackets and strings may nest.
const DEPTH_LIMIT: usize = 200;

/// Splits a program into items.
pub(super) fn lex(language: Language, text: &str) -> CodeTree {
    let mut lexer = CodeLexer {
        dialect: LexerDialect::of(language),
        letters: text.chars().collect(),
        at: 0,
        end: 0,
        tree: CodeTree { groups: vec![Vec::new()], ..CodeTree::default() },
        stack: Vec::new(),
        parts: Vec::new(),
        body: None,
        spaced: false,
    };
    if word::has_hidden_lines(language, text) {
        lexer.report("has line ends that are easily overlooked");
    }
    let whole = LexedStretch { start: 0, end: lexer.letters.len(), group: WHOLE, string: None };
    lexer.parts.push(whole);
    while let Some(part) = lexer.parts.pop() {
        lexer.lex_part(part);
    }
    lexer.tree
}

/// A stretch of the text that is lexed by itself.
#[derive(Debug)]
struct LexedStretch {
    start: usize,
    end: usize,
    /// The group its items go to.
    group: usize,
    /// The string it is the body of, if it is one.
    string: Option<OpenString>,
}

/// What is open at a place.
#[derive(Debug)]
enum LexerFrame {
    /// The code of a part.
    Part(usize),
    /// Brackets, by the opening one.
    Bracket(char, usize),
    /// Code inside a string, which goes on after it.
    Hole(usize, OpenString),
}

#[derive(Debug)]
struct CodeLexer {
    dialect: LexerDialect,
    letters: Vec<char>,
    at: usize,
    end: usize,
    tree: CodeTree,
    stack: Vec<LexerFrame>,
    parts: Vec<LexedStretch>,
    /// Where the code goes on after the bodies of the heredocs of this line.
    body: Option<usize>,
    spaced: bool,
}

impl CodeLexer {
    fn lex_part(&mut self, part: LexedStretch) {
        self.at = part.start;
        self.end = part.end;
        self.body = None;
        self.spaced = false;
        self.stack.clear();
        self.stack.push(LexerFrame::Part(part.group));
        if let Some(string) = part.string {
            self.continue_string(string);
        }
        while self.at < self.end {
            let before = self.at;
            self.lex_item();
            if self.at == before {
                self.at += 1;
            }
        }
        if self.stack.len() > 1 {
            self.report("ends inside brackets or a string");
        }
    }

    fn lex_item(&mut self) {
        let Some(letter) = self.peek(0) else { return };
        match letter {
            '\n' => self.end_line(),
            '\\' if self.peek(1) == Some('\n') => self.skip(2),
            '\\' if self.peek(1) == Some('\r') => self.skip(3),
            _ if letter.is_whitespace() || letter == '\u{feff}' => self.skip(1),
            '\0' => {
                self.report("has a NUL in it");
                self.skip(1);
            }
            _ if self.skip_comment(letter) => self.spaced = true,
            _ if self.lex_quoted(letter) || self.lex_word(letter) => {}
            '(' | '[' | '{' => self.open(letter),
            ')' | ']' | '}' => self.close(letter),
            _ => self.lex_mark(letter),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        let at = self.at + ahead;
        if at < self.end { self.letters.get(at).copied() } else { None }
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
        self.spaced = true;
    }

    /// Says whether the text goes on with these letters.
    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, letter)| self.peek(ahead) == Some(letter))
    }

    /// Says whether this is the first letter of a line.
    fn begins_line(&self) -> bool {
        self.at == 0 || self.at.checked_sub(1).and_then(|at| self.letters.get(at)) == Some(&'\n')
    }

    fn report(&mut self, problem: &str) {
        if self.tree.problems.len() < 8 && !self.tree.problems.iter().any(|known| known == problem) {
            self.tree.problems.push(problem.to_owned());
        }
    }

    /// The group that new items go to.
    fn group(&self) -> usize {
        match self.stack.last() {
            Some(LexerFrame::Part(group) | LexerFrame::Bracket(_, group) | LexerFrame::Hole(group, _)) => {
                *group
            }
            None => WHOLE,
        }
    }

    fn push(&mut self, item: CodeItem) {
        let group = self.group();
        let token = CodeToken { item, is_spaced: self.spaced };
        if let Some(items) = self.tree.groups.get_mut(group) {
            items.push(token);
        }
        self.spaced = false;
    }

    fn new_group(&mut self) -> usize {
        self.tree.groups.push(Vec::new());
        self.tree.groups.len() - 1
    }

    fn last(&self) -> Option<&CodeItem> {
        self.tree.items(self.group()).last().map(|token| &token.item)
    }

    /// Ends a line; bodies of heredocs that began on it are stepped over.
    fn end_line(&mut self) {
        let matters = match self.stack.last() {
            Some(LexerFrame::Part(_)) | None => true,
            Some(LexerFrame::Bracket(open, _)) => *open == '{' && self.dialect.language != Language::Python,
            Some(LexerFrame::Hole(..)) => false,
        };
        if matters {
            self.push(CodeItem::Line);
        }
        self.at = self.body.take().unwrap_or(self.at + 1);
        self.spaced = true;
    }
}
