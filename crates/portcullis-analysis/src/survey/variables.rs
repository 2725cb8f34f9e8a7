//! What is known of variables at a place in the text, and how that changes along the ways the shell may take.
//!
//! A variable has a few values, any of which it may have; one that is not listed may be anything. An assignment replaces
//! them. Whatever may or may not run is walked and then *weakened*: a variable it sets has its values and those from before.
//! A loop forgets at its beginning what its body sets, so one walk of the body holds for every round: the walk costs the
//! same whatever the loops do. Where several places set a variable, functions and traps take it for anything, because they
//! run at another time than they are read.
//!
//! Cost: a change is logged once and undone once. A variable has at most [`MOST_VALUES`] values of [`LONGEST_VALUES`] bytes
//! all in all, a command is read at most that many times, and all repeated readings of a line together are limited by
//! [`MOST_READINGS`]. What goes beyond becomes anything.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::Span;
use portcullis_shell::ast::List;

use crate::argument::Argument;
use crate::shape::{Shape, TextKind};
use crate::standard_input::{LineColumns, LineCount, StandardInput};

/// A variable has at most so many values.
pub(super) const MOST_VALUES: usize = 64;

/// So many bytes the values of a variable have, if it has several.
const LONGEST_VALUES: usize = 4_096;

/// A single value longer than this is not followed.
const LONGEST_VALUE: usize = 64 * 1024;

/// So many variables that several places set are followed.
const MOST_CHANGING: usize = 64;

/// Commands of a line are read again for other values at most so often.
const MOST_READINGS: usize = 1_024;

/// What is known of the values of variables and substitutions at a place in the text.
#[derive(Debug, Default)]
pub(super) struct KnownValues {
    /// The variables that are followed.
    settled: BTreeSet<String>,
    /// Those of them that several places set.
    changing: BTreeSet<String>,
    variables: BTreeMap<String, Vec<KnownValue>>,
    /// Every change, so that those of a branch can be undone.
    log: Vec<(String, Option<Vec<KnownValue>>)>,
    /// Which value a variable has while a command is read for one of them.
    chosen: BTreeMap<String, usize>,
    /// What `$1` and the rest are.
    parameters: BTreeMap<String, KnownValue>,
    /// How often a command was read again.
    readings: usize,
    /// What command substitutions write, by the place of their body in memory.
    outputs: BTreeMap<usize, Vec<KnownValue>>,
    /// The words that hold something an encoding hid.
    pub(super) decoded: BTreeSet<Span>,
    /// How many bytes were put in.
    pub(super) put_in: usize,
    /// Whether an expansion of this line may have failed, upon which the shell drops the rest of the line.
    may_have_failed: Cell<bool>,
}

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KnownValue {
    /// Exactly this text; an encoding may have hidden it.
    Text { text: String, is_decoded: bool },
    /// Texts of this shape, one a line or word.
    Shaped { shape: Shape, count: LineCount },
    /// The elements of an array.
    Elements(Vec<KnownValue>),
    /// Lines in columns; the whole of them may be anything.
    Columns(LineColumns),
}

impl KnownValue {
    pub(super) fn text(text: &str) -> Self {
        Self::Text { text: text.to_owned(), is_decoded: false }
    }

    pub(super) fn of(shape: Shape, count: LineCount) -> Self {
        match shape.as_text() {
            Some(text) if count == LineCount::One => Self::text(text),
            _ => Self::Shaped { shape, count },
        }
    }

    /// Returns the values that a variable has one of: a number that may be missing is a number or nothing.
    pub(super) fn alternatives(self) -> Vec<Self> {
        match self {
            Self::Shaped { shape, count: LineCount::AtMostOne } if shape == Shape::of(TextKind::Digits) => {
                vec![Self::text(""), Self::Shaped { shape, count: LineCount::One }]
            }
            value => vec![value],
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text { text, .. } => text.len(),
            Self::Shaped { .. } | Self::Columns(_) => 1,
            Self::Elements(all) => all.iter().map(Self::len).sum(),
        }
    }

