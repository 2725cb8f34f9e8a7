//! The house around the code: the test driver, the generators, the tidy checks and the runner of verdict
//! specifications. Never shipped.
//!
//! `cargo dev COMMAND` is the way in; the tidy checks and the specifications also run as plain tests, so that
//! `cargo test` alone finds everything.

pub mod command;
pub mod generated;
pub mod house;
mod option_draft;
pub mod output;
pub mod process;
pub mod prose;
pub mod repository;
pub mod rust_source;
pub mod tidy;
pub mod verdict_spec;
