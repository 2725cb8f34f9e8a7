//! Effects: what a call would do to the world, one act and one target at a time.
//!
//! An effect says what is done, to what, and how sure that is. What is not known is an effect too: [`Act::Unknown`].
//! This is the vocabulary alone; who finds out the effects of a command or a call is above it.

pub(crate) mod target;

use portcullis_shell::Span;

pub use crate::act::{Act, Weight};
use crate::argument::Argument;
use crate::outgoing::is_public_host;
use crate::place::{Scope, Secrecy, is_loopback};

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What is done.
    pub act: Act,
    /// What it is done to.
    pub target: Target,
    /// How sure that is.
    pub certainty: Certainty,
    /// The invocation that does it, by its place in the survey; `None` for a call that is no command line.
    pub invocation: Option<usize>,
    /// The words that say so, in the outermost command.
    pub span: Span,
    /// The very word it is done to, where there is one.
    pub word: Option<Argument>,
    /// Whether the shell does it for the command, by a redirection.
    pub is_redirection: bool,
}

impl Effect {
    /// Makes an effect of a call that is no command line, or of nobody in particular.
    pub fn of_call(act: Act, target: Target, span: Span) -> Self {
        let certainty = Certainty::Certain;
        Self { act, target, certainty, invocation: None, span, word: None, is_redirection: false }
    }

    /// Says whether it asks a host that not everybody knows.
    pub fn asks_stranger(&self) -> bool {
        let is_strange = |host: &str| !is_loopback(host) && !is_public_host(host);
        self.act == Act::Fetch && self.target.host().is_some_and(is_strange)
    }

    /// Says whether it shows a secret, of the project or of anybody.
    pub fn shows_secret(&self, scope: &Scope) -> bool {
        match (self.act, &self.target) {
            (Act::SecretRead, _) => true,
            (Act::Read, Target::Path(path)) => path.secrecy_in(scope).is_some(),
            _ => false,
        }
    }
}

/// How sure an effect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// It happens if the call runs.
    Certain,
    /// It happens if something that is only known at run time is as it may be.
    Possible,
}

/// What an act is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nothing in particular.
    None,
    /// A file or directory.
    Path(PathTarget),
    /// A host, with the whole URL if there is one.
    Host {
        /// The host in lower case; empty if it is only known at run time.
        host: String,
        /// What is written: a URL, `user@host:path`, a bare name.
        written: String,
    },
    /// Anything else that has a name: a package, a process, a branch, a unit.
    Name(String),
}

/// A file or directory, as far as the text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTarget {
    /// As it is written.
    pub written: String,
    /// Its absolute spellings: one for each directory the command may run in, and where links lead, if somebody looked.
    /// Empty if it is only known at run time.
    pub paths: Vec<String>,
    /// Whether it stands for all files a pattern names; `paths` then holds the pattern.
    pub is_pattern: bool,
    /// Whether it stands for one file whose name has a number or the like in it, not for all files of the pattern.
    pub is_single: bool,
    /// Spellings with their `..` left in: behind a link they lead elsewhere than the text says.
    pub windings: Vec<String>,
    /// Whether links cannot be followed, so that it may lead anywhere.
    pub is_lost: bool,
    /// Whether its spellings are places of one module, which lies in one of them.
    pub module: ModuleUse,
    /// How secret it is, if somebody worked that out already.
    pub(crate) secrecy: Classified,
}

/// What a program does with a module whose places a path spells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleUse {
    /// It is a plain file.
    None,
    /// It loads the module.
    Loaded,
    /// It calls what is in the module, so that it must be known where that lies.
    Called,
}

impl PathTarget {
    /// Makes a target of what is written and its absolute spellings.
    pub fn new(written: impl Into<String>, paths: Vec<String>) -> Self {
        Self {
            written: written.into(),
            paths,
            is_pattern: false,
            is_single: false,
            windings: Vec::new(),
            is_lost: false,
            module: ModuleUse::None,
            secrecy: Classified::NotYet,
        }
    }

    /// Says whether it is known where it leads, and every spelling passes a test.
    pub fn is_all(&self, test: impl Fn(&str) -> bool) -> bool {
        !self.paths.is_empty() && !self.is_lost && self.paths.iter().all(|path| test(path))
    }
}

impl Target {
    /// Returns what is written and every path it stands for.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.written()).chain(self.paths().iter().map(String::as_str))
    }

    /// Returns the absolute spellings of a path; empty for anything else.
    pub fn paths(&self) -> &[String] {
        match self {
            Self::Path(path) => &path.paths,
            Self::None | Self::Host { .. } | Self::Name(_) => &[],
        }
    }

    /// Says whether it is a path of which it is known where it leads, and every spelling passes a test.
    pub fn is_path_with(&self, test: impl Fn(&str) -> bool) -> bool {
        matches!(self, Self::Path(path) if path.is_all(test))
    }

    /// Returns the target as it is written; empty if there is none.
    pub fn written(&self) -> &str {
        match self {
            Self::None => "",
            Self::Path(path) => &path.written,
            Self::Host { written, .. } => written,
            Self::Name(name) => name,
        }
    }

    /// Returns the host, if it is one.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Host { host, .. } => Some(host),
            Self::None | Self::Path(_) | Self::Name(_) => None,
        }
    }
}

/// Whether it was worked out how secret a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Classified {
    /// Nobody did yet.
    NotYet,
    /// So secret, or not at all.
    As(Option<Secrecy>),
}

/// Works out once how secret the files of effects are, for all who ask later.
pub fn classify(effects: &mut [Effect], scope: &Scope) {
    for effect in effects {
        if let Target::Path(path) = &mut effect.target {
            path.secrecy = Classified::As(path.secrecy_in(scope));
        }
    }
}
