//! Programs that take their work from a terminal: what is typed there runs, and no word of the line says what.
//!
//! A host may keep the terminal of a call open and type into it later without asking anybody, so a prompt that is left open
//! is a program that nobody has read.

use crate::act::Access;
use crate::argument::Argument;
use crate::invocation::{Invocation, base_name};
use crate::lists::programs::interactive::{ALWAYS, BARE, BATCH, INSISTING, OPENING, PAGING, STATEMENTS};
use crate::profile::{self, Match};
use crate::reader::CommandContext;

/// Says whether a command leaves a prompt open at which anything can be run.
pub(super) fn leaves_prompt(context: &CommandContext<'_>, name: &str, found: &Match<'_>) -> bool {
    if found.is_idle {
        return false;
    }
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let is_in = |list: &[&str]| list.contains(&name) || list.contains(&plain);
    let words = context.invocation.operands();
    let ends_by_itself = || {
        let rows = BATCH.iter().filter(|(program, _)| *program == plain || *program == name);
        let mut options = rows.flat_map(|(_, options)| options.iter());
        let is_row = |option: &str, text: &str| match option.strip_suffix('*') {
            Some(start) => text.starts_with(start),
            None => text.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')),
        };
        options.any(|option| words.iter().any(|word| is_row(option, &word.text)))
    };
    if is_in(ALWAYS) && found.path.is_empty() && !ends_by_itself() || is_in(PAGING) && lifts_pager(context) {
        return !is_read_elsewhere(context);
    }
    let opens = |row: &str| {
        let mut parts = row.split('/');
        parts.next() == Some(plain)
            && parts.all(|part| words.iter().any(|word| base_name(&word.text) == part))
    };
    let insists =
        || INSISTING.iter().any(|(program, options)| *program == plain && is_insisted(name, words, options));
    let has_statement = context.invocation.code.is_some();
    // The first operand of `script` is the file for what is shown.
    let records = || name == "script" && words.iter().filter(|word| !word.is_option()).count() < 2;
    let reads = || records() || is_in(STATEMENTS) || is_in(BARE) && profile::is_given_nothing(name, words);
    let says_all = || has_statement || ends_by_itself();
    let is_opened = || OPENING.iter().any(|row| opens(row)) || reads();
    is_input_open(context) && (insists() || !says_all() && is_opened())
}

/// Says whether a word is one of the options, perhaps among other letters behind one dash.
fn is_insisted(name: &str, words: &[Argument], options: &[&str]) -> bool {
    /// Switches of interpreters without a value.
    const SWITCHES: &str = "bBcdEeiIOPqRsSuvxnw";
    if let Some(spelled) = profile::spelled_out(name, words)
        && spelled.options.iter().any(|(option, _)| options.contains(&option.as_str()))
    {
        return true;
    }
    let options_in_front = words.iter().take_while(|word| word.is_option());
    options_in_front.into_iter().any(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        let is_cluster = letters.chars().all(|letter| SWITCHES.contains(letter));
        let is_among = |option: &&str| {
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            is_cluster && letter.is_some_and(|letter| letters.contains(letter))
        };
        options.contains(&word.text.as_str()) || options.iter().any(is_among)
    })
}

/// Says whether the line takes away the pager that is set around it, or sets one that reads keys.
fn lifts_pager(context: &CommandContext<'_>) -> bool {
    let reads_keys = |value: &str, is_known: bool| {
        let program = base_name(value.split_whitespace().next().unwrap_or_default());
        !is_known || program.is_empty() || ALWAYS.contains(&program)
    };
    let sets = |word: &Argument| {
        let (name, value) = word.text.split_once('=').unwrap_or(("", ""));
        name.ends_with("PAGER") && reads_keys(value, word.is_known())
    };
    let is_pager = |word: &Argument| word.text.ends_with("PAGER") || !word.is_known();
    let assigns = |other: &Invocation| {
        let mut pagers = other.assignments.iter().filter(|variable| variable.name.ends_with("PAGER"));
        pagers.any(|variable| reads_keys(&variable.value.text, variable.value.is_known()))
    };
    context.survey.invocations.iter().any(|other| {
        let words = other.operands();
        let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.text.as_str()));
        let is_unset = |word: &Argument| word.text.starts_with("-u") || word.text.starts_with("--unset");
        assigns(other)
            || match other.program_name() {
                Some("unset") => words.iter().any(is_pager),
                Some("export" | "declare" | "typeset" | "readonly") => {
                    words.iter().any(sets) || has(&["-n", "+x"]) && words.iter().any(is_pager)
                }
                Some("env") => {
                    words.iter().any(sets)
                        || has(&["-", "-i", "--ignore-environment"])
                        || words.iter().any(is_unset)
                            && words.iter().any(|word| word.text.contains("PAGER") || !word.is_known())
                }
                _ => false,
            }
    })
}

