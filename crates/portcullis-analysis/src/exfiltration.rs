//! What is carried off and where to: hosts where people drop things, keys of the environment, packed directories.
//!
//! None of this is wrong by itself; the findings about leaks put it together with what was read.

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::flow::{DataFlow, variables};
use crate::invocation::Invocation;
use crate::lists::hosts::{COLLECTORS, MAILBOXES, RESOLVERS};
use crate::place::is_open;

fn is_among(hosts: &[&str], host: &str) -> bool {
    hosts.iter().any(|listed| {
        host.strip_suffix(listed).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

/// Says whether data goes to a host where anybody can leave something, or a file goes to where messages go.
pub(crate) fn is_collected(effect: &Effect, own: &[&Effect], fed: &[&Effect]) -> bool {
    let host = effect.target.host().unwrap_or_default().split(':').next().unwrap_or_default();
    let has_file = || own.iter().chain(fed).any(|source| source.act == Act::Read);
    is_among(COLLECTORS, host) || is_among(MAILBOXES, host) && has_file()
}

/// Says whether a host is one where anybody can leave something, or one that takes messages.
pub(crate) fn is_dropbox(host: &str) -> bool {
    is_among(COLLECTORS, host) || is_among(MAILBOXES, host)
}

/// Says whether a host is one where anybody can leave something and pick it up later.
pub(crate) fn is_collector(host: &str) -> bool {
    is_among(COLLECTORS, host)
}

/// Says whether a fetch is a name query over https, which gets past whoever looks at names.
pub(crate) fn is_name_service(effect: &Effect) -> bool {
    let host = effect.target.host().unwrap_or_default();
    let written = effect.target.written();
    is_among(RESOLVERS, host)
        && (written.contains("dns-query") || written.contains("/resolve"))
        && written.contains('?')
}

/// Says whether a variable holds a key, by its name.
pub(crate) fn is_key_variable(name: &str) -> bool {
    const ENDS: &[&str] =
        &["API_KEY", "ACCESS_KEY", "PASSWORD", "PASSWD", "PRIVATE_KEY", "SECRET", "SECRET_KEY", "TOKEN"];
    ENDS.iter().any(|end| name.ends_with(end))
}

/// Says whether a command that feeds another prints a key of the environment.
pub(crate) fn prints_key(case: Case<'_>, flow: &DataFlow<'_>, index: usize) -> bool {
    let commands = flow.feeding(index).into_iter().filter_map(|at| case.survey.invocations.get(at));
    commands.filter(|command| is_printer(command)).any(|command| {
        let is_named = |word: &Argument| is_key_variable(&word.text);
        let shows = command.operands().iter().any(|word| variables(word.as_written()).any(is_key_variable));
        shows || command.program_name() == Some("printenv") && command.operands().iter().any(is_named)
    })
}

fn is_printer(command: &Invocation) -> bool {
    matches!(command.program_name(), Some("echo" | "printf" | "printenv"))
}

/// Programs that make one file of many.
const PACKERS: &[&str] = &["7z", "bsdtar", "cpio", "gtar", "tar", "zip"];

/// Says whether what a command sends is a whole directory of the project or of a home, packed by the same line.
pub(crate) fn packs_all(case: Case<'_>, flow: &DataFlow<'_>, index: usize) -> bool {
    flow.fed(index).into_iter().any(|source| {
        let is_whole = |path: &String| {
            let is_root = case.scope.roots.contains(path) || case.scope.home.as_ref() == Some(path);
            let is_personal = case.scope.below_home(path).is_some_and(|below| !below.contains('/'));
            is_root || is_personal && !case.scope.is_in_project(path) || !is_open(path, case.scope)
        };
        source.act == Act::Read
            && PACKERS.contains(&case.program(source))
            && source.target.paths().iter().any(is_whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_known_by_its_domain_and_not_by_its_beginning() {
        assert!(is_among(COLLECTORS, "webhook.site") && is_among(COLLECTORS, "x1.oastify.com"));
        assert!(!is_among(COLLECTORS, "mywebhook.site") && !is_among(COLLECTORS, "webhook.site.example.com"));
    }
}
