//! One thing that a program does, and what it does it to.

use crate::act::Act;

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

/// What a action is done to.
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
