//! What commands print: for people and for programs.

mod excerpt;
pub(crate) mod exchange;
pub(crate) mod explanation;
mod findings;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod judged;
