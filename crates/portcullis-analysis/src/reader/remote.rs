//! `scp`, `rsync` and `ssh`: which side is another machine, and which options weaken or open something.

use super::CommandContext;
use super::{certain, has};
use crate::act::Act;
use crate::argument::Argument;
use crate::profile::{Match, Use};

/// Says whether a word names a file of another machine: `host:path`, `rsync://host/path`.
fn is_remote(word: &Argument) -> bool {
    let before = word.text.split('/').next().unwrap_or_default();
    word.text.contains("://") || before.contains(':')
}

/// Reads copies between machines.
pub(super) fn copy(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let is_trial = has(found, &["-n", "--dry-run", "--list-only"]);
    for found in &mut uses {
        if found.word.as_ref().is_some_and(is_remote) {
            found.act = match found.act {
                Act::Read => Act::Fetch,
                Act::Write => Act::Send,
                other => other,
            };
        }
    }
    let destination = found.wanted.operands.last().filter(|_| found.wanted.operands.len() > 1);
    if let Some(destination) = destination {
        let deletes = found.wanted.options.iter().any(|(option, _)| option.starts_with("--del"));
        if deletes && !is_trial {
            uses.push(certain(Act::DeleteTree, destination));
        }
        if is_trial {
            uses.retain(|found| !(found.word.as_ref() == Some(destination) && found.act == Act::Write));
        }
    }
    uses
}

/// Settings of ssh that switch off the check of the other machine, with the values that do.
const DISTRUST: &[(&str, &str)] = &[
    ("stricthostkeychecking", "no"),
    ("stricthostkeychecking", "off"),
    ("userknownhostsfile", "/dev/null"),
    ("checkhostip", "no"),
];

/// Settings of ssh that run a command here or open a way back.
const OPENING: &[(&str, Act)] = &[
    ("remoteforward", Act::Tunnel),
    ("localcommand", Act::Unknown),
    ("proxycommand", Act::Unknown),
    ("knownhostscommand", Act::Unknown),
];

/// Reads `ssh`: its settings, and options that stand behind the host.
pub(super) fn shell(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let values = found.wanted.options.iter().filter(|(option, _)| *option == "-o");
    for value in values.filter_map(|(_, value)| value.as_ref()) {
        let (name, setting) = value.text.split_once(['=', ' ']).unwrap_or((value.text.as_str(), ""));
        let (name, setting) = (name.to_ascii_lowercase(), setting.trim().to_ascii_lowercase());
        if DISTRUST.contains(&(name.as_str(), setting.as_str())) {
            uses.push(certain(Act::WeakenTrust, value));
        }
        if let Some((_, act)) = OPENING.iter().find(|(listed, _)| *listed == name) {
            uses.push(certain(*act, value));
        }
    }
    // Options may stand right behind the host.
    if let [_, second, third, ..] = found.wanted.operands.as_slice()
        && second.text == "-R"
    {
        uses.push(certain(Act::Tunnel, third));
    }
    uses
}
