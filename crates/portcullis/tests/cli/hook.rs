//! `portcullis hook claude`: answers and failures, as Claude Code sees them.

use std::fs::OpenOptions;
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox, ran};

const RULES: &str = r#"{"permissions":{"allow":["Bash(cargo:*)"],"deny":["Bash(git push:*)"]}}"#;

fn input(sandbox: &Sandbox, tool: &str, tool_input: &Value, mode: &str) -> String {
    json!({
        "session_id": "1f6f4d7e-0000-4000-8000-3f1d2c5b6a70",
        "transcript_path": "/tmp/transcript.jsonl",
        "cwd": sandbox.project,
        "permission_mode": mode,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": tool_input,
        "tool_use_id": "toolu_1",
    })
    .to_string()
}

fn bash(sandbox: &Sandbox, command: &str) -> String {
    input(sandbox, "Bash", &json!({"command": command}), "default")
}

/// Returns what is said to the host: nothing where a question is left to its own prompt.
fn decision(ran: &Ran) -> (String, String) {
    if ran.stdout.is_empty() {
        return ("silence".to_owned(), String::new());
    }
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
    let output = &reply["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PreToolUse");
    let text = |key: &str| output[key].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

fn check_blocked(name: &str, ran: &Ran) {
    assert_eq!(ran.code, Some(2), "{name}: {ran:?}");
    let (decision, reason) = decision(ran);
    assert_eq!(decision, "deny", "{name}");
    assert!(reason.starts_with("portcullis: "), "{name}: {reason}");
    assert!(ran.stderr.starts_with("portcullis: "), "{name}: {}", ran.stderr);
}

#[test]
fn every_call_gets_an_answer_that_fits_its_mode() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let table = [
        ("cargo build", "default", "allow"),
        ("git -C . push", "default", "deny"),
        ("git push", "bypassPermissions", "deny"),
        ("make install", "default", "silence"),
        ("make install", "auto", "ask"),
        ("make install", "dontAsk", "deny"),
        ("make install", "bypassPermissions", "allow"),
        ("make install", "something new", "ask"),
    ];
    for (command, mode, expected) in table {
        let input = input(&sandbox, "Bash", &json!({"command": command}), mode);
        let ran = sandbox.run_with_input(&["hook", "claude"], input.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command} in {mode}");
        assert_eq!(decision(&ran).0, expected, "{command} in {mode}");
    }
}

#[test]
fn a_subagent_gets_no_prompt_of_ours_without_a_finding() {
    let sandbox = Sandbox::new();
    let task = json!({"description": "look", "prompt": "look for the bug", "subagent_type": "worker"});
    for mode in ["default", "acceptEdits", "plan", "auto", "bypassPermissions"] {
        let ran =
            sandbox.run_with_input(&["hook", "claude"], input(&sandbox, "Agent", &task, mode).as_bytes());
        assert_ne!(decision(&ran).0, "ask", "{mode}");
        assert_ne!(decision(&ran).0, "deny", "{mode}");
    }
    let unchecked = json!({"description": "go", "prompt": "fix it", "subagent_type": "worker", "mode": "bypassPermissions"});
    for mode in ["default", "plan", "auto"] {
        let ran = sandbox
            .run_with_input(&["hook", "claude"], input(&sandbox, "Agent", &unchecked, mode).as_bytes());
        assert!(["ask", "deny"].contains(&decision(&ran).0.as_str()), "{mode}: {ran:?}");
    }
}

/// An ask of ours would take “don't ask again” away.
#[test]
fn a_question_that_nothing_speaks_against_is_left_to_claude_codes_own_prompt() {
    let sandbox = Sandbox::new();
    sandbox.write_home(
        ".config/portcullis/settings.json",
        r#"{"permissions": {"ask": ["Bash(npm run build:*)"]}}"#,
    );
    for (command, expected) in [
        ("npm test", "silence"),
        ("cargo build", "silence"),
        ("touch a.txt", "silence"),
        ("npm run build", "ask"),
        ("git push --force origin topic", "ask"),
        ("cat ~/.ssh/id_rsa", "ask"),
    ] {
        let ran = sandbox.run_with_input(&["hook", "claude"], bash(&sandbox, command).as_bytes());
        assert_eq!(decision(&ran).0, expected, "{command}: {ran:?}");
    }
}

