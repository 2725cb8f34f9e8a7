//! What a command leaves behind for others, wherever these stand: functions, aliases, variables, an input.
//!
//! Loops and functions run text that stands before them, so a survey that finds such a thing is made once more with it.

use std::collections::{BTreeMap, BTreeSet};

use super::settled::{VariableNames, assigned_name, is_name};
use crate::argument::Argument;
use crate::invocation::Invocation;
use crate::lists::programs::shells::{COMMIT_VARIABLES, PROJECT_DIRECTORIES, TEMPORARY_DIRECTORIES};
use crate::shape::Shape;
use crate::standard_input::StandardInput;

/// More inputs than this are not told apart.
const MOST_INPUTS: usize = 8;

/// Builtins that set the variables their operands name.
const SETTERS: &[&str] = &[
    "compgen",
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "typeset",
    "unset",
    "wait",
];

/// Words that an alias would take from the grammar.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
    "then", "time", "until", "while",
];

/// An option longer than this may hide any name.
const LONGEST_OPTION: usize = 64;

/// What holds for the whole command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a state")]
pub(super) struct LineFacts {
    /// The functions that are defined.
    pub(super) functions: BTreeSet<String>,
    /// Whether one of them may change the directory.
    pub(super) has_moving_function: bool,
    /// Whether `CDPATH` may be set, so that a relative `cd` may lead anywhere.
    pub(super) has_search_path: bool,
    /// Whether `HOME` may be set, so that a bare `cd` may lead anywhere.
    pub(super) has_other_home: bool,
    /// Whether `PWD` may be set.
    pub(super) has_other_place: bool,
    /// Whether `IFS` may be set, so that words may be split anywhere.
    pub(super) has_other_separators: bool,
    /// Variables of build systems that the text may set.
    set_by_text: BTreeSet<&'static str>,
    /// Variables that something may set which the text alone does not tell.
    unsettled: BTreeSet<String>,
    /// Whether any variable may be one of these.
    pub(super) is_all_unsettled: bool,
    /// Whether text that the shell runs once more is evaluated as arithmetic.
    pub(super) is_evaluated: bool,
    /// Whether a function is called in a way that is not followed.
    pub(super) has_open_function: bool,
    /// Whether functions are handed on to other shells, which know none of the variables.
    pub(super) exports_functions: bool,
    /// Aliases with fixed texts.
    pub(super) aliases: BTreeMap<String, String>,
    /// Whether one of them may be used.
    pub(super) has_used_alias: bool,
    /// What `exec` makes the input of the shell.
    pub(super) inputs: Vec<StandardInput>,
}

impl LineFacts {
    /// Notes the variables a text may set that steer `cd`.
    pub(super) fn note_text(&mut self, text: &str) {
        self.has_search_path |= may_set(text, "CDPATH");
        self.has_other_home |= may_set(text, "HOME");
        self.has_other_place |= may_set(text, "PWD");
        self.has_other_separators |= may_set_separators(text);
        self.set_by_text.extend(build_variables().filter(|name| may_set(text, name)));
    }

    /// Notes the variables an invocation sets, whatever quotes hide in its text.
    pub(super) fn note_invocation(&mut self, invocation: &Invocation) {
        // What stands before `read` holds for it alone.
        let is_own = |name: &str| name == "IFS" && invocation.program_name() == Some("read");
        let assigned = invocation.assignments.iter().map(|variable| variable.name.as_str());
        let assigned = assigned.filter(|name| !is_own(name));
        let operands = invocation.operands().iter().map(|word| word.text.as_str());
        for text in assigned.chain(operands) {
            let name = text.split(['=', '+']).next().unwrap_or(text);
            self.has_search_path |= name == "CDPATH";
            self.has_other_home |= name == "HOME";
            self.has_other_place |= name == "PWD";
            self.has_other_separators |= name == "IFS";
            self.set_by_text.extend(build_variables().filter(|known| *known == name));
        }
    }

    /// Notes the variables that a builtin sets, and what else it leaves behind.
    pub(super) fn note_builtin(&mut self, invocation: &Invocation, is_followed: bool) {
        let operands = invocation.operands();
        let Some(name) = invocation.program_name() else { return };
        match name {
            "source" | "." => self.is_all_unsettled = true,
            "set" => self.exports_functions |= operands.iter().any(|word| word.text.contains('a')),
            "alias" => self.note_aliases(operands),
            _ => {}
        }
        self.has_used_alias |= self.aliases.contains_key(name);
        let is_quiet = name == "printf" && !operands.iter().any(|word| word.text.starts_with("-v"));
        if !SETTERS.contains(&name) || is_quiet || is_followed {
            return;
        }
        let is_option = |word: &&Argument| word.is_option();
        self.exports_functions |= operands.iter().filter(is_option).any(|word| word.text.contains('f'));
        // A reference sets whatever it refers to by then.
        let is_reference = matches!(name, "declare" | "local" | "typeset");
        self.is_all_unsettled |=
            is_reference && operands.iter().filter(is_option).any(|word| word.text.contains('n'));
        let is_declaration = matches!(name, "declare" | "export" | "local" | "readonly" | "typeset");
        for word in operands {
            // The text itself tells of a plain assignment.
            let is_told = is_declaration && assigned_name(word.as_written()).is_some();
            if !is_told {
                self.note_operand(word);
            }
        }
    }

