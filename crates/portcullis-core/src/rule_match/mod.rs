//! Finds the deny and ask rules that a call meets, by its content.

mod field;
mod path;
mod power_shell;
mod restraint;
mod shell;

pub(crate) use field::name_matches;
pub(crate) use path::{anchors, path_pattern};
pub(crate) use power_shell::names_command;
pub(crate) use restraint::{RuleMatch, find_restraint};
pub(crate) use shell::{shell_pattern, shell_tools};
