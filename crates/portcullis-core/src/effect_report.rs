//! What a call would do, as a list for people and for the record: each thing once, with where the command says so.

use portcullis_analysis::effect::{Certainty, Effect};
use portcullis_shell::Span;

use crate::wording::{effect_clause, name_of};

/// How many things are listed: more than a person reads, and what keeps a record of a hostile command line short.
const MOST_EFFECTS: usize = 60;

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectReport {
    /// The act, in a word: `read`, `write`, `git-push`.
    pub act: &'static str,
    /// What it is done to, as it is written; empty if nothing is named.
    pub target: String,
    /// Whether it happens if the call runs, and not only if something is as it may be.
    pub is_certain: bool,
    /// The words of the shell command that do it, in the order of its commands; empty for other tools.
    pub spans: Vec<Span>,
}

impl EffectReport {
    /// Returns what is done as a clause; words of the call stand between backquotes.
    pub fn clause(&self) -> String {
        effect_clause(self.act, &self.target, self.is_certain)
    }
}

/// The things a call would do, and where each effect of the analysis went.
#[derive(Debug, Clone, Default)]
pub(crate) struct EffectList {
    pub(crate) reports: Vec<EffectReport>,
    /// For each effect the place of its report; `None` if it is one too many to be listed.
    places: Vec<Option<usize>>,
}

impl EffectList {
    /// Merges effects that read the same to a person.
    pub(crate) fn of(effects: &[Effect]) -> Self {
        let mut list = Self::default();
        for effect in effects {
            let place = list.add(effect);
            list.places.push(place);
        }
        list
    }

    /// Returns the place of the report that tells of an effect.
    pub(crate) fn place_of(&self, effect: usize) -> Option<usize> {
        self.places.get(effect).copied().flatten()
    }

    fn add(&mut self, effect: &Effect) -> Option<usize> {
        let (act, is_certain) = (effect.act.name(), effect.certainty == Certainty::Certain);
        let target = name_of(&effect.target);
        let is_same = |known: &EffectReport| {
            known.act == act && known.is_certain == is_certain && known.target == target
        };
        let place = self.reports.iter().position(is_same);
        if place.is_none() && self.reports.len() >= MOST_EFFECTS {
            return None;
        }
        let place = place.unwrap_or_else(|| {
            let target = target.to_owned();
            self.reports.push(EffectReport { act, target, is_certain, spans: Vec::new() });
            self.reports.len() - 1
        });
        let spans = &mut self.reports.get_mut(place)?.spans;
        if effect.span != Span::default() && !spans.contains(&effect.span) {
            spans.push(effect.span);
        }
        Some(place)
    }
}
