//! One-line tables for compiled rules.

use Behavior::{Allow, Ask, Deny};

use super::*;
use crate::origin::Source;

fn compile(text: &str, behavior: Behavior) -> Result<Rule, RuleProblem> {
    Rule::compile(text, behavior, Origin::bare(Source::User))
}

/// Describes a matcher in one line.
fn describe(text: &str, behavior: Behavior) -> String {
    match compile(text, behavior) {
        Err(problem) => format!("problem: {problem}"),
        Ok(rule) => match rule.matcher {
            Matcher::Tool(ToolPattern::Name(name)) => format!("tool {name}"),
            Matcher::Tool(ToolPattern::Server(server)) => format!("server {server}"),
            Matcher::Tool(ToolPattern::Glob(glob)) => format!("glob {}", glob.as_str()),
            Matcher::Shell { tool, pattern } => format!("shell {tool} {pattern:?}").replace('"', "'"),
            Matcher::Path { access, .. } => format!("path {access:?}"),
            Matcher::Domain(domain) => format!("domain {}", domain.as_str()),
            Matcher::Name { tool, pattern } => format!("name {tool} {}", pattern.as_str()),
            Matcher::Parameter { tool, field, value } => {
                format!("parameter {tool} {field}={}", value.as_str())
            }
        },
    }
}

#[test]
fn every_form_of_rule_has_its_matcher() {
    for (text, expected) in [
        ("Bash", "tool Bash"),
        ("Bash()", "tool Bash"),
        ("Bash(*)", "tool Bash"),
        (" Bash ", "tool Bash"),
        ("Task", "tool Agent"),
        ("FutureTool", "tool FutureTool"),
        ("mcp__server", "server server"),
        ("mcp__server__*", "server server"),
        ("mcp__server(*)", "server server"),
        ("mcp__server__tool", "tool mcp__server__tool"),
        ("mcp__github__get_*", "glob mcp__github__get_*"),
        ("mcp__a__b__*", "glob mcp__a__b__*"),
        ("Bash(npm install)", "shell Bash Exact('npm install')"),
        ("Bash(npm:*)", "shell Bash Prefix('npm')"),
        ("Bash(timeout:*)", "shell Bash Prefix('timeout')"),
        ("Bash(command:*)", "shell Bash Prefix('command')"),
        ("Bash(npm run test:unit)", "shell Bash Exact('npm run test:unit')"),
        ("Bash(foo:bar)", "shell Bash Exact('foo:bar')"),
        ("Monitor(npm:*)", "shell Monitor Prefix('npm')"),
        ("PowerShell(Get-Item:*)", "shell PowerShell Prefix('Get-Item')"),
        ("Read(src/**)", "path Read"),
        ("Edit(/src/**)", "path Edit"),
        ("Read(a:b)", "path Read"),
        ("WebFetch(domain:Example.com)", "domain example.com"),
        ("WebFetch(domain:*)", "domain *"),
        ("Agent(my-agent)", "name Agent my-agent"),
        ("Task(my-agent)", "name Agent my-agent"),
        ("Agent(plugin:reviewer)", "name Agent plugin:reviewer"),
        ("Skill(commit)", "name Skill commit"),
        ("Skill(commit *)", "name Skill commit *"),
        ("Skill(commit:*)", "name Skill commit *"),
    ] {
        for behavior in [Allow, Ask, Deny] {
            assert_eq!(describe(text, behavior), expected, "{behavior} {text}");
        }
    }
}

#[test]
fn guards_may_glob_tools_and_name_parameters_but_allow_rules_may_not() {
    for (text, expected) in [
        ("*", "glob *"),
        ("B*", "glob B*"),
        ("mcp__*", "glob mcp__*"),
        ("mcp__*__delete_*", "glob mcp__*__delete_*"),
        ("mcp__git*__x", "glob mcp__git*__x"),
        ("Agent(model:opus)", "parameter Agent model=opus"),
        ("Agent(model : opus)", "parameter Agent model=opus"),
        ("Agent(isolation:worktree)", "parameter Agent isolation=worktree"),
        ("Bash(run_in_background:true)", "parameter Bash run_in_background=true"),
        ("Bash(run_in_background:*)", "parameter Bash run_in_background=*"),
        ("Bash(dangerouslyDisableSandbox:true)", "parameter Bash dangerouslyDisableSandbox=true"),
        ("Skill(skill:commit)", "parameter Skill skill=commit"),
        ("Grep(pattern:*password*)", "parameter Grep pattern=*password*"),
        ("CronCreate(cron:* * * * *)", "parameter CronCreate cron=* * * * *"),
        ("FutureTool(level:high)", "parameter FutureTool level=high"),
        ("WebFetch(prompt:*key*)", "parameter WebFetch prompt=*key*"),
    ] {
        for behavior in [Ask, Deny] {
            assert_eq!(describe(text, behavior), expected, "{behavior} {text}");
        }
        assert!(describe(text, Allow).starts_with("problem: "), "{text}: {}", describe(text, Allow));
    }
}

