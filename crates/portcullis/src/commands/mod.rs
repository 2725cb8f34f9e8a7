//! The commands, one file or folder each.

pub(crate) mod auto_mode;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod hook;
pub(crate) mod man;
pub(crate) mod modes;
pub(crate) mod retry;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod settings;
pub(crate) mod trust;
