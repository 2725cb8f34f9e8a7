//! Why a call matters or is fine: the worst finding, the allowances that cover it, or what nobody vouches for.

use std::collections::BTreeSet;

use portcullis_analysis::Case as Assessed;
use portcullis_analysis::allowances::{ALLOWANCES, covering};
use portcullis_analysis::effect::Effect;
use portcullis_shell::Span;

use super::narration;
use crate::case::{CaseView, background_of, scope_of};
use crate::verdict::{FindingReport, Reason};
use crate::wording::{capital, prose};

/// What the reasoning rests on.
pub(super) struct ReasoningGround<'a> {
    pub(super) view: &'a CaseView<'a>,
    pub(super) reports: &'a [FindingReport],
    pub(super) open: &'a [&'a Effect],
    /// The reason to allow, if every effect is known and harmless.
    pub(super) proof: Option<Reason>,
}

impl ReasoningGround<'_> {
    /// Says why the call matters or is fine.
    pub(super) fn text(&self) -> String {
        let is_requested = self.reports.iter().any(|report| report.is_requested);
        let judged = match (worst(self.reports), &self.proof) {
            (Some(worst), _) => self.found(worst),
            (None, Some(Reason::Harmless { allowances })) => harmless(allowances),
            (None, _) if is_requested => "Whether that is meant, a judge or a person must say.".to_owned(),
            (None, _) => self.unvouched(),
        };
        let consent = self.reports.iter().find(|report| report.is_requested).map(consented);
        let parts: Vec<String> = consent.into_iter().chain([judged]).chain(self.rule()).collect();
        parts.join(" ")
    }

    fn found(&self, worst: &FindingReport) -> String {
        let sentence = capital(&prose(&worst.sentence, &worst.subject));
        let codes: BTreeSet<&str> = standing(self.reports).map(|report| report.code).collect();
        let more = match codes.len().saturating_sub(1) {
            0 => String::new(),
            1 => ", and one more kind of harm is found".to_owned(),
            more => format!(", and {more} more kinds of harm are found"),
        };
        let cure = match worst.must_name {
            Some(must_name) => format!("It is fine if the user asked for it and named {must_name}."),
            None => "Nothing makes it fine.".to_owned(),
        };
        format!("{sentence} ({}, {}){more}. {cure}", worst.code, worst.severity.as_str())
    }

    fn unvouched(&self) -> String {
        let open = narration::in_brief(self.view.case, self.open);
        if open.is_empty() {
            return "It matches no finding, but where its paths lead or what its scripts do is not known."
                .to_owned();
        }
        format!("It matches no finding, but this is not known to be harmless: {open}.")
    }

    /// Names the rule or safety check that decides, if one does.
    fn rule(&self) -> Option<String> {
        let verdict = self.view.case.decide(self.view.policy).ok()?.into_verdict();
        match &verdict.reason {
            Reason::Rule { matched, .. } => Some(sentence(&verdict.reason, matched)),
            Reason::Safety { subject, .. } => Some(sentence(&verdict.reason, subject)),
            Reason::Covered { .. } => Some(sentence(&verdict.reason, "")),
            _ => None,
        }
    }
}

fn sentence(reason: &Reason, subject: &str) -> String {
    format!("{}.", capital(&prose(&reason.message(), subject)))
}

/// Returns the findings that nobody asked for.
fn standing(reports: &[FindingReport]) -> impl Iterator<Item = &FindingReport> {
    reports.iter().filter(|report| !report.is_requested)
}

/// Returns the worst finding that nobody asked for, the first of several that are equally bad.
pub(super) fn worst(reports: &[FindingReport]) -> Option<&FindingReport> {
    let severity = standing(reports).map(|report| report.severity).max()?;
    standing(reports).find(|report| report.severity == severity)
}

fn harmless(allowances: &[&str]) -> String {
    let titles: Vec<&str> = ALLOWANCES
        .iter()
        .filter(|allowance| allowances.contains(&allowance.name))
        .map(|allowance| allowance.title)
        .collect();
    if titles.is_empty() {
        return "It does nothing that needs a permission.".to_owned();
    }
    format!("Every effect is known and harmless: {}.", titles.join("; "))
}

fn consented(report: &FindingReport) -> String {
    let sentence = prose(&report.sentence, &report.subject);
    format!("The user seems to have asked for what is found: {sentence} ({}).", report.code)
}

/// Finds the effects that no allowance covers, to name them.
///
/// Whether there are any is for the judgement to say: where links lead is not followed here.
pub(super) fn open_effects<'a>(view: &CaseView<'a>, reports: &[FindingReport]) -> Vec<&'a Effect> {
    let case = view.case;
    let (scope, background) = (scope_of(view), background_of(view));
    let assessed = Assessed {
        tool: case.call().tool(),
        effects: case.effects(),
        survey: case.survey(),
        scope: &scope,
        background: &background,
    };
    let consented: BTreeSet<(usize, usize)> =
        reports.iter().filter(|report| report.is_requested).map(|report| ends(report.span)).collect();
    let is_open =
        |effect: &&Effect| covering(assessed, effect).is_none() && !consented.contains(&ends(effect.span));
    case.effects().iter().filter(is_open).collect()
}

fn ends(span: Span) -> (usize, usize) {
    let range = span.range();
    (range.start, range.end)
}
