//! What came out of a run, in counters and bounded lists.
//!
//! Each file has a tally of its own, and they are added in the order of the files, so it does not show who read which
//! file when.

use std::collections::BTreeMap;
use std::ops::Deref;

use portcullis_classifier::transcript::{CallResult, TranscriptFormat};
use portcullis_core::findings::Severity;
use portcullis_core::{Mode, StepId};

/// The most groups of each list; calls beyond them are counted without a group.
const MOST_GROUPS: usize = 5_000;
/// The most examples of a group.
const MOST_EXAMPLES: usize = 3;
/// The most problems that are named.
const MOST_PROBLEMS: usize = 100;

/// What becomes of a call, from the most lenient on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// It runs.
    Allow,
    /// Rules and analysis leave it to the model.
    Model,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

impl Answer {
    /// All answers, the most lenient first.
    pub(super) const ALL: [Self; 4] = [Self::Allow, Self::Model, Self::Ask, Self::Deny];

    /// Returns the word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Model => "model",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// How often each answer was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    allow: usize,
    model: usize,
    ask: usize,
    deny: usize,
}

impl Counts {
    /// Returns how many there are altogether.
    pub(super) const fn all(self) -> usize {
        self.allow + self.model + self.ask + self.deny
    }

    /// Returns how often an answer was given.
    pub(super) const fn of(self, answer: Answer) -> usize {
        match answer {
            Answer::Allow => self.allow,
            Answer::Model => self.model,
            Answer::Ask => self.ask,
            Answer::Deny => self.deny,
        }
    }

    /// Counts an answer.
    pub(super) fn count(&mut self, answer: Answer) {
        self.add(answer, 1);
    }

    fn add(&mut self, answer: Answer, number: usize) {
        match answer {
            Answer::Allow => self.allow += number,
            Answer::Model => self.model += number,
            Answer::Ask => self.ask += number,
            Answer::Deny => self.deny += number,
        }
    }

    fn merge(&mut self, other: Self) {
        for answer in Answer::ALL {
            self.add(answer, other.of(answer));
        }
    }
}

/// A call that stands for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Example {
    /// The call on one line.
    pub(super) title: String,
    /// Why it was answered so.
    pub(super) reason: String,
    /// The file and line it stands in.
    pub(super) place: String,
}

/// Calls that have something in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) counts: Counts,
    /// The first of them, each once.
    pub(super) examples: Vec<Example>,
    /// How bad the worst of them is, if anything was found in one.
    pub(super) danger: Option<Severity>,
}

impl Group {
    /// Counts a call. The example is looked at only if there is room for it.
    pub(super) fn count(&mut self, answer: Answer, example: &impl Deref<Target = Example>) {
        self.counts.count(answer);
        self.show(example);
    }

    fn show(&mut self, example: &impl Deref<Target = Example>) {
        let has_room = self.examples.len() < MOST_EXAMPLES;
        if has_room && self.examples.iter().all(|known| known.title != example.title) {
            self.examples.push((**example).clone());
        }
    }

    /// Takes over examples there is room for.
    pub(super) fn take_examples(&mut self, other: &Self) {
        for example in &other.examples {
            self.show(&example);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.counts.merge(other.counts);
        self.take_examples(other);
        self.danger = self.danger.max(other.danger);
    }
}

/// Groups by what their calls have in common, up to a number of groups.
#[derive(Debug, Clone)]
pub(super) struct Groups<K> {
    groups: BTreeMap<K, Group>,
    /// How many calls found no room in a group.
    pub(super) left_out: usize,
}

impl<K> Default for Groups<K> {
    fn default() -> Self {
        Self { groups: BTreeMap::new(), left_out: 0 }
    }
}

impl<K: Ord + Clone> Groups<K> {
    /// Counts a call.
    pub(super) fn count(&mut self, key: &K, answer: Answer, example: &impl Deref<Target = Example>) {
        match self.room_for(key) {
            Some(group) => group.count(answer, example),
            None => self.left_out += 1,
        }
    }

