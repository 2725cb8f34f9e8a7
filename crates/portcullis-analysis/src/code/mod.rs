//! Code in other languages that stands in a command: `python -c`, `node -e`, awk programs, SQL.
//!
//! [`read`] says what a program does, as far as its text tells. Only what is on a list of harmless things counts as
//! understood; everything else is a gap.

mod action;
mod awk;
mod lexer;
mod module;
mod reader;
mod sql;
mod table;
mod tree;

/// What is known of each language, compiled from `data/languages`.
mod language {
    use super::Language;
    use super::table::{Does, Gives, LanguageTable, LibraryRow, On};
    use crate::act::Act;

    include!(concat!(env!("OUT_DIR"), "/languages.rs"));
}

use std::collections::BTreeSet;

use crate::argument::Argument;

pub use action::{CodeAction, CodeReading, CodeTarget, HandedText};
pub(crate) use module::module_places;

/// A language other than the shell's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Ruby.
    Ruby,
    /// Perl.
    Perl,
    /// PHP.
    Php,
    /// awk.
    Awk,
    /// SQL of any database.
    Sql,
}

/// Code that an invocation runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// Which reader and which table understand it.
    pub language: Language,
    /// Its text; parts only known at run time stand in source form.
    pub text: String,
    /// Whether the text is exactly what runs.
    pub is_whole: bool,
    /// The words that it is started with.
    pub arguments: ProgramArguments,
}

/// The words that a program is started with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ProgramArguments {
    /// Nobody knows them.
    #[default]
    Unknown,
    /// The words, each in its place; `None` for one that is only known at run time.
    Known {
        /// How many places of the list come before them: the interpreter, the script.
        before: usize,
        /// Its own.
        words: Vec<Option<String>>,
    },
}

impl ProgramArguments {
    /// Reads the words behind a program, of which a number of others stand before its own arguments.
    pub(crate) fn of(before: usize, words: &[Argument]) -> Self {
        let is_one = |word: &Argument| word.fixed().is_some() || word.is_one_word();
        if !words.iter().all(is_one) {
            return Self::Unknown;
        }
        Self::Known { before, words: words.iter().map(|word| word.fixed().map(str::to_owned)).collect() }
    }
}

impl Code {
    /// Says what it does. It never fails: what cannot be read is a gap.
    pub fn read(&self) -> CodeReading {
        read_at(self.language, &self.text, &self.arguments, 0)
    }

    /// Says whether a word of the line is the code, or what stands at its end behind what loads it.
    pub(crate) fn is_of(&self, word: &Argument) -> bool {
        let is_code =
            word.text.contains(|letter: char| letter.is_whitespace() || matches!(letter, '(' | '.'));
        is_code && (self.text == word.text || self.text.ends_with(&format!("\n{}", word.text)))
    }
}

/// How long a program may be, in bytes.
const LENGTH_LIMIT: usize = 200 * 1024;
/// How deep code may stand in code.
const DEPTH_LIMIT: usize = 3;
/// Says what a program does of whose arguments nothing is known. It never fails: what cannot be read is a gap.
pub fn read(language: Language, text: &str) -> CodeReading {
    read_at(language, text, &ProgramArguments::Unknown, 0)
}

/// Reads a program that stands in `depth` others.
fn read_at(language: Language, text: &str, arguments: &ProgramArguments, depth: usize) -> CodeReading {
    if text.len() > LENGTH_LIMIT {
        return CodeReading { gaps: vec!["is too long to be read".to_owned()], ..CodeReading::default() };
    }
    match language {
        Language::Python => reader::read(&language::PYTHON, text, arguments, depth),
        Language::JavaScript => reader::read(&language::JAVASCRIPT, text, arguments, depth),
        Language::Ruby => reader::read(&language::RUBY, text, arguments, depth),
        Language::Perl => reader::read(&language::PERL, text, arguments, depth),
        Language::Php => reader::read(&language::PHP, without_php_tags(text), arguments, depth),
        Language::Awk => awk::read(text),
        Language::Sql => sql::read(text),
    }
}

/// Returns the lines of a program that are nothing but a comment, counted from zero; `None` if that is not sure.
pub(crate) fn comment_lines(language: Language, text: &str) -> Option<BTreeSet<usize>> {
    let is_php = language == Language::Php;
    if text.len() > LENGTH_LIMIT || is_php && text.contains("?>") {
        return None;
    }
    // The tag takes as many letters as before.
    let tree = if is_php {
        lexer::lex(language, &text.replacen("<?php", "     ", 1))
    } else {
        lexer::lex(language, text)
    };
    let mut lines = BTreeSet::new();
    let (mut line, mut comments) = (0, tree.comments.iter().peekable());
    for (at, letter) in text.chars().enumerate() {
        if comments.next_if(|comment| **comment == at).is_some() {
            lines.insert(line);
        }
        line += usize::from(letter == '\n');
    }
    tree.problems.is_empty().then_some(lines)
}

/// Returns the code of a script of PHP without the tags around it.
fn without_php_tags(text: &str) -> &str {
    let text = text.trim_start();
    let text = text.strip_prefix("<?php").or_else(|| text.strip_prefix("<?")).unwrap_or(text);
    text.trim_end().strip_suffix("?>").unwrap_or(text)
}
