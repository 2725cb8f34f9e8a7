//! Rules about paths, and commands that take a whole directory.

use portcullis_analysis::effect::Certainty;

use super::restraint::RuleMatch;
use crate::case::{CaseView, EffectSource};
use crate::guarded_file::{GuardedFile, guarded_files};
use crate::rule::Behavior;

/// Finds a rule that guards a file below a directory which the call takes as a whole, if the file is there.
pub(super) fn find_in_tree<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    source: &EffectSource<'_>,
) -> Option<RuleMatch<'a>> {
    let text = (source.survey, source.effects.as_slice());
    let mut guarded = guarded_files(view.policy, view.case.context(), behavior, text).into_iter();
    let answers = &view.case.answers;
    let is_there = |guarded: &GuardedFile<'_>| {
        let is_readable = answers.text(&guarded.file).is_some();
        is_readable || guarded.is_below_directory && answers.is_present(&guarded.file)
    };
    let found = guarded.find(is_there)?;
    let (rule, matched) = (found.rule, found.directory);
    Some(RuleMatch { rule, matched, certainty: Certainty::Certain, spans: vec![found.span] })
}