    /// Says of a group that one of its calls is so bad.
    pub(super) fn raise(&mut self, key: &K, danger: Option<Severity>) {
        if let Some(group) = self.groups.get_mut(key) {
            group.danger = group.danger.max(danger);
        }
    }

    fn room_for(&mut self, key: &K) -> Option<&mut Group> {
        if !self.groups.contains_key(key) {
            if self.groups.len() >= MOST_GROUPS {
                return None;
            }
            self.groups.insert(key.clone(), Group::default());
        }
        self.groups.get_mut(key)
    }

    fn merge(&mut self, other: Self) {
        self.left_out += other.left_out;
        for (key, group) in other.groups {
            match self.room_for(&key) {
                Some(own) => own.merge(&group),
                None => self.left_out += group.counts.all(),
            }
        }
    }

    /// Returns the groups in the order of what they have in common.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &Group)> {
        self.groups.iter()
    }

    /// Returns the groups, the worst first, of equals the largest.
    pub(super) fn by_danger(&self) -> Vec<(&K, &Group)> {
        let mut all = self.by_size();
        all.sort_by_key(|(_, group)| std::cmp::Reverse(group.danger));
        all
    }

    /// Returns the groups, the largest first.
    pub(super) fn by_size(&self) -> Vec<(&K, &Group)> {
        let mut all: Vec<(&K, &Group)> = self.groups.iter().collect();
        // The order of equals is that of what they have in common.
        all.sort_by_key(|(_, group)| std::cmp::Reverse(group.counts.all()));
        all
    }
}

/// Counts by a name that anybody may have chosen, up to a number of names.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    counts: BTreeMap<String, Counts>,
    /// How many calls found no room.
    pub(super) left_out: usize,
}

impl Names {
    /// Counts an answer under a name.
    pub(super) fn count(&mut self, name: &str, answer: Answer) {
        let mut counts = Counts::default();
        counts.count(answer);
        self.add(name, counts);
    }

    fn add(&mut self, name: &str, more: Counts) {
        // Most names are there already, and then none has to be made.
        if let Some(counts) = self.counts.get_mut(name) {
            counts.merge(more);
        } else if self.counts.len() < MOST_GROUPS {
            self.counts.insert(name.to_owned(), more);
        } else {
            self.left_out += more.all();
        }
    }

    fn merge(&mut self, other: &Self) {
        self.left_out += other.left_out;
        for (name, counts) in &other.counts {
            self.add(name, *counts);
        }
    }

    /// Returns the names, the most frequent first.
    pub(super) fn by_size(&self) -> Vec<(&str, Counts)> {
        let mut all: Vec<(&str, Counts)> =
            self.counts.iter().map(|(name, counts)| (name.as_str(), *counts)).collect();
        all.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.all()));
        all
    }
}

/// What came out of a file, or of all files so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// How many session files were read.
    pub(super) sessions: usize,
    /// How many files are no sessions.
    pub(super) others: usize,
    /// How many lines were not understood.
    pub(super) skipped: usize,
    /// How many lines, or documents, were too long.
    pub(super) too_long: usize,
    /// How many calls are not of the time that was asked for.
    pub(super) left_out: usize,
    /// How many calls could not be judged.
    pub(super) unjudged: usize,
    /// How many calls asked about would run in accept-edits mode.
    pub(super) run_by_edits: usize,
    pub(super) total: Counts,
    pub(super) by_host: BTreeMap<TranscriptFormat, Counts>,
    pub(super) by_mode: BTreeMap<Mode, Counts>,
    pub(super) by_step: BTreeMap<StepId, Counts>,
    pub(super) by_tool: Names,
    /// By code.
    pub(super) findings: Groups<&'static str>,
    /// Calls that are asked about, by the rules that would end that.
    pub(super) prompts: Groups<Vec<String>>,
    /// Calls that are asked about and that no rule would let run, by why.
    pub(super) stubborn: Groups<String>,
    /// By why.
    pub(super) denied: Groups<String>,
    /// What became of calls when they were made; `None` if that is not on record.
    pub(super) fates: BTreeMap<(Option<CallResult>, Answer), usize>,
    /// Calls that the other policy answers differently.
    pub(super) changes: BTreeMap<(Answer, Answer), Group>,
    /// How many files could not be read, or not to their end.
    pub(super) failed: usize,
    /// What was wrong with the first of them, and with settings.
    pub(super) problems: Vec<String>,
    /// Whether something that the command line names could not be read.
    pub(super) has_lost_named: bool,
}