    /// Reads an argument as a value.
    pub(super) fn of_argument(argument: &Argument, is_decoded: bool) -> Option<Self> {
        if let Some(text) = argument.fixed() {
            return Some(Self::Text { text: text.to_owned(), is_decoded });
        }
        let count = match argument.bound.as_deref() {
            Some(bound) if bound.is_many => LineCount::Many,
            Some(bound) if bound.may_be_empty => LineCount::AtMostOne,
            Some(_) | None => LineCount::One,
        };
        argument.as_shape().map(|shape| Self::of(shape, count))
    }
}

/// The values that variables had in a branch, each with those from before it.
pub(super) struct BranchValues(BTreeMap<String, Option<Vec<KnownValue>>>);

impl KnownValues {
    /// Begins a text of its own, in which these variables are followed.
    pub(super) fn of_text(names: (BTreeSet<String>, BTreeSet<String>), put_in: usize) -> Self {
        let mut values = Self { put_in, ..Self::default() };
        values.follow(names);
        values
    }

    /// Follows these variables from now on: all of them, and those of them that several places set.
    pub(super) fn follow(&mut self, (mut settled, changing): (BTreeSet<String>, BTreeSet<String>)) {
        if changing.len() > MOST_CHANGING {
            settled.retain(|name| !changing.contains(name));
            self.changing.clear();
        } else {
            self.changing = changing;
        }
        self.settled = settled;
    }

