//! One argument of an invocation: a shell word as a program would receive it, as far as that is known.

use portcullis_shell::Span;
use portcullis_shell::ast::{CommandKind, Word, WordPart};

use crate::shape::Shape;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The text after quote removal; what is not known stands in its source form.
    pub text: String,
    /// The word as it is written, where that differs from `text`.
    pub source: Option<String>,
    /// How much of it is known.
    pub knowledge: Knowledge,
    /// Where it stands in the outermost command.
    pub span: Span,
    /// What it may be, if it is dynamic and not everything is possible.
    pub bound: Option<Box<Bound>>,
}

/// What a dynamic argument may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// What each word looks like that it becomes.
    pub shape: Shape,
    /// Whether it may become any number of words, or none.
    pub is_many: bool,
    /// Whether it may be an empty word, or none.
    pub may_be_empty: bool,
}

/// What stands for arguments nobody knows yet.
const APPENDED: &str = "…";

/// How much is known of an argument before the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knowledge {
    /// The program receives exactly the text.
    Fixed,
    /// The text begins with `~`, which stands for a home directory.
    Tilde,
    /// The text is a pattern that becomes the names of existing files.
    Glob,
    /// Only the running shell knows: an expansion, a substitution, a brace list.
    Dynamic,
}

impl Argument {
    /// Reads a word. `span` overrides where it stands, for text that is itself an argument of another command.
    pub(crate) fn of_word(word: &Word, text: &str, span: Option<Span>) -> Self {
        let written = word.span.of(text);
        let traits = word.traits;
        let knowledge = if traits.dynamic || traits.brace {
            Knowledge::Dynamic
        } else if traits.glob {
            Knowledge::Glob
        } else if traits.tilde {
            Knowledge::Tilde
        } else {
            Knowledge::Fixed
        };
        Self {
            text: word.text.clone(),
            source: (written != word.text).then(|| written.to_owned()),
            knowledge,
            span: span.unwrap_or(word.span),
            bound: None,
        }
    }

    /// Makes an argument nobody knows yet, such as what `xargs` appends.
    pub(crate) fn unknown(span: Span) -> Self {
        Self { text: APPENDED.to_owned(), source: None, knowledge: Knowledge::Dynamic, span, bound: None }
    }

    /// Says whether it stands for arguments that a wrapper may append, or may not.
    pub fn is_appended(&self) -> bool {
        self.text == APPENDED && self.knowledge == Knowledge::Dynamic && !self.is_further()
    }

    /// Makes what stands for the further words that one without quotes may be split into.
    pub(crate) fn further(span: Span) -> Self {
        Self { source: Some(String::new()), ..Self::unknown(span) }
    }

    /// Says whether it stands for such words. Nothing of it is written.
    pub fn is_further(&self) -> bool {
        self.text == APPENDED && self.source.as_deref() == Some("")
    }

    /// Makes an argument of a piece of this one.
    pub(crate) fn piece(&self, text: &str) -> Self {
        let knowledge = match self.knowledge {
            Knowledge::Fixed if text.starts_with('~') => Knowledge::Tilde,
            other => other,
        };
        Self { text: text.to_owned(), source: None, knowledge, span: self.span, bound: None }
    }

    /// Says whether it spells letters by their numbers, `$'\143\165\162\154'`: nobody does who wants to be read.
    pub(crate) fn spells_letters(&self) -> bool {
        let Some((_, inside)) = self.as_written().split_once("$'") else { return false };
        let is_letter = |escape: &&str| {
            let digits = escape.trim_start_matches(['x', 'u', 'U']);
            let radix = if digits.len() == escape.len() { 8 } else { 16 };
            let end = digits.find(|digit: char| !digit.is_digit(radix)).unwrap_or(digits.len());
            let number = digits.get(..end).and_then(|digits| u32::from_str_radix(digits, radix).ok());
            number.and_then(char::from_u32).is_some_and(|letter| letter.is_ascii_alphabetic())
        };
        inside.split('\\').skip(1).filter(is_letter).count() >= 3
    }

    /// Returns the word as it is written.
    pub fn as_written(&self) -> &str {
        self.source.as_deref().unwrap_or(&self.text)
    }

    /// Says whether both are words that the shell makes of one: `{a,b}`, or a variable with blanks in its value.
    pub(crate) fn is_of_same_word(&self, other: &Self) -> bool {
        let is_expanded = |written: &str| written.contains(['$', '`', '{']);
        self.span == other.span
            && self.knowledge != Knowledge::Dynamic
            && self.source.as_deref().is_some_and(is_expanded)
            && self.source == other.source
    }

    /// Returns the text if the program receives exactly it.
    pub fn fixed(&self) -> Option<&str> {
        (self.knowledge == Knowledge::Fixed).then_some(self.text.as_str())
    }

