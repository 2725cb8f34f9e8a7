//! Registering with agents, undoing it, and checking that it works.
//!
//! ```text
//! agent ──► plan (pieces put into texts) ──► diff ──► a person's yes ──► writing ──► record ──► undo
//!                                                                           └──► codex_trust
//! ```
//!
//! Settings of agents are changed in one step each, under a lock, and only if they still are what was read. What was
//! there before is kept in the state directory, so that undoing gives back the same bytes.

pub mod agent;
pub mod codex_trust;
pub mod document;
pub mod ours;
pub mod plan;
pub mod program;
mod record;
pub mod text_kind;
pub mod toml_document;
pub mod undo;
pub mod writing;

use std::path::Path;

use portcullis_core::visible;
use portcullis_gate::text_difference::unified_difference;
use portcullis_output::difference::painted_difference;

/// Writes the difference of a file that may be new, for a terminal.
fn file_difference(path: &Path, before: Option<&str>, after: &str) -> String {
    painted_difference(&unified_difference(&path.to_string_lossy(), before, after))
}

/// Writes a path for people.
fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
