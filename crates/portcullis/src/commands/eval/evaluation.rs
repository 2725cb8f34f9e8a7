//! What came out of a run: tallies, and as many actions as the report needs.

use std::collections::BTreeMap;

use portcullis_core::Decision;

use super::action::{Action, Label};
use super::arguments::Limit;
use super::containment::ContainmentFigures;
use super::figures::Figures;
use super::tally::{Groups, Tally, add_to_group};

/// The most problems that are told one by one.
const MOST_PROBLEMS: usize = 100;

/// Which actions are kept after they were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// All of them.
    Everything,
    /// Those that were missed, up to a number of each kind.
    Misses(Limit),
}

/// How an answer differs from the label, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Miss {
    BlockAllowed,
    BlockContained,
    AllowDenied,
    BlockAsked,
    AllowAsked,
}

impl Miss {
    /// All kinds, the worst first.
    pub(super) const ALL: [Self; 5] =
        [Self::BlockAllowed, Self::BlockContained, Self::AllowDenied, Self::BlockAsked, Self::AllowAsked];

    /// Says how an action was missed, if it was.
    pub(super) fn of(action: &Action) -> Option<Self> {
        match (action.labels.label, action.decision) {
            (Label::Block, Decision::Allow) => Some(Self::BlockAllowed),
            (Label::Block, Decision::Contained) => Some(Self::BlockContained),
            (Label::Block, Decision::Ask) => Some(Self::BlockAsked),
            (Label::Allow, Decision::Deny) => Some(Self::AllowDenied),
            (Label::Allow, Decision::Ask) => Some(Self::AllowAsked),
            (Label::Block, Decision::Deny)
            | (Label::Allow, Decision::Allow | Decision::Contained)
            | (Label::Ask | Label::Unknown, _) => None,
        }
    }

    /// Returns the heading of the list.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::BlockAllowed => "labelled block, but allowed",
            Self::BlockContained => "labelled block, but contained",
            Self::AllowDenied => "labelled allow, but denied",
            Self::BlockAsked => "labelled block, but only asked about",
            Self::AllowAsked => "labelled allow, but asked about",
        }
    }
}

/// What came out of a run.
#[derive(Debug)]
pub(super) struct Evaluation {
    /// The files as they were named, and the decisions about their actions.
    pub(super) files: Vec<(String, BTreeMap<Label, Tally>)>,
    pub(super) total: Tally,
    pub(super) by_label: BTreeMap<Label, Tally>,
    /// Of the labels that say what kind of danger there is.
    pub(super) by_category: Groups,
    pub(super) by_source: Groups,
    pub(super) by_tier: Groups,
    /// How many there are of each kind of miss.
    pub(super) misses: BTreeMap<Miss, usize>,
    /// The actions that were kept, in the order they were read.
    pub(super) actions: Vec<Action>,
    /// How many actions the filter left out.
    pub(super) left_out: usize,
    /// How many lines were not understood.
    pub(super) skipped: usize,
    /// What is wrong with the first of them.
    pub(super) problems: Vec<String>,
    /// How fences moved the answers, if calls were offered one.
    pub(super) containment: ContainmentFigures,
    /// How the model did, if it was asked.
    pub(super) model: Option<Figures>,
    keep: Keep,
}

impl Evaluation {
    /// Starts with nothing.
    pub(super) fn new(files: &[String], keep: Keep) -> Self {
        Self {
            files: files.iter().map(|name| (name.clone(), BTreeMap::new())).collect(),
            total: Tally::default(),
            by_label: BTreeMap::new(),
            by_category: Groups::new(),
            by_source: Groups::new(),
            by_tier: Groups::new(),
            misses: BTreeMap::new(),
            actions: Vec::new(),
            left_out: 0,
            skipped: 0,
            problems: Vec::new(),
            containment: ContainmentFigures::default(),
            model: None,
            keep,
        }
    }

    /// Counts an action, and keeps it if the report needs it.
    pub(super) fn add(&mut self, action: Action) {
        let labels = &action.labels;
        self.total.add(&action);
        self.containment.add(&action);
        self.by_label.entry(labels.label).or_default().add(&action);
        if let Some((_, by_label)) = self.files.get_mut(action.file) {
            by_label.entry(labels.label).or_default().add(&action);
        }
        if matches!(labels.label, Label::Block | Label::Ask) {
            add_to_group(&mut self.by_category, labels.category.as_deref(), &action);
        }
        add_to_group(&mut self.by_source, labels.source.as_deref(), &action);
        add_to_group(&mut self.by_tier, labels.tier.as_deref(), &action);
        if self.is_kept(&action) {
            self.actions.push(action);
        }
    }

    fn is_kept(&mut self, action: &Action) -> bool {
        let before = Miss::of(action).map(|miss| {
            let count = self.misses.entry(miss).or_default();
            *count += 1;
            *count - 1
        });
        match self.keep {
            Keep::Everything => true,
            Keep::Misses(limit) => before.is_some_and(|before| before < limit.most()),
        }
    }

    /// Notes a line that was not understood.
    pub(super) fn skip(&mut self, file: usize, line: usize, message: &str) {
        self.skipped += 1;
        if self.problems.len() < MOST_PROBLEMS {
            let name = self.files.get(file).map_or("", |(name, _)| name.as_str());
            self.problems.push(format!("{name}:{line}: {message}"));
        }
    }
}
