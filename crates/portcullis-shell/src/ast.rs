//! The tree a shell text is read into.
//!
//! Nesting is bounded by [`crate::Limits::depth`], sequences are flat vectors, so walking and dropping a tree
//! cannot overflow the stack. Every span is a byte range of the *original* text, also inside backquotes, where the
//! parser works on an unescaped copy and maps positions back.

use crate::span::Span;

/// A sequence of commands: a whole script, or the body of a compound or a substitution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct List {
    /// The commands, in order.
    pub items: Vec<AndOr>,
}

/// One `a && b || c` chain, up to its `;`, `&` or newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AndOr {
    /// From the first byte of the first pipeline to the last of the last one.
    pub span: Span,
    /// The pipelines; the first one's link is [`Link::First`].
    pub pipelines: Vec<(PipelineLink, Pipeline)>,
    /// Whether the chain ends in `&`.
    pub background: bool,
}

/// What stands between a pipeline and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineLink {
    /// Nothing: it opens the chain.
    First,
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// One or more commands joined by `|` or `|&`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// The whole pipeline with its `!` and `time`.
    pub span: Span,
    /// Whether an odd number of `!` stands before it.
    pub negated: bool,
    /// Whether the reserved word `time` stands before it.
    pub timed: bool,
    /// The commands in order. Never empty, except after a bare `!` or `time`.
    pub stages: Vec<Command>,
}

/// A simple or compound command with its redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command and its redirections.
    pub span: Span,
    /// What it is.
    pub kind: CommandKind,
    /// The redirections, in order.
    pub redirects: Vec<Redirect>,
}

/// The kinds of command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandKind {
    /// Assignments and words.
    Simple(SimpleCommand),
    /// `( … )`.
    Subshell(List),
    /// `{ …; }`.
    Group(List),
    /// `if … then … elif … then … else … fi`.
    If {
        /// Conditions with their bodies.
        branches: Vec<(List, List)>,
        /// The `else` body.
        otherwise: Option<List>,
    },
    /// `while … do … done` or `until … do … done`.
    Loop {
        /// The condition.
        condition: List,
        /// The body.
        body: List,
    },
    /// `for x in …; do … done` or `select`.
    For {
        /// The loop variable.
        variable: String,
        /// The words; `None` when `in` is absent (the positional parameters).
        words: Option<Vec<Word>>,
        /// The body.
        body: List,
    },
    /// `for (( …; …; … ))`.
    ArithmeticFor {
        /// The expansions inside the header.
        header: Vec<WordPart>,
        /// The body.
        body: List,
    },
    /// `case … in … esac`.
    Case {
        /// The word that is compared.
        subject: Word,
        /// The arms.
        arms: Vec<CaseArm>,
    },
    /// A function definition in either spelling.
    Function {
        /// Its name.
        name: String,
        /// Its body.
        body: Box<Command>,
    },
    /// `[[ … ]]`: operands and operators as words, in order.
    Conditional(Vec<Word>),
    /// `(( … ))`: its text as parts.
    Arithmetic(Vec<WordPart>),
    /// `coproc [NAME] command`.
    Coprocess {
        /// The name, if one is written.
        name: Option<String>,
        /// The command.
        body: Box<Command>,
    },
    /// Text that was not understood; see the script's errors. The rest after an error is the script's last command.
    Opaque,
}

/// One arm of a `case`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseArm {
    /// The patterns between `|`.
    pub patterns: Vec<Word>,
    /// The body.
    pub body: List,
}

/// Assignments and words: `A=1 program argument …`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    /// Leading assignments.
    pub assignments: Vec<Assignment>,
    /// The words; the first names the program. Empty when there are assignments or redirections only.
    pub words: Vec<Word>,
}

/// `name=value`, `name+=value`, `name[subscript]=value`, `name=( … )`.
///
/// Arguments of `declare`, `export`, `local`, `readonly` and `typeset` stay words, except that an array value such
/// as `declare a=(x $(y))` keeps its elements' substitutions as parts of that word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The whole assignment.
    pub span: Span,
    /// The variable.
    pub name: String,
    /// The parts of the subscript, if there is one. Bash evaluates it as arithmetic.
    pub subscript: Vec<WordPart>,
    /// The value.
    pub value: AssignmentValue,
}

/// The right-hand side of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignmentValue {
    /// One word, possibly empty.
    Word(Word),
    /// `( … )`: the elements, subscripts included.
    Array(Vec<Word>),
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// From its file descriptor to its target.
    pub span: Span,
    /// The number or `{name}` written before the operator.
    pub descriptor: Option<Descriptor>,
    /// The operator.
    pub operator: RedirectOperator,
    /// What it points at.
    pub target: RedirectTarget,
}

/// What stands before a redirection operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    /// `2>`.
    Number(u32),
    /// `{name}>`.
    Variable(String),
}

/// The redirection operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectOperator {
    /// `<`.
    Input,
    /// `>`.
    Output,
    /// `>>`.
    Append,
    /// `>|`.
    Clobber,
    /// `<>`.
    ReadWrite,
    /// `&>` and `>&word` with a word that is neither a number nor `-`.
    OutputBoth,
    /// `&>>`.
    AppendBoth,
    /// `<&`.
    DuplicateInput,
    /// `>&` with a number or `-`.
    DuplicateOutput,
    /// `<<` or `<<-`.
    Heredoc,
    /// `<<<`.
    HereString,
}

