//! A run whose changes wait for a person, as terminal and page show it.

/// A run whose changes wait for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldRun {
    /// What it is known by.
    pub id: String,
    /// The command.
    pub command: String,
    /// Where it ran, and where its changes would land.
    pub workspace: String,
    /// The agent's program; empty if a person started it.
    pub host: String,
    /// The agent's session; empty if a person started it.
    pub session: String,
    /// When it began, in unix milliseconds.
    pub started_at_ms: u64,
    /// Why its changes wait, in one clause.
    pub reason: String,
    /// The changes.
    pub changes: Vec<HeldRunChange>,
}

/// One change that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldRunChange {
    /// The path, from the workspace.
    pub path: String,
    /// What happened to it: `added`, `modified` or `removed`.
    pub kind: &'static str,
    /// What a person must look at before they keep it.
    pub warnings: Vec<&'static str>,
    /// Whether it is of a kind that runs later, outside the fence.
    pub runs_later: bool,
}

impl HeldRun {
    /// Says whether something that runs later, outside the fence, is among the changes.
    pub fn is_grave(&self) -> bool {
        self.changes.iter().any(|change| change.runs_later)
    }
}
