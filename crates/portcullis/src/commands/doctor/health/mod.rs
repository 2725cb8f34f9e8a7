//! Whether everything works: our own program and state, and every agent with what it was told about us.
//!
//! A check looks and never mends; it says what is wrong and what to do. Agents are checked by what stands in their
//! settings, not by what `init` remembers, and by running the registered command as the agent would.

mod agents;
mod canary;
mod fence;
mod fleet;
mod heads;
mod neighbours;
mod own;
mod proof;
mod rewrite_trial;

use portcullis_hosts::Host;
use serde_json::{Value, json};

pub(crate) use agents::check_agent;
pub(crate) use own::check_own;
pub(crate) use proof::prove;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// As it should be.
    Fine,
    /// It works, but not as well as it should, or not for long.
    Warning,
    /// Calls are not judged as they should be.
    Problem,
}

impl State {
    /// Returns the word for JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }

    /// Returns the symbol for people.
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Self::Fine => "✓",
            Self::Warning => "!",
            Self::Problem => "✗",
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// The agent it is about; `None` for ourselves.
    pub(crate) host: Option<Host>,
    /// What was looked at.
    pub(crate) name: &'static str,
    /// How it ended.
    pub(crate) state: State,
    /// What was found, a clause.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) remedy: Option<String>,
}

impl Check {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "host": self.host.map(Host::name),
            "check": self.name,
            "state": self.state.as_str(),
            "message": self.message,
            "remedy": self.remedy,
        })
    }
}

/// The checks of one subject, as they are made.
#[derive(Debug)]
pub(crate) struct Checks {
    host: Option<Host>,
    list: Vec<Check>,
}

impl Checks {
    const fn new(host: Option<Host>) -> Self {
        Self { host, list: Vec::new() }
    }

    fn fine(&mut self, name: &'static str, message: impl Into<String>) {
        self.push(name, State::Fine, message.into(), None);
    }

    fn warning(&mut self, name: &'static str, message: impl Into<String>, remedy: impl Into<String>) {
        self.push(name, State::Warning, message.into(), Some(remedy.into()));
    }

    fn problem(&mut self, name: &'static str, message: impl Into<String>, remedy: impl Into<String>) {
        self.push(name, State::Problem, message.into(), Some(remedy.into()));
    }

    fn push(&mut self, name: &'static str, state: State, message: String, remedy: Option<String>) {
        self.list.push(Check { host: self.host, name, state, message, remedy });
    }
}
