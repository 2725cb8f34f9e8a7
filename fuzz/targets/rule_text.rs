//! Rule text: reading what was printed gives the same rule, and compiling never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_core::rule::{Behavior, Rule, RuleText};
use portcullis_core::{Origin, Source};

fuzz_target!(|text: &str| {
    if let Ok(rule) = RuleText::parse(text) {
        let printed = rule.to_string();
        assert_eq!(RuleText::parse(&printed).as_ref(), Ok(&rule), "`{text}` was printed as `{printed}`");
    }
    for behavior in [Behavior::Allow, Behavior::Ask, Behavior::Deny] {
        if let Err(problem) = Rule::compile(text, behavior, Origin::bare(Source::User)) {
            assert!(!problem.message.is_empty());
        }
    }
});
