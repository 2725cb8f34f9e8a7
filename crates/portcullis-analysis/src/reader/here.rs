//! Programs that work on the directory they run in unless an operand names another one.

use super::CommandContext;
use super::{certain, certain_here};
use crate::act::Act;
use crate::profile::{Match, Use};

/// Adds a look at the working directory if nothing else is looked at.
pub(super) fn list(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = with_here(context, found, Act::List);
    uses.extend(listed(found));
    uses
}

/// Reads programs that may take the names of their files from another one.
pub(super) fn from_list(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    uses.extend(listed(found));
    uses
}

/// Nobody knows which files a list names. The option is no act in the tables, so that a word which only the running
/// shell knows stays what it looks like.
fn listed(found: &Match<'_>) -> Vec<Use> {
    let lists = found.wanted.options.iter().filter(|(option, _)| *option == "--files0-from");
    lists.filter_map(|(_, list)| list.as_ref()).map(|list| certain(Act::Unknown, list)).collect()
}

/// Adds a write into the working directory if nothing else is written.
pub(super) fn write(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    with_here(context, found, Act::Write)
}

fn with_here(context: &CommandContext<'_>, found: &Match<'_>, act: Act) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let is_named = uses.iter().any(|found| found.act == act && found.word.is_some());
    if !is_named && !found.is_idle {
        uses.extend(certain_here(context, act));
    }
    uses
}

/// `grep` looks below the working directory if it is told to descend and not where.
pub(super) fn grep(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let descends = found.wanted.options.iter().any(|(option, _)| *option == "-r");
    searching(context, found, Act::Read, descends)
}

/// `rg` and its like look below the working directory if there is neither a place nor a pipe.
pub(super) fn search(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    searching(context, found, Act::Read, context.invocation.piped.is_empty())
}

/// `fd` looks at names below the working directory.
pub(super) fn names(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    searching(context, found, Act::List, true)
}

/// Options that give the pattern, so that every operand is a place.
const PATTERNS: &[&str] = &["-e", "-f", "--files", "--type-list", "--search-path", "-g"];

fn searching(context: &CommandContext<'_>, found: &Match<'_>, act: Act, descends: bool) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let drops = |option: &str| {
        let listed = found.form.options().find(|flag| flag.spellings().next() == Some(option));
        listed.is_some_and(|flag| flag.twist == crate::profile::Twist::Drop)
    };
    let has_pattern =
        found.wanted.options.iter().any(|(option, _)| PATTERNS.contains(option) && drops(option));
    let is_placed = found.wanted.operands.len() > usize::from(!has_pattern);
    if descends && !is_placed && !found.is_idle {
        uses.extend(certain_here(context, act));
    }
    uses
}
