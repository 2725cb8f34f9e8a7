//! Changes of the current directory: `cd`, what hides one, and functions that make one.

use super::walk::SurveyWalk;
use crate::argument::Argument;
use crate::argument::Knowledge;
use crate::directories::Directories;
use crate::git::GLOBAL_VALUED;
use crate::invocation::{Invocation, base_name};

/// Whether a command that is no plain `cd` may change the directory of the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectoryChange {
    /// It does not.
    No,
    /// It does if what it wraps does: `eval`, `command`.
    Inside,
    /// It may: a function, or a script that is read into the shell.
    Itself,
}

/// Scripts that are known to stay where they are.
const STAYING: &[&str] = &["activate", "activate.fish", "nvm.sh", ".env", "env"];

impl SurveyWalk<'_> {
    /// Says how a command may change the directory without being a plain `cd`.
    pub(super) fn mover(&self, invocation: &Invocation) -> DirectoryChange {
        match invocation.program_name() {
            Some(name) if self.lasting.has_moving_function && self.lasting.is_function(name) => {
                DirectoryChange::Itself
            }
            Some("eval" | "command" | "builtin" | "trap") => DirectoryChange::Inside,
            Some("source" | ".") => {
                let script = invocation.operands().first().and_then(Argument::fixed).map(base_name);
                if script.is_some_and(|name| STAYING.contains(&name)) {
                    DirectoryChange::No
                } else {
                    DirectoryChange::Itself
                }
            }
            _ => DirectoryChange::No,
        }
    }

    /// Says whether any invocation from this place on changes the directory.
    pub(super) fn moves_since(&self, first: usize) -> bool {
        let since = self.found.invocations.get(first..).unwrap_or_default();
        since.iter().any(|invocation| {
            matches!(invocation.program_name(), Some("cd" | "pushd" | "popd"))
                || self.mover(invocation) == DirectoryChange::Itself
        })
    }

    /// Returns the directories after the command succeeded, if it changes them.
    pub(super) fn change_of_directory(
        &self,
        invocation: &Invocation,
        before: &Directories,
    ) -> Option<Directories> {
        let name = invocation.program_name()?;
        match name {
            "cd" | "pushd" => {}
            "popd" => return Some(Directories::Unknown),
            _ => return None,
        }
        if self.lasting.has_search_path {
            return Some(Directories::Unknown);
        }
        if invocation.operands().iter().any(|argument| argument.text == "-n") {
            return Some(Directories::Unknown);
        }
        let mut operands = invocation.operands().iter().filter(|argument| !is_cd_option(argument));
        let operand = operands.next();
        if let Some(patterns) = operand.filter(|word| word.is_one_word()).and_then(Argument::patterns) {
            let entered = patterns.iter().map(|pattern| before.enter(pattern)).reduce(Directories::either);
            let may_stay =
                operand.is_some_and(|word| word.bound.as_ref().is_some_and(|bound| bound.may_be_empty));
            let entered = entered.unwrap_or(Directories::Unknown);
            // Without quotes nothing is left of an empty word, and the shell goes home.
            let home = self.expand_tilde("~").map_or(Directories::Unknown, |home| before.enter(&home));
            return Some(if may_stay { entered.either(before.clone()).either(home) } else { entered });
        }
        let target = match operand {
            None if name == "cd" => self.expand_tilde("~"),
            None => None,
            Some(target) => match target.knowledge {
                Knowledge::Fixed if !target.text.starts_with(['+', '-']) && !target.text.contains('$') => {
                    Some(target.text.clone())
                }
                Knowledge::Tilde => self.expand_tilde(&target.text),
                Knowledge::Fixed | Knowledge::Glob | Knowledge::Dynamic => None,
            },
        };
        Some(target.map_or(Directories::Unknown, |target| before.enter(&target)))
    }

    /// Returns where git works: options before its subcommand lead it elsewhere, each from where the one before left it.
    pub(super) fn place_of_git(&self, invocation: &Invocation) -> Directories {
        let mut place = invocation.directories.clone();
        let mut words = invocation.operands().iter();
        while let Some(word) = words.next().filter(|word| word.is_option()) {
            if !GLOBAL_VALUED.contains(&word.text.as_str()) {
                continue;
            }
            let Some(value) = words.next() else { break };
            if word.text != "-C" {
                continue;
            }
            let target = match value.knowledge {
                Knowledge::Fixed => Some(value.text.clone()),
                Knowledge::Tilde => self.expand_tilde(&value.text),
                Knowledge::Glob | Knowledge::Dynamic => None,
            };
            place = target.map_or(Directories::Unknown, |target| place.enter(&target));
        }
        place
    }

    pub(super) fn expand_tilde(&self, text: &str) -> Option<String> {
        let rest = text.strip_prefix('~').filter(|_| !self.lasting.has_other_home)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| self.home.map(|home| format!("{home}{rest}")))?
    }
}

fn is_cd_option(argument: &Argument) -> bool {
    matches!(argument.text.as_str(), "-P" | "-L" | "-e" | "-@" | "--")
}
