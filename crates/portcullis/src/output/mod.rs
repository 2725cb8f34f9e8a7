//! What commands print: for people and for programs.

pub(crate) mod chart;
pub(crate) mod excerpt;
pub(crate) mod exchange;
pub(crate) mod explanation;
mod findings;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod judged;
pub(crate) mod record;