impl Tally {
    /// Names a problem, if there is room for one more that is not named yet.
    pub(super) fn complain(&mut self, problem: String) {
        if self.problems.len() < MOST_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Adds what came out of the next file.
    pub(super) fn merge(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.others += other.others;
        self.skipped += other.skipped;
        self.too_long += other.too_long;
        self.left_out += other.left_out;
        self.unjudged += other.unjudged;
        self.run_by_edits += other.run_by_edits;
        self.failed += other.failed;
        self.has_lost_named |= other.has_lost_named;
        self.total.merge(other.total);
        merge_counts(&mut self.by_host, other.by_host);
        merge_counts(&mut self.by_mode, other.by_mode);
        merge_counts(&mut self.by_step, other.by_step);
        self.by_tool.merge(&other.by_tool);
        self.findings.merge(other.findings);
        self.prompts.merge(other.prompts);
        self.stubborn.merge(other.stubborn);
        self.denied.merge(other.denied);
        for (key, number) in other.fates {
            *self.fates.entry(key).or_default() += number;
        }
        for (key, group) in other.changes {
            self.changes.entry(key).or_default().merge(&group);
        }
        for problem in other.problems {
            self.complain(problem);
        }
    }
}

fn merge_counts<K: Ord>(own: &mut BTreeMap<K, Counts>, other: BTreeMap<K, Counts>) {
    for (key, counts) in other {
        own.entry(key).or_default().merge(counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(title: &str) -> std::rc::Rc<Example> {
        Example { title: title.to_owned(), reason: String::new(), place: String::new() }.into()
    }

    #[test]
    fn groups_are_bounded_and_say_what_found_no_room() {
        let mut groups = Groups::default();
        for number in 0..MOST_GROUPS + 7 {
            groups.count(&number, Answer::Ask, &example("a"));
        }
        groups.count(&0, Answer::Ask, &example("b"));
        assert_eq!((groups.iter().count(), groups.left_out), (MOST_GROUPS, 7));
        assert_eq!(groups.by_size().first().unwrap().1.counts.all(), 2);
        let mut all = Groups::default();
        all.merge(groups.clone());
        all.merge(groups);
        assert_eq!((all.iter().count(), all.left_out), (MOST_GROUPS, 14));
    }

    #[test]
    fn examples_are_the_first_each_once() {
        let mut group = Group::default();
        for title in ["a", "a", "b", "c", "d"] {
            group.count(Answer::Deny, &example(title));
        }
        let titles: Vec<&str> = group.examples.iter().map(|example| example.title.as_str()).collect();
        assert_eq!((titles, group.counts.all()), (vec!["a", "b", "c"], 5));
    }

    #[test]
    fn adding_in_order_is_the_same_as_counting_in_order() {
        let titles = ["a", "b", "c", "d", "e", "f"];
        let mut at_once = Tally::default();
        let mut added = Tally::default();
        for pair in titles.chunks(2) {
            let mut own = Tally::default();
            for title in pair {
                for tally in [&mut at_once, &mut own] {
                    tally.total.count(Answer::Ask);
                    tally.stubborn.count(&"why".to_owned(), Answer::Ask, &example(title));
                    tally.complain((*title).to_owned());
                }
            }
            added.merge(own);
        }
        assert_eq!(format!("{at_once:?}"), format!("{added:?}"));
    }
}
