//! `socat`: what its two addresses stand for.

use super::CommandContext;
use super::{certain, is_idle, possible};
use crate::act::Act;
use crate::argument::Argument;
use crate::profile::{Match, Use};

/// What an address does, by the beginning of its type.
const TYPES: &[(&str, Act)] = &[
    ("exec", Act::RemoteShell),
    ("system", Act::RemoteShell),
    ("shell", Act::RemoteShell),
    ("tcp-l", Act::Listen),
    ("tcp4-l", Act::Listen),
    ("tcp6-l", Act::Listen),
    ("udp-l", Act::Listen),
    ("udp4-l", Act::Listen),
    ("udp-recv", Act::Listen),
    ("openssl-l", Act::Listen),
    ("ssl-l", Act::Listen),
    ("unix-l", Act::Listen),
    ("vsock-l", Act::Listen),
    ("tcp", Act::Connect),
    ("udp", Act::Connect),
    ("ssl", Act::Connect),
    ("openssl", Act::Connect),
    ("socks", Act::Connect),
    ("proxy", Act::Connect),
    ("unix", Act::Connect),
    ("vsock", Act::Connect),
];

/// Reads the addresses.
pub(super) fn read(context: &CommandContext<'_>, found: &Match) -> Vec<Use> {
    if is_idle(context, found) {
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
