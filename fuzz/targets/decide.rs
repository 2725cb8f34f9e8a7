//! The whole decision: no panic in any mode, and adding the first line as a deny rule never makes a verdict milder.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{
    Case, Context, Decision, MODES, Mode, Origin, Policy, Source, ToolCall,
};

fn answer(policy: &Policy, command: &str, mode: Mode) -> Decision {
    let mut context = Context::new(mode, "/home/dev/app");
    context.home = Some("/home/dev".to_owned());
    let mut case = Case::new(ToolCall::bash(command), context);
    case.assume_empty_disk(policy);
    let outcome = case.decide(policy).expect("the session was not aborted");
    outcome.into_verdict().decision
}

fn rule(text: &str, behavior: Behavior) -> Option<Rule> {
    Rule::compile(text, behavior, Origin::bare(Source::User)).ok()
}

fuzz_target!(|text: &str| {
    let (first, command) = text.split_once('\n').unwrap_or(("Bash(rm:*)", text));
    let allow: Vec<Rule> = rule("Bash", Behavior::Allow).into_iter().collect();
    let open = Policy::of_rules(allow.clone());
    let closed = Policy::of_rules(allow.into_iter().chain(rule(first, Behavior::Deny)).collect());
    for info in &MODES {
        let (before, after) = (answer(&open, command, info.mode), answer(&closed, command, info.mode));
        assert!(before <= after, "a deny rule made {before} into {after} in mode {}", info.name);
    }
});
