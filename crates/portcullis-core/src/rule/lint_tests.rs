//! Tables of rule sets and what is odd about them.

use Behavior::{Allow, Ask, Deny};

use super::*;
use crate::origin::{Origin, Source};

/// Rule sets, each with the lints it must give.
type Table<'a> = &'a [(&'a [(Behavior, &'a str)], &'a [&'a str])];

fn rules(texts: &[(Behavior, &str)], source: Source) -> Vec<Rule> {
    texts
        .iter()
        .map(|(behavior, text)| Rule::compile(text, *behavior, Origin::bare(source)).unwrap())
        .collect()
}

/// Describes the lints of a rule set as `kind rule` or `kind rule<other`.
fn describe(texts: &[(Behavior, &str)]) -> Vec<String> {
    let lints = lint(&rules(texts, Source::User), &LintContext::default());
    for lint in &lints {
        assert!(!lint.message.is_empty() && !lint.message.ends_with('.') && !lint.fix.is_empty(), "{lint:?}");
    }
    let show = |lint: &Lint| match lint.other {
        Some(other) => format!("{} {}<{other}", lint.kind.as_str(), lint.rule),
        None => format!("{} {}", lint.kind.as_str(), lint.rule),
    };
    lints.iter().map(show).collect()
}

#[test]
fn shadowed_allow_rules_are_found() {
    let table: Table<'_> = &[
        (&[(Deny, "Bash"), (Allow, "Bash(ls:*)")], &["deny-shadowed 1<0"]),
        (&[(Allow, "Bash(ls:*)"), (Ask, "Bash")], &["ask-shadowed 0<1"]),
        (&[(Ask, "Bash"), (Deny, "Bash"), (Allow, "Bash(ls:*)")], &["deny-shadowed 2<1"]),
        (&[(Deny, "Bash(git:*)"), (Allow, "Bash(git push:*)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "Bash(git push *)"), (Allow, "Bash(git push origin)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "Bash(git push:*)"), (Allow, "Bash(git:*)")], &["dangerous 1"]),
        (&[(Deny, "Bash(git push)"), (Allow, "Bash(git push *)")], &[]),
        (&[(Ask, "Bash(npm publish:*)"), (Allow, "Bash(npm publish --dry-run)")], &["ask-shadowed 1<0"]),
        (&[(Deny, "Read(.env)"), (Allow, "Read(.env)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "Read(.env)"), (Allow, "Read(config/.env)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "Edit(src/**)"), (Allow, "Edit(src/a/b.rs)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "Edit(src/**)"), (Allow, "Read(src/a/b.rs)")], &[]),
        (&[(Deny, "Read(/etc2/x)"), (Allow, "Read(etc2/x)")], &[]),
        (&[(Deny, "WebFetch"), (Allow, "WebFetch(domain:docs.rs)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "WebFetch(domain:*)"), (Allow, "WebFetch(domain:docs.rs)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "WebFetch(domain:*.rs)"), (Allow, "WebFetch(domain:docs.rs)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "WebFetch(domain:docs.rs)"), (Allow, "WebFetch(domain:*.rs)")], &[]),
        (&[(Deny, "mcp__*"), (Allow, "mcp__git__*")], &["deny-shadowed 1<0"]),
        (&[(Deny, "mcp__git"), (Allow, "mcp__git__get_*")], &["deny-shadowed 1<0"]),
        (&[(Deny, "mcp__git__push"), (Allow, "mcp__git")], &[]),
        (&[(Deny, "*"), (Allow, "Read")], &["deny-shadowed 1<0"]),
        (&[(Deny, "Skill(deploy *)"), (Allow, "Skill(deploy prod)")], &["deny-shadowed 1<0"]),
        (&[(Deny, "Agent(model:opus)"), (Allow, "Agent(Explore)")], &[]),
        (&[(Allow, "Read(src/**)"), (Deny, "Read(.env)")], &[]),
    ];
    for (texts, expected) in table {
        assert_eq!(describe(texts), *expected, "{texts:?}");
    }
}

#[test]
fn a_personal_ask_rule_gives_way_to_the_sandbox() {
    let texts: &[(Behavior, &str)] = &[(Ask, "Bash"), (Allow, "Bash(ls:*)")];
    let sandboxed = LintContext { sandbox_auto_allow: true };
    for (source, personal) in [
        (Source::User, true),
        (Source::Local, true),
        (Source::Argument, true),
        (Source::Session, true),
        (Source::Project, false),
        (Source::Policy, false),
        (Source::Flag, false),
        (Source::Command, false),
    ] {
        let set = rules(texts, source);
        assert_eq!(lint(&set, &sandboxed).is_empty(), personal, "{source}");
        assert_eq!(lint(&set, &LintContext::default()).len(), 1, "{source}");
    }
    let content = rules(&[(Ask, "Bash(ls:*)"), (Allow, "Bash(ls -l)")], Source::User);
    assert_eq!(lint(&content, &sandboxed).len(), 1);
    let deny = rules(&[(Deny, "Bash"), (Allow, "Bash(ls -l)")], Source::User);
    assert_eq!(lint(&deny, &sandboxed).len(), 1);
}

#[test]
fn doubled_rules_are_found_in_every_spelling() {
    let table: Table<'_> = &[
        (&[(Allow, "Bash(ls)"), (Allow, "Bash(ls)")], &["duplicate 1<0"]),
        (&[(Allow, "Bash(ls:*)"), (Allow, "Bash(ls *)")], &["duplicate 1<0"]),
        (&[(Allow, "mcp__a"), (Allow, "mcp__a__*")], &["duplicate 1<0"]),
        (&[(Deny, "Task"), (Deny, "Agent")], &["duplicate 1<0"]),
        (&[(Deny, "Read"), (Deny, "Read()")], &["duplicate 1<0"]),
        (&[(Deny, "Read"), (Ask, "Read")], &[]),
        (&[(Allow, "Bash(ls)"), (Allow, "Bash(ls *)")], &[]),
    ];
    for (texts, expected) in table {
        assert_eq!(describe(texts), *expected, "{texts:?}");
    }
    let mut two = rules(&[(Deny, "Read(/x)"), (Deny, "Read(/x)")], Source::User);
    assert_eq!(lint(&two, &LintContext::default()).len(), 1);
    two[1].origin.base = Some("/elsewhere".into());
    assert_eq!(lint(&two, &LintContext::default()), []);
}

#[test]
fn single_rules_that_do_not_mean_what_they_say_are_found() {
    for (behavior, text, kind, fix) in [
        (Allow, "Edit(/Users/me/**)", "absolute-path", "write `Edit(//Users/me/**)` for the absolute path"),
        (Deny, "Read(/etc/passwd)", "absolute-path", "write `Read(//etc/passwd)` for the absolute path"),
        (Allow, "Read(/tmp)", "absolute-path", "write `Read(//tmp)` for the absolute path"),
        (Deny, "Read(/home/x)", "absolute-path", "write `Read(//home/x)` for the absolute path"),
        (
            Allow,
            "Bash(hg * main)",
            "early-wildcard",
            "put the wildcard after the subcommand, as in `Bash(hg subcommand *)`",
        ),
        (Allow, "Bash", "over-broad", "allow the commands you need, as in `Bash(npm test)`"),
        (Allow, "Bash(*)", "over-broad", "allow the commands you need, as in `Bash(npm test)`"),
        (Allow, "Bash( * )", "over-broad", "allow the commands you need, as in `Bash(npm test)`"),
        (Allow, "Edit", "over-broad", "name the directories, as in `Edit(src/**)`"),
        (Allow, "Write", "over-broad", "name the directories, as in `Edit(src/**)`"),
        (Allow, "WebFetch(domain:*)", "over-broad", "name the hosts, as in `WebFetch(domain:docs.rs)`"),
        (Allow, "Read(//**)", "over-broad", "name the directories, as in `Read(src/**)`"),
        (Allow, "Edit(~/**)", "over-broad", "name the directories, as in `Read(src/**)`"),
        (Allow, "Bash(python:*)", "dangerous", "allow the exact commands you need, as in `Bash(npm test)`"),
        (Allow, "Bash(curl:*)", "dangerous", "allow the exact commands you need, as in `Bash(npm test)`"),
        (Deny, "bash", "unknown-tool", "write `Bash`"),
        (Ask, "WebFetsh", "unknown-tool", "write `WebFetch`"),
        (
            Deny,
            "Frobnicate",
            "unknown-tool",
            "check the name; tools of MCP servers are written `mcp__server__tool`",
        ),
        (Deny, "Read(*.{key,pem})", "literal-braces", "write one rule for each alternative"),
        (Deny, "Read(secrets:*)", "prefix-in-path", "write `Read(secrets/**)` for everything below"),
    ] {
        let lints = lint(&rules(&[(behavior, text)], Source::User), &LintContext::default());
        let found: Vec<(&str, &str)> =
            lints.iter().map(|lint| (lint.kind.as_str(), lint.fix.as_str())).collect();
        assert_eq!(found, [(kind, fix)], "{behavior} {text}");
    }
    assert_eq!(describe(&[(Allow, "Bash(* --version)")]), ["early-wildcard 0", "dangerous 0"]);
}

#[test]
fn ordinary_rules_are_left_alone() {
    for (behavior, text) in [
        (Allow, "Bash(npm test)"),
        (Allow, "Bash(git log * main)"),
        (Allow, "Bash(git push *)"),
        (Deny, "Bash(hg * main)"),
        (Deny, "Bash"),
        (Deny, "Edit"),
        (Allow, "Read"),
        (Allow, "Read(//etc/hosts)"),
        (Allow, "Edit(/src/**)"),
        (Allow, "Edit(/lib/**)"),
        (Allow, "Edit(**)"),
        (Allow, "FutureTool"),
        (Deny, "mcp__a__b"),
        (Deny, "some_tool"),
        (Deny, "B*"),
        (Deny, "Read({x})"),
        (Allow, "Agent(Explore)"),
    ] {
        assert_eq!(describe(&[(behavior, text)]), [""; 0], "{behavior} {text}");
    }
}
