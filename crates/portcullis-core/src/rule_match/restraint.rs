//! The surest restraint of a call, whatever kind of rule it comes from.

use portcullis_analysis::Access;
use portcullis_analysis::command_effects::is_looking;
use portcullis_analysis::effect::{Act, Certainty};
use portcullis_shell::Span;

use super::field::{find_domain, find_name, find_parameter};
use super::path::{find_path, find_path_in};
use super::power_shell::find_power_shell;
use super::shell::{find_hidden, find_shell};
use crate::case::{CallSubject, CaseView, EffectSource, Shell, follow_links};
use crate::guarded_file::{GuardedFile, guarded_files};
use crate::path_use::PathUse;
use crate::rule::{Behavior, Rule};
use crate::verdict::{Reason, RuleReference};

/// A rule that a call meets.
#[derive(Debug, Clone)]
pub(crate) struct RuleMatch<'a> {
    pub(crate) rule: &'a Rule,
    /// The part of the call that it matched, as it is written.
    pub(crate) matched: String,
    pub(crate) certainty: Certainty,
    pub(crate) spans: Vec<Span>,
}

impl RuleMatch<'_> {
    /// Returns the match as the reason of a verdict.
    pub(crate) fn reason(&self) -> Reason {
        Reason::Rule {
            rule: RuleReference::from(self.rule),
            matched: self.matched.clone(),
            certainty: self.certainty,
        }
    }
}

/// Finds the surest content or parameter rule of a restraining behavior.
pub(crate) fn find_restraint<'a>(view: &CaseView<'a>, behavior: Behavior) -> Option<RuleMatch<'a>> {
    let mut best: Option<RuleMatch<'a>> = None;
    let mut consider = |found: Option<RuleMatch<'a>>| {
        if let Some(found) = found {
            let is_better = match &best {
                None => true,
                Some(best) => best.certainty == Certainty::Possible && found.certainty == Certainty::Certain,
            };
            if is_better {
                best = Some(found);
            }
        }
    };
    consider(find_parameter(view, behavior));
    match &view.case.subject {
        CallSubject::Shell(shell) => {
            for invocation in &shell.survey.invocations {
                consider(find_shell(view, behavior, invocation));
            }
            consider(find_hidden(view, behavior, shell));
            consider(find_possible(view, behavior, shell));
        }
        CallSubject::PowerShell(command) => consider(find_power_shell(view, behavior, command)),
        CallSubject::Fetch { host } => consider(find_domain(view, behavior, host.as_deref())),
        CallSubject::Files | CallSubject::Other | CallSubject::Malformed(_) => {}
    }
    for source in view.sources() {
        consider(find_path_in(view, behavior, source));
        consider(find_in_tree(view, behavior, source));
    }
    consider(find_name(view, behavior));
    best
}

/// Finds a path rule that meets a file which a command may touch although nothing says so.
fn find_possible<'a>(view: &CaseView<'a>, behavior: Behavior, shell: &Shell) -> Option<RuleMatch<'a>> {
    if !view.policy.rules.has_path_restraint() {
        return None;
    }
    shell.possible_files().iter().enumerate().find_map(|(place, files)| {
        let invocation = shell.survey.invocations.get(place)?;
        let only_looks = is_looking(&view.case.context().profiles, invocation, shell.effects_of(place));
        files.iter().find_map(|file| {
            let accesses: &[Access] =
                if only_looks || file.is_run { &[Access::Read] } else { &[Access::Read, Access::Write] };
            let mut target = file.target.clone();
            follow_links(&mut target, &view.case.answers);
            let path_use = |&access: &Access| PathUse {
                act: Act::Unknown,
                access,
                target: &target,
                span: file.span,
                certainty: Certainty::Possible,
            };
            let is_known = !target.paths.is_empty();
            accesses
                .iter()
                .filter(|_| is_known)
                .find_map(|access| find_path(view, behavior, &path_use(access)))
        })
    })
}

/// Finds a rule that guards a file below a directory which the call takes as a whole, if the file is there.
fn find_in_tree<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    source: &EffectSource<'_>,
) -> Option<RuleMatch<'a>> {
    let text = (source.survey, source.effects.as_slice());
    let guarded = guarded_files(view.policy, view.case.context(), behavior, text).into_iter();
    let answers = &view.case.answers;
    let is_there = |guarded: &GuardedFile<'_>| {
        let is_readable = answers.text(&guarded.file).is_some();
        is_readable || guarded.is_below_directory && answers.is_present(&guarded.file)
    };
    let mut there: Vec<_> = guarded.filter(|guarded| is_there(guarded)).collect();
    there.sort_by_key(|guarded| !guarded.is_followed);
    let found = there.into_iter().next()?;
    let certainty = if found.is_followed { Certainty::Certain } else { Certainty::Possible };
    Some(RuleMatch { rule: found.rule, matched: found.directory, certainty, spans: vec![found.span] })
}