#[test]
fn what_could_never_match_is_a_problem_with_a_hint() {
    for (text, message, hint) in [
        (
            "Write(src/**)",
            "a path in a `Write` rule is never matched",
            "write `Edit(src/**)`, which covers `Write` too",
        ),
        (
            "MultiEdit(x)",
            "a path in a `MultiEdit` rule is never matched",
            "write `Edit(x)`, which covers `MultiEdit` too",
        ),
        (
            "NotebookEdit(x)",
            "a path in a `NotebookEdit` rule is never matched",
            "write `Edit(x)`, which covers `NotebookEdit` too",
        ),
        ("Glob(x)", "a path in a `Glob` rule is never matched", "write `Read(x)`, which covers `Glob` too"),
        (
            "Grep(//c/x)",
            "a path in a `Grep` rule is never matched",
            "write `Read(//c/x)`, which covers `Grep` too",
        ),
        (
            "Bash(command:rm *)",
            "a parameter rule cannot name `command`, which rules for `Bash` are about anyway",
            "write `Bash(rm *)`",
        ),
        (
            "Read(file_path:/etc/x)",
            "a parameter rule cannot name `file_path`, which rules for `Read` are about anyway",
            "write `Read(/etc/x)`",
        ),
        (
            "Write(file_path:x)",
            "a parameter rule cannot name `file_path`, which rules for `Write` are about anyway",
            "write `Edit(x)`",
        ),
        (
            "WebFetch(url:x)",
            "a parameter rule cannot name `url`, which rules for `WebFetch` are about anyway",
            "write `WebFetch(domain:host)`",
        ),
        (
            "WebFetch(https://docs.rs/x)",
            "the content `https://docs.rs/x` of a `WebFetch` rule is not of the form `domain:host`",
            "write `WebFetch(domain:docs.rs)`",
        ),
        ("mcp__x__y(a:b)", "rules for MCP tools cannot have content", "write `mcp__x__y`"),
        ("mcp__", "the rule names no MCP server", "write `mcp__server` or `mcp__server__tool`"),
        ("B*(ls)", "the tool glob `B*` cannot have content", "name one tool, or leave the parentheses out"),
        ("Bash( )", "the content of the rule is blank", "leave the parentheses out to mean every call"),
        ("(ls)", "the rule names no tool", "write the tool first, as in `Bash(npm test)`"),
        (
            "Bash (ls)",
            "`Bash ` is not the name of a tool",
            "write `Tool` or `Tool(content)` without blanks before the parenthesis",
        ),
        (
            "Stop Task",
            "`Stop Task` is not the name of a tool",
            "write `Tool` or `Tool(content)` without blanks before the parenthesis",
        ),
        (
            "TodoWrite(x)",
            "content `x` has no meaning for the tool `TodoWrite`",
            "write `TodoWrite`, or `TodoWrite(field:value)` in a deny or ask rule",
        ),
    ] {
        for behavior in [Allow, Ask, Deny] {
            let problem = compile(text, behavior).unwrap_err();
            assert_eq!(
                (problem.message.as_str(), problem.hint.as_deref()),
                (message, Some(hint)),
                "{behavior} {text}"
            );
        }
    }
    for text in [
        "",
        "  ",
        "Bash(ls",
        "Bash)",
        "Bash(ls)x",
        "Bash(a\u{0}b)",
        "Ba\u{1b}sh",
        "Bash(x\u{7f})",
        "Cd(/x)",
        "Ba\nsh",
    ] {
        for behavior in [Allow, Ask, Deny] {
            assert!(compile(text, behavior).is_err(), "{text:?}");
        }
    }
}

#[test]
fn an_allow_glob_needs_a_whole_server_name_before_it() {
    for text in ["*", "B*", "mcp__*", "mcp__*__x", "mcp__git*", "mcp__git*__x", "mcp____*x"] {
        let problem = compile(text, Allow).unwrap_err();
        assert!(
            problem.message.contains("approves nothing") || problem.message.contains("no MCP server"),
            "{text}"
        );
        assert!(problem.hint.is_some(), "{text}");
    }
}

#[test]
fn server_rules_match_the_tools_of_that_server_only() {
    for (text, tool, expected) in [
        ("mcp__git", "mcp__git__push", true),
        ("mcp__git__*", "mcp__git__push", true),
        ("mcp__git", "mcp__github__push", false),
        ("mcp__git__push", "mcp__git__push", true),
        ("mcp__git__push", "mcp__git__pull", false),
        ("mcp__git__p*", "mcp__git__pull", true),
        ("mcp__a__b__*", "mcp__a__b", false),
        ("mcp__a__b__*", "mcp__a__b__c", true),
        ("Bash", "Bash", true),
        ("Bash", "BashOutput", false),
    ] {
        let Ok(Rule { matcher: Matcher::Tool(pattern), .. }) = compile(text, Allow) else { panic!("{text}") };
        assert_eq!(pattern.matches(tool), expected, "{text} on {tool}");
    }
}

#[test]
fn a_rule_remembers_how_it_was_written() {
    let rule = compile(" Task(x) ", Deny).unwrap();
    assert_eq!(rule.source_text, " Task(x) ");
    assert_eq!(rule.text.to_string(), "Agent(x)");
}
