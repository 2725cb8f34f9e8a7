//! `find` without its actions that write, remove or run.

use crate::argument::Argument;

const ACTIONS: &[&str] = &[
    "-delete",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-fls",
    "-files0-from",
];

pub(super) fn is_read_only(operands: &[Argument]) -> bool {
    operands.iter().all(|argument| !ACTIONS.contains(&argument.text.as_str()))
}
