//! The read-only commands by name.

use super::{condition, find, forge, git, sed};
use crate::argument::Argument;

/// What makes a command of this name read-only.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    /// Whatever the arguments.
    Anything,
    /// No arguments at all.
    Nothing,
    /// None of these short letters and long names, and at most so many operands.
    Without { short: &'static str, long: &'static [&'static str], most_operands: usize },
    /// No long option that begins with one of these names, whatever else.
    WithoutLong(&'static [&'static str]),
    /// One of these argument lists.
    Exactly(&'static [&'static str]),
    /// A test of its own that looks at how much is known of each word.
    Words(fn(&[Argument]) -> bool),
    /// A test of its own.
    By(fn(&[Argument]) -> bool),
}

const fn without(short: &'static str, long: &'static [&'static str]) -> Test {
    Test::Without { short, long, most_operands: usize::MAX }
}

const VERSION: Test = Test::Exactly(&["--version", "-V", "-v", "version", "--help", "-h"]);

/// Options of the shell that scripts begin with.
const SHELL_OPTIONS: &[&str] = &[
    "-e",
    "+e",
    "-u",
    "+u",
    "-x",
    "+x",
    "-eu",
    "-ex",
    "-eux",
    "-o pipefail",
    "-eo pipefail",
    "-uo pipefail",
    "-euo pipefail",
    "-euxo pipefail",
    "-e -o pipefail",
    "-e -u -o pipefail",
];

/// Finds the test for a command name.
pub(super) fn find(name: &str) -> Option<Test> {
    if ANYTHING.binary_search(&name).is_ok() {
        return Some(Test::Anything);
    }
    TESTS.iter().find(|(listed, _)| *listed == name).map(|(_, test)| *test)
}

/// Commands that cannot write, run or send anything, whatever their arguments.
const ANYTHING: &[&str] = &[
    ":",
    "basename",
    "cal",
    "cat",
    "cd",
    "cmp",
    "comm",
    "cut",
    "df",
    "diff",
    "dirname",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "fmt",
    "fold",
    "free",
    "grep",
    "groups",
    "head",
    "hexdump",
    "id",
    "locale",
    "ls",
    "md5sum",
    "netstat",
    "nl",
    "nproc",
    "numfmt",
    "od",
    "paste",
    "pgrep",
    "pr",
    "ps",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "sleep",
    "stat",
    "tac",
    "tail",
    "tput",
    "tr",
    "true",
    "tsort",
    "type",
    "uname",
    "unexpand",
    "uptime",
    "which",
];

const TESTS: &[(&str, Test)] = &[
    ("pwd", Test::Nothing),
    ("whoami", Test::Nothing),
    ("alias", Test::Nothing),
    ("arch", Test::Nothing),
    ("history", Test::Nothing),
    ("jobs", Test::Nothing),
    ("tty", Test::Nothing),
    ("date", Test::By(is_date_query)),
    ("hostname", Test::Without { short: "Fb", long: &["file", "boot"], most_operands: 0 }),
    ("uniq", Test::Without { short: "", long: &[], most_operands: 1 }),
    ("wc", Test::WithoutLong(&["files0-from"])),
    ("du", Test::WithoutLong(&["files0-from"])),
    ("jq", Test::By(has_no_module)),
    ("sort", without("oT", &["output", "compress-program", "temporary-directory", "files0-from"])),
    ("base64", without("o", &["output"])),
    ("column", without("c", &[])),
    ("strings", Test::By(has_no_response_file)),
    (
        "file",
        without("CmfzZS", &["compile", "magic-file", "files-from", "uncompress", "uncompress-noreport"]),
    ),
    ("tree", without("oR", &["output"])),
    ("rg", without("z", &["pre", "hostname-bin", "search-zip", "x-crud", "x-force", "x-path"])),
    ("fd", without("xXl", &["exec", "exec-batch", "list-details"])),
    ("fdfind", without("xXl", &["exec", "exec-batch", "list-details"])),
    ("lsof", without("Dr", &[])),
    ("ss", without("KD", &["kill", "diag"])),
    ("ifconfig", Test::By(is_interface_query)),
    ("ip", Test::Exactly(&["addr", "a", "address", "route", "link", "addr show", "route show", "link show"])),
    ("printf", Test::By(has_no_option)),
    ("test", Test::Words(condition::is_plain)),
    ("[", Test::Words(condition::is_plain)),
    ("set", Test::Exactly(SHELL_OPTIONS)),
    ("find", Test::By(find::is_read_only)),
    ("sed", Test::By(sed::is_read_only)),
    ("git", Test::By(git::is_read_only)),
    ("gh", Test::By(forge::is_read_only)),
    ("docker", Test::By(is_container_query)),
    ("podman", Test::By(is_container_query)),
    ("command", Test::By(is_lookup)),
    ("claude", Test::Exactly(&["-h", "--help", "--version"])),
    ("python", Test::Exactly(&["--version", "-V"])),
    ("python3", Test::Exactly(&["--version", "-V"])),
    ("node", Test::Exactly(&["--version", "-v"])),
    ("go", Test::Exactly(&["version"])),
    ("npm", VERSION),
    ("pnpm", VERSION),
    ("yarn", VERSION),
    ("cargo", VERSION),
    ("rustc", VERSION),
    ("pip", VERSION),
    ("uv", VERSION),
];

/// `date` sets the clock with `-s` or with an operand that is no format.
fn is_date_query(operands: &[Argument]) -> bool {
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        match text {
            "-d" | "--date" | "-r" | "--reference" => {
                words.next();
            }
            "-u" | "-R" | "--utc" | "--universal" | "--rfc-email" => {}
            _ if text.starts_with('+')
                || text.starts_with("-I")
                || text.starts_with("--iso-8601")
                || text.starts_with("--rfc-3339=")
                || text.starts_with("--date=") => {}
            _ => return false,
        }
    }
    true
}

