//! Verdict specifications: Markdown files that are documentation and test at once.
//!
//! A file is prose with fenced blocks. `json` blocks are settings, `context` blocks say in which session the calls are
//! made, `console` blocks hold one call a line with the expected verdict at its end. What stands before the first `##`
//! heading holds for the whole file; each `##` section starts from there again. `specs/README.md` describes the format.

mod annotation;
mod parse;
mod policy;
mod run;
mod session;

pub use annotation::Expectation;
pub use parse::{CallText, SpecCase, SpecLayer, SpecProblem, SpecState, parse};
pub use run::Runner;
pub use session::SpecSession;
