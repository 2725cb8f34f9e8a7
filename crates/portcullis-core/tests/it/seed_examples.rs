//! The examples the product was conceived from: rule shapes, the shadowing example, the quiz.

use portcullis_core::rule::{Behavior, LintContext, LintKind, Matcher, Rule, ShellPattern, lint};
use portcullis_core::{Mode, Origin, Source, ToolCall, ToolInput};

use crate::support::{Rules, context, decide_bash, decide_call, short};

fn pattern(text: &str) -> ShellPattern {
    let rule = Rule::compile(text, Behavior::Allow, Origin::bare(Source::User)).expect(text);
    match rule.matcher {
        Matcher::Shell { pattern, .. } => pattern,
        other => panic!("{text} is no shell rule: {other:?}"),
    }
}

#[test]
fn the_three_shapes_of_shell_rules_are_told_apart() {
    assert!(matches!(pattern("Bash(npm install)"), ShellPattern::Exact(_)));
    assert!(matches!(pattern("Bash(npm:*)"), ShellPattern::Prefix(_)), "quiz question 4");
    assert!(matches!(pattern("Bash(git add *)"), ShellPattern::Wildcard(_)));
    let cases = [
        ("Bash(npm install)", "npm install", true),
        ("Bash(npm install)", "npm install x", false),
        ("Bash(npm:*)", "npm run build", true),
        ("Bash(npm:*)", "npmx", false),
        ("Bash(git *)", "git add", true),
        ("Bash(git *)", "git", true),
        ("Bash(git ad\\* file)", "git ad* file", true),
        ("Bash(git ad\\* file)", "git add file", false),
        ("Bash(git * --dry-run)", "git push origin --dry-run", true),
        ("Bash(* run *)", "npm run", false),
    ];
    for (rule, command, expected) in cases {
        assert_eq!(pattern(rule).matches(command), expected, "{rule} on {command}");
    }
}

#[test]
fn a_tool_wide_deny_shadows_a_specific_allow_and_the_lint_says_so() {
    let rules = Rules { allow: &["Bash(ls:*)"], deny: &["Bash"], ..Rules::default() };
    assert_eq!(short(&decide_bash(&rules.policy(), "ls -la", Mode::Default)), "deny A1", "quiz question 1");
    let policy = rules.policy();
    let lints = lint(policy.rules.rules(), &LintContext { sandbox_auto_allow: false });
    assert!(lints.iter().any(|found| found.kind == LintKind::DenyShadowed), "{lints:?}");
}

#[test]
fn bypass_still_asks_where_the_quiz_says_it_does() {
    let policy =
        Rules { ask: &["Bash(npm publish:*)"], deny: &["Bash(curl:*)"], ..Rules::default() }.policy();
    let bypass = Mode::BypassPermissions;
    assert_eq!(short(&decide_bash(&policy, "npm publish", bypass)), "ask A6");
    assert_eq!(short(&decide_bash(&policy, "echo x > .git/hooks/x", bypass)), "ask A7");
    assert_eq!(short(&decide_bash(&policy, "curl x", bypass)), "deny A2");
    let question = ToolCall::new("ExitPlanMode", ToolInput::default());
    assert_eq!(short(&decide_call(&policy, question, context(bypass))), "ask A5");
    assert_eq!(short(&decide_bash(&policy, "npm install x", bypass)), "allow A8");
}

#[test]
fn dont_ask_denies_where_bypass_allows() {
    let policy = Rules::default().policy();
    assert_eq!(short(&decide_bash(&policy, "npm install x", Mode::DontAsk)), "deny A11", "quiz question 5");
    assert_eq!(short(&decide_bash(&policy, "npm install x", Mode::BypassPermissions)), "allow A8");
}
