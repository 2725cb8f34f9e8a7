//! The surest restraint of a call, whatever kind of rule it comes from.

use portcullis_analysis::Access;
use portcullis_analysis::command_effects::is_looking;
use portcullis_analysis::effect::Certainty;
use portcullis_shell::Span;

use super::field::{find_domain, find_name, find_parameter};
use super::path::find_path;
use super::shell::{find_hidden, find_power_shell, find_shell};
use crate::case::{CallSubject, CaseView, Shell};
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
            for (place, (paths, invocation)) in shell.paths.iter().zip(&shell.survey.invocations).enumerate()
            {
                for path_use in paths.certain() {
                    consider(find_path(view, behavior, path_use));
                }
                let only_looks =
                    is_looking(&view.case.context().profiles, invocation, shell.effects_of(place));
                let accesses: &[Access] =
                    if only_looks { &[Access::Read] } else { &[Access::Read, Access::Write] };
                for path_use in mentions(view, shell, place) {
                    for &access in accesses {
                        let found = find_path(view, behavior, &PathUse { access, ..path_use.clone() });
                        consider(found.map(|found| RuleMatch { certainty: Certainty::Possible, ..found }));
                    }
                }
            }
        }
        CallSubject::PowerShell(command) => consider(find_power_shell(view, behavior, command)),
        CallSubject::Files(files) => {
            for path_use in files {
                consider(find_path(view, behavior, path_use));
            }
        }
        CallSubject::Fetch { host } => consider(find_domain(view, behavior, host.as_deref())),
        CallSubject::Other | CallSubject::Malformed(_) => {}
    }
    consider(find_name(view, behavior));
    best
}

/// Returns the words of one invocation that could be files, if any rule wants to know.
fn mentions<'v>(view: &CaseView<'_>, shell: &'v Shell, place: usize) -> impl Iterator<Item = &'v PathUse> {
    let wanted = Some(shell).filter(|_| view.policy.rules.has_path_restraint());
    let mentioned = wanted.and_then(|shell| shell.mentions().get(place));
    mentioned.into_iter().flatten().filter(|path_use| path_use.path.is_some())
}
