//! Removing what the machine, the user or the project cannot do without.
//!
//! The root, directories and files of the system, a home directory or a whole directory in it, keys, the working directory
//! itself or one above it, the repository of the project: once they are gone or moved away, nothing brings them back.
//! Name the one file or build directory that is to go, inside the project.
//! Or say in so many words that this very path is to be removed.

use crate::act::Act;
use crate::case::Case;
use crate::effect::{Effect, Target};
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::path::{file_name, is_inside, parent};
use crate::place::{Secrecy, is_log, is_system, is_windows_system, secrecy};
use crate::removal::{RemovedPlace, RemovedShare, places};

pub(super) static FINDING: Finding = Finding {
    code: "PC001",
    name: "critical-removal",
    title: "removes what the machine, the user or the project cannot do without",
    category: "irreversible_local",
    severity: Severity::Critical,
    firmness: Firmness::Soft {
        verbs: &["delete", "remove", "wipe", "erase", "rm", "move"],
        must_name: "the path that is to be removed",
    },
    instead: "Remove a single file or a build folder inside the project, as in `rm -rf target/debug`",
    hits: &[
        ExampleCall::Bash("rm -rf /"),
        ExampleCall::Bash("sudo rm -rf /*"),
        ExampleCall::Bash("rm -rf ~"),
        ExampleCall::Bash("rm -rf ~/*"),
        ExampleCall::Bash("rm -r ~/Documents"),
        ExampleCall::Bash("cd src && rm -rf ../../.."),
        ExampleCall::Bash("rm -rf ."),
        ExampleCall::Bash("rm -rf .git"),
        ExampleCall::Bash("rm -f /etc/hosts"),
        ExampleCall::Bash("mv /usr/lib /tmp/lib"),
        ExampleCall::Bash("find /etc -name '*.conf' -exec rm {} +"),
        ExampleCall::Bash("find . -type f -delete"),
        ExampleCall::Bash("rm -f ~/.ssh/id_ed25519"),
        ExampleCall::Bash("rm -rf /home/ann"),
        ExampleCall::Call("mcp__files__delete_file", &[("path", "/usr/bin/env")]),
        ExampleCall::PowerShell(r"Remove-Item -Recurse -Force C:\Windows\System32"),
    ],
    misses: &[
        ExampleCall::Bash("rm -rf target/debug"),
        ExampleCall::Bash("rm -f .git/index.lock"),
        ExampleCall::Bash("echo rm -rf /"),
        ExampleCall::Bash("git commit -m 'rm -rf / is not a good idea'"),
        ExampleCall::Bash("rm -rf /tmp/app-build"),
        ExampleCall::Bash("cd build && rm -rf *"),
        ExampleCall::Bash("find . -name '*.pyc' -delete"),
        ExampleCall::Bash("rm -rf ~/.cache/app/http"),
        ExampleCall::Bash("docker run --rm app rm -rf /var/lib/app"),
        ExampleCall::Bash("rm -rf /var/lib/apt/lists/*"),
        ExampleCall::Bash("rm ./notes.txt"),
        ExampleCall::Call("mcp__files__delete_file", &[("path", "/code/app/old.txt")]),
    ],
    filter,
};

/// What fills up again by itself, below directories of the system.
const REFILLED: &[&str] = &[
    "/dev/shm",
    "/private/tmp",
    "/run",
    "/var/cache",
    "/var/lib/apt/lists",
    "/var/lock",
    "/var/run",
    "/tmp",
    "/var/tmp",
];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Delete, Act::DeleteTree, Act::Move])
        .filter(|effect| is_critical(case, effect))
        .map(|effect| {
            let deed = if effect.act == Act::Move { "moves away" } else { "removes" };
            let sentence = match effect.target.written() {
                "" => format!("it {deed} files that the system or its user needs"),
                written => format!("it {deed} `{written}`, which the system or its user needs"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a removal takes something that cannot be done without.
pub(super) fn is_critical<'a>(case: Case<'a>, effect: &'a Effect) -> bool {
    let is_windows = matches!(&effect.target, Target::Path(path) if is_windows_system(&path.written));
    let here = || places(case, effect).iter().any(|place| is_critical_place(case, effect.act, place));
    is_windows || !case.is_in_container(effect) && here()
}

fn is_critical_place(case: Case<'_>, act: Act, place: &RemovedPlace) -> bool {
    let path = place.path.as_str();
    let takes_tree = act != Act::Delete && place.share.is_all();
    let is_root_or_above = case.scope.roots.iter().any(|root| is_inside(root, path));
    if path == "/" || takes_tree && is_root_or_above {
        return true;
    }
    if case.scope.is_in_project(path) {
        return takes_tree && is_repository(case, path);
    }
    let is_refilled = REFILLED.iter().any(|directory| is_inside(path, directory))
        && case.scope.below_own_home(path).is_none();
    if is_refilled || case.scope.is_temporary(path) {
        return false;
    }
    match home_of(case, path) {
        Some(home) => is_critical_at_home(case, &home, act, place),
        None => is_system(path) && !is_log(path, case.scope),
    }
}

/// Says whether a path of the project is its repository or the part that holds the history.
fn is_repository(case: Case<'_>, path: &str) -> bool {
    const PARTS: &[&str] = &[".git", ".git/objects", ".git/refs", ".hg", ".jj", ".svn"];
    let of_root = |root: &String| PARTS.iter().any(|part| path == format!("{root}/{part}"));
    case.scope.roots.iter().any(of_root)
}

/// Returns the home directory a path lies in or is.
fn home_of(case: Case<'_>, path: &str) -> Option<String> {
    if let Some(home) = case.scope.home.as_deref().filter(|home| is_inside(path, home)) {
        return Some(home.to_owned());
    }
    if is_inside(path, "/root") {
        return Some("/root".to_owned());
    }
    let base = ["/home", "/Users"].into_iter().find(|base| is_inside(path, base))?;
    let user = path.strip_prefix(base)?.split('/').nth(1).unwrap_or_default();
    Some(if user.is_empty() { base.to_owned() } else { format!("{base}/{user}") })
}

fn is_critical_at_home(case: Case<'_>, home: &str, act: Act, place: &RemovedPlace) -> bool {
    const SPARE: &[&str] = &[".cache", ".tmp", ".Trash", "temp", "tmp"];
    let path = place.path.as_str();
    if path == home {
        return match place.share {
            RemovedShare::Itself => act != Act::Delete,
            RemovedShare::Contents => true,
            RemovedShare::Named | RemovedShare::Chosen => false,
        };
    }
    if place.share.is_all() && act != Act::Move && secrecy(path, case.scope) == Some(Secrecy::Key) {
        return true;
    }
    let is_child = parent(path).as_deref() == Some(home);
    let is_spare = file_name(path).is_some_and(|name| SPARE.contains(&name));
    is_child && !is_spare && act == Act::DeleteTree && place.share.is_all()
}