/// Says whether something else than a terminal takes the output: programs that show pages then only copy.
fn is_read_elsewhere(context: &CommandContext<'_>) -> bool {
    let takes = |index: usize| {
        let mut others = context.survey.invocations.iter();
        others.any(|other| other.piped.contains(&index) || other.substituted.contains(&index))
    };
    let is_written =
        context.invocation.redirections.iter().any(|redirection| redirection.access == Access::Write);
    is_written || takes(context.index) || context.invocation.parent.is_some_and(takes)
}

/// Says whether nothing of the line is its standard input.
fn is_input_open(context: &CommandContext<'_>) -> bool {
    let invocation = context.invocation;
    invocation.piped.is_empty()
        && invocation.given.is_none()
        && invocation.redirections.iter().all(|redirection| redirection.access != Access::Read)
}

#[cfg(test)]
mod tests {
    use crate::{Surroundings, survey};

    /// Says whether something in a command line is not known.
    fn is_unknown(command: &str) -> bool {
        let here = Surroundings {
            directory: "/code/app",
            home: Some("/home/me"),
            profiles: crate::profile::Profiles::BUILT_IN,
        };
        let effects = crate::command_effects::effects(&survey(command, here), here);
        let listed = crate::command_effects::listed_effects(&effects);
        listed.iter().any(|effect| effect.starts_with("unknown"))
    }

    #[test]
    fn a_prompt_that_is_left_open_runs_anything() {
        for command in [
            "python3",
            "python3 -q",
            "python3.12 -i",
            "node",
            "deno",
            "php -a",
            "less README.md",
            "cat README.md | less",
            "vim",
            "vim README.md",
            "tmux",
            "gdb",
            "sqlite3 app.db",
            "env less README.md",
            "python3 -",
            "python3 -u /dev/stdin",
            "python3 -qi tool.py",
            "timeout 100 python3 -",
            "node -",
            "node --input-type=module",
            "node inspect tool.js",
            "ruby -",
            "php -",
            "perl -w",
            "perl -n -",
            "perl -d -e 1",
            "expect",
            "tclsh",
            "tsx",
            "bun repl",
            "julia --project=.",
            "iex -S mix",
            "psql app",
            "mysql app",
            "ed notes.txt",
            "dc",
            "parallel",
            "script",
            "unshare",
            "tmux attach",
            "zless a.txt",
            "gawk -D 1",
            "python3 manage.py shell",
            "rails console",
            "bat --paging=always a.txt",
            "python3 -E -q",
            "python3 -W ignore -i tool.py",
            "python ./manage.py shell",
            "sqlite3 app.db -c",
            "psql -E app",
            "script -f out.log",
            "screen -dr",
            "vim -es notes.txt",
        ] {
            assert!(is_unknown(command), "{command}");
        }
    }

    #[test]
    fn an_option_that_only_begins_alike_ends_no_prompt() {
        for command in ["duckdb -csv app.db", "scala -encoding utf8", "bun repl -c bunfig.toml", "perl -c"] {
            assert!(is_unknown(command), "{command}");
        }
    }

    #[test]
    fn a_pager_that_reads_keys_is_a_prompt() {
        for command in [
            "env -u GIT_PAGER -u PAGER git log -p",
            "env -i git log",
            "unset GIT_PAGER PAGER; git log -p",
            "GIT_PAGER=less git log",
            "PAGER= man ls",
            "export GIT_PAGER=less; git log -p",
        ] {
            assert!(is_unknown(command), "{command}");
        }
    }

    #[test]
    fn no_prompt_is_left_open_where_the_line_says_it_all() {
        for command in [
            "python3 --version",
            "python3 -c 'print(1)'",
            "node -v",
            "man ls | head",
            "man ls > page.txt",
            "x=$(less README.md)",
            "sqlite3 app.db 'select 1'",
            "tmux ls",
            "vim --version",
            "gdb --version",
            "python3 -W ignore tool.py",
            "python3 -m json.tool a.json",
            "echo 'print(1)' | python3 -",
            "perl -pe s/a/b/ a.txt",
            "psql -c 'select 1' app",
            "psql -l",
            "node --test",
            "node --check tool.js",
            "perl -V",
            "perl -c tool.pl",
            "ruby -wc tool.rb",
            "php -l tool.php",
            "duckdb -c 'select 1'",
            "clojure -X:test",
            "psql -lqt",
            "GIT_PAGER=cat git log",
            "python3 manage.py shell -c 'print(1)'",
            "git log -p",
            "unset GIT_PAGER; git log -p | head",
            "env -u FOO git log",
            "bat a.txt",
            "tmux ls",
        ] {
            assert!(!is_unknown(command), "{command}");
        }
    }
}
