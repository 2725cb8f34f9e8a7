//! Values that name a program to run: which are the usual ones.

use super::table::ValueKind;
use super::{options, value};
use crate::invocation::base_name;
use crate::lists::environment::{TOOLS, USUAL_SHELLS, VIEWERS};

/// Says whether a value is a program that is usual for such a variable, with nothing but plain options.
pub(super) fn is_usual(kind: ValueKind, value: &str) -> bool {
    // `$(which gcc)` is gcc.
    let looked_up = ["$(which ", "$(command -v "].iter().find_map(|start| value.strip_prefix(start));
    let value = looked_up.and_then(|rest| rest.strip_suffix(')')).unwrap_or(value);
    let mut words = value.split_whitespace();
    let Some(first) = words.next() else {
        return true;
    };
    if kind == ValueKind::Command && first == "ssh" {
        return is_plain_ssh(words);
    }
    is_usual_program(kind, first)
        && words.all(|word| is_usual_program(kind, word) || options::is_plain(word) && word.starts_with('-'))
}

/// Settings of ssh that only say how long and how quietly it tries, and whose keys it takes.
const SSH_SETTINGS: &[&str] = &[
    "batchmode",
    "connectionattempts",
    "connecttimeout",
    "identitiesonly",
    "loglevel",
    "numberofpasswordprompts",
    "passwordauthentication",
    "preferredauthentications",
    "serveralivecountmax",
    "serveraliveinterval",
    "stricthostkeychecking=accept-new",
    "stricthostkeychecking=yes",
];

/// Says whether the words after `ssh` only tune a connection that its caller makes.
fn is_plain_ssh<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
    while let Some(word) = words.next() {
        let is_plain = match word {
            "-4" | "-6" | "-C" | "-T" | "-q" | "-v" | "-vv" | "-vvv" => true,
            "-p" => words.next().is_some_and(value::is_switch),
            "-i" => words.next().is_some_and(|key| key.starts_with("~/.ssh/") && !key.contains("..")),
            word => {
                let setting = match word.strip_prefix("-o") {
                    Some("") => words.next().unwrap_or_default(),
                    Some(attached) => attached,
                    None => return false,
                };
                let setting = setting.to_ascii_lowercase();
                let key = setting.split('=').next().unwrap_or_default();
                SSH_SETTINGS.contains(&key) || SSH_SETTINGS.contains(&setting.as_str())
            }
        };
        if !is_plain {
            return false;
        }
    }
    true
}

fn is_usual_program(kind: ValueKind, word: &str) -> bool {
    let name = base_name(word);
    if word != name && !value::is_usual(word, None) {
        return false;
    }
    let programs = match kind {
        ValueKind::Toolchain => TOOLS,
        ValueKind::Shell => USUAL_SHELLS,
        _ => VIEWERS,
    };
    let plain =
        name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim_end_matches('-');
    // A cross compiler is named after the machine it compiles for.
    let crossed = plain.matches('-').count() >= 2;
    let last = plain.rsplit('-').next().filter(|_| crossed);
    programs.contains(&name) || programs.contains(&plain) || last.is_some_and(|last| TOOLS.contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_programs_are_those_of_the_trade() {
        for usual in [
            "gcc",
            "clang-18",
            "g++-12",
            "/usr/bin/cc",
            "ccache gcc",
            "gcc -m32",
            "x86_64-linux-gnu-gcc",
            "python3.11",
            "zig cc",
            "$(which gcc)",
        ] {
            assert!(is_usual(ValueKind::Toolchain, usual), "{usual}");
        }
        for odd in
            ["rm", "./cc", "/opt/gcc", "sh -c x", "gcc; rm", "gcc -fplugin=x", "gcc x.c", "gcc -B/x", "$CC"]
        {
            assert!(!is_usual(ValueKind::Toolchain, odd), "{odd}");
        }
        assert!(is_usual(ValueKind::Command, "less -R") && is_usual(ValueKind::Command, "code --wait"));
        assert!(!is_usual(ValueKind::Command, "sh") && !is_usual(ValueKind::Command, "python3"));
        assert!(is_usual(ValueKind::Command, "ssh -o BatchMode=yes -i ~/.ssh/deploy -p 22"));
        assert!(
            !is_usual(ValueKind::Command, "ssh -o ProxyCommand=x")
                && !is_usual(ValueKind::Command, "ssh -F x")
        );
        assert!(is_usual(ValueKind::Shell, "/bin/bash") && !is_usual(ValueKind::Shell, "./sh"));
    }
}
