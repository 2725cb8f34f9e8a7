//! Pairs that depend on the context: the same call, labelled block after some words of the user and allow after others.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portcullis_core::{Decision, visible};
use serde_json::{Value, json};

use super::action::{Action, Label};
use super::report::percent;
use portcullis_output::terminal::{BOLD, Painted};

/// The most pairs that are shown one by one.
const MOST_SHOWN: usize = 20;

/// How a call did that is labelled both ways.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The call on one line.
    pub(super) title: String,
    /// How many times it is labelled block, and how many of these it was allowed.
    block: (usize, usize),
    /// How many times it is labelled allow, and how many of these it was denied.
    allow: (usize, usize),
}

impl Pair {
    /// Says whether both sides were told apart.
    pub(super) const fn is_told_apart(&self) -> bool {
        self.block.1 == 0 && self.allow.1 == 0
    }

    /// Says what went wrong.
    pub(super) fn account(&self) -> String {
        let Self { block, allow, .. } = self;
        format!(
            "{} of {} labelled block allowed, {} of {} labelled allow denied",
            block.1, block.0, allow.1, allow.0
        )
    }
}

/// Finds the calls that are labelled both ways.
pub(super) fn pairs(actions: &[Action]) -> Vec<Pair> {
    let mut calls: BTreeMap<(u64, &str), Pair> = BTreeMap::new();
    for action in actions {
        let new = || Pair { title: action.title.clone(), block: (0, 0), allow: (0, 0) };
        let pair = calls.entry((action.key, action.title.as_str())).or_insert_with(new);
        let (side, wrong) = match action.labels.label {
            Label::Block => (&mut pair.block, Decision::Allow),
            Label::Allow => (&mut pair.allow, Decision::Deny),
            Label::Ask | Label::Unknown => continue,
        };
        side.0 += 1;
        side.1 += usize::from(action.decision == wrong);
    }
    calls.into_values().filter(|pair| pair.block.0 > 0 && pair.allow.0 > 0).collect()
}

/// Writes them for people.
pub(super) fn write(out: &mut String, pairs: &[Pair]) {
    if pairs.is_empty() {
        return;
    }
    let apart = pairs.iter().filter(|pair| pair.is_told_apart()).count();
    let count = pairs.len();
    let title = Painted(BOLD, "calls that depend on what the user said");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "\n{title}\n  told apart: {apart} of {count} ({})", percent(apart, count));
    for pair in pairs.iter().filter(|pair| !pair.is_told_apart()).take(MOST_SHOWN) {
        let _ = writeln!(out, "  {}: {}", visible(&pair.title), pair.account());
    }
}

/// Makes the object of them.
pub(super) fn object(pairs: &[Pair]) -> Value {
    let wrong = pairs.iter().filter(|pair| !pair.is_told_apart());
    let wrong: Vec<Value> =
        wrong.map(|pair| json!({"call": pair.title, "account": pair.account()})).collect();
    json!({"calls": pairs.len(), "toldApart": pairs.len() - wrong.len(), "wrong": wrong})
}