    /// Says whether the text is what the program receives, give or take the home directory.
    pub fn is_known(&self) -> bool {
        matches!(self.knowledge, Knowledge::Fixed | Knowledge::Tilde)
    }

    /// Returns what it may be, if only the running shell knows and not everything is possible.
    pub(crate) fn shape(&self) -> Option<&Shape> {
        self.bound.as_deref().filter(|_| self.knowledge == Knowledge::Dynamic).map(|bound| &bound.shape)
    }

    /// Returns the patterns of the files it may name, if only the running shell knows and it cannot be any; `**` is any
    /// number of directories.
    pub fn patterns(&self) -> Option<Vec<String>> {
        self.shape().and_then(Shape::path_patterns)
    }

    /// Returns what it may be, known texts and patterns included.
    pub(crate) fn as_shape(&self) -> Option<Shape> {
        match self.knowledge {
            Knowledge::Fixed => Some(Shape::text(&self.text)),
            Knowledge::Glob if !self.as_written().starts_with('~') => Shape::of_pattern(&self.text),
            Knowledge::Tilde | Knowledge::Glob => None,
            Knowledge::Dynamic => self.shape().cloned(),
        }
    }

    /// Returns what it may be as a file in a directory.
    pub(crate) fn shape_in(&self, directory: &Self) -> Option<Box<Bound>> {
        let shape = directory.as_shape()?.in_directory(&self.as_shape()?)?;
        let is_many = self.bound.as_ref().is_none_or(|bound| bound.is_many);
        Some(Box::new(Bound { shape, is_many, may_be_empty: false }))
    }

    /// Returns it as something only known at run time that is of this shape.
    pub(crate) fn bounded(self, shape: Option<Shape>, is_many: bool) -> Self {
        let bound = shape.map(|shape| Box::new(Bound { shape, is_many, may_be_empty: false }));
        Self { knowledge: Knowledge::Dynamic, bound, ..self }
    }

    /// Returns it as something only known at run time.
    pub(crate) fn unbounded(self) -> Self {
        self.bounded(None, true)
    }

    /// Says whether quotes keep what is expanded in one word.
    pub(crate) fn is_one_word(&self) -> bool {
        if self.bound.as_ref().is_some_and(|bound| !bound.is_many) {
            return true;
        }
        let inside = self.as_written().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        inside.and_then(without_substitutions).is_some_and(|inside| !inside.contains(['"', '@']))
    }

    /// Says whether it is a process substitution and nothing else; what runs in it is listed on its own.
    pub(crate) fn is_process(&self) -> bool {
        let opens = self.text.starts_with("<(") || self.text.starts_with(">(");
        if !opens || self.knowledge != Knowledge::Dynamic {
            return false;
        }
        only_word(&self.text).is_some_and(|word| matches!(word.parts.as_slice(), [WordPart::Process { .. }]))
    }

    /// Returns the variable that it is the value of, and nothing else: `"$x"`, `${x}`.
    pub(crate) fn variable(&self) -> Option<&str> {
        let text = self.as_written().trim_matches('"').strip_prefix('$')?;
        let name = text.strip_prefix('{').map_or(Some(text), |inside| inside.strip_suffix('}'))?;
        let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        (is_name && !name.is_empty()).then_some(name)
    }

    /// Says whether it looks like an option: it begins with `-` and is not a lone dash.
    pub fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }
}

/// Returns a text without what stands in `$(…)`, which has quotes of its own; `None` where it is not plain where one ends.
fn without_substitutions(text: &str) -> Option<String> {
    let mut outside = String::new();
    let mut depth = 0_usize;
    let mut letters = text.chars();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if depth == 0 => _ = letters.next(),
            '\\' | '\'' | '`' | '#' if depth > 0 => return None,
            '"' if depth > 0 => {
                // A parenthesis in quotes may stand for itself.
                let quoted = letters.by_ref().take_while(|letter| *letter != '"');
                if quoted.into_iter().any(|letter| matches!(letter, '(' | ')' | '\\' | '`')) {
                    return None;
                }
            }
            '(' if depth > 0 || before == '$' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => outside.push(letter),
            _ => {}
        }
        before = letter;
    }
    (depth == 0).then_some(outside)
}

/// Reads a text that is one word and nothing else.
fn only_word(text: &str) -> Option<Word> {
    let mut line = portcullis_shell::parse(text);
    let mut item = line.body.items.pop().filter(|_| line.body.items.is_empty() && line.errors.is_empty())?;
    let (_, mut pipeline) = item.pipelines.pop().filter(|_| item.pipelines.is_empty())?;
    let stage = pipeline.stages.pop().filter(|_| pipeline.stages.is_empty())?;
    let CommandKind::Simple(mut simple) = stage.kind else { return None };
    let word = simple.words.pop().filter(|_| simple.words.is_empty() && simple.assignments.is_empty())?;
    stage.redirects.is_empty().then_some(word)
}
