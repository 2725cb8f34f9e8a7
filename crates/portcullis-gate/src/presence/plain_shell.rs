//! Whether a shell reads what somebody types, or was told what to run when it was started.

use super::known_programs::{EDITORS, SHELLS};
use super::process_table::{Process, ProcessTable};

/// Variables by which a shell runs something that nobody typed.
const STEERING: [&str; 3] = ["LD_AUDIT", "LD_PRELOAD", "PROMPT_COMMAND"];

/// Options of shells that say in the next word what to begin with, as editors give them.
const BEGINNINGS: [&str; 3] = ["--init-command", "--init-file", "--rcfile"];

/// Says whether the process that leads a terminal is an installed shell that was given nothing to run.
pub(super) fn is_plain_shell(table: &dyn ProcessTable, leader: &Process) -> bool {
    let is_steered = STEERING.iter().any(|variable| table.variable(leader.pid, variable).is_some());
    let is_of_editor = table.process(leader.parent).is_some_and(|maker| maker.is_installed(&EDITORS));
    leader.is_installed(&SHELLS)
        && !is_steered
        && has_nothing_to_run(&table.arguments(leader.pid), is_of_editor)
}

/// Says whether the words of a shell name no command and no file.
fn has_nothing_to_run(words: &[String], is_of_editor: bool) -> bool {
    let mut options = words.iter().skip(1);
    while let Some(option) = options.next() {
        if is_of_editor && BEGINNINGS.contains(&option.as_str()) {
            options.next();
            continue;
        }
        let letters = option.strip_prefix('-').unwrap_or_default();
        let is_harmless = if letters.starts_with('-') {
            ["--login", "--interactive", "--posix", "--noprofile", "--norc"].contains(&option.as_str())
        } else {
            !letters.is_empty() && letters.chars().all(|letter| "il".contains(letter))
        };
        if !is_harmless {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_plain_if_its_words_name_nothing_to_run() {
        let is_plain = |line: &str, is_of_editor: bool| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            has_nothing_to_run(&words, is_of_editor)
        };
        for line in ["bash", "-zsh", "zsh -l", "fish --login", "bash -il", "bash --posix", ""] {
            assert!(is_plain(line, false), "{line}");
        }
        for line in [
            "bash -c x",
            "bash -lc x",
            "bash x.sh",
            "bash --rcfile x",
            "fish --init-command x",
            "fish -C x",
            "bash -s",
            "bash -",
            "bash --",
            "zsh -o x",
        ] {
            assert!(!is_plain(line, false), "{line}");
        }
        assert!(is_plain("bash --init-file /x -i", true));
        assert!(!is_plain("bash --init-file /x -c y", true));
    }
}
