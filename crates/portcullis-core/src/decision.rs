//! The bare answer. Ordered, so that the strictest of several is their `max`.

use std::fmt;

use crate::rule::Behavior;

/// What may become of a call: ordered by strictness, without a default on purpose.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The call may run inside a fence that holds it to what the verdict assumed, and nowhere else.
    Contained,
    /// A person must say.
    Ask,
    /// The call may not run.
    Deny,
}

impl Decision {
    /// Returns the word used on every wire: `allow`, `contained`, `ask` or `deny`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Contained => "contained",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl From<Behavior> for Decision {
    /// Returns what a rule that matches answers.
    fn from(behavior: Behavior) -> Self {
        match behavior {
            Behavior::Allow => Self::Allow,
            Behavior::Ask => Self::Ask,
            Behavior::Deny => Self::Deny,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