    /// Notes that a word of a command may set every variable it names; a word nobody knows may set any.
    fn note_operand(&mut self, word: &Argument) {
        let is_number = word.shape().is_some_and(Shape::is_plain);
        let is_hidden = !word.is_known() && !is_number && assigned_name(&word.text).is_none();
        if is_hidden || (word.is_option() && word.text.len() > LONGEST_OPTION) {
            self.is_all_unsettled = true;
            return;
        }
        for name in word.text.split(|letter| !is_name(letter)).filter(|name| !name.is_empty()) {
            self.unsettled.insert(name.to_owned());
            if word.is_option() {
                // The name may be attached to its option.
                self.unsettled
                    .extend(name.char_indices().filter_map(|(at, _)| name.get(at..)).map(str::to_owned));
            }
        }
    }

    /// Notes aliases that can be followed; any other makes it unsure what later words mean.
    fn note_aliases(&mut self, operands: &[Argument]) {
        for word in operands {
            let Some((name, value)) = word.text.split_once('=') else { continue };
            let is_plain =
                !name.is_empty() && name.chars().all(|letter| is_name(letter) || "-.".contains(letter));
            let is_word = is_plain && !RESERVED.contains(&name) && !name.starts_with('-');
            // After a blank the next word may be an alias too.
            if word.fixed().is_some() && is_word && !value.ends_with([' ', '\t']) {
                let more = self.aliases.insert(name.to_owned(), value.to_owned());
                self.has_used_alias |= more.is_some_and(|before| before != value);
            } else {
                self.has_used_alias = true;
            }
        }
    }

    /// Notes what a text that the shell itself runs once more may set.
    pub(super) fn note_names(&mut self, names: VariableNames) {
        self.is_evaluated |= names.evaluates();
        self.unsettled.extend(names.into_all());
    }

    /// Says whether something the text does not show may set a variable.
    pub(super) fn is_unsettled(&self, name: &str) -> bool {
        self.is_all_unsettled || self.unsettled.contains(name)
    }

    /// Says whether a variable is what whoever runs builds has set it to.
    pub(super) fn is_of_build(&self, name: &str) -> bool {
        !self.is_unsettled(name) && !self.set_by_text.contains(name)
    }

    /// Notes a function, so that a call of it is no unknown program.
    pub(super) fn note_function(&mut self, name: &str) {
        self.functions.insert(name.to_owned());
    }

    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// Notes what `exec` made the input of all commands after it.
    pub(super) fn note_input(&mut self, input: StandardInput) {
        if self.inputs.len() >= MOST_INPUTS {
            self.inputs = vec![StandardInput::Unknown; MOST_INPUTS];
        } else if input != StandardInput::Nothing && !self.inputs.contains(&input) {
            self.inputs.push(input);
        }
    }
}

/// Returns the variables of build systems that are followed.
fn build_variables() -> impl Iterator<Item = &'static str> {
    [PROJECT_DIRECTORIES, TEMPORARY_DIRECTORIES, COMMIT_VARIABLES].into_iter().flatten().copied()
}

/// Says whether a text names a variable other than to use its value.
fn may_set(text: &str, name: &str) -> bool {
    settings(text, name).next().is_some()
}

/// Returns what follows a name where it stands for more than its value.
fn settings<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices(name).filter_map(move |(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        let is_part = before.ends_with(is_name) || after.starts_with(is_name);
        let is_used = before.ends_with('$') || (before.ends_with("${") && after.starts_with('}'));
        (!is_part && !is_used).then_some(after)
    })
}

/// Says whether a text may set what words are split at, other than for one `read`.
fn may_set_separators(text: &str) -> bool {
    let is_for_read = |after: &str| {
        let value = after.strip_prefix('=').unwrap_or("x");
        let quoted = ["''", "\"\"", "':'", "\":\"", "','", "\",\"", "$'\\t'", "$'\\n'"];
        let rest = quoted.iter().find_map(|quoted| value.strip_prefix(*quoted));
        let rest = rest.unwrap_or_else(|| value.strip_prefix([':', ',', ';', '|', '=']).unwrap_or(value));
        rest.starts_with(' ') && rest.trim_start().starts_with("read ")
    };
    settings(text, "IFS").any(|after| !is_for_read(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_before_read_hold_for_it_alone() {
        for (text, expected) in [
            ("while IFS= read -r line; do :; done", false),
            ("IFS=: read -r a b", false),
            ("IFS='' read -r a", false),
            ("IFS=$'\\t' read -r a b", false),
            ("IFS=:; read -r a b", true),
            ("IFS=x read -r a", true),
            ("IFS= ; read -r a", true),
            ("read -r IFS", true),
            ("IFS= readlink a", true),
        ] {
            assert_eq!(may_set_separators(text), expected, "{text}");
        }
    }

    #[test]
    fn a_variable_is_set_where_its_name_stands_without_a_dollar() {
        for (text, expected) in [
            ("HOME=/x", true),
            ("for HOME in /x; do cd; done", true),
            ("read -r HOME", true),
            ("printf -v HOME %s /x", true),
            (": ${HOME:=/x}", true),
            ("cd $HOME", false),
            ("cd \"${HOME}/x\"", false),
            ("JAVA_HOME=/x", false),
            ("HOMEBREW=1", false),
        ] {
            assert_eq!(may_set(text, "HOME"), expected, "{text}");
        }
    }
}
