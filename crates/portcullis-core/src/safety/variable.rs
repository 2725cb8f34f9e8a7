//! What variables in a target may stand for, as far as the command line or the session says.

use std::collections::BTreeMap;

use portcullis_analysis::{Invocation, Survey};

use crate::case::CaseView;

/// Substitutions that stand for the directory a command runs in or the repository around it.
const HERE: &[&str] = &["$(pwd)", "`pwd`", "$(pwd -P)", "$(git rev-parse --show-toplevel)"];

/// How many steps are followed for one text, and how long it may grow.
const MOST: usize = 64;
const LONGEST: usize = 4_096;

/// Every value a variable is given, wherever on the command line that is.
#[derive(Debug)]
pub(super) struct VariableValues<'a> {
    values: BTreeMap<&'a str, Vec<&'a str>>,
    cwd: &'a str,
}

impl<'a> VariableValues<'a> {
    /// Collects the values that the command line or the session gives.
    pub(super) fn of(view: &CaseView<'a>, survey: &'a Survey) -> Self {
        let context = view.case.context();
        let mut found = Self { values: BTreeMap::new(), cwd: &context.cwd };
        found.add("PWD", &context.cwd);
        if let Some(home) = context.home.as_deref() {
            found.add("HOME", home);
        }
        for invocation in &survey.invocations {
            if invocation.arguments.is_empty() {
                for variable in &invocation.assignments {
                    found.add(&variable.name, &variable.value.text);
                }
            } else if is_declaring(invocation) {
                for (name, value) in invocation.operands().iter().filter_map(|word| word.text.split_once('='))
                {
                    found.add(name, value);
                }
            }
        }
        found
    }

    fn add(&mut self, name: &'a str, value: &'a str) {
        let values = self.values.entry(name).or_default();
        if values.len() < MOST && !values.contains(&value) {
            values.push(value);
        }
    }

    /// Returns the texts that a text may be once its variables are filled in; unknown ones stay as they are.
    pub(super) fn readings(&self, text: &str) -> Vec<String> {
        let mut done = Vec::new();
        let mut open = vec![text.to_owned()];
        let mut rounds = 0;
        while let Some(text) = open.pop() {
            rounds += 1;
            let next = if rounds < MOST && open.len() < MOST { self.fill_in(&text) } else { Vec::new() };
            let next = next.into_iter().filter(|next| next.len() <= LONGEST && *next != text);
            let before = open.len();
            open.extend(next);
            if open.len() == before {
                done.push(HERE.iter().fold(text, |text, here| text.replace(here, self.cwd)));
            }
        }
        done
    }

    /// Replaces the first expansion whose value is known by each of its values.
    fn fill_in(&self, text: &str) -> Vec<String> {
        let filled = text.match_indices('$').find_map(|(at, _)| {
            let (before, after) = (text.get(..at)?, text.get(at + 1..)?);
            let expansion = Expansion::of(after)?;
            let known = self.values.get(expansion.name).into_iter().flatten().copied();
            let rest = after.get(expansion.length..)?;
            let texts: Vec<String> =
                known.chain(expansion.default).map(|value| [before, value, rest].concat()).collect();
            (!texts.is_empty()).then_some(texts)
        });
        filled.unwrap_or_default()
    }
}

fn is_declaring(invocation: &Invocation) -> bool {
    matches!(invocation.program_name(), Some("export" | "declare" | "typeset" | "local" | "readonly"))
}

/// `$name` or `${name…}`, without the dollar sign.
struct Expansion<'a> {
    name: &'a str,
    /// What stands in for an empty value: `${x:-default}`.
    default: Option<&'a str>,
    length: usize,
}

impl<'a> Expansion<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let Some(braced) = text.strip_prefix('{') else {
            let name = text.get(..text.find(|letter| !is_name(letter)).unwrap_or(text.len()))?;
            return Some(Self { name, default: None, length: name.len() });
        };
        let inside = braced.get(..closing_brace(braced)?)?;
        let end = inside.find(|letter| !is_name(letter)).unwrap_or(inside.len());
        let (name, operator) = (inside.get(..end)?, inside.get(end..)?);
        let default = operator.strip_prefix(':').unwrap_or(operator).strip_prefix(['-', '=']);
        Some(Self { name, default, length: inside.len() + 2 })
    }
}

/// Returns where the brace closes that was opened before a text.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_and_every_default_is_tried() {
        let values = BTreeMap::from([
            ("X", vec!["/", "build"]),
            ("HOME", vec!["/home/me"]),
            ("L", vec!["$L$L"]),
            ("A", vec!["$B"]),
            ("B", vec!["$A"]),
        ]);
        let values = VariableValues { values, cwd: "/code/app" };
        let readings = |text: &str| {
            let mut readings = values.readings(text);
            readings.sort();
            readings
        };
        assert_eq!(readings("$X"), ["/", "build"]);
        assert_eq!(readings("${X}/y"), ["//y", "build/y"]);
        assert_eq!(readings("${Y:-/}"), ["/"]);
        assert_eq!(readings("${Y:-$HOME}"), ["/home/me"]);
        assert_eq!(readings("${Y=${HOME}}/z"), ["/home/me/z"]);
        assert_eq!(readings("${HOME%/}"), ["/home/me"]);
        assert_eq!(readings("$Y/$X"), ["$Y//", "$Y/build"]);
        assert_eq!(readings("$(pwd)/a"), ["/code/app/a"]);
        assert_eq!(readings("plain"), ["plain"]);
        assert!(readings("$L").len() <= MOST);
        assert_eq!(readings("$A").len(), 1);
    }
}
