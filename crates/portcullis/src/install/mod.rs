//! Registering with agents, undoing it, and checking that it works.
//!
//! ```text
//! agent ──► plan (pieces put into texts) ──► diff ──► a person's yes ──► writing ──► record ──► undo
//!                                                                           └──► codex_trust
//! health: checks of everything above, and a canary through the registered command
//! ```
//!
//! Settings of agents are changed in one step each, under a lock, and only if they still are what was read. What was
//! there before is kept in the state directory, so that undoing gives back the same bytes.

pub(crate) mod agent;
pub(crate) mod codex_trust;
mod diff;
mod document;
pub(crate) mod health;
pub(crate) mod ours;
pub(crate) mod plan;
pub(crate) mod program;
mod record;
pub(crate) mod undo;
pub(crate) mod writing;

use std::path::Path;

use portcullis_core::visible;

/// Writes a path for people.
fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
