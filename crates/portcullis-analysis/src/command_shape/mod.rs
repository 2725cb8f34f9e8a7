//! The shape of a command: what a person who allowed it once has said yes to.
//!
//! ```text
//! known by a profile    program, subcommand, acts, kinds of targets, and the words that choose what is run
//! known by nobody       program, and every word: as it is, or by its kind where that is beyond doubt
//! ```
//!
//! Two commands of one shape are alike to whoever is asked about them. A command has a shape only if every one of its
//! acts may be remembered, everything it touches lies in the workspace or is temporary, and every word is known.
//!
//! INVARIANT: what is not known is no shape. A word that is not understood is kept as it stands, so that a shape is never
//! wider than what was allowed.

mod grounds;
mod word;

use std::collections::BTreeSet;

use crate::act::Act;
use crate::invocation::base_name;

pub use grounds::ShapeGrounds;

/// Where something lies that a command touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetKind {
    /// In the workspace.
    Workspace,
    /// In a directory for temporary files.
    Temporary,
    /// A service of this machine.
    OwnService,
}

impl TargetKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Workspace, Self::Temporary, Self::OwnService];

    /// Returns its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Temporary => "temporary",
            Self::OwnService => "own-service",
        }
    }
}

/// What a command is known by when it comes again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandShape {
    /// The program as it is written.
    pub program: String,
    /// The words that choose what the program does.
    pub subcommand: Vec<String>,
    /// The other words that count, by their kind or as they are.
    pub words: Vec<String>,
    /// What it does.
    pub acts: BTreeSet<Act>,
    /// Where what it touches lies.
    pub targets: BTreeSet<TargetKind>,
}

impl CommandShape {
    /// Says whether whoever allowed this command has allowed the other one too: it does nothing more, to nothing else.
    pub fn covers(&self, other: &Self) -> bool {
        self.program == other.program
            && self.subcommand == other.subcommand
            && self.words == other.words
            && other.acts.is_subset(&self.acts)
            && other.targets.is_subset(&self.targets)
    }

    /// Returns what a person calls it: the program with its subcommand, or with the task that it runs.
    pub fn title(&self) -> String {
        let name = base_name(&self.program);
        let task = self.words.iter().filter(|word| is_kept(word) && !word.starts_with('-'));
        let chosen = self.subcommand.iter().chain(task.take(usize::from(self.subcommand.is_empty())));
        std::iter::once(name).chain(chosen.map(String::as_str)).collect::<Vec<_>>().join(" ")
    }

    /// Returns its words as they were written, if these say what is done and none of them is only known by its kind.
    pub fn spelled(&self) -> Option<String> {
        let is_chosen = |act: &Act| matches!(act, Act::Unknown | Act::RunProject | Act::Execute);
        if !self.acts.iter().any(is_chosen) {
            return None;
        }
        let words = self.subcommand.iter().chain(&self.words);
        let all: Vec<&str> =
            std::iter::once(self.program.as_str()).chain(words.map(String::as_str)).collect();
        let is_plain = |word: &&str| is_kept(word) && !word.contains(['*', ' ', '(', ')', '\\']);
        all.iter().all(is_plain).then(|| all.join(" "))
    }
}

/// Says whether a word of a shape is kept as it stands, not by its kind.
fn is_kept(word: &str) -> bool {
    !word.contains('\u{2039}')
}

/// The shape of a command, and what somebody must look up before it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapedCommand {
    /// The shape.
    pub shape: CommandShape,
    /// The directory the command runs in.
    pub directory: String,
    /// Files that a word names, absolute, with where they seem to lie; links may lead them elsewhere.
    pub paths: Vec<(String, TargetKind)>,
    /// Files whose text the command runs, absolute; some of them need not be there.
    pub scripts: Vec<String>,
}
