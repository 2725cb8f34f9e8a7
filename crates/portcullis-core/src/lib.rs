//! Calls, rules, modes, policy and the decision pipeline of Portcullis, without any I/O.
//!
//! ```text
//! ToolCall + Context ──► Request ──► questions() ──► Facts ──► decide(policy, request, facts) ──► Outcome
//! ```
//!
//! ```
//! use portcullis_core::rule::{Behavior, Rule};
//! use portcullis_core::{Context, Decision, Facts, Mode, Origin, Policy, Request, Source, ToolCall, decide};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::of_rules(vec![
//!     Rule::compile("Bash(git *)", Behavior::Allow, Origin::bare(Source::User))?,
//!     Rule::compile("Bash(git push:*)", Behavior::Deny, Origin::bare(Source::User))?,
//! ]);
//! let call = ToolCall::bash("git fetch && git -C . push");
//! let request = Request::new(&policy, call, Context::new(Mode::Default, "/code/app"));
//! let facts = Facts::of_empty_disk(request.questions());
//! let verdict = decide(&policy, &request, &facts)?.into_verdict();
//! assert_eq!(verdict.decision, Decision::Deny);
//! assert_eq!(verdict.reason.message(), "the deny rule `Bash(git push:*)` matches `git -C . push`");
//! # Ok(())
//! # }
//! ```
//!
//! In use, `portcullis-settings` makes the policy of files and `portcullis-world` answers the questions from the disk.
//! An [`Outcome`] that is not settled says whom it [`Need`]s, and [`Pending::resume`] goes on with the [`Answer`].
//! The guide `docs/guides/embed-the-library.md` shows all of it, and `examples/harness` runs it.
//!
//! Every type is plain data, `Send` and `Sync`; one policy serves any number of threads.
//!
//! The crate reads no file, clock or environment. What it must know from the disk it lists as [`Question`]s, and an
//! unanswered one counts as the unsafe answer. [`decide`] has no error but an aborted session: problems become reasons,
//! and no problem ever becomes an allow.

mod boundary;
mod call;
pub mod closeness;
mod consent;
mod context;
mod coverage;
mod decision;
mod denials;
mod effect_report;
mod explainer;
mod explanation;
mod fact;
mod input;
mod judgement;
mod mode;
mod origin;
pub use portcullis_analysis::{allowances, findings, path};
pub use portcullis_shell::Span;
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

pub use boundary::state_boundaries;
pub use call::ToolCall;
pub use context::{Approval, Context, Person, Session, ToolHints};
pub use decision::Decision;
pub use denials::{DenialLimit, Denials};
pub use effect_report::EffectReport;
pub use explainer::{Explanation, RiskLevel, effect_clause, effects, explain};
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
