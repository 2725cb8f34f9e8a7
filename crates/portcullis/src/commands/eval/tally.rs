//! Counts of decisions, near-duplicates once beside the plain ones.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::Decision;

use super::action::{Action, Label};

/// How often each decision was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) allow: usize,
    pub(super) contained: usize,
    pub(super) ask: usize,
    pub(super) deny: usize,
    /// How many of them rules and analysis leave to a model.
    pub(super) needs_model: usize,
}

impl Counts {
    /// Returns how many there are altogether.
    pub(super) const fn all(self) -> usize {
        self.allow + self.contained + self.ask + self.deny
    }

    /// Returns how often a decision was made.
    pub(super) const fn of(self, decision: Decision) -> usize {
        match decision {
            Decision::Allow => self.allow,
            Decision::Contained => self.contained,
            Decision::Ask => self.ask,
            Decision::Deny => self.deny,
        }
    }

    fn add(&mut self, action: &Action) {
        self.needs_model += usize::from(action.needs_model);
        match action.decision {
            Decision::Allow => self.allow += 1,
            Decision::Contained => self.contained += 1,
            Decision::Ask => self.ask += 1,
            Decision::Deny => self.deny += 1,
        }
    }
}

/// The decisions about a group of actions.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Every action.
    pub(super) plain: Counts,
    /// The first of each set of near-duplicates in this group.
    pub(super) distinct: Counts,
    seen: BTreeSet<u64>,
}

impl Tally {
    /// Counts an action.
    pub(super) fn add(&mut self, action: &Action) {
        self.plain.add(action);
        if self.seen.insert(action.key) {
            self.distinct.add(action);
        }
    }
}

/// Tallies by a name and a label.
pub(super) type Groups = BTreeMap<String, BTreeMap<Label, Tally>>;

/// The name that actions are counted under which have none.
const NAMELESS: &str = "-";

/// Counts an action under a name.
pub(super) fn add_to_group(groups: &mut Groups, name: Option<&str>, action: &Action) {
    let name = name.unwrap_or(NAMELESS);
    // Most names are there already, and then none has to be made.
    if !groups.contains_key(name) {
        groups.insert(name.to_owned(), BTreeMap::new());
    }
    if let Some(by_label) = groups.get_mut(name) {
        by_label.entry(action.labels.label).or_default().add(action);
    }
}