/// What a redirection points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectTarget {
    /// A word: a file, a descriptor, or the text of a here-string.
    Word(Word),
    /// A here-document.
    Heredoc(Heredoc),
}

/// A here-document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heredoc {
    /// The delimiter after quote removal.
    pub delimiter: String,
    /// Whether any part of the delimiter was quoted: then the body is literal.
    pub quoted: bool,
    /// Whether `<<-` strips leading tabs.
    pub strip_tabs: bool,
    /// Where the body stands, without the delimiter line: after its command, so outside the redirection's own span.
    pub body: Span,
    /// The body's text as the command would read it, expansions in source form, tabs stripped for `<<-`.
    pub text: String,
    /// The parts of an unquoted body; one literal for a quoted one.
    pub parts: Vec<WordPart>,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Where it stands.
    pub span: Span,
    /// Its parts, in order.
    pub parts: Vec<WordPart>,
    /// The text after quote removal, each expansion kept in its source form (`$x`, `$(y)`).
    pub text: String,
    /// What is true of it as a whole.
    pub traits: WordTraits,
}

/// What is true of a word as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a state")]
pub struct WordTraits {
    /// Any part is quoted or escaped.
    pub quoted: bool,
    /// Any part is a parameter, command, arithmetic or process substitution.
    pub dynamic: bool,
    /// An unquoted `*`, `?`, `[` or extended glob stands in it.
    pub glob: bool,
    /// An unquoted brace list or range stands in it: one word here, several to the program.
    pub brace: bool,
    /// It begins with an unquoted `~`, or has one after the `=` or a `:` of text shaped like an assignment, where bash
    /// expands it too (`make prefix=~/x`).
    pub tilde: bool,
}

impl Word {
    /// Returns the text if the shell passes exactly it to the program: nothing dynamic, no glob, brace or tilde.
    pub fn fixed(&self) -> Option<&str> {
        let WordTraits { dynamic, glob, brace, tilde, .. } = self.traits;
        (!(dynamic || glob || brace || tilde)).then_some(self.text.as_str())
    }
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPart {
    /// Unquoted text, line continuations removed.
    Literal {
        /// Where it stands.
        span: Span,
        /// The text.
        text: String,
    },
    /// A backslash and the character it protects.
    Escaped {
        /// Where it stands.
        span: Span,
        /// The character.
        text: String,
    },
    /// `'…'`, without the quotes.
    Single {
        /// With the quotes.
        span: Span,
        /// Between the quotes.
        text: String,
    },
    /// `$'…'`, decoded.
    AnsiC {
        /// With the quotes.
        span: Span,
        /// What it stands for; cut at a NUL as bash does.
        text: String,
    },
    /// `"…"` or `$"…"`.
    Double {
        /// With the quotes.
        span: Span,
        /// The parts between the quotes.
        parts: Vec<WordPart>,
    },
    /// Unquoted `*`, `?`, a bracket expression's `[`, or the opening of an extended glob such as `@(`.
    Glob {
        /// Where it stands.
        span: Span,
        /// As written.
        text: String,
    },
    /// `$x`, `${…}`.
    Parameter {
        /// The whole expansion.
        span: Span,
        /// The variable's name, or the special parameter (`?`, `@`, `1`).
        name: String,
        /// Whether it is nothing but `$x` or `${x}`.
        plain: bool,
        /// The parts of a subscript, default, pattern or offset.
        parts: Vec<WordPart>,
    },
    /// `$(…)`, `` `…` ``, `${ …; }` or `${| …; }`.
    Command {
        /// The whole substitution.
        span: Span,
        /// What it runs.
        body: List,
    },
    /// `<(…)` or `>(…)`.
    Process {
        /// The whole substitution.
        span: Span,
        /// What it runs.
        body: List,
    },
    /// `$((…))` or `$[…]`.
    Arithmetic {
        /// The whole expansion.
        span: Span,
        /// Its parts.
        parts: Vec<WordPart>,
    },
}

impl WordPart {
    /// Returns where the part stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Literal { span, .. }
            | Self::Escaped { span, .. }
            | Self::Single { span, .. }
            | Self::AnsiC { span, .. }
            | Self::Double { span, .. }
            | Self::Glob { span, .. }
            | Self::Parameter { span, .. }
            | Self::Command { span, .. }
            | Self::Process { span, .. }
            | Self::Arithmetic { span, .. } => *span,
        }
    }
}

/// Calls `visit` for the body of every command or process substitution in `parts`.
///
/// Descends into double quotes, parameter expansions and arithmetic, but not into the bodies themselves: a visitor
/// that wants everything calls this again for the words it finds there.
pub fn nested_lists<'a>(parts: &'a [WordPart], visit: &mut impl FnMut(&'a List)) {
    for part in parts {
        match part {
            WordPart::Command { body, .. } | WordPart::Process { body, .. } => visit(body),
            WordPart::Double { parts, .. }
            | WordPart::Parameter { parts, .. }
            | WordPart::Arithmetic { parts, .. } => {
                nested_lists(parts, visit);
            }
            WordPart::Literal { .. }
            | WordPart::Escaped { .. }
            | WordPart::Single { .. }
            | WordPart::AnsiC { .. }
            | WordPart::Glob { .. } => {}
        }
    }
}
