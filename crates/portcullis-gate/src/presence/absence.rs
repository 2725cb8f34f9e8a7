//! Why somebody is no person at a terminal of their own, and what to do about it.

use std::fmt;

use crate::Failure;

/// Why a process cannot speak for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// The process, or one it descends from, cannot be looked at.
    Unknown,
    /// It has no controlling terminal.
    NoTerminal,
    /// The shell of its terminal did not start it, or has ended.
    Detached,
    /// An agent started it.
    StartedByAgent {
        /// The agent's program.
        program: String,
        /// The agent's process.
        pid: u32,
    },
    /// An agent runs in its terminal.
    AgentsTerminal {
        /// The agent's program.
        program: String,
        /// The agent's process.
        pid: u32,
    },
    /// A variable says that an agent started it.
    Marked {
        /// The name of the variable.
        variable: &'static str,
    },
    /// Its terminal is made by something that an agent started, or that nobody is known to have started.
    MadeTerminal {
        /// The program that made the terminal.
        program: String,
    },
    /// Something leads its terminal that nobody is known to have started.
    CameLater {
        /// What leads the terminal.
        program: String,
    },
    /// A service manager started the window, and no shell in it that somebody could type into.
    ToldToRun {
        /// What leads the terminal.
        program: String,
    },
    /// A scheduler started it.
    Scheduled {
        /// The scheduler.
        program: String,
    },
    /// It came by ssh from this very machine, or may have: such a session is open.
    SshFromHere,
    /// Agents run where this process cannot see them.
    OtherNamespace,
}

impl Absence {
    /// Makes the refusal; `what` is what only a person can do.
    pub fn refusal(&self, what: &str) -> Failure {
        Failure::usage(format!("only a person at a terminal of their own can {what}: {self}"))
            .with_hint(self.remedy())
    }

    /// Returns what a person can do.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::NoTerminal => "run it yourself in a terminal, without a pipe into it",
            Self::AgentsTerminal { .. } => "open another terminal, or end the agent first",
            Self::MadeTerminal { .. } | Self::CameLater { .. } => {
                "run it in a terminal that was open before the agent began, over ssh from another machine, or answer on the page of `portcullis serve`"
            }
            Self::ToldToRun { .. } => "open the terminal without a command, and type it into the shell",
            Self::SshFromHere => {
                "end ssh sessions of this machine with itself, or use another terminal or the page of `portcullis serve`"
            }
            Self::Unknown
            | Self::Detached
            | Self::StartedByAgent { .. }
            | Self::Marked { .. }
            | Self::Scheduled { .. }
            | Self::OtherNamespace => "open a terminal yourself and run it there",
        }
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(formatter, "the process cannot be looked at"),
            Self::NoTerminal => write!(formatter, "this has no terminal"),
            Self::Detached => write!(formatter, "the shell of this terminal did not start it"),
            Self::StartedByAgent { program, pid } => {
                write!(formatter, "the agent `{program}` (process {pid}) started this")
            }
            Self::AgentsTerminal { program, pid } => {
                write!(formatter, "the agent `{program}` (process {pid}) runs in this terminal")
            }
            Self::Marked { variable } => {
                write!(formatter, "the variable `{variable}` says that an agent started this")
            }
            Self::MadeTerminal { program } => {
                write!(formatter, "`{program}` made this terminal, and an agent may have started it")
            }
            Self::CameLater { program } => {
                write!(formatter, "`{program}` took this terminal, and an agent may have started it")
            }
            Self::ToldToRun { program } => {
                write!(formatter, "this terminal was told to run `{program}`, so an agent may have opened it")
            }
            Self::Scheduled { program } => write!(formatter, "the scheduler `{program}` started this"),
            Self::SshFromHere => write!(formatter, "this ssh session may come from this machine"),
            Self::OtherNamespace => write!(formatter, "agents run outside of this process namespace"),
        }
    }
}
