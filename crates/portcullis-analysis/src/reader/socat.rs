//! `socat`: what its two addresses stand for.

use super::CommandContext;
use super::{certain, possible};
use crate::act::Act;
use crate::argument::Argument;
use crate::lists::readers::socat::TYPES;
use crate::profile::{Match, Use};

/// Reads the addresses.
pub(super) fn read(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    if found.is_idle {
        return found.uses.clone();
    }
    found.wanted.operands.iter().filter_map(address).collect()
}

fn address(word: &Argument) -> Option<Use> {
    let kind = word.text.split([':', ',']).next().unwrap_or_default().to_ascii_lowercase();
    if matches!(kind.as_str(), "-" | "stdio" | "stdin" | "stdout" | "stderr") {
        return None;
    }
    let listed = TYPES.iter().find(|(start, _)| kind.starts_with(start));
    Some(match listed {
        Some((_, act)) => certain(*act, word),
        None if matches!(kind.as_str(), "file" | "open" | "create" | "gopen" | "pipe" | "pty") => {
            possible(Act::Unknown, word)
        }
        None => certain(Act::Unknown, word),
    })
}