#[test]
fn the_reason_names_the_rule_and_its_place() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let ran = sandbox.run_with_input(&["hook", "claude"], bash(&sandbox, "git push").as_bytes());
    let reason = sandbox.plain(&decision(&ran).1);
    for part in ["portcullis: ", "`Bash(git push:*)`", "HOME/.claude/settings.json:1"] {
        assert!(reason.contains(part), "no {part:?} in {reason}");
    }
    assert!(!reason.contains("A2"), "steps are for traces: {reason}");
}

#[test]
fn input_that_is_not_understood_blocks() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let good = bash(&sandbox, "cargo build");
    let huge = format!("{}{}", good, " ".repeat(16 << 20));
    let deep = format!(r#"{{"hook_event_name":"PreToolUse","tool_input":{}"#, "[".repeat(300_000));
    let table: &[(&str, Vec<u8>)] = &[
        ("nothing", Vec::new()),
        ("blanks", b" \n ".to_vec()),
        ("not JSON", b"hello".to_vec()),
        ("half of it", good.as_bytes()[..good.len() / 2].to_vec()),
        ("two of it", good.repeat(2).into_bytes()),
        (
            "not UTF-8",
            good.replace("cargo", "\u{fffd}").into_bytes().into_iter().filter(|byte| *byte != 0xbf).collect(),
        ),
        ("a list", b"[]".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("too much", huge.into_bytes()),
        ("too deep", deep.into_bytes()),
        ("an unknown event", good.replace("PreToolUse", "PreToolUze").into_bytes()),
        ("no tool", good.replace("tool_name", "tool").into_bytes()),
        ("no input", good.replace("tool_input", "input").into_bytes()),
        ("no directory", good.replace("\"cwd\"", "\"dir\"").into_bytes()),
        ("a relative directory", good.replace(sandbox.project.to_str().unwrap(), "project").into_bytes()),
        ("a wrong mode", good.replace("\"default\"", "3").into_bytes()),
        ("a wrong tool", good.replace("\"Bash\"", "null").into_bytes()),
        (
            "a field twice",
            good.replace("\"tool_name\":", "\"tool_name\":\"Read\",\"tool_name\":").into_bytes(),
        ),
    ];
    for (name, input) in table {
        check_blocked(name, &sandbox.run_with_input(&["hook", "claude"], input));
    }
}

#[test]
fn monstrous_commands_are_answered_and_never_allowed() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let many = 10_000;
    let table = [
        ("subshells", "(".repeat(many)),
        ("closed subshells", format!("{}make{}", "( ".repeat(many), " )".repeat(many))),
        ("substitutions", "$(".repeat(many)),
        ("backquotes", "`\\`".repeat(many)),
        ("groups", "{ ".repeat(many)),
        ("quotes", "\"$(\"".repeat(many / 2)),
        ("lists", "make;".repeat(many)),
        ("pipes", format!("make{}", "|make".repeat(many / 4))),
        ("one long word", "x".repeat(1 << 20)),
        ("conditions", "if ".repeat(many)),
        ("heredocs", "make <<A\n".repeat(many / 10)),
        ("shells", format!("{}cargo build", "bash -c ".repeat(many / 10))),
        ("wrappers", format!("{}git push", "env ".repeat(many))),
        ("braces", format!("make {}", "{a,b}".repeat(many / 10))),
        ("expansions", "${x:-".repeat(many)),
        ("arithmetic", "$((".repeat(many)),
    ];
    for (name, command) in table {
        let ran = sandbox.run_with_input(&["hook", "claude"], bash(&sandbox, &command).as_bytes());
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.stderr);
        assert_ne!(decision(&ran).0, "allow", "{name}");
    }
}

#[test]
fn a_wrong_command_line_blocks() {
    let sandbox = Sandbox::new();
    let input = bash(&sandbox, "ls");
    for arguments in [
        ["hook"].as_slice(),
        &["hook", "clod"],
        &["hook", "claude", "--settings"],
        &["hook", "claude", "--nonsense"],
        &["hook", "claude", "--settings", "/no/such/file.json"],
    ] {
        check_blocked(&format!("{arguments:?}"), &sandbox.run_with_input(arguments, input.as_bytes()));
    }
}

