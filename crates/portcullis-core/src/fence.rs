//! The fence that a contained call runs in: what whoever judges a call can offer, and what a verdict asks for (spec H1).
//!
//! Nothing here puts a fence up. The caller says that one goes up for this call at this host, and the verdict says what it
//! must hold; a caller that offers none gets the answers of a world without fences.

use crate::path;

/// A fence that goes up for this call: the machine can, the settings want it, and the host runs the call inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceOffer {
    /// The one directory whose files the call can change inside, absolute and without links.
    pub workspace: String,
    /// Places that are empty inside, absolute; what of the workspace lies in one of them is there nevertheless.
    pub hidden: Vec<String>,
    /// Programs whose registries are known, so that they can be reached inside by name.
    pub installers: Vec<String>,
    /// Registries that files of the project name for a program, and that neither the user named nor everybody knows.
    pub strange_registries: Vec<StrangeRegistry>,
}

/// A registry that files of a project name for a program, and nobody else does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrangeRegistry {
    /// The program that would install from it.
    pub program: String,
    /// Its host.
    pub host: String,
}

impl FenceOffer {
    /// Says whether a file is not there inside, going by its path alone.
    pub fn hides(&self, file: &str) -> bool {
        !path::is_inside(file, &self.workspace)
            && self.hidden.iter().any(|place| path::is_inside(file, place))
    }

    /// Says whether a word names a place that is not there inside, as a whole or in a part: `--file=/tmp/x`, `-I/tmp/x`.
    pub(crate) fn hides_word(&self, word: &str, directory: &str, home: Option<&str>) -> bool {
        let hides = |path: &str| match (path.strip_prefix('~'), home) {
            (Some(below), Some(home)) => self.hides(&format!("{home}{below}")),
            _ => self.hides(&path::join(directory, path)),
        };
        let is_option = word.starts_with('-') && !word.starts_with("--");
        let behind_option = word.get(2..).filter(|_| is_option).unwrap_or_default();
        [word, behind_option].into_iter().any(|word| hides(word) || path_beginnings(word).any(hides))
    }
}

/// Returns the parts of a word that look like a path of their own: they begin where no other goes on.
fn path_beginnings(word: &str) -> impl Iterator<Item = &str> {
    let mut before = None;
    word.char_indices().filter_map(move |(at, letter)| {
        let goes_on = before.replace(letter).is_some_and(is_path_letter);
        let begins = matches!(letter, '/' | '~' | '.') && !goes_on;
        begins.then(|| word.get(at..)?.split(is_path_end).next()).flatten()
    })
}

fn is_path_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-' | '~')
}

fn is_path_end(letter: char) -> bool {
    matches!(letter, ':' | ',' | ';' | '"' | '\'' | ' ' | '\n' | ')' | ']' | '}')
}

/// What a contained call runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceRequest {
    /// Why the call is not simply allowed.
    pub cause: FenceCause,
    /// The directory it may write; the rest of the machine is read-only, and secrets are hidden.
    pub workspace: String,
    /// What it can reach.
    pub network: FenceNetwork,
    /// Where its writes go.
    pub writes: FenceWrites,
}

/// What is not known of a contained call. All of it is local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceCause {
    /// It runs code that the agent wrote or that nobody can read.
    UnreadCode,
    /// It runs a program that nobody knows, or a known one in a way that nobody knows.
    UnknownProgram,
    /// It changes files that are only known when it runs.
    UnknownPath,
    /// Nothing is unknown, and the mode wants a person to say so, who is not there.
    NobodyToAsk,
    /// It runs code of the project, and settings want that contained.
    ProjectCode,
}

/// What a contained call can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceNetwork {
    /// Its own loopback and nothing else.
    None,
    /// The registries of the programs that it installs with.
    Registries,
}

/// Where the writes of a contained call go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceWrites {
    /// Into a layer over the workspace; they land after they were looked at.
    CopyOnWrite,
}

impl FenceCause {
    /// Returns the word for it in records and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnreadCode => "unread-code",
            Self::UnknownProgram => "unknown-program",
            Self::UnknownPath => "unknown-path",
            Self::NobodyToAsk => "nobody-to-ask",
            Self::ProjectCode => "project-code",
        }
    }

    /// Returns what is not known, as one clause for people.
    pub(crate) const fn clause(self) -> &'static str {
        match self {
            Self::UnreadCode => "it runs code that nobody has read",
            Self::UnknownProgram => "part of what it runs is not known",
            Self::UnknownPath => "it changes files that are only known when it runs",
            Self::NobodyToAsk => "nobody can be asked about it",
            Self::ProjectCode => "it runs code of the project, which settings want contained",
        }
    }
}

impl FenceRequest {
    /// Returns what the fence holds, as one clause for people.
    pub(crate) fn clause(&self) -> String {
        let FenceWrites::CopyOnWrite = self.writes;
        let reach = match self.network {
            FenceNetwork::None => "without a network",
            FenceNetwork::Registries => "with its registry as the only network",
        };
        format!("it runs inside a fence, {reach}, and can change `{}` alone", self.workspace)
    }
}
