//! Drafts of option tables for command profiles, from what packages of programs bring along.
//!
//! Nothing here is known: which options write, run, load, send or listen is marked by a person. A draft only says which
//! options there are, which of them take a value, and by which words of their description they should be looked at first.

mod acting;
mod missing;
mod sources;
mod table;

pub(crate) use missing::{MissingOption, missing, report};
pub(crate) use sources::{ProgramName, read_sources};
pub(crate) use table::table;
