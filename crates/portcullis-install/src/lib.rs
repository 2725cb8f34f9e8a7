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
mod diff;
pub mod document;
pub mod ours;
pub mod plan;
pub mod program;
mod record;
pub mod text_kind;
pub mod toml_document;
pub mod undo;
pub mod writing;

pub use diff::unified as unified_diff;

use std::path::Path;

use portcullis_core::visible;

/// Writes a path for people.
fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
