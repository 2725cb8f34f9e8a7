//! Programs that take their work from a terminal: what is typed there runs, and no word of the line says what.
//!
//! A host may keep the terminal of a call open and type into it later without asking anybody, so a prompt that is left open
//! is a program that nobody has read.

use crate::act::Access;
use crate::lists::programs::interactive::{ALWAYS, BARE, BATCH, PROMPTING, STATEMENTS};
use crate::profile::Match;
use crate::reader::CommandContext;

/// Says whether a command leaves a prompt open at which anything can be run.
pub(super) fn leaves_prompt(context: &CommandContext<'_>, name: &str, found: &Match<'_>) -> bool {
    if found.is_idle {
        return false;
    }
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let is_in = |list: &[&str]| list.contains(&name) || list.contains(&plain);
    let has_statement = context.invocation.code.is_some();
    let words = || context.invocation.operands().iter().map(|word| word.text.as_str());
    let is_bare = words().all(|word| PROMPTING.contains(&word));
    let is_batch = words().any(|word| BATCH.contains(&word));
    is_in(ALWAYS) && !is_batch && !is_read_elsewhere(context)
        || !has_statement && is_input_open(context) && (is_in(STATEMENTS) || is_in(BARE) && is_bare)
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
        ] {
            assert!(!is_unknown(command), "{command}");
        }
    }
}
