//! `kill`: signals to processes that this command line started, to others, or to nobody.

use super::CommandContext;
use super::{certain, nameless};
use crate::act::{Access, Act};
use crate::argument::{Argument, Knowledge};
use crate::profile::{Match, Use};

/// Of so many processes it is looked up whether they are the line's own.
const MOST_LOOKED_UP: usize = 64;

/// Reads the arguments of `kill`.
pub(super) fn read(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    let mut words = context.invocation.operands().iter();
    let mut uses = Vec::new();
    let mut has_signal = false;
    while let Some(word) = words.next() {
        let signal = match word.text.as_str() {
            "-l" | "-L" | "--list" | "--table" | "--help" | "--version" => {
                return vec![nameless(Act::Observe)];
            }
            "-s" | "-n" | "--signal" | "-q" | "--queue" => words.next().map(|value| value.text.as_str()),
            "--" => {
                has_signal = true;
                continue;
            }
            text => text.strip_prefix('-').filter(|_| !has_signal && word.knowledge != Knowledge::Dynamic),
        };
        match signal {
            Some("0") => return vec![nameless(Act::Observe)],
            Some(_) => has_signal = true,
            None => {
                let is_own = uses.len() < MOST_LOOKED_UP && is_own(context, word);
                uses.push(certain(if is_own { Act::KillOwn } else { Act::Kill }, word));
            }
        }
    }
    uses
}

/// Says whether a word stands for a process of this very command line: `$!`, `%1`, `$pid` after `pid=$!`.
fn is_own(context: &CommandContext<'_>, word: &Argument) -> bool {
    let text = word.text.as_str();
    if word.knowledge == Knowledge::Fixed {
        // Zero is the group of the shell itself.
        return text == "0" || text.strip_prefix('%').is_some_and(|job| !job.is_empty());
    }
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).or(text.strip_prefix('$'));
    match name {
        Some("!" | "$" | "BASHPID" | "COPROC_PID" | "(jobs -p)" | "(jobs -pr)" | "(jobs -rp)") => true,
        Some(name) if name.starts_with('(') => read_file(name).is_some_and(|file| is_noted(context, file)),
        Some(name) => {
            let variables = context.survey.invocations.iter().flat_map(|invocation| &invocation.assignments);
            let mut values = variables.filter(|variable| variable.name == name).peekable();
            values.peek().is_some()
                && values.all(|variable| matches!(variable.value.text.as_str(), "$!" | "${!}"))
        }
        None => false,
    }
}

/// Returns the file that a substitution prints: `$(cat server.pid)`, `$(< server.pid)`.
fn read_file(substitution: &str) -> Option<&str> {
    let command = substitution.strip_prefix('(')?.strip_suffix(')')?;
    let file = command.strip_prefix("cat ").or_else(|| command.strip_prefix('<'))?.trim();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    (!file.is_empty() && !file.starts_with('-') && file.chars().all(is_plain)).then_some(file)
}

/// Says whether a file holds nothing but the number of a process that this line started: `npm start & echo $! > server.pid`.
fn is_noted(context: &CommandContext<'_>, file: &str) -> bool {
    const LOOKING: &[&str] = &["[", "cat", "kill", "ls", "rm", "test", "wait"];
    let mut is_written = false;
    for command in &context.survey.invocations {
        let names = |word: &Argument| word.text == file;
        if command.redirections.iter().any(|to| to.access == Access::Write && names(&to.target)) {
            let words: Vec<&str> = command.arguments.iter().map(|word| word.text.as_str()).collect();
            let notes = matches!(words.as_slice(), ["echo", "$!" | "${!}"]);
            if !notes || command.directories != context.invocation.directories {
                return false;
            }
            is_written = true;
        } else if command.arguments.iter().any(names)
            && !command.program_name().is_some_and(|program| LOOKING.contains(&program))
        {
            return false;
        }
    }
    is_written
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn own_processes_are_told_from_others() {
        for own in ["kill $!", "kill %1", "kill 0", "kill -9 \"$!\"", "kill $(jobs -p)"] {
            assert!(
                effects(own).iter().any(|effect| effect.starts_with("kill-own")),
                "{own}: {:?}",
                effects(own)
            );
        }
        assert!(effects("sleep 9 & pid=$!; kill $pid").contains(&"kill-own $pid".to_owned()));
        assert!(effects("pid=$1; kill $pid").contains(&"kill $pid".to_owned()));
        assert_eq!(effects("kill -9 -1"), ["kill -1"]);
        assert_eq!(effects("kill -s TERM 4 5"), ["kill 4", "kill 5"]);
        assert_eq!(effects("kill -TERM -- -99"), ["kill -99"]);
    }

    #[test]
    fn a_process_is_ones_own_by_the_file_that_notes_it() {
        for own in [
            "npm start & echo $! > /tmp/s.pid; sleep 3; kill $(cat /tmp/s.pid)",
            "(npm start & echo $! >s.pid); kill \"$(< s.pid)\"; rm s.pid",
        ] {
            assert!(effects(own).iter().any(|effect| effect.starts_with("kill-own")), "{own}");
        }
        for other in [
            "kill $(cat /tmp/s.pid)",
            "echo 1 > /tmp/s.pid; kill $(cat /tmp/s.pid)",
            "npm start & echo $! > s.pid; echo 1 >> s.pid; kill $(cat s.pid)",
            "npm start & echo $! > s.pid; cp other.pid s.pid; kill $(cat s.pid)",
            "npm start & echo $! > s.pid; cd ..; kill $(cat s.pid)",
            "npm start & echo $! > s.pid; kill $(cat s.pid other.pid)",
            "npm start & echo $! > s.pid; kill $(cat s.pid; echo 1)",
        ] {
            assert!(!effects(other).iter().any(|effect| effect.starts_with("kill-own")), "{other}");
        }
    }

    #[test]
    fn asking_is_no_signal() {
        assert_eq!(effects("kill -0 123"), ["observe"]);
        assert_eq!(effects("kill -l"), ["observe"]);
    }
}
