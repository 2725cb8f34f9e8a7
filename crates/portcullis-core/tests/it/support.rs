//! A small session to decide calls in: `/code/app` is the workspace, `/home/me` the home, nothing is a link.

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{
    Case, Context, DiskAnswer, DiskQuestion, Mode, Origin, Policy, Source, ToolCall, Verdict,
};

/// Rules by behavior, as a settings file would list them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules<'a> {
    pub(crate) allow: &'a [&'a str],
    pub(crate) ask: &'a [&'a str],
    pub(crate) deny: &'a [&'a str],
}

impl Rules<'_> {
    pub(crate) fn policy(&self) -> Policy {
        let of = |behavior: Behavior, texts: &[&str]| -> Vec<Rule> {
            texts
                .iter()
                .map(|text| Rule::compile(text, behavior, Origin::bare(Source::User)).expect(text))
                .collect()
        };
        let mut rules = of(Behavior::Allow, self.allow);
        rules.extend(of(Behavior::Ask, self.ask));
        rules.extend(of(Behavior::Deny, self.deny));
        Policy::of_rules(rules)
    }
}

/// The context of an interactive session in the workspace.
pub(crate) fn context(mode: Mode) -> Context {
    Context { home: Some("/home/me".to_owned()), ..Context::new(mode, "/code/app") }
}

/// Decides a call, every path being what it says.
pub(crate) fn decide_call(policy: &Policy, call: ToolCall, context: Context) -> Verdict {
    case_without_links(policy, call, context)
        .decide(policy)
        .expect("the session is not aborted")
        .into_verdict()
}

/// Decides a call on a disk that holds what `disk` says and nothing else.
pub(crate) fn decide_on_disk(
    policy: &Policy,
    call: ToolCall,
    context: Context,
    disk: impl Fn(&DiskQuestion) -> Option<DiskAnswer>,
) -> Verdict {
    let mut case = Case::new(call, context);
    case.look_up(policy, |questions| {
        let answer = |question: DiskQuestion| {
            let answer = disk(&question).unwrap_or_else(|| question.on_empty_disk());
            (question, answer)
        };
        questions.into_iter().map(answer).collect::<Vec<_>>()
    });
    case.decide(policy).expect("the session is not aborted").into_verdict()
}

/// Decides a Bash command in a mode.
pub(crate) fn decide_bash(policy: &Policy, command: &str, mode: Mode) -> Verdict {
    decide_call(policy, ToolCall::bash(command), context(mode))
}

/// Makes the case of a call with every question answered: no path is a link.
pub(crate) fn case_without_links(policy: &Policy, call: ToolCall, context: Context) -> Case {
    let mut case = Case::new(call, context);
    case.assume_empty_disk(policy);
    case
}

/// Writes a verdict as `decision step`.
pub(crate) fn short(verdict: &Verdict) -> String {
    format!("{} {}", verdict.decision, verdict.step)
}
