//! Queries of git that can do more than look: formats that run gpg, remotes that are addresses.

use super::CommandContext;
use super::{certain, certain_here};
use crate::act::Act;
use crate::argument::Argument;
use crate::effect::target::host_in;
use crate::outgoing::is_public_host;
use crate::place::{Scope, secrecy};
use crate::profile::{Match, Use};

/// Adds what formats and addresses make git do.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    // `%G?` and its like show signatures, which a program named in the configuration checks.
    let checks = |word: &&Argument| word.text.contains("%G") || word.text == "--show-signature";
    uses.extend(context.invocation.operands().iter().filter(checks).map(|word| certain(Act::Unknown, word)));
    // An object that is named by its path shows what the file holds.
    let objects = context.invocation.operands().iter().filter_map(|word| {
        let (_, file) =
            word.text.split_once(':').filter(|_| !word.is_option() && !word.text.contains("://"))?;
        secrecy(&format!("/{file}"), &Scope::default()).map(|_| certain(Act::Unknown, word))
    });
    uses.extend(objects);
    if searches_directory(context, found) {
        uses.extend(certain_here(context, Act::Read));
    }
    if found.path.first() == Some(&"remote") || found.path.first() == Some(&"ls-remote") {
        let is_address = |word: &&Argument| word.text.contains([':', '/']);
        let addresses = found.wanted.operands.iter().filter(is_address);
        uses.extend(addresses.map(|word| {
            let is_public = host_in(&word.text).is_some_and(|host| is_public_host(&host));
            let act = match () {
                () if word.text.contains("::") => Act::Unknown,
                () if is_public && found.path.first() == Some(&"ls-remote") => Act::Fetch,
                () => Act::Connect,
            };
            certain(act, word)
        }));
    }
    uses
}

/// Says whether git searches all files below where it runs, whether it knows them or not.
fn searches_directory(context: &CommandContext<'_>, found: &Match<'_>) -> bool {
    let is_unbound = |word: &Argument| matches!(word.text.as_str(), "--no-index" | "--untracked");
    found.path.first() == Some(&"grep")
        && context.invocation.operands().iter().any(is_unbound)
        && !found.uses.iter().any(|found| found.act == Act::Read)
}
