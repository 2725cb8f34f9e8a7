//! The first built-in set of commands that change nothing.
//!
//! A command is in the set by its name and the shape of its arguments; what is not recognised is not in the set.
//! Where a command reads files, [`crate::access`] says which, and the caller checks that they may be read.

mod condition;
mod find;
mod forge;
mod git;
mod sed;
mod table;

use crate::argument::{Argument, Knowledge};
use crate::environment::is_safe_prefix;
use crate::invocation::Invocation;
use table::Test;

/// Directories whose programs are the ones the bare name would find.
const SYSTEM_DIRECTORIES: &[&str] =
    &["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/sbin/", "/usr/sbin/"];

/// Says whether an invocation changes nothing, apart from its redirections and from which files it reads.
pub fn is_read_only(invocation: &Invocation) -> bool {
    let Some(name) = trusted_name(invocation) else {
        return false;
    };
    if !invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name)) {
        return false;
    }
    let operands = invocation.operands();
    match table::find(name) {
        Some(Test::Anything) => true,
        Some(Test::Nothing) => operands.is_empty(),
        Some(Test::Without { short, long, most_operands }) => {
            all_known(operands) && lacks(operands, short, long) && count_operands(operands) <= most_operands
        }
        Some(Test::WithoutLong(long)) => lacks(operands, "", long),
        Some(Test::Exactly(forms)) => forms.iter().any(|form| is_exactly(operands, form)),
        Some(Test::Words(judge)) => judge(operands),
        Some(Test::By(judge)) => all_known(operands) && judge(operands),
        None => false,
    }
}

/// Says whether a `sed` script only prints or changes text, so that `sed -i` touches nothing but its operands.
pub fn has_harmless_sed_script(invocation: &Invocation) -> bool {
    all_known(invocation.operands()) && sed::has_harmless_script(invocation.operands())
}

/// Returns the program's name if it is a bare name or stands in a system directory.
fn trusted_name(invocation: &Invocation) -> Option<&str> {
    let program = invocation.program()?.fixed()?;
    if !program.contains('/') {
        return Some(program);
    }
    SYSTEM_DIRECTORIES
        .iter()
        .find_map(|directory| program.strip_prefix(directory))
        .filter(|name| !name.contains('/'))
}

/// A pattern or expansion could become an option that the test does not see.
fn all_known(operands: &[Argument]) -> bool {
    operands.iter().all(|argument| match argument.knowledge {
        Knowledge::Fixed | Knowledge::Tilde => true,
        // A pattern with a fixed beginning cannot become an option.
        Knowledge::Glob => !argument.text.starts_with(['*', '?', '[', '-', '@', '+', '!']),
        Knowledge::Dynamic => false,
    })
}

/// Says whether no option is one of `short` letters or begins with one of the `long` names.
fn lacks(operands: &[Argument], short: &str, long: &[&str]) -> bool {
    operands.iter().all(|argument| {
        if let Some(name) = argument.text.strip_prefix("--") {
            let name = name.split('=').next().unwrap_or(name);
            // Programs accept any unambiguous beginning of a long option.
            name.is_empty() || !long.iter().any(|banned| banned.starts_with(name) || name == *banned)
        } else if argument.is_option() {
            !argument.text.contains(|letter| short.contains(letter))
        } else {
            true
        }
    })
}

fn count_operands(operands: &[Argument]) -> usize {
    operands.iter().filter(|argument| !argument.is_option()).count()
}

fn is_exactly(operands: &[Argument], form: &str) -> bool {
    let mut words = form.split_whitespace();
    operands.iter().all(|argument| argument.fixed().is_some() && argument.fixed() == words.next())
        && words.next().is_none()
}
