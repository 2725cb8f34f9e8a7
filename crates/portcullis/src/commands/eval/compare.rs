//! What changed since an earlier run.
//!
//! Actions are the same if their ids are; of several with one id, the first is compared with the first, and so on.
//! The labels of this run count.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Read;

use portcullis_core::{Decision, Value};
use portcullis_hosts::json::parse;

use super::action::{Action, Label, Labels};
use super::filter::Filter;
use super::json::VERSION;
use crate::commands::check::{Fields, take_text};
use portcullis_gate::Failure;

/// The largest earlier run that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// The decisions of an earlier run, by id.
#[derive(Debug)]
pub(super) struct Old {
    decisions: BTreeMap<String, VecDeque<Decision>>,
}

impl Old {
    /// Reads what `--out` or `--json` wrote; what the filter does not take is left out.
    pub(super) fn read(file: &str, only: &Filter) -> Result<Self, Failure> {
        let wrong = |message: String| Failure::usage(format!("--compare `{file}`: {message}"));
        let mut bytes = Vec::new();
        let read = File::open(file).and_then(|handle| handle.take(LARGEST + 1).read_to_end(&mut bytes));
        let length = read.map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        if u64::try_from(length).unwrap_or(u64::MAX) > LARGEST {
            return Err(wrong(format!("it is larger than {} MiB", LARGEST >> 20)));
        }
        Self::parse(&bytes, only)
            .map_err(|message| wrong(message).with_hint("write it with portcullis eval --out FILE"))
    }

    fn parse(bytes: &[u8], only: &Filter) -> Result<Self, String> {
        let Value::Object(mut fields) = parse(bytes).map_err(|error| error.to_string())? else {
            return Err("it is not an object".to_owned());
        };
        match fields.remove("version") {
            Some(Value::Number(version)) if version == VERSION.to_string() => {}
            _ => return Err(format!("field `version` is not {VERSION}")),
        }
        let Some(Value::List(entries)) = fields.remove("decisions") else {
            return Err("field `decisions` is not a list".to_owned());
        };
        let mut decisions: BTreeMap<String, VecDeque<Decision>> = BTreeMap::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let entry = parse_entry(entry).map_err(|message| format!("decision {}: {message}", index + 1))?;
            if only.takes(&entry.labels) {
                decisions.entry(entry.id).or_default().push_back(entry.decision);
            }
        }
        Ok(Self { decisions })
    }
}

struct Entry {
    id: String,
    labels: Labels,
    decision: Decision,
}

fn parse_entry(entry: Value) -> Result<Entry, String> {
    let Value::Object(mut fields) = entry else { return Err("it is not an object".to_owned()) };
    let id = required(&mut fields, "id")?;
    let label = required(&mut fields, "label")?;
    let label = Label::find(&label).ok_or("field `label` is not a label")?;
    let decision = required(&mut fields, "decision")?;
    let decision = [Decision::Allow, Decision::Contained, Decision::Ask, Decision::Deny]
        .into_iter()
        .find(|candidate| candidate.as_str() == decision)
        .ok_or("field `decision` is not a decision")?;
    let labels = Labels {
        label,
        category: take_text(&mut fields, "category")?,
        source: take_text(&mut fields, "source")?,
        tier: take_text(&mut fields, "tier")?,
    };
    Ok(Entry { id, labels, decision })
}

fn required(fields: &mut Fields, name: &str) -> Result<String, String> {
    take_text(fields, name)?.ok_or_else(|| format!("field `{name}` is missing"))
}

/// What a change means by the action's label, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// What is to be blocked is newly allowed, or what is to be allowed newly denied.
    Regression,
    /// It is further from the label.
    Worse,
    /// It is nearer to the label.
    Better,
    /// The label does not say.
    Other,
}

impl Kind {
    /// All kinds, the worst first.
    pub(super) const ALL: [Self; 4] = [Self::Regression, Self::Worse, Self::Better, Self::Other];

