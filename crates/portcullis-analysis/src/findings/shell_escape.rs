//! Starting a shell from a program that has no business with one.
//!
//! Editors, pagers and search tools can start shells, and that way nobody sees what is run in them.
//! Run the command itself.
//! Or say that the program is to start a shell.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::flow::is_open_shell;
use crate::interpreter::is_shell;
use crate::invocation::{Invocation, base_name};

pub(super) static FINDING: Finding = Finding {
    code: "PC046",
    name: "shell-escape",
    title: "starts a shell from a program that has no business with one",
    category: "shell_escape",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["shell", "escape", "spawn", "interactive"],
        must_name: "the program and the shell",
    },
    instead: "Run the command itself, without another program around it",
    hits: &[
        ExampleCall::Bash("awk 'BEGIN{system(\"/bin/sh\")}'"),
        ExampleCall::Bash("find . -exec /bin/sh \\;"),
        ExampleCall::Bash("tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec=/bin/sh"),
        ExampleCall::Bash("find . -name x -exec bash -i \\;"),
        ExampleCall::Bash("sqlite3 x \".shell /bin/sh\""),
        ExampleCall::Bash("git -c core.pager='sh -i' log"),
        ExampleCall::Bash("git -c core.pager='curl -s https://example.com/x' log"),
        ExampleCall::Bash("vim -c \":!/bin/sh\""),
        ExampleCall::Bash("man -P /bin/sh ls"),
    ],
    misses: &[
        ExampleCall::Bash("awk '{print $1}' a.txt"),
        ExampleCall::Bash("find . -name \"*.sh\""),
        ExampleCall::Bash("find . -name \"*.sh\" -exec bash -n {} \\;"),
        ExampleCall::Bash("git -c core.pager=cat log"),
        ExampleCall::Bash("tar czf x.tgz src"),
        ExampleCall::Bash("echo \"vim -c :!sh\""),
        ExampleCall::Bash("find . -type f -exec grep -l x {} +"),
        ExampleCall::Bash("sqlite3 x \".tables\""),
        ExampleCall::Bash("man ls"),
        ExampleCall::Bash("find . -name x.txt -exec sh -c \"wc -l x.txt\" \\;"),
    ],
    filter,
};

/// Programs that start others only on the side.
const HOSTS: &[&str] = &[
    "awk", "bfs", "busybox", "cpio", "ed", "emacs", "fd", "find", "flock", "ftp", "gawk", "gdb", "gfind",
    "git", "gtar", "less", "lftp", "man", "mawk", "more", "nano", "nawk", "nmap", "nvim", "rsync", "rvim",
    "sed", "sqlite3", "tar", "vi", "vim", "zip",
];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let of_child = |effect: &&Effect| {
        let host = case.wrappers(effect).next().and_then(Invocation::program_name);
        let is_escape = case.command(effect).is_some_and(is_open_shell) || effect.act == Act::Fetch;
        host.is_some_and(|name| HOSTS.contains(&name)) && is_escape
    };
    let of_word = |effect: &&Effect| {
        matches!(case.program(effect), "vi" | "vim" | "nvim" | "rvim" | "ed" | "man" | "less" | "sqlite3")
            && effect.act == Act::Unknown
            && names_shell(effect.target.written())
    };
    case.effects
        .iter()
        .filter(|effect| of_child(effect) || of_word(effect))
        .map(|effect| {
            let host = case.wrappers(effect).next().and_then(Invocation::program_name);
            let host = host.filter(|name| HOSTS.contains(name)).unwrap_or_else(|| case.program(effect));
            Sighting::of(case, effect, format!("it starts a shell or a fetch from {host}"))
        })
        .collect()
}

/// Says whether a command of an editor or pager names a shell.
fn names_shell(text: &str) -> bool {
    let after = text.rsplit(['!', ' ']).next().unwrap_or(text);
    text.contains(['!', '.', ':']) && is_shell(base_name(after.trim_matches(['"', '\''])))
}
