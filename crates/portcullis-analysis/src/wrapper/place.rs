//! Wrappers that run what they wrap somewhere else than where they start.

use super::{Unwrapped, WrappedPart};
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

/// Runners that take every word from the program on for words of the program.
const STOPPING: &[&str] =
    &["bundle", "dune", "hatch", "opam", "pdm", "pipenv", "pixi", "poetry", "pyenv", "rbenv", "rye", "uv"];

/// Returns the words that a runner takes for its own, those before the command that begins last.
pub(super) fn own_words<'a>(name: &str, unwrapped: &Unwrapped, rest: &'a [Argument]) -> &'a [Argument] {
    let length = |part: &WrappedPart| match part {
        WrappedPart::Command(words) => Some(words.len()),
        WrappedPart::Text(_) | WrappedPart::Input | WrappedPart::Unknown(_) => None,
    };
    let lengths: Option<Vec<usize>> = unwrapped.parts.iter().map(length).collect();
    let shortest = lengths.and_then(|lengths| lengths.into_iter().filter(|length| *length > 0).min());
    let end = shortest.filter(|_| STOPPING.contains(&name)).and_then(|words| rest.len().checked_sub(words));
    end.and_then(|end| rest.get(..end)).unwrap_or(rest)
}

/// Returns the directory nobody knows if a wrapper may run its command somewhere else.
pub(super) fn elsewhere(name: &str, is_runner: bool, rest: &[Argument]) -> Option<Argument> {
    let first = rest.first()?;
    let chooses = |word: &Argument| CHOOSING.iter().any(|option| word.text.starts_with(option));
    let logs_in = |word: &Argument| {
        word.text.starts_with("--l") || (!word.text.starts_with("--") && word.text.contains('i'))
    };
    let is_elsewhere = ELSEWHERE.contains(&name)
        || (is_runner && name != "perf" && rest.iter().any(chooses))
        || (name == "sudo" && rest.iter().take_while(|word| word.is_option()).any(logs_in));
    is_elsewhere.then(|| Argument::unknown(first.span))
}

/// Says whether a debugger is told to go to another directory first.
pub(super) fn changes_directory(rest: &[Argument]) -> bool {
    rest.iter().any(|word| word.fixed().is_none_or(|text| text.trim_start_matches('-').starts_with("cd")))
}

/// Says that what is wrapped may run anywhere.
pub(super) fn anywhere(unwrapped: Unwrapped, rest: &[Argument]) -> Unwrapped {
    let directory = rest.first().map(|first| Argument::unknown(first.span));
    Unwrapped { directory: unwrapped.directory.or(directory), ..unwrapped }
}
