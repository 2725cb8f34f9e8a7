//! What a command line does with variables as a whole: which it sets, which it exports, which hold secrets.
//!
//! One pass over the invocations, so that questions about single commands need none of their own.

use std::collections::{BTreeMap, BTreeSet};

use super::secret::{is_secret_name, shown_variables};
use crate::argument::Argument;
use crate::invocation::{Invocation, Survey};

/// The variables of a command line.
#[derive(Debug, Default)]
pub(crate) struct LineVariables<'a> {
    set: BTreeSet<&'a str>,
    exported: BTreeSet<&'a str>,
    /// Whether every variable is exported from somewhere on.
    exports_all: bool,
    /// For every variable that an assignment by itself sets: where, and the secret variable that its value shows.
    secrets: BTreeMap<&'a str, Vec<(usize, Option<&'a str>)>>,
}

impl<'a> LineVariables<'a> {
    /// Collects what the commands of a line set and export.
    pub(crate) fn of(survey: &'a Survey) -> Self {
        let mut line = Self::default();
        for (index, command) in survey.invocations.iter().enumerate() {
            line.set.extend(command.assignments.iter().map(|variable| variable.name.as_str()));
            line.note_builtin(command);
            if command.arguments.is_empty() {
                for variable in &command.assignments {
                    let mut shown = shown_variables(&variable.value.text).into_iter();
                    let secret = shown.find_map(|name| line.secret_behind(name, index));
                    line.secrets.entry(&variable.name).or_default().push((index, secret));
                }
            }
        }
        line
    }

    fn note_builtin(&mut self, command: &'a Invocation) {
        let names = || command.operands().iter().filter(|word| !word.is_option()).map(name_of);
        match command.program_name() {
            Some("export") => {
                self.set.extend(names());
                self.exported.extend(names());
            }
            Some("declare" | "typeset") => {
                self.set.extend(names());
                let is_export = |word: &Argument| word.is_option() && word.text.contains('x');
                if command.operands().iter().any(is_export) {
                    self.exported.extend(names());
                }
            }
            Some("getopts" | "local" | "mapfile" | "read" | "readarray" | "readonly") => {
                self.set.extend(names());
            }
            Some("set") => {
                let is_all = |word: &Argument| {
                    word.text == "allexport" || word.text.starts_with('-') && word.text.contains('a')
                };
                self.exports_all |= command.operands().iter().any(is_all);
            }
            _ => {}
        }
    }

    /// Says whether the line exports a variable, by name or with all others.
    pub(crate) fn exports(&self, name: &str) -> bool {
        self.exports_all || self.exported.contains(name)
    }

    /// Says whether the line sets a variable.
    pub(crate) fn sets(&self, name: &str) -> bool {
        self.set.contains(name)
    }

    /// Returns the secret variables of the session that a text of an invocation shows, also by other names of the line.
    pub(crate) fn secrets_in<'t>(&self, text: &'t str, invocation: usize) -> Vec<&'t str>
    where
        'a: 't,
    {
        shown_variables(text).into_iter().filter_map(|name| self.secret_behind(name, invocation)).collect()
    }

    /// Returns the secret variable whose value a variable has where an invocation starts.
    fn secret_behind<'t>(&self, name: &'t str, invocation: usize) -> Option<&'t str>
    where
        'a: 't,
    {
        let set = self.secrets.get(name).and_then(|all| {
            let before = all.partition_point(|(at, _)| *at < invocation);
            before.checked_sub(1).and_then(|last| all.get(last))
        });
        // What the line itself sets is as secret as what it is made of.
        if let Some((_, secret)) = set {
            return *secret;
        }
        // Sessions export names in capital letters.
        let is_exported = !name.contains(|letter: char| letter.is_ascii_lowercase());
        (is_exported && is_secret_name(name)).then_some(name)
    }
}

fn name_of(word: &Argument) -> &str {
    word.text.split(['=', '+']).next().unwrap_or_default()
}
