//! Suggested rules: few, general, and never a secret, a here-document or a prefix that allows anything.

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{Context, Decision, Input, Mode, Origin, Person, Policy, Source, ToolCall, Verdict};

use crate::support::{context, decide_bash, decide_call};

fn allowed(verdict: &Verdict) -> Vec<&str> {
    let allow = verdict.suggestions.iter().filter(|suggestion| suggestion.behavior == Behavior::Allow);
    allow.map(|suggestion| suggestion.rule.as_str()).collect()
}

#[test]
fn a_suggestion_names_the_program_and_its_subcommand() {
    let cases: &[(&str, &[&str])] = &[
        ("git push --force origin main", &["Bash(git push *)"]),
        ("npm run build:prod --silent", &["Bash(npm run build:prod *)"]),
        ("cargo test --all && git push", &["Bash(cargo test *)", "Bash(git push *)"]),
        ("gh pr create --title x", &["Bash(gh pr create *)"]),
        ("touch a", &["Bash(touch *)"]),
        ("./build.sh --fast", &["Bash(./build.sh *)"]),
        ("echo x > out.txt", &["Edit(//code/app/out.txt)"]),
        ("cat /var/log/app/x.log", &["Read(//var/log/app/**)"]),
        ("cat /etc/passwd", &["Read(//etc/passwd)"]),
    ];
    for (command, expected) in cases {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        assert_eq!(allowed(&verdict), *expected, "{command}");
    }
}

#[test]
fn a_suggestion_of_an_allow_rule_would_allow_the_call() {
    for command in [
        "git push origin",
        "npm run x",
        "touch a",
        "echo x > out.txt",
        "cat /var/log/app/x.log",
        "make all && cargo test",
    ] {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        let rules = allowed(&verdict);
        let compile =
            |text: &&str| Rule::compile(text, Behavior::Allow, Origin::bare(Source::User)).expect(text);
        let policy = Policy::of_rules(rules.iter().map(compile).collect());
        assert_eq!(
            decide_bash(&policy, command, Mode::Default).decision,
            Decision::Allow,
            "{command}: {rules:?}"
        );
    }
}

#[test]
fn dangerous_prefixes_secrets_and_bodies_are_never_suggested() {
    let commands = [
        "python -c 'import os'",
        "node x.js",
        "bash build.sh",
        "sudo apt install x",
        "ssh host ls",
        "npx cowsay",
        "psql -c 'select 1'",
        "vim x",
        "eval \"$x\"",
        "env X=1 y",
        "xargs rm",
        "ghp_0123456789abcdef0123456789abcdef0123",
        "git sk-0123456789",
        "rm -rf ~",
        "echo x > .git/config",
        "$X",
        "deploy-0123456789abcdef0123456789abcdef",
    ];
    for command in commands {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        assert_eq!(allowed(&verdict), Vec::<&str>::new(), "{command}");
    }
    let body = "mail -s hi bob <<EOF\nthe password is hunter2\nEOF";
    let verdict = decide_bash(&Policy::default(), body, Mode::Default);
    assert!(verdict.suggestions.iter().all(|suggestion| !suggestion.rule.contains("hunter2")));
    let token = "curl -H 'Authorization: Bearer abc' https://x";
    let verdict = decide_bash(&Policy::default(), token, Mode::Default);
    assert!(verdict.suggestions.iter().all(|suggestion| !suggestion.rule.contains("Bearer")));
}

#[test]
fn there_are_at_most_five() {
    let many = ["a", "b", "c", "d", "e", "f", "g"].join(" && ");
    assert_eq!(decide_bash(&Policy::default(), &many, Mode::Default).suggestions.len(), 5);
}

#[test]
fn other_tools_get_their_own_rule_and_headless_denials_too() {
    let fetch = ToolCall::new("WebFetch", Input::of_text("url", "https://docs.rs/x"));
    let verdict = decide_call(&Policy::default(), fetch, context(Mode::Default));
    assert_eq!(allowed(&verdict), ["WebFetch(domain:docs.rs)"]);
    let mcp = ToolCall::new("mcp__s__t", Input::default());
    let absent = Context { person: Person::Absent, ..context(Mode::Default) };
    assert_eq!(allowed(&decide_call(&Policy::default(), mcp, absent)), ["mcp__s__t"]);
}
