//! The offline explainer (spec F): what a call does, why that matters and what could go wrong, in plain sentences.
//!
//! Everything is told from the effects and findings of the static analysis; no model is asked. The text is bounded,
//! and words of the call stand between backquotes with hidden characters spelled out.

mod circumstance;
mod deed;
mod narration;
mod quote;
mod reasoning;
mod risk;

use portcullis_analysis::effect::Effect;

use crate::effect_report::{EffectList, EffectReport};
use crate::fact::Facts;
use crate::judgement::Judgement;
use crate::policy::Policy;
use crate::request::{Request, Subject};
use crate::tool::{ToolKind, find_tool};
pub use deed::effect_clause;
pub(crate) use deed::{clause_of, name_of};
use quote::{LONGEST_QUOTE, cut};

/// The longest text of each part, in characters; together they stay under a thousand.
const LONGEST_EXPLANATION: usize = 480;
const LONGEST_REASONING: usize = 350;
const LONGEST_RISK: usize = 160;

/// A call explained to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
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
    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }
}

/// Lists what a call would do, each thing once and no more than a person reads, in the order of its commands.
pub fn effects(request: &Request) -> Vec<EffectReport> {
    EffectList::of(request.effects()).reports
}

/// Explains a call.
pub fn explain(policy: &Policy, request: &Request, facts: &Facts) -> Explanation {
    if let Subject::Malformed(why) = &request.subject {
        return unreadable(request, why);
    }
    if find_tool(request.call().tool()).is_some_and(|tool| tool.kind == ToolKind::Internal) {
        return bookkeeping(request);
    }
    let judgement = Judgement::of(request, facts);
    let reports = judgement.reports();
    let is_proven = judgement.proof().is_some();
    let open: Vec<&Effect> =
        if is_proven { Vec::new() } else { reasoning::open_effects(request, facts, &reports) };
    let risk = risk::of(request.effects(), &reports, &open);
    let reasoning = reasoning::Ground {
        policy,
        request,
        facts,
        reports: &reports,
        open: &open,
        proof: judgement.proof(),
    };
    Explanation {
        explanation: cut(narration::of(request), LONGEST_EXPLANATION),
        reasoning: cut(reasoning.text(), LONGEST_REASONING),
        risk: cut(risk, LONGEST_RISK),
        risk_level: risk::level(request.effects(), &reports, is_proven),
    }
}

/// Explains a call of a tool that only keeps the books of the agent or talks to the person.
fn bookkeeping(request: &Request) -> Explanation {
    let tool = quote::quote(request.call().tool(), LONGEST_QUOTE);
    Explanation {
        explanation: format!("The tool {tool} works inside the agent or talks to the person."),
        reasoning: "It touches nothing outside the session.".to_owned(),
        risk: "nothing changes".to_owned(),
        risk_level: RiskLevel::Low,
    }
}

/// Explains a call whose input lacks what the tool needs.
fn unreadable(request: &Request, why: &str) -> Explanation {
    let tool = quote::quote(request.call().tool(), LONGEST_QUOTE);
    Explanation {
        explanation: format!("The call of {tool} cannot be read: {}.", quote::prose(why, "")),
        reasoning: "Portcullis does not understand this call, so it cannot say what it would do.".to_owned(),
        risk: "what it does is not known".to_owned(),
        risk_level: RiskLevel::Medium,
    }
}
