//! What a program reads without being told in so many words.

use super::{FileUse, each, mentioned};
use crate::invocation::{Access, Invocation};

/// Programs that find their work by the directory they run in.
const WORKING_HERE: &[&str] = &["du", "fd", "fdfind", "find", "gh", "git", "grep", "ls", "rg", "tree"];

/// Returns what a program reads without being told in so many words: the directory it runs in, and for git the words
/// that lead out of it.
pub fn implied(invocation: &Invocation) -> Vec<FileUse> {
    let Some(program) = invocation.program() else {
        return Vec::new();
    };
    let name = invocation.program_name().unwrap_or_default();
    let here = WORKING_HERE.contains(&name).then(|| program.piece("."));
    let mut uses = each(here.into_iter().collect(), Access::Read);
    if name == "git" {
        uses.extend(pointed(invocation));
    }
    uses
}

/// Returns the words of a program that lead out of the directory it runs in: absolute, or above it.
fn pointed(invocation: &Invocation) -> Vec<FileUse> {
    let leads_out = |file: &FileUse| {
        let text = file.file.text.as_str();
        text.starts_with(['/', '~']) || text.split('/').any(|component| component == "..")
    };
    mentioned(invocation).into_iter().filter(leads_out).collect()
}