/// `ifconfig` takes settings with and without a dash: `ifconfig eth0 -promisc`.
fn is_interface_query(operands: &[Argument]) -> bool {
    let is_flag = |argument: &&Argument| matches!(argument.text.as_str(), "-a" | "-s" | "-v");
    operands.iter().skip_while(is_flag).count() <= 1
        && operands.iter().all(|argument| is_flag(&argument) || !argument.is_option())
}

fn has_no_response_file(operands: &[Argument]) -> bool {
    operands.iter().all(|argument| !argument.text.starts_with('@'))
}

/// `printf -v` evaluates its operand's subscript.
fn has_no_option(operands: &[Argument]) -> bool {
    operands.first().is_none_or(|argument| argument.text == "--" || !argument.is_option())
}

fn is_lookup(operands: &[Argument]) -> bool {
    operands.first().is_some_and(|argument| matches!(argument.text.as_str(), "-v" | "-V"))
}

/// A program of `jq` may read modules and data from anywhere.
fn has_no_module(operands: &[Argument]) -> bool {
    operands.iter().all(|argument| !["import", "include"].iter().any(|word| argument.text.contains(word)))
}

/// Beginnings of options that choose another daemon, which could be anybody's.
const OTHER_DAEMON: &[&str] =
    &["-H", "-c", "--host", "--context", "--config", "--connection", "--identity", "--tls", "--url"];

fn is_container_query(operands: &[Argument]) -> bool {
    if operands.iter().any(|argument| OTHER_DAEMON.iter().any(|start| argument.text.starts_with(start))) {
        return false;
    }
    operands.first().is_some_and(|verb| {
        matches!(verb.text.as_str(), "ps" | "images" | "logs" | "inspect" | "version" | "info")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_searchable_and_no_name_is_listed_twice() {
        assert!(ANYTHING.is_sorted(), "{ANYTHING:?}");
        for (index, (name, _)) in TESTS.iter().enumerate() {
            assert!(ANYTHING.binary_search(name).is_err(), "{name}");
            assert!(TESTS.iter().skip(index + 1).all(|(other, _)| other != name), "{name}");
        }
    }
}
