//! What a program does, one action at a time, and what it does it to.

use crate::act::Act;

/// How many gaps are worth telling.
const GAP_LIMIT: usize = 8;
/// How many actions are worth telling; more are a gap.
const ACTION_LIMIT: usize = 256;

/// A text that a program hands to a function of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedText {
    /// As far as it is known.
    pub text: String,
    /// Whether the function asks a client for it, so that a path of an address is meant.
    pub is_route: bool,
}

/// One thing a program does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeAction {
    /// What is done.
    pub act: Act,
    /// What it is done to.
    pub object: CodeTarget,
}

/// What an action is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeTarget {
    /// Nothing in particular.
    None,
    /// A path as the program writes it, relative to where it runs; a leading `~/` is the home directory.
    Path(String),
    /// A path that is only known at run time.
    SomePath,
    /// A URL or host.
    Host(String),
    /// A host that is only known at run time.
    SomeHost,
    /// Anything else with a name.
    Name(String),
    /// A module of the project or a package of it, by its name as it is written; [`module_places`](super::module_places) says where it may lie.
    Module {
        /// As it is written; behind a colon a member that may be a module of its own.
        name: String,
        /// Whether its functions are called, so that it must be known whose they are.
        is_used: bool,
    },
}

/// What a program does, as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeReading {
    /// What it does itself.
    pub actions: Vec<CodeAction>,
    /// Shell command lines it runs. What is only known at run time stands as `$UNKNOWN`, and is a gap as well.
    pub shell_texts: Vec<String>,
    /// Programs it starts with their arguments; `None` for a word that is only known at run time.
    pub commands: Vec<Vec<Option<String>>>,
    /// Texts that it hands to functions of modules that nobody reads.
    pub handed: Vec<HandedText>,
    /// What is not understood, one clause each. Empty means everything is.
    pub gaps: Vec<String>,
}

impl CodeReading {
    /// Says whether the program does nothing at all and everything in it is understood.
    pub fn is_inert(&self) -> bool {
        *self == Self::default()
    }

    /// Adds an action once.
    pub(super) fn add(&mut self, act: Act, object: CodeTarget) {
        let action = CodeAction { act, object };
        if self.actions.contains(&action) {
            return;
        }
        if self.actions.len() < ACTION_LIMIT {
            self.actions.push(action);
        } else {
            self.add_gap("does very many things".to_owned());
        }
    }

    /// Adds a text that is handed to a function of a module; too many are a gap.
    pub(super) fn hand(&mut self, text: HandedText) {
        if self.handed.contains(&text) {
            return;
        }
        if self.handed.len() < ACTION_LIMIT {
            self.handed.push(text);
        } else {
            self.add_gap("hands very many texts to code of the project".to_owned());
        }
    }

    /// Adds a gap once.
    pub(super) fn add_gap(&mut self, clause: String) {
        if self.gaps.len() < GAP_LIMIT && !self.gaps.contains(&clause) {
            self.gaps.push(clause);
        }
    }

    /// Adds all that another program does.
    pub(super) fn merge(&mut self, other: Self) {
        for action in other.actions {
            self.add(action.act, action.object);
        }
        for text in other.shell_texts {
            if !self.shell_texts.contains(&text) {
                self.shell_texts.push(text);
            }
        }
        for command in other.commands {
            if !self.commands.contains(&command) {
                self.commands.push(command);
            }
        }
        for text in other.handed {
            self.hand(text);
        }
        for gap in other.gaps {
            self.add_gap(gap);
        }
    }
}
