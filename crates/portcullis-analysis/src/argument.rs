//! One argument of an invocation: a shell word as a program would receive it, as far as that is known.

use portcullis_shell::Span;
use portcullis_shell::ast::Word;

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
        }
    }

    /// Makes an argument nobody knows yet, such as what `xargs` appends.
    pub(crate) fn unknown(span: Span) -> Self {
        Self { text: APPENDED.to_owned(), source: None, knowledge: Knowledge::Dynamic, span }
    }

    /// Says whether it stands for arguments that a wrapper may append, or may not.
    pub fn is_appended(&self) -> bool {
        self.text == APPENDED && self.knowledge == Knowledge::Dynamic
    }

    /// Makes an argument of a piece of this one.
    pub(crate) fn piece(&self, text: &str) -> Self {
        let knowledge = match self.knowledge {
            Knowledge::Fixed if text.starts_with('~') => Knowledge::Tilde,
            other => other,
        };
        Self { text: text.to_owned(), source: None, knowledge, span: self.span }
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

    /// Says whether quotes keep what is expanded in one word.
    pub(crate) fn is_one_word(&self) -> bool {
        let inside = self.as_written().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        inside.is_some_and(|inside| !inside.contains(['"', '@']))
    }

    /// Says whether it is a process substitution and nothing else; what runs in it is listed on its own.
    pub(crate) fn is_process(&self) -> bool {
        let text = self.text.as_str();
        let opens = text.starts_with("<(") || text.starts_with(">(");
        opens && text.ends_with(')') && !text.contains(['$', '`']) && text.matches('(').count() == 1
    }

    /// Says whether it looks like an option: it begins with `-` and is not a lone dash.
    pub fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }
}
