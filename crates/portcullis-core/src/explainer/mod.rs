//! The offline explainer (spec F): what a call does, why that matters and what could go wrong, in plain sentences.
//!
//! Everything is told from the effects and findings of the static analysis; no model is asked. The text is bounded,
//! and words of the call stand between backquotes with hidden characters spelled out.

mod narration;
mod reasoning;
mod risk;

use portcullis_analysis::effect::Effect;

use crate::case::{CallSubject, Case, CaseView};
use crate::policy::Policy;
use crate::tool::{ToolKind, find_tool};
use crate::wording::{LONGEST_QUOTE, cut, prose, quote};

/// The longest text of each part, in characters; together they stay under a thousand.
const LONGEST_EXPLANATION: usize = 480;
const LONGEST_REASONING: usize = 350;
const LONGEST_RISK: usize = 160;

/// A call explained to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallExplanation {
    /// What it does, one to three sentences.
    pub explanation: String,
    /// Why that matters, or why it is fine.
    pub reasoning: String,
    /// What could go wrong, one clause.
    pub risk: String,
    /// How bad that would be.
    pub risk_level: RiskLevel,
}

/// How much there is to lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RiskLevel {
    /// Everything is known, and nothing leaves the project.
    Low,
    /// Something is found, leaves the project, or is not known.
    Medium,
    /// Something is found that is hard or impossible to put right.
    High,
}

impl RiskLevel {
    /// Returns the word that is shown and recorded.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }
}

/// Says what a call does that nobody vouches for, as a clause: `doubts` are its own effects, `inside` those of scripts that
/// it runs. Empty if there are none.
pub(crate) fn explain_doubt(case: &Case, doubts: &[&Effect], inside: &[Effect]) -> String {
    let own = narration::in_brief(case, doubts);
    match inside.first() {
        Some(effect) if own.is_empty() => narration::of_script(effect),
        _ => own,
    }
}

impl Case {
    /// Explains the call to a person, as a policy decides it.
    pub fn explain(&self, policy: &Policy) -> CallExplanation {
        if let CallSubject::Malformed(why) = &self.subject {
            return unreadable(self, why);
        }
        if find_tool(self.call().tool()).is_some_and(|tool| tool.kind == ToolKind::Internal) {
            return bookkeeping(self);
        }
        let view = CaseView::new(self, policy);
        let judgement = view.judgement();
        let reports = judgement.reports();
        let is_proven = judgement.proof().is_some();
        let open: Vec<&Effect> =
            if is_proven { Vec::new() } else { reasoning::open_effects(&view, &reports) };
        let risk = risk::of(self.effects(), &reports, &open);
        let reasoning = reasoning::ReasoningGround {
            view: &view,
            reports: &reports,
            open: &open,
            proof: judgement.proof(),
        };
        CallExplanation {
            explanation: cut(narration::of(self), LONGEST_EXPLANATION),
            reasoning: cut(reasoning.text(), LONGEST_REASONING),
            risk: cut(risk, LONGEST_RISK),
            risk_level: risk::level(self.effects(), &reports, is_proven),
        }
    }
}

/// Explains a call of a tool that only keeps the books of the agent or talks to the person.
fn bookkeeping(case: &Case) -> CallExplanation {
    let tool = quote(case.call().tool(), LONGEST_QUOTE);
    CallExplanation {
        explanation: format!("The tool {tool} works inside the agent or talks to the person."),
        reasoning: "It touches nothing outside the session.".to_owned(),
        risk: "nothing changes".to_owned(),
        risk_level: RiskLevel::Low,
    }
}

/// Explains a call whose input lacks what the tool needs.
fn unreadable(case: &Case, why: &str) -> CallExplanation {
    let tool = quote(case.call().tool(), LONGEST_QUOTE);
    CallExplanation {
        explanation: format!("The call of {tool} cannot be read: {}.", prose(why, "")),
        reasoning: "Portcullis does not understand this call, so it cannot say what it would do.".to_owned(),
        risk: "what it does is not known".to_owned(),
        risk_level: RiskLevel::Medium,
    }
}
