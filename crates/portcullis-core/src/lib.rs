//! Calls, rules, modes, policy and the decision pipeline of Portcullis, without any I/O.
//!
//! ```text
//! ToolCall + Context ──► Request ──► questions() ──► Facts ──► decide(policy, request, facts) ──► Outcome
//! ```
//!
//! ```
//! use portcullis_core::rule::{Behavior, Rule};
//! use portcullis_core::{
//!     Context, Decision, Facts, Mode, Origin, Policy, Request, Source, ToolCall, decide,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rule = Rule::compile("Bash(git push:*)", Behavior::Deny, Origin::bare(Source::User))?;
//! let policy = Policy::of_rules(vec![rule]);
//! let request = Request::new(&policy, ToolCall::bash("cd src && git -C . push"), Context::new(Mode::Auto, "/code/app"));
//! let facts = Facts::of_empty_disk(request.questions());
//! let verdict = decide(&policy, &request, &facts)?.into_verdict();
//! assert_eq!(verdict.decision, Decision::Deny);
//! assert_eq!(verdict.reason.message(), "the deny rule `Bash(git push:*)` matches `git -C . push`");
//! # Ok(())
//! # }
//! ```
//!
//! The crate reads no file, clock or environment. What it must know from the disk it lists as [`Question`]s, and an
//! unanswered one counts as the unsafe answer. [`decide`] has no error but an aborted session: problems become reasons,
//! and no problem ever becomes an allow.

mod call;
pub mod closeness;
mod consent;
mod context;
mod coverage;
mod decision;
mod denials;
mod explainer;
mod explanation;
mod fact;
mod input;
mod judgement;
mod mode;
mod origin;
pub use portcullis_analysis::{allowances, findings, path};
mod path_use;
pub mod pattern;
mod pipeline;
mod policy;
mod request;
pub mod rule;
mod rule_match;
mod rule_set;
mod safety;
mod scope;
mod shell_match;
mod suggestion;
pub mod tool;
mod trap;
mod verdict;
mod visible;

pub use call::ToolCall;
pub use context::{Context, Person, Session, ToolHints};
pub use decision::Decision;
pub use denials::{DenialLimit, Denials};
pub use explainer::{Explanation, RiskLevel, explain};
pub use explanation::{RuleExplanation, explain_rules};
pub use fact::{Facts, Question, Resolution};
pub use input::{Input, Value};
pub use mode::{MODES, Mode, ModeInfo};
pub use origin::{Origin, Source};
pub use pipeline::{Aborted, Answer, Gate, Need, Outcome, Pending, STEPS, StepId, StepInfo, decide};
pub use policy::{DisabledModes, Planning, Policy, Sandbox};
pub use request::Request;
pub use rule_set::RuleSet;
pub use verdict::{
    Certainty, FindingReport, OnLimit, Reason, RuleReference, SafetyCheck, Suggestion, TraceLine,
    TraceOutcome, Verdict,
};
pub use visible::{is_hidden, visible};
