//! Permission rules: text, meaning and where they came from (spec C1–C6).
//!
//! [`Rule::compile`] turns the text of a rule into a [`Matcher`]; a text that can never work the way its author meant
//! is a [`RuleProblem`] and the rule is skipped, never guessed at.

mod anchor;
mod byte_class;
mod compile;
mod dangerous;
mod domain;
mod gitignore;
mod lint;
mod path_pattern;
mod runner;
mod shadow;
mod shell_pattern;
mod text;
mod wildcard;

use std::fmt;

pub use anchor::{PathAnchor, PathAnchors};
pub use domain::DomainPattern;
pub use gitignore::LetterCase;
pub use lint::{Lint, LintContext, LintKind, lint};
pub use path_pattern::{PathPattern, guarding_pattern};
pub use shell_pattern::ShellPattern;
pub use text::RuleText;
pub use wildcard::{PatternPiece, Wildcard};

pub(crate) use dangerous::{is_dangerous_allow, runs_anything};
pub(crate) use domain::host_of;

use crate::origin::Origin;

/// What a rule does when it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behavior {
    /// Lets the call run.
    Allow,
    /// Asks a person.
    Ask,
    /// Stops the call.
    Deny,
}

impl Behavior {
    /// Returns the word used in settings files: `allow`, `ask` or `deny`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Behavior {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A compiled rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The list it stands in.
    pub behavior: Behavior,
    /// Its text exactly as its author wrote it.
    pub source_text: String,
    /// The parsed text, legacy tool names replaced.
    pub text: RuleText,
    /// What its text was compiled to.
    pub matcher: Matcher,
    /// The settings that hold it.
    pub origin: Origin,
}

/// What a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matcher {
    /// Every call of a tool.
    Tool(ToolPattern),
    /// A shell command of `Bash`, `PowerShell` or `Monitor`.
    Shell {
        /// The canonical tool name.
        tool: String,
        /// What a command must be written like, or mean.
        pattern: ShellPattern,
    },
    /// A path that is read or written.
    Path {
        /// Which kind of access.
        access: PathAccess,
        /// Which files are meant.
        pattern: PathPattern,
    },
    /// The host of a web fetch.
    Domain(DomainPattern),
    /// The name of an agent or a skill, with a wildcard for its arguments.
    Name {
        /// `Agent` or `Skill`.
        tool: String,
        /// Which agent or skill is meant.
        pattern: Wildcard,
    },
    /// One scalar input field of a tool; in deny and ask rules only.
    Parameter {
        /// The canonical tool name.
        tool: String,
        /// The field of the input that is compared.
        field: String,
        /// The value as the model sent it.
        value: Wildcard,
    },
}

/// Which access a path rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathAccess {
    /// `Read(…)`.
    Read,
    /// `Edit(…)`: every built-in writer.
    Edit,
}

/// The tool part of a tool-wide rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPattern {
    /// One tool by its canonical name.
    Name(String),
    /// Every tool of an MCP server: `mcp__server` or `mcp__server__*`.
    Server(String),
    /// A glob over tool names.
    Glob(Wildcard),
}

impl ToolPattern {
    /// Says whether it names this canonical tool.
    pub fn matches(&self, tool: &str) -> bool {
        match self {
            Self::Name(name) => name == tool,
            Self::Server(server) => tool
                .strip_prefix("mcp__")
                .and_then(|rest| rest.strip_prefix(server.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("__")),
            Self::Glob(glob) => glob.matches(tool),
        }
    }
}

/// Why a rule was skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RuleProblem {
    /// What is wrong: lower case, no final period.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}
