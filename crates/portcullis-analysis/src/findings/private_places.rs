//! Looking into what the system and other users keep to themselves.
//!
//! The kernel's internals, the state of other processes, the list of accounts and the homes of others are not what work on a project needs.
//! Reading them is how somebody who got in finds out where he is and what to take.
//! Ask the user to show what you need, or let him name the file.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC058",
    name: "private-places",
    title: "looks into what the system or other users keep to themselves",
    category: "credential_browse",
    severity: Severity::Low,
    firmness: Firmness::Soft {
        verbs: &["read", "show", "look at", "cat", "print", "check"],
        must_name: "the file",
    },
    instead: "Ask the user to show what you need",
    hits: &[
        ExampleCall::Bash("cat /etc/passwd"),
        ExampleCall::Bash("head ../../etc/group"),
        ExampleCall::Bash("cat /proc/1234/status"),
        ExampleCall::Bash("cat /sys/kernel/security/lsm"),
        ExampleCall::Bash("cat /root/notes.txt"),
        ExampleCall::Bash("grep -r token /home/other/project"),
        ExampleCall::Bash("cp /etc/passwd accounts.txt"),
        ExampleCall::Call("Read", &[("file_path", "/proc/1/cmdline")]),
    ],
    misses: &[
        ExampleCall::Bash("cat /etc/os-release"),
        ExampleCall::Bash("cat /proc/cpuinfo"),
        ExampleCall::Bash("cat /home/me/other/README.md"),
        ExampleCall::Bash("ls /root"),
        ExampleCall::Bash("cat /usr/include/stdio.h"),
        ExampleCall::Bash("grep -n passwd src/login.c"),
        ExampleCall::Bash("echo /etc/passwd"),
        ExampleCall::Bash("cat docs/etc/passwd"),
    ],
    filter,
};

/// Files that list the accounts of the machine.
const ACCOUNTS: &[&str] =
    &["/etc/passwd", "/etc/passwd-", "/etc/group", "/etc/group-", "/private/etc/passwd"];

/// Directories of kernel and machine that hold no data of a project.
const INTERNALS: &[&str] =
    &["/boot/", "/sys/kernel/", "/sys/fs/", "/sys/firmware/", "/var/lib/", "/var/spool/", "/var/db/"];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Read, Act::Move])
        .filter(|effect| {
            effect.target.paths().iter().any(|path| is_private(case, path)) && !is_key(case, effect)
        })
        .map(|effect| {
            let written = effect.target.written();
            Sighting::of(case, effect, format!("it looks into `{written}`, which is not the project's"))
        })
        .collect()
}

/// What holds keys is another finding's.
fn is_key(case: Case<'_>, effect: &Effect) -> bool {
    case.is_secret(effect)
}

fn is_private(case: Case<'_>, path: &str) -> bool {
    if case.scope.is_in_project(path) {
        return false;
    }
    let is_process = path.strip_prefix("/proc/").is_some_and(|rest| {
        let owner = rest.split('/').next().unwrap_or_default();
        rest.contains('/') && (owner == "self" || owner.starts_with(|letter: char| letter.is_ascii_digit()))
    });
    let is_free = path.starts_with("/proc/self/fd/");
    let is_internal = INTERNALS.iter().any(|start| path.starts_with(start));
    (is_process && !is_free) || is_internal || ACCOUNTS.contains(&path) || is_other_home(case, path)
}

/// Says whether a path lies in the home of somebody else.
fn is_other_home(case: Case<'_>, path: &str) -> bool {
    let Some(below) = case.scope.below_home(path) else {
        return false;
    };
    let home = path.strip_suffix(below).unwrap_or(path).trim_end_matches('/');
    let is_own = case.scope.home.as_deref() == Some(home)
        || case.scope.roots.iter().any(|root| crate::path::is_inside(root, home));
    !is_own && case.scope.home.is_some()
}
