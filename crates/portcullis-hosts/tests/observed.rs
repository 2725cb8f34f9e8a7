//! What the adapters say, held against what the real programs were seen to do with it.
#![cfg(test)]

use portcullis_core::tool::{ToolKind, find_tool};
use portcullis_core::{Case, Context, Decision, Mode, Policy};
use portcullis_hosts::registration::{HookCommand, RegistrationPiece};
use portcullis_hosts::{
    AskBy, CallFate, HookBehavior, HookCall, Host, HostDecision, HostEvent, HostInput, ObservedMode,
    PlainQuestion, offered_tools,
};
use serde_json::{Value, json};

fn all() -> impl Iterator<Item = (Host, &'static ObservedMode)> {
    Host::ALL.into_iter().flat_map(|host| host.adapter().observed.iter().map(move |seen| (host, seen)))
}

#[test]
fn every_moment_has_a_row() {
    for host in Host::ALL.into_iter().filter(|host| *host != Host::Generic) {
        for moment in host.adapter().moments() {
            let has_row = host.adapter().observed.iter().any(|seen| std::ptr::eq(seen.moment, moment));
            assert!(has_row, "{}: `{}` {:?}", host.name(), moment.event, moment.capabilities);
        }
    }
    for (host, seen) in all() {
        let is_its_own = host.adapter().moments().any(|moment| std::ptr::eq(seen.moment, moment));
        assert!(is_its_own, "{}: {}", host.name(), seen.mode);
    }
}

#[test]
fn what_was_seen_names_its_test_and_nothing_else_does() {
    for (host, seen) in all() {
        let (gone, others) = seen.fates.split_last().unwrap();
        let is_seen = others.iter().any(|fate| *fate != CallFate::NotSeen);
        assert_eq!(is_seen, !seen.shown_by.is_empty(), "{}: {}", host.name(), seen.mode);
        assert_eq!(
            *gone != CallFate::NotSeen,
            !seen.gone_shown_by.is_empty(),
            "{}: {}",
            host.name(),
            seen.mode
        );
    }
}

#[test]
fn a_denial_is_heeded_everywhere() {
    for (host, seen) in all() {
        let fate = seen.fate(HookBehavior::Deny);
        assert!(
            !matches!(fate, CallFate::Runs | CallFate::Asked),
            "{}: {}: {fate:?}",
            host.name(),
            seen.mode
        );
    }
}

#[test]
fn where_an_ask_would_run_we_deny() {
    for (host, seen) in all().filter(|(_, seen)| seen.fate(HookBehavior::Ask) == CallFate::Runs) {
        let said = seen.moment.capabilities.lower(Decision::Ask);
        assert_eq!(said, HostDecision::Deny, "{}: {}", host.name(), seen.mode);
    }
}

/// Silence is how a moment asks only where the host then asks by itself, or stops the call because nobody is there.
#[test]
fn where_silence_would_run_it_is_no_way_to_ask() {
    for (host, seen) in all().filter(|(_, seen)| seen.fate(HookBehavior::Silence) == CallFate::Runs) {
        let capabilities = seen.moment.capabilities;
        assert_ne!(capabilities.ask, AskBy::Silence, "{}: {}", host.name(), seen.mode);
        assert_ne!(capabilities.plain, PlainQuestion::LeftToHost, "{}: {}", host.name(), seen.mode);
    }
}

#[test]
fn what_breaks_off_or_cannot_start_never_lets_a_call_run() {
    for (host, seen) in all() {
        for behavior in [HookBehavior::ExitOne, HookBehavior::Gone] {
            let fate = seen.fate(behavior);
            assert_ne!(fate, CallFate::Runs, "{}: {}: {}", host.name(), seen.mode, behavior.title());
        }
    }
}

/// Of these only our own deadline and our own care protect; a moment must say so.
#[test]
fn a_moment_that_fails_open_says_so() {
    for (host, seen) in all() {
        let lets_run = [HookBehavior::Garbage, HookBehavior::Late]
            .into_iter()
            .any(|behavior| seen.fate(behavior) == CallFate::Runs);
        assert!(!lets_run || seen.moment.capabilities.fails_open, "{}: {}", host.name(), seen.mode);
    }
}

/// Where a failing hook lets a call run by itself, the registered command makes it stop.
#[test]
fn a_host_that_lets_calls_run_after_a_failure_gets_a_command_that_stops_them() {
    let command = HookCommand {
        program: "/opt/portcullis".to_owned(),
        arguments: vec!["hook".to_owned(), "host".to_owned()],
        host_version: None,
    };
    for host in [Host::Claude, Host::Codex, Host::Gemini, Host::Qwen, Host::Droid, Host::Kimi] {
        let pieces = (host.adapter().registration.pieces)(&command);
        let has_guard = pieces.iter().any(|piece| match piece {
            RegistrationPiece::Element { value, .. } => value.to_string().contains("exit 2; }"),
            _ => false,
        });
        assert!(has_guard, "{}", host.name());
    }
}

