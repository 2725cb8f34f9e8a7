//! Wrappers that run what they wrap somewhere else than where they start.

use super::Unwrapped;
use crate::argument::Argument;

/// Wrappers whose command runs on another machine, under another root, or in the home directory of another user.
const ELSEWHERE: &[&str] = &[
    "autossh",
    "chroot",
    "daemonize",
    "docker",
    "firejail",
    "git",
    "machinectl",
    "nsenter",
    "nerdctl",
    "podman",
    "runuser",
    "ssh",
    "su",
    "systemd-run",
    "unshare",
    "wsl",
];

/// Beginnings of options by which runners choose another directory.
const CHOOSING: &[&str] = &[
    "-C",
    "-r",
    "-w",
    "--chdir",
    "--cwd",
    "--dir",
    "--filter",
    "--prefix",
    "--project",
    "--recursive",
    "--w",
];

/// Returns the directory nobody knows if a wrapper may run its command somewhere else.
pub(super) fn elsewhere(name: &str, is_runner: bool, rest: &[Argument]) -> Option<Argument> {
    let first = rest.first()?;
    let chooses = |word: &Argument| CHOOSING.iter().any(|option| word.text.starts_with(option));
    let logs_in = |word: &Argument| {
        word.text.starts_with("--l") || (!word.text.starts_with("--") && word.text.contains('i'))
    };
    let is_elsewhere = ELSEWHERE.contains(&name)
        || (is_runner && rest.iter().any(chooses))
        || (name == "sudo" && rest.iter().take_while(|word| word.is_option()).any(logs_in));
    is_elsewhere.then(|| Argument::unknown(first.span))
}

/// Says that what is wrapped may run anywhere.
pub(super) fn anywhere(unwrapped: Unwrapped, rest: &[Argument]) -> Unwrapped {
    let directory = rest.first().map(|first| Argument::unknown(first.span));
    Unwrapped { directory: unwrapped.directory.or(directory), ..unwrapped }
}
