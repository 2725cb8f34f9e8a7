//! Calls, rules, modes, policy and the decision pipeline of Portcullis, without any I/O.
//!
//! ```text
//! ToolCall + Context ──► Case ──► questions(policy) ──► answer(…) ──► decide(policy) ──► Outcome
//! ```
//!
//! ```
//! use portcullis_core::rule::{Behavior, Rule};
//! use portcullis_core::{Case, Context, Decision, Mode, Origin, Policy, Source, ToolCall};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::of_rules(vec![
//!     Rule::compile("Bash(git *)", Behavior::Allow, Origin::bare(Source::User))?,
//!     Rule::compile("Bash(git push:*)", Behavior::Deny, Origin::bare(Source::User))?,
//! ]);
//! let call = ToolCall::bash("git fetch && git -C . push");
//! let mut case = Case::new(call, Context::new(Mode::Default, "/code/app"));
//! case.assume_empty_disk(&policy);
//! let verdict = case.decide(&policy)?.into_verdict();
//! assert_eq!(verdict.decision, Decision::Deny);
//! assert_eq!(verdict.reason.message(), "the deny rule `Bash(git push:*)` matches `git -C . push`");
//! # Ok(())
//! # }
//! ```
//!
//! In use, `portcullis-settings` makes the policy of files and `portcullis-world` answers the questions from the disk.
//! An [`Outcome`] that is not settled says whom it [`Need`]s, and [`Pending::resume`] goes on with the [`PendingAnswer`].
//! The guide `docs/guides/embed-the-library.md` shows all of it, and `examples/harness` runs it.
//!
//! Every type is plain data, `Send` and `Sync`; one policy serves any number of threads.
//!
//! The crate reads no file, clock or environment. What it must know from the disk it lists as [`DiskQuestion`]s, and an
//! unanswered one counts as the unsafe answer. A [`Case`] is parsed once and decided as often as more becomes known.
//! [`Case::decide`] has no error but an aborted session: problems become reasons, and no problem ever becomes an allow.

mod boundary;
mod call;
mod case;
pub mod closeness;
mod consent;
mod context;
mod coverage;
mod decision;
mod denials;
mod disk;
mod effect_report;
mod explainer;
mod fence;
mod guarded_file;
mod input;
mod message;
mod mode;
mod open_verdict;
mod origin;
pub use portcullis_analysis::effect::Certainty;
pub use portcullis_analysis::place::{OwnLocations, is_rebuilt};
pub use portcullis_analysis::{allowances, findings, path};
pub use portcullis_shell::Span;
mod path_use;
pub mod pattern;
mod pipeline;
mod policy;
mod remembered;
mod repository_config;
pub mod rule;
mod rule_explanation;
mod rule_match;
mod rule_set;
mod safety;
mod scope;
pub mod secret_form;
mod shell_match;
mod step;
mod suggestion;
pub mod tool;
mod trace;
mod verdict;
mod visible;
mod wording;

pub use boundary::state_boundaries;
pub use call::ToolCall;
pub use case::Case;
pub use context::{CallApproval, Context, Person, RecalledCommand, SessionKnowledge, ToolHints};
pub use decision::Decision;
pub use denials::{DenialLimit, Denials, LimitAction};
pub use disk::{DiskAnswer, DiskQuestion};
pub use effect_report::EffectReport;
pub use explainer::{CallExplanation, RiskLevel};
pub use fence::{FenceCause, FenceNetwork, FenceOffer, FenceRequest, FenceWrites, StrangeRegistry};
pub use input::{ToolInput, Value};
pub use mode::{MODES, Mode, ModeInfo};
pub use open_verdict::SELF_TEST_COMMAND;
pub use origin::{Origin, Source};
pub use pipeline::{Aborted, FailureAction, Need, Outcome, Pending, PendingAnswer};
pub use policy::{DisabledModes, Planning, Policy, Prose, Sandbox};
pub use remembered::RememberableCommand;
pub use rule_explanation::RuleExplanation;
pub use rule_set::RuleSet;
pub use step::{STEPS, StepId, StepInfo};
pub use trace::{TraceLine, TraceOutcome};
pub use verdict::{FindingReport, Reason, RuleReference, SafetyCheck, Suggestion, Verdict};
pub use visible::{is_hidden, visible};
pub use wording::effect_clause;

/// What a command is known by when a person allowed it once.
pub mod command_shape {
    pub use portcullis_analysis::command_shape::{CommandShape, ShapedCommand, TargetKind};
    pub use portcullis_analysis::effect::Act;
}

/// What is known of programs, with the check of its examples.
pub mod profile {
    pub use portcullis_analysis::command_effects::{Dialect, WrongExample, wrong_examples};
    pub use portcullis_analysis::effect::Act;
    pub use portcullis_analysis::profile::{
        Authority, Flag, FlagValue, Form, OtherOptions, Profile, ProfileError, ProfileOrigin, Profiles, Role,
        Style, Twist, built_in, compile,
    };
}