    /// Returns the word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Other => "other",
        }
    }

    fn of(label: Label, before: Decision, after: Decision) -> Self {
        match (label, after) {
            (Label::Block, Decision::Allow) | (Label::Allow, Decision::Deny) => Self::Regression,
            (Label::Unknown, _) => Self::Other,
            _ if fit(label, after) > fit(label, before) => Self::Better,
            _ => Self::Worse,
        }
    }
}

/// Returns how well a decision fits a label.
const fn fit(label: Label, decision: Decision) -> u8 {
    match (label, decision) {
        (Label::Block, Decision::Deny) | (Label::Ask, Decision::Ask) | (Label::Allow, Decision::Allow) => 3,
        (Label::Block, Decision::Ask) | (Label::Allow | Label::Ask, Decision::Contained) => 2,
        (Label::Block, Decision::Contained)
        | (Label::Allow, Decision::Ask)
        | (Label::Ask, Decision::Deny) => 1,
        (Label::Block | Label::Ask, Decision::Allow) | (Label::Allow, Decision::Deny) => 0,
        (Label::Unknown, _) => 0,
    }
}

/// One action that is decided otherwise than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    /// Which of the actions of this run.
    pub(super) action: usize,
    pub(super) before: Decision,
    pub(super) kind: Kind,
}

/// What changed.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// In the order of the actions.
    pub(super) changes: Vec<Change>,
    /// How many are decided as before.
    pub(super) same: usize,
    /// How many were not there before.
    pub(super) added: usize,
    /// How many are not there any more.
    pub(super) removed: usize,
}

impl Comparison {
    /// Compares the actions of this run with an earlier one.
    pub(super) fn new(mut old: Old, actions: &[Action]) -> Self {
        let mut comparison = Self::default();
        for (index, action) in actions.iter().enumerate() {
            match old.decisions.get_mut(&action.id).and_then(VecDeque::pop_front) {
                None => comparison.added += 1,
                Some(before) if before == action.decision => comparison.same += 1,
                Some(before) => {
                    let kind = Kind::of(action.labels.label, before, action.decision);
                    comparison.changes.push(Change { action: index, before, kind });
                }
            }
        }
        comparison.removed = old.decisions.values().map(VecDeque::len).sum();
        comparison
    }

    /// Returns the changes of a kind.
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// Says whether something got worse that must not.
    pub(super) fn has_regressions(&self) -> bool {
        self.of_kind(Kind::Regression).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_says_what_is_better() {
        use Decision::{Allow, Ask, Deny};
        let table = [
            (Label::Block, Deny, Allow, Kind::Regression),
            (Label::Block, Ask, Allow, Kind::Regression),
            (Label::Block, Deny, Ask, Kind::Worse),
            (Label::Block, Allow, Ask, Kind::Better),
            (Label::Block, Ask, Deny, Kind::Better),
            (Label::Allow, Allow, Deny, Kind::Regression),
            (Label::Allow, Ask, Deny, Kind::Regression),
            (Label::Allow, Allow, Ask, Kind::Worse),
            (Label::Allow, Deny, Ask, Kind::Better),
            (Label::Ask, Deny, Allow, Kind::Worse),
            (Label::Ask, Allow, Ask, Kind::Better),
            (Label::Unknown, Allow, Deny, Kind::Other),
        ];
        for (label, before, after, expected) in table {
            assert_eq!(Kind::of(label, before, after), expected, "{label:?} {before} {after}");
        }
    }

    #[test]
    fn what_is_not_an_earlier_run_is_refused() {
        let table = [
            ("[]", "it is not an object"),
            ("{}", "field `version` is not 1"),
            (r#"{"version":1,"decisions":{}}"#, "field `decisions` is not a list"),
            (r#"{"version":1,"decisions":[{"id":"a"}]}"#, "decision 1: field `label` is missing"),
            (
                r#"{"version":1,"decisions":[{"id":"a","label":"ask","decision":"maybe"}]}"#,
                "decision 1: field `decision` is not a decision",
            ),
        ];
        for (text, expected) in table {
            let message = Old::parse(text.as_bytes(), &Filter::default()).map(|_| ()).unwrap_err();
            assert_eq!(message, expected, "{text}");
        }
    }
}
