//! The words that a program is started with: `sys.argv`, `process.argv`, `ARGV`, `$argv`.
//!
//! They are known where the line that starts the program says them, and where the program does nothing with the list but
//! look at it.

use super::evaluator::Evaluator;
use super::value::CodeValue;
use crate::code::{Language, ProgramArguments};

/// The words that a program is started with.
#[derive(Debug, Clone, Copy)]
pub(super) struct GivenWords<'a> {
    /// What the language calls the list.
    pub(super) name: &'static str,
    before: usize,
    words: &'a [Option<String>],
    /// Whether it is a part of the list, whose places are others.
    is_part: bool,
}

/// What stands behind the name of the list for a part of it.
const PART: &str = "[]";

/// What follows the list where it is only looked at.
const LOOKS: &[&str] =
    &["[", ".slice(", ".length", ".each", ".map", ".first", ".fetch(", ".empty?", ".size", ".any?", ".drop("];

/// Methods that give a part of the list.
const PARTS: &[&str] = &["drop", "each", "slice"];

/// Returns the words a program is started with, if it leaves the list as it is.
pub(super) fn of<'a>(
    language: Language,
    text: &str,
    arguments: &'a ProgramArguments,
) -> Option<GivenWords<'a>> {
    let ProgramArguments::Known { before, words } = arguments else { return None };
    let name = match language {
        Language::Python => "sys.argv",
        Language::JavaScript => "process.argv",
        Language::Ruby => "ARGV",
        Language::Php => "$argv",
        _ => return None,
    };
    // By another name it could be changed unseen.
    let short = name.rsplit('.').next().unwrap_or(name);
    let is_alone = text.matches(short).count() == text.matches(name).count();
    let is_looked_at = |(at, _): (usize, &str)| {
        let rest = text.get(at + name.len()..).unwrap_or_default();
        let before = text.get(..at).unwrap_or_default().trim_end();
        let is_counted = before.ends_with("len(") && rest.starts_with(')');
        is_counted || LOOKS.iter().any(|look| rest.starts_with(look)) && !is_element_set(rest)
    };
    (is_alone && text.match_indices(name).all(is_looked_at)).then_some(GivenWords {
        name,
        before: *before,
        words,
        is_part: false,
    })
}

/// Says whether an element is given another value: `[1] = x`.
fn is_element_set(rest: &str) -> bool {
    let (inside, behind) = rest.split_once(']').unwrap_or((rest, ""));
    let behind = behind.trim_start();
    let is_compared = behind.starts_with("==") || behind.starts_with("=~") || behind.starts_with("=>");
    let sign = behind.trim_start_matches(['+', '-', '*', '/', '|', '&', '?', '<', '.']);
    let is_set = sign.starts_with('=') && !is_compared || behind.starts_with("<<");
    // Where the brackets hold others, their end is another one.
    rest.starts_with('[') && (is_set || inside.trim_start_matches('[').contains('['))
}

impl GivenWords<'_> {
    /// Returns what a place of the list may hold; what stands behind its end is nothing that anybody wrote.
    pub(super) fn at(self, number: &str) -> Vec<CodeValue> {
        if self.is_part {
            return self.any();
        }
        let place = number.parse::<usize>().ok().and_then(|at| at.checked_sub(self.before));
        vec![value(place.and_then(|at| self.words.get(at)).and_then(Option::as_ref))]
    }

    /// Returns a part of the list.
    pub(super) fn part(self) -> CodeValue {
        CodeValue::Named(format!("{}{PART}", self.name))
    }

    /// Returns what any place of the list may hold.
    pub(super) fn any(self) -> Vec<CodeValue> {
        self.words.iter().map(|word| value(word.as_ref())).collect()
    }
}

fn value(word: Option<&String>) -> CodeValue {
    word.map_or(CodeValue::Unknown, |word| CodeValue::Text(word.clone()))
}

impl<'a> Evaluator<'a> {
    /// Returns the words that the program is started with, if a value is the list of them, or a part of it.
    pub(super) fn given_words(&self, value: &CodeValue) -> Option<GivenWords<'a>> {
        let CodeValue::Named(name) = value else { return None };
        let list = name.strip_suffix(PART);
        let words = self.words.filter(|words| words.name == list.unwrap_or(name))?;
        Some(GivenWords { is_part: list.is_some(), ..words })
    }

    /// Returns what a method of the list gives: a part of it, or an element if there is but one.
    pub(super) fn words_of(&self, name: &str) -> Option<CodeValue> {
        let (list, method) = name.rsplit_once('.')?;
        let list = CodeValue::Named(list.to_owned());
        let words = self.given_words(&list)?;
        if PARTS.contains(&method) {
            return Some(words.part());
        }
        match words.any().as_slice() {
            [only] if matches!(method, "first" | "fetch") => Some(only.clone()),
            _ => None,
        }
    }
}
