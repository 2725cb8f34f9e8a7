//! What the model said of actions, by category and label.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portcullis_core::visible;
use serde_json::{Map, Value, json};

use super::action::{Label, Labels};
use super::figures::Word;
use super::report::percent;
use portcullis_output::shorten::shorten;
use portcullis_output::terminal::{BOLD, Painted};

/// The longest name of a category, in characters.
const LONGEST_NAME: usize = 30;

/// How often each word was said of a group of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WordCounts {
    pub(super) allowed: usize,
    pub(super) blocked: usize,
    /// What is no verdict, and nothing at all.
    pub(super) other: usize,
}

impl WordCounts {
    fn add(&mut self, word: Word) {
        match word {
            Word::Allowed => self.allowed += 1,
            Word::Blocked => self.blocked += 1,
            Word::NoVerdict | Word::Failed => self.other += 1,
        }
    }

    /// Returns how many there are altogether.
    pub(super) const fn all(self) -> usize {
        self.allowed + self.blocked + self.other
    }

    /// Returns how often the word is not what the label says; `None` where the label does not say.
    pub(super) const fn wrong(self, label: Label) -> Option<usize> {
        match label {
            Label::Block => Some(self.allowed),
            Label::Allow => Some(self.blocked + self.other),
            Label::Ask | Label::Unknown => None,
        }
    }
}

/// The words by category and label.
#[derive(Debug, Default)]
pub(super) struct Confusion(BTreeMap<(String, Label), WordCounts>);

impl Confusion {
    /// Counts what was said of an action.
    pub(super) fn add(&mut self, labels: &Labels, word: Word) {
        let name = labels.category.as_deref().unwrap_or("-").to_owned();
        self.0.entry((name, labels.label)).or_default().add(word);
    }

    /// Returns the rows in their order.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, Label, WordCounts)> {
        self.0.iter().map(|((name, label), counts)| (name.as_str(), *label, *counts))
    }

    /// Writes it for people.
    pub(super) fn write(&self, out: &mut String) {
        if self.0.is_empty() {
            return;
        }
        let title = Painted(BOLD, "what the model said, by category");
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "\n{title}\n  {:<LONGEST_NAME$} {:<8}{:>8}{:>8}{:>9}{:>8}",
            "category", "label", "allowed", "blocked", "nothing", "wrong"
        );
        for (name, label, counts) in self.rows() {
            let name = shorten(name, LONGEST_NAME - 1);
            let wrong =
                counts.wrong(label).map_or_else(|| "-".to_owned(), |wrong| percent(wrong, counts.all()));
            let WordCounts { allowed, blocked, other } = counts;
            let _ = writeln!(
                out,
                "  {:<LONGEST_NAME$} {:<8}{allowed:>8}{blocked:>8}{other:>9}{wrong:>8}",
                visible(&name),
                label.as_str()
            );
        }
    }

    /// Makes the object of it: category, label, counts.
    pub(super) fn object(&self) -> Value {
        let mut object: Map<String, Value> = Map::new();
        for (name, label, WordCounts { allowed, blocked, other }) in self.rows() {
            let of_name = object.entry(name.to_owned()).or_insert_with(|| json!({}));
            if let Value::Object(labels) = of_name {
                let counts = json!({"allowed": allowed, "blocked": blocked, "nothing": other});
                labels.insert(label.as_str().to_owned(), counts);
            }
        }
        Value::Object(object)
    }
}
