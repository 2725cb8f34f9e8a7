//! What commands print: for people and for programs.

mod excerpt;
pub(crate) mod explanation;
mod findings;
pub(crate) mod human;
pub(crate) mod json;
