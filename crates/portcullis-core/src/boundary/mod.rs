//! Boundaries: what the user said not to do, and took back later (“don't push”, “ok, push now”).
//!
//! ```text
//! prompt ── stated ──► sentences, kept by the caller for the whole session
//! sentences ── reading ──► what they forbid or permit
//! call ── crossing ──► the sentence that forbids it, unless a later one permits it
//! ```
//!
//! Only what is read without doubt counts here. Every other prohibition is kept as well, for the classifier to read.

mod crossing;
mod forbidden_action;
mod objects;
mod reading;
mod stated;
mod words;

pub(crate) use crossing::{crossing, possible_crossing};
pub use stated::state_boundaries;
