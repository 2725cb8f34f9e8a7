//! Where a rule or a setting came from.

use std::fmt;
use std::sync::Arc;

/// The eight sources of rules and settings, strongest first (spec C9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Managed settings, deployed by an administrator.
    Policy,
    /// A settings file or JSON text named on the command line.
    Flag,
    /// A rule given as a command-line argument.
    Argument,
    /// The project's personal file, not committed.
    Local,
    /// The project's shared file, committed.
    Project,
    /// The user's own file.
    User,
    /// Granted in this session.
    Session,
    /// Granted by a slash command or skill.
    Command,
}

impl Source {
    /// All sources, strongest first.
    pub const ALL: [Self; 8] = [
        Self::Policy,
        Self::Flag,
        Self::Argument,
        Self::Local,
        Self::Project,
        Self::User,
        Self::Session,
        Self::Command,
    ];

    /// Returns the short name used in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Flag => "flag",
            Self::Argument => "argument",
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
            Self::Session => "session",
            Self::Command => "command",
        }
    }

    /// Says whether the source is a file inside the repository, which whoever wrote the repository controls.
    pub const fn is_in_repository(self) -> bool {
        matches!(self, Self::Local | Self::Project)
    }

    /// Says whether rules can be written there from the command line.
    pub const fn is_editable(self) -> bool {
        matches!(self, Self::Local | Self::Project | Self::User)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The place a rule was written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The kind of settings, by which rules take precedence.
    pub source: Source,
    /// The file, if there is one.
    pub file: Option<Arc<str>>,
    /// The line in that file, from 1.
    pub line: Option<u32>,
    /// The column in that line, from 1, in characters.
    pub column: Option<u32>,
    /// The absolute directory that a path pattern with a single leading `/` is relative to.
    /// `None` stands for the session's working directory.
    pub base: Option<Arc<str>>,
}

impl Origin {
    /// Makes an origin that names a source and nothing more.
    pub const fn bare(source: Source) -> Self {
        Self { source, file: None, line: None, column: None, base: None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(formatter, "{file}:{line}"),
            (Some(file), None) => formatter.write_str(file),
            (None, _) => write!(formatter, "{} settings", self.source),
        }
    }
}
