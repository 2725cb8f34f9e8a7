//! `trap`: on `DEBUG` a command sees every other one, and what it detaches lives on.

use super::CommandContext;
use super::certain;
use crate::act::Act;
use crate::profile::{Match, Use};

/// Adds that a trap on `DEBUG` watches what is run, and that a detached command runs later.
pub(super) fn read(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let watches = found.wanted.operands.iter().skip(1).filter(|word| word.text.eq_ignore_ascii_case("DEBUG"));
    uses.extend(watches.map(|word| certain(Act::Capture, word)));
    // What is detached outlives the shell that sets the trap.
    let detached = found.wanted.operands.iter().take(1).filter(|word| {
        let mut words = word.text.split_whitespace();
        words.any(|word| matches!(word, "nohup" | "setsid" | "disown"))
    });
    uses.extend(detached.map(|word| certain(Act::Persist, word)));
    uses
}