#[test]
fn settings_can_be_named_on_the_command_line() {
    let sandbox = Sandbox::new();
    let settings = r#"{"permissions":{"deny":["Bash(ls:*)"]}}"#;
    for arguments in [
        vec!["hook".to_owned(), "claude".to_owned(), "--settings".to_owned(), settings.to_owned()],
        vec!["hook".to_owned(), "claude".to_owned(), format!("--settings={settings}")],
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = sandbox.run_with_input(&arguments, bash(&sandbox, "ls").as_bytes());
        assert_eq!((ran.code, decision(&ran).0.as_str()), (Some(0), "deny"));
    }
}

#[test]
fn other_events_are_let_be() {
    let sandbox = Sandbox::new();
    for event in ["PostToolUse", "SessionStart", "Stop", "UserPromptSubmit"] {
        let input = json!({"hook_event_name": event, "cwd": sandbox.project}).to_string();
        let ran = sandbox.run_with_input(&["hook", "claude"], input.as_bytes());
        assert_eq!(ran, Ran { code: Some(0), stdout: String::new(), stderr: String::new() }, "{event}");
    }
}

#[test]
fn a_session_begins_with_its_mode_and_who_decides() {
    let sandbox = Sandbox::new();
    let begin = |host: &str, source: &str, mode: &str| {
        let input = json!({
            "hook_event_name": "SessionStart", "session_id": "s", "cwd": sandbox.project, "source": source,
            "permission_mode": mode,
        });
        let ran = sandbox.run_with_input(&["hook", host], input.to_string().as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{host}");
        let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        said["systemMessage"].as_str().unwrap_or_default().to_owned()
    };
    let asked = "what rules and the analysis leave open is asked about.";
    let expected = format!("Portcullis judges every tool call. Mode: default; {asked}");
    assert_eq!(begin("claude", "startup", "default"), expected);
    assert_eq!(begin("claude", "compact", "default"), "", "the session goes on");
    assert_eq!(begin("codex", "startup", "default"), "", "Codex was not seen to show it");
    sandbox.write_home(".config/portcullis/settings.json", r#"{"permissions": {"defaultMode": "auto"}}"#);
    let expected = format!("Portcullis judges every tool call. Mode: auto; {asked}");
    for host in ["claude", "gemini"] {
        assert_eq!(begin(host, "resume", "default"), expected, "{host}");
    }
    assert!(begin("claude", "startup", "plan").contains("Mode: plan;"));
    let model = r#"{"permissions": {"defaultMode": "auto"}, "classifier": {"provider": "anthropic"}}"#;
    sandbox.write_home(".config/portcullis/settings.json", model);
    assert!(begin("claude", "startup", "default").ends_with("in auto mode goes to the model."));
}

#[test]
fn an_answer_that_cannot_be_delivered_blocks_by_exit_code() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let input = sandbox.write_project("input.json", &bash(&sandbox, "cargo build"));
    for device in ["/dev/full", "/dev/null"] {
        let sink = OpenOptions::new().write(true).open(device).unwrap();
        let input = std::fs::File::open(&input).unwrap();
        let status = sandbox.command(&["hook", "claude"]).stdin(input).stdout(sink).status().unwrap();
        assert_eq!(status.code(), Some(2), "{device}");
    }
    let mut child = sandbox.command(&["hook", "claude"]).stdin(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), bash(&sandbox, "cargo build").as_bytes())
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn a_signal_while_waiting_for_input_blocks() {
    let sandbox = Sandbox::new();
    for signal in ["TERM", "INT", "HUP", "ABRT", "SEGV", "ALRM", "QUIT", "XCPU"] {
        let mut child = sandbox.command(&["hook", "claude"]).stdin(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        wait_until_reading(child.id());
        let kill = std::process::Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        check_blocked(signal, &ran(&child.wait_with_output().unwrap()));
        drop(stdin);
    }
}

/// Waits until the process catches SIGTERM, which it does once the guard is armed.
pub(crate) fn wait_until_reading(process: u32) {
    const SIGTERM_BIT: u64 = 1 << 14;
    for _ in 0..10_000 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
        if u64::from_str_radix(caught, 16).unwrap_or(0) & SIGTERM_BIT != 0 {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn broken_settings_do_not_block_by_themselves() {
    let sandbox = Sandbox::with_user_settings("{ not json");
    let ran = sandbox.run_with_input(&["hook", "claude"], bash(&sandbox, "ls").as_bytes());
    assert_eq!((ran.code, decision(&ran).0.as_str()), (Some(0), "allow"));
    let ran = sandbox.run_with_input(&["hook", "claude"], bash(&sandbox, "make").as_bytes());
    assert_eq!((ran.code, decision(&ran).0.as_str()), (Some(0), "ask"));
}

#[test]
fn the_project_is_where_the_session_was_started() {
    let sandbox = Sandbox::new();
    sandbox.write_project(".claude/settings.json", r#"{"permissions":{"deny":["Bash(make:*)"]}}"#);
    let input = bash(&sandbox, "make")
        .replace(sandbox.project.to_str().unwrap(), sandbox.project.join("src").to_str().unwrap());
    let path = sandbox.write_project("input.json", &input);
    let answer = |project: &std::path::Path| {
        let mut command = sandbox.command(&["hook", "claude"]);
        command.env("CLAUDE_PROJECT_DIR", project).stdin(std::fs::File::open(&path).unwrap());
        decision(&ran(&command.output().unwrap())).0
    };
    assert_eq!(answer(&sandbox.project), "deny");
    assert_eq!(answer(&sandbox.home), "silence");
    assert_eq!(answer(&sandbox.project.join("gone")), "silence", "a project that is not there says nothing");
}

#[test]
fn what_the_project_forbids_holds_wherever_the_session_moves_to() {
    let sandbox = Sandbox::new();
    sandbox.write_project(
        ".claude/settings.json",
        r#"{"permissions":{"deny":["Bash(make:*)"],"allow":["Bash(cargo:*)"]}}"#,
    );
    assert_eq!(sandbox.run(&["trust", "add"]).code, Some(0));
    let link = sandbox.home.join("link");
    std::os::unix::fs::symlink(&sandbox.project, &link).unwrap();
    let inside = sandbox.project.join("src").to_str().unwrap().to_owned();
    let outside = sandbox.home.to_str().unwrap().to_owned();
    let dotted = format!("{}/../home", sandbox.project.to_str().unwrap());
    for (cwd, command, expected) in [
        (&inside, "make", "deny"),
        (&inside, "cargo build", "allow"),
        (&outside, "make", "deny"),
        (&outside, "cargo build", "silence"),
        (&dotted, "make", "deny"),
        (&dotted, "cargo build", "silence"),
    ] {
        let input = bash(&sandbox, command).replace(sandbox.project.to_str().unwrap(), cwd);
        let path = sandbox.write_home("input.json", &input);
        for project in [&sandbox.project, &link] {
            let mut hook = sandbox.command(&["hook", "claude"]);
            hook.env("CLAUDE_PROJECT_DIR", project).stdin(std::fs::File::open(&path).unwrap());
            let ran = ran(&hook.output().unwrap());
            assert_eq!(decision(&ran).0, expected, "{command} in {cwd}, {}", project.display());
        }
    }
}

#[test]
fn a_home_that_cannot_be_found_blocks() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let path = sandbox.write_project("input.json", &bash(&sandbox, "git push"));
    let mut hook = sandbox.command(&["hook", "claude"]);
    hook.env("HOME", "home").stdin(std::fs::File::open(&path).unwrap());
    check_blocked("a relative home", &ran(&hook.output().unwrap()));
}

#[test]
fn the_user_is_told_of_a_broken_settings_file() {
    for (settings, told) in [("{ not json", true), (RULES, false)] {
        let sandbox = Sandbox::with_user_settings(settings);
        let ran = sandbox.run_with_input(&["hook", "claude"], bash(&sandbox, "ls").as_bytes());
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
        let message = reply["systemMessage"].as_str().map(|message| sandbox.plain(message));
        assert_eq!(message.is_some(), told, "{reply}");
        let expected = "portcullis: HOME/.claude/settings.json: expected a key in double quotes";
        assert!(message.is_none_or(|message| message.starts_with(expected)), "{reply}");
    }
}

#[test]
fn what_a_broken_settings_file_forbids_behind_the_break_does_not_run_unasked() {
    let broken = r#"{"permissions":{"allow":[oops],"deny":["Bash(git push:*)"]}}"#;
    let sandbox = Sandbox::with_user_settings(broken);
    sandbox.write_home(".config/portcullis/settings.json", r#"{"permissions":{"allow":["Bash(git:*)"]}}"#);
    for mode in ["default", "acceptEdits", "auto", "bypassPermissions"] {
        let input = input(&sandbox, "Bash", &json!({"command": "git push"}), mode);
        let ran = sandbox.run_with_input(&["hook", "claude"], input.as_bytes());
        // Where Claude Code would take an ask for an allow, it is denied.
        let expected = if mode == "bypassPermissions" { "deny" } else { "ask" };
        assert_eq!(decision(&ran).0, expected, "{mode}");
    }
}

#[test]
fn help_is_still_help() {
    let ran = Sandbox::new().run(&["hook", "--help"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("Usage: portcullis hook [OPTIONS] <HOST>"), "{}", ran.stdout);
}

/// Answers a call of Gemini CLI where nobody is there.
fn unwatched(sandbox: &Sandbox, tool: &str, tool_input: &Value) -> String {
    let input = json!({
        "session_id": "s", "cwd": sandbox.project, "hook_event_name": "BeforeTool", "tool_name": tool,
        "tool_input": tool_input,
    });
    let ran = sandbox.run_with_input(&["hook", "gemini", "--headless"], input.to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    if ran.stdout.is_empty() {
        return "silence".to_owned();
    }
    serde_json::from_str::<Value>(&ran.stdout).unwrap()["decision"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_harmless_is_left_to_the_host_where_nobody_is_there_too() {
    let sandbox =
        Sandbox::with_user_settings(r#"{"permissions":{"ask":["Edit(asked.txt)","Agent(special)"]}}"#);
    let write = |file: &str| json!({"file_path": file, "content": "x"});
    for (tool, input, expected) in [
        ("write_file", write("new.txt"), "silence"),
        ("write_file", write("asked.txt"), "deny"),
        ("write_file", write("/etc/hosts"), "deny"),
        ("write_file", write(".git/hooks/pre-commit"), "deny"),
        ("run_shell_command", json!({"command": "frobnicate"}), "deny"),
        ("invoke_agent", json!({"agent_name": "generalist", "prompt": "look"}), "silence"),
        ("invoke_agent", json!({"agent_name": "special", "prompt": "look"}), "deny"),
        ("mcp_server_tool", json!({}), "deny"),
        ("update_topic", json!({"title": "t"}), "silence"),
        ("ask_user", json!({"questions": []}), "deny"),
    ] {
        assert_eq!(unwatched(&sandbox, tool, &input), expected, "{tool} {input}");
    }
    let log: Value = serde_json::from_str(&sandbox.run(&["log", "--json"]).stdout).unwrap();
    let of_write =
        log["records"].as_array().unwrap().iter().rfind(|record| record["tool"] == "Write").unwrap();
    assert_eq!((&of_write["decision"], &of_write["said"]), (&json!("ask"), &json!("silence")));
}

#[test]
fn a_tool_that_is_a_question_is_left_to_a_host_that_offers_no_way_to_ask() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"deny":["ExitPlanMode"]}}"#);
    for (host, tool, expected) in [
        ("kimi", "AskUserQuestion", "silence"),
        ("kimi", "ExitPlanMode", "deny"),
        ("droid", "AskUser", "silence"),
        ("codex", "request_user_input", "silence"),
        ("codex", "js_repl", "deny"),
        ("claude", "AskUserQuestion", "ask"),
    ] {
        let input = input(&sandbox, tool, &json!({}), "default");
        let ran = sandbox.run_with_input(&["hook", host], input.as_bytes());
        assert_eq!(decision(&ran).0, expected, "{host} {tool}");
    }
}