    /// Follows no variable that is set from now on, and returns those that were.
    pub(super) fn follow_none(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.settled)
    }

    /// Follows these variables again.
    pub(super) fn follow_again(&mut self, settled: BTreeSet<String>) {
        self.settled = settled;
    }

    /// Returns the place to go back to with [`Self::undo`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Goes back to what was known at a place; returns every value that variables had since.
    pub(super) fn undo(&mut self, mark: usize) -> BranchValues {
        let mut since: BTreeMap<String, Option<Vec<KnownValue>>> = BTreeMap::new();
        for (name, before) in self.log.drain(mark.min(self.log.len())..).rev() {
            let now = match before.clone() {
                Some(before) => self.variables.insert(name.clone(), before),
                None => self.variables.remove(&name),
            };
            let so_far = since.remove(&name).unwrap_or_else(|| now.clone());
            let all = either(either(so_far, now), before);
            since.insert(name, all);
        }
        BranchValues(since)
    }

    /// Goes back to what was known at a place; returns the values that variables were given since.
    pub(super) fn undo_branch(&mut self, mark: usize) -> BranchValues {
        let mut since: BTreeMap<String, Option<Vec<KnownValue>>> = BTreeMap::new();
        for (name, before) in self.log.drain(mark.min(self.log.len())..).rev() {
            let now = match before {
                Some(before) => self.variables.insert(name.clone(), before),
                None => self.variables.remove(&name),
            };
            let all = match since.remove(&name) {
                Some(so_far) => either(so_far, now),
                None => now,
            };
            since.insert(name, all);
        }
        BranchValues(since)
    }

    /// Joins branches of which exactly one runs.
    pub(super) fn merge_branches(&mut self, branches: &[BranchValues]) {
        let names: BTreeSet<&String> = branches.iter().flat_map(|branch| branch.0.keys()).collect();
        for name in names {
            let before = self.variables.get(name).cloned();
            let of_branch =
                |branch: &BranchValues| branch.0.get(name).cloned().unwrap_or_else(|| before.clone());
            let all = branches.iter().map(of_branch).reduce(either).unwrap_or_default();
            self.put(name, all);
        }
    }

    /// Adds the values of a branch that may have run.
    pub(super) fn merge(&mut self, branch: BranchValues) {
        for (name, values) in branch.0 {
            let both = either(self.variables.get(&name).cloned(), values);
            self.put(&name, both);
        }
    }

    /// Notes that an expansion may fail.
    pub(super) fn note_failure(&self) {
        self.may_have_failed.set(true);
    }

    /// Ends a line of the text that began at a place: if an expansion may have failed, it may have run to any point. Says
    /// whether that is so.
    pub(super) fn end_line(&mut self, mark: usize) -> bool {
        let may_have_failed = self.may_have_failed.take();
        if may_have_failed {
            self.weaken(mark);
        }
        may_have_failed
    }

    /// Says that what ran since may have run to any point, or not at all.
    pub(super) fn weaken(&mut self, mark: usize) {
        if mark < self.log.len() {
            let branch = self.undo(mark);
            self.merge(branch);
        }
    }

    /// Takes every variable that several places set for anything.
    pub(super) fn forget_changing(&mut self) {
        for name in self.changing.clone() {
            self.put(&name, None);
        }
    }

    /// Takes these variables for any number, besides what they are.
    pub(super) fn widen_to_number<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let number = KnownValue::of(Shape::of(TextKind::Number), LineCount::One);
        for name in names {
            let is_number = |value: &KnownValue| match value {
                KnownValue::Text { text, .. } => text.parse::<i64>().is_ok(),
                value => *value == number,
            };
            let values = self.variables.get(name).filter(|values| values.iter().all(is_number));
            let widened = values.map(|_| vec![number.clone()]);
            self.put(name, widened);
        }
    }

    /// Takes these variables for anything.
    pub(super) fn forget<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        for name in names {
            self.put(name, None);
        }
    }

    /// Keeps the values of a variable; `None` if it may be anything.
    pub(super) fn set(&mut self, name: &str, values: Option<Vec<KnownValue>>) {
        let is_followed = self.settled.contains(name);
        self.put(name, values.filter(|_| is_followed));
    }

    fn put(&mut self, name: &str, values: Option<Vec<KnownValue>>) {
        let values = values.filter(|values| is_small(values));
        // What was chosen of the values from before says nothing of these.
        self.chosen.remove(name);
        let before = match values {
            Some(values) => self.variables.insert(name.to_owned(), values),
            None => match self.variables.remove(name) {
                None => return,
                before => before,
            },
        };
        self.log.push((name.to_owned(), before));
    }

    /// Notes that a variable is a map. That is kept like the value of a variable of its own, so that branches and subshells
    /// treat it alike.
    pub(super) fn note_map(&mut self, name: &str) {
        self.put(&format!("{name}["), Some(vec![KnownValue::text("")]));
    }

    /// Says whether a variable is a map at this place, whatever branch was taken.
    pub(super) fn is_map(&self, name: &str) -> bool {
        self.variables.contains_key(&format!("{name}["))
    }

    /// Puts other arguments of the shell or function in place, and returns those that were.
    pub(super) fn replace_parameters(
        &mut self,
        parameters: BTreeMap<String, KnownValue>,
    ) -> BTreeMap<String, KnownValue> {
        std::mem::replace(&mut self.parameters, parameters)
    }

    /// Says whether anything is known of `$1` and the rest.
    pub(super) fn has_parameters(&self) -> bool {
        !self.parameters.is_empty()
    }

    /// Says whether nothing is known of any variable.
    pub(super) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Returns the value of a variable, the chosen one if it has several.
    pub(super) fn get(&self, name: &str) -> Option<&KnownValue> {
        if name == "@" || name.starts_with(|letter: char| letter.is_ascii_digit()) {
            return self.parameters.get(name);
        }
        match self.variables.get(name)?.as_slice() {
            [only] => Some(only),
            several => several.get(*self.chosen.get(name)?),
        }
    }

    /// Returns the variables with several values that a text uses.
    pub(super) fn several_in(&self, text: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (at, _) in text.match_indices('$') {
            let rest = text.get(at + 1..).unwrap_or_default();
            let rest = rest.strip_prefix('{').unwrap_or(rest).trim_start_matches(['#', '!']);
            let end = rest.find(|letter| !super::settled::is_name(letter)).unwrap_or(rest.len());
            let name = rest.get(..end).unwrap_or_default();
            let has_several = self.variables.get(name).is_some_and(|values| values.len() > 1);
            if has_several && !self.chosen.contains_key(name) && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Returns every way to choose values for these variables; `None` if there are too many.
    pub(super) fn choices(&mut self, names: &[String]) -> Option<Vec<Vec<usize>>> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        for name in names {
            let count = self.variables.get(name).map_or(1, Vec::len);
            if all.len().saturating_mul(count) > MOST_VALUES {
                return None;
            }
            let with = |choice: &Vec<usize>, value: usize| choice.iter().copied().chain([value]).collect();
            all = all.iter().flat_map(|choice| (0..count).map(move |value| with(choice, value))).collect();
        }
        self.readings += all.len();
        (self.readings <= MOST_READINGS).then_some(all)
    }

    /// Chooses values, until [`Self::unchoose`].
    pub(super) fn choose(&mut self, names: &[String], choice: &[usize]) {
        self.chosen.extend(names.iter().cloned().zip(choice.iter().copied()));
    }

    /// Puts another choice in place, and returns the one that was.
    pub(super) fn replace_choice(&mut self, chosen: BTreeMap<String, usize>) -> BTreeMap<String, usize> {
        std::mem::replace(&mut self.chosen, chosen)
    }

    pub(super) fn unchoose(&mut self, names: &[String]) {
        for name in names {
            self.chosen.remove(name);
        }
    }

    /// Notes what a substitution writes.
    pub(super) fn note_output(&mut self, body: &List, output: StandardInput) {
        let place = std::ptr::from_ref(body).addr();
        let trimmed = |text: String| text.trim_end_matches('\n').to_owned();
        let value = match output {
            StandardInput::Text(text) => vec![KnownValue::Text { text: trimmed(text), is_decoded: false }],
            StandardInput::Decoded(text) => vec![KnownValue::Text { text: trimmed(text), is_decoded: true }],
            StandardInput::Lines { shapes, count } => {
                shapes.into_iter().map(|shape| KnownValue::of(shape, count)).collect()
            }
            StandardInput::Columns(columns) => vec![KnownValue::Columns(columns)],
            StandardInput::Nothing | StandardInput::Partly(_) | StandardInput::Unknown => {
                // Another text may have stood in the same place.
                self.outputs.remove(&place);
                return;
            }
        };
        self.outputs.insert(place, value);
    }

    /// Returns what a substitution writes.
    pub(super) fn output(&self, body: &List) -> Option<&Vec<KnownValue>> {
        self.outputs.get(&std::ptr::from_ref(body).addr())
    }

    /// Returns the lines that a process substitution gives.
    pub(super) fn lines_of(&self, body: &List) -> StandardInput {
        self.output(body).map_or(StandardInput::Unknown, |values| as_lines(values, false))
    }

    /// Says whether a word holds something an encoding hid.
    pub(super) fn is_decoded(&self, word: &Argument) -> bool {
        self.decoded.contains(&word.span)
    }
}

