//! What a caller of the daemon may do.

use serde::{Deserialize, Serialize};

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Look at everything, change nothing.
    Read,
    /// Have calls judged and ask questions; see one's own.
    Decide,
    /// Everything: answer questions, change rules, take grants back.
    Person,
}

impl Role {
    /// Every role, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Read, Self::Decide, Self::Person];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Decide => "decide",
            Self::Person => "person",
        }
    }

    /// Says whether whoever has this role may do what another one may.
    pub fn covers(self, needed: Self) -> bool {
        self == Self::Person || self == needed
    }
}
