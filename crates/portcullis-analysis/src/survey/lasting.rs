//! What a command leaves behind for others, wherever these stand: functions, variables that steer `cd`, an input.
//!
//! Loops and functions run text that stands before them, so a survey that finds such a thing is made once more with it.

use std::collections::BTreeSet;

use crate::feed::Feed;
use crate::invocation::Invocation;

/// More inputs than this are not told apart.
const MOST_INPUTS: usize = 8;

/// What holds for the whole command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Lasting {
    /// The functions that are defined.
    pub(super) functions: BTreeSet<String>,
    /// Whether one of them may change the directory.
    pub(super) has_moving_function: bool,
    /// Whether `CDPATH` may be set, so that a relative `cd` may lead anywhere.
    pub(super) has_search_path: bool,
    /// Whether `HOME` may be set, so that a bare `cd` may lead anywhere.
    pub(super) has_other_home: bool,
    /// What `exec` makes the input of the shell.
    pub(super) inputs: Vec<Feed>,
}

impl Lasting {
    /// Notes the variables a text may set that steer `cd`.
    pub(super) fn note_text(&mut self, text: &str) {
        self.has_search_path |= may_set(text, "CDPATH");
        self.has_other_home |= may_set(text, "HOME");
    }

    /// Notes the variables an invocation sets, whatever quotes hide in its text.
    pub(super) fn note_invocation(&mut self, invocation: &Invocation) {
        let assigned = invocation.assignments.iter().map(|variable| variable.name.as_str());
        let operands = invocation.operands().iter().map(|word| word.text.as_str());
        for text in assigned.chain(operands) {
            let name = text.split(['=', '+']).next().unwrap_or(text);
            self.has_search_path |= name == "CDPATH";
            self.has_other_home |= name == "HOME";
        }
    }

    pub(super) fn note_function(&mut self, name: &str) {
        self.functions.insert(name.to_owned());
    }

    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    pub(super) fn note_input(&mut self, input: Feed) {
        if self.inputs.len() >= MOST_INPUTS {
            self.inputs = vec![Feed::Unknown; MOST_INPUTS];
        } else if input != Feed::Nothing && !self.inputs.contains(&input) {
            self.inputs.push(input);
        }
    }
}

/// Says whether a text names a variable other than to use its value.
fn may_set(text: &str, name: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        let is_part = before.ends_with(is_name) || after.starts_with(is_name);
        let is_used = before.ends_with('$') || (before.ends_with("${") && after.starts_with('}'));
        !is_part && !is_used
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