/// Returns values as any number of lines that a command reads; one without anything may be among them.
pub(super) fn as_lines(values: &[KnownValue], may_be_blank: bool) -> StandardInput {
    if let [KnownValue::Columns(columns)] = values {
        let may_be_blank = may_be_blank || columns.may_be_blank;
        return StandardInput::Columns(LineColumns {
            count: LineCount::Many,
            may_be_blank,
            ..columns.clone()
        });
    }
    let shape_of = |value: &KnownValue| match value {
        KnownValue::Shaped { shape, .. } => Some(shape.clone()),
        KnownValue::Text { .. } | KnownValue::Elements(_) | KnownValue::Columns(_) => None,
    };
    let blank = may_be_blank.then(|| Some(Shape::text("")));
    let shapes: Option<Vec<Shape>> = values.iter().map(shape_of).chain(blank).collect();
    shapes.map_or(StandardInput::Unknown, |shapes| StandardInput::Lines { shapes, count: LineCount::Many })
}

/// Says whether values are few and short enough to be followed.
fn is_small(values: &[KnownValue]) -> bool {
    let length: usize = values.iter().map(KnownValue::len).sum();
    !values.is_empty()
        && values.len() <= MOST_VALUES
        && length <= if values.len() == 1 { LONGEST_VALUE } else { LONGEST_VALUES }
}

/// Returns all values of both; `None` is anything.
fn either(first: Option<Vec<KnownValue>>, second: Option<Vec<KnownValue>>) -> Option<Vec<KnownValue>> {
    let (mut all, more) = (first?, second?);
    for value in more {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    Some(all)
}
