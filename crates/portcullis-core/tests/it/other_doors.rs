//! Calls that are no command lines, and settings of a repository: what nobody may slip through by another door.

use portcullis_core::{Decision, Input, Mode, Policy, Question, Request, Resolution, ToolCall, decide};

use crate::support::{context, decide_call, facts_without_links};

fn decision(tool: &str, field: &str, value: &str) -> Decision {
    let call = ToolCall::new(tool, Input::of_text(field, value));
    decide_call(&Policy::default(), call, context(Mode::Auto)).decision
}

#[test]
fn a_secret_is_not_read_by_a_tool_that_is_no_shell() {
    for (tool, field, value) in [
        ("Read", "file_path", "/home/me/.ssh/id_rsa"),
        ("Grep", "path", "/home/me/.aws/credentials"),
        ("Grep", "glob", "~/.ssh/*"),
        ("WebFetch", "url", "file:///home/me/.ssh/id_rsa"),
        ("ReadMcpResourceTool", "uri", "file:///home/me/.ssh/id_rsa"),
        ("mcp__files__read_file", "absolutePath", "/home/me/.ssh/id_rsa"),
    ] {
        assert_eq!(decision(tool, field, value), Decision::Deny, "{tool} {value}");
    }
    assert_eq!(decision("ReadMcpResourceTool", "uri", "notes://today"), Decision::Allow);
    assert_eq!(decision("Grep", "path", "/code/app/src"), Decision::Allow);
}

#[test]
fn the_home_of_a_program_in_another_language_is_the_home() {
    for command in [
        "python3 -c \"import shutil, os; shutil.rmtree(os.path.expanduser('~'))\"",
        "ruby -e \"require 'fileutils'; FileUtils.rm_rf(File.expand_path('~'))\"",
    ] {
        assert_eq!(decision("Bash", "command", command), Decision::Deny, "{command}");
    }
}

fn with_settings(command: &str, settings: &str) -> Decision {
    let policy = Policy::default();
    let request = Request::new(&policy, ToolCall::bash(command), context(Mode::Auto));
    let mut facts = facts_without_links(&request);
    for question in request.questions() {
        if matches!(question, Question::GitSettings(_)) {
            facts.insert(question.clone(), Resolution::Text(settings.to_owned()));
        }
    }
    decide(&policy, &request, &facts).expect("the session is not aborted").into_verdict().decision
}

#[test]
fn a_look_at_a_repository_with_a_trap_is_not_allowed_by_the_judge() {
    for settings in
        ["[core]\n\tfsmonitor = ./x.sh", "[diff \"x\"]\n\ttextconv = ./x.sh", "[include]\n\tpath = ../x"]
    {
        assert_eq!(with_settings("git status", settings), Decision::Ask, "{settings}");
    }
    for settings in
        ["", "[core]\n\thooksPath = .husky/_", "[credential]\n\thelper = store", "[core]\n\tbare = false"]
    {
        assert_eq!(with_settings("git status", settings), Decision::Allow, "{settings}");
    }
    for command in ["git --git-dir=sub/bare status", "GIT_DIR=sub/bare git log"] {
        assert_eq!(with_settings(command, ""), Decision::Ask, "{command}");
    }
}