/// An input that has what any tool may need.
fn any_input() -> Value {
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    let mut input = json!({
        "cmd": "ls", "command": "ls", "commands": ["ls"], "patterns": ["a"], "paths": ["a"], "files": ["a"],
        "requests": [{"url": "https://a.example"}], "queries": ["a"], "url": "https://a.example", "input": patch,
        "prompt": "read https://a.example", "edits": [{"oldText": "a", "newText": "b"}], "include": ["a"],
        "name": "read_file", "arguments": {"file_path": "a"}, "description": "d",
    });
    let texts = [
        "absolute_path",
        "agent_name",
        "body",
        "content",
        "directory_path",
        "dir_path",
        "file_path",
        "filePath",
        "file_text",
        "message",
        "new_source",
        "newString",
        "new_str",
        "new_string",
        "notebook_path",
        "old_str",
        "oldString",
        "old_string",
        "path",
        "pattern",
        "prompt_template",
        "query",
        "rolePrompt",
        "skill",
        "task",
    ];
    for name in texts {
        input[name] = json!("a");
    }
    input
}

/// Has an adapter read a call of a tool, in a mode in which the host's user is asked.
fn called(host: Host, tool: &str) -> HookCall {
    let input = any_input();
    let told = match host {
        Host::Gemini => {
            json!({"hook_event_name": "BeforeTool", "cwd": "/w", "tool_name": tool, "tool_input": input})
        }
        Host::Copilot => json!({"cwd": "/w", "toolName": tool, "toolArgs": input}),
        Host::Crush => json!({"event": "PreToolUse", "cwd": "/w", "tool_name": tool, "tool_input": input}),
        Host::Opencode => {
            json!({"event": "tool.execute.before", "directory": "/w", "tool": tool, "args": input})
        }
        Host::Pi => json!({"event": "tool_call", "directory": "/w", "tool": tool, "args": input}),
        Host::Cline => json!({
            "hookName": "tool_call", "workspaceRoots": ["/w"], "tool_call": {"id": "1", "name": tool, "input": input},
        }),
        _ => json!({"hook_event_name": "PreToolUse", "cwd": "/w", "tool_name": tool, "tool_input": input}),
    };
    let told = told.to_string();
    let told = HostInput { input: told.as_bytes(), directory: "/w", variable: &|_| None };
    match (host.adapter().read)(&told) {
        Ok(HostEvent::Call(call)) => *call,
        other => panic!("{}: {tool}: {other:?}", host.name()),
    }
}

#[test]
fn every_tool_that_a_host_offers_is_known() {
    for host in Host::ALL {
        for tool in offered_tools(host) {
            let call = called(host, tool);
            for one in &call.calls {
                assert!(find_tool(one.tool()).is_some(), "{}: {tool} became {one:?}", host.name());
            }
        }
    }
}

/// A tool that looks after the conversation runs, and one that is a question to the user is left to the host: a denial would
/// break what worked before we were asked.
#[test]
fn no_tool_that_stays_within_the_conversation_is_denied() {
    for host in Host::ALL {
        for tool in offered_tools(host) {
            let call = called(host, tool);
            let info = |name| find_tool(name).expect("it is known");
            if !call.calls.iter().all(|one| info(one.tool()).kind == ToolKind::Internal) {
                continue;
            }
            for one in &call.calls {
                let policy = Policy::default();
                let mut case = Case::new(one.clone(), Context::new(Mode::Default, "/w"));
                case.assume_empty_disk(&policy);
                let verdict = case.decide(&policy).unwrap().into_verdict();
                let said = call.moment.capabilities.lower_verdict(&verdict);
                assert_ne!(said, HostDecision::Deny, "{}: {tool}: {:?}", host.name(), verdict.reason);
            }
        }
    }
}

#[test]
fn what_runs_code_of_its_own_is_no_bookkeeping() {
    for (host, tool) in [(Host::Codex, "js_repl"), (Host::Copilot, "store_memory"), (Host::Droid, "Script")] {
        let calls = called(host, tool).calls;
        assert!(calls.iter().any(|one| find_tool(one.tool()).is_none()), "{tool}: {calls:?}");
        assert!(offered_tools(host).all(|known| known != tool), "{tool}");
    }
}

/// Codex asks its user about tools of MCP servers by itself, but only where it asks at all.
#[test]
fn a_plain_question_about_an_mcp_tool_is_left_to_codex_where_it_asks() {
    let moment = |mode: &str| {
        let told = json!({
            "hook_event_name": "PreToolUse", "cwd": "/w", "permission_mode": mode,
            "tool_name": "mcp__a__b", "tool_input": {},
        });
        let told = told.to_string();
        let told = HostInput { input: told.as_bytes(), directory: "/w", variable: &|_| None };
        match (Host::Codex.adapter().read)(&told) {
            Ok(HostEvent::Call(call)) => call.moment,
            other => panic!("{mode}: {other:?}"),
        }
    };
    assert_eq!(moment("default").capabilities.plain, PlainQuestion::LeftToHost);
    assert_eq!(moment("bypassPermissions").capabilities.plain, PlainQuestion::LeftIfHarmless);
}
