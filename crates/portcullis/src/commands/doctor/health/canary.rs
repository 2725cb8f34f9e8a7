//! The canary: the registered command is run as the agent would run it, and its answers are read as the agent would.
//!
//! Two calls are put to it. One removes the whole disk, which no mode and no rule ever allows; it is only judged, never
//! run. The other one only looks, and shows that answers do not come from a failure. Both belong to the session
//! `portcullis-doctor`, so that the audit trail tells them from the calls of an agent.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use portcullis_hosts::{AskBy, HookMoment, Host, HostDecision, HostError, HostEvent, HostInput};
use serde_json::{Value, json};

use portcullis_gate::presence::DOCTOR_SESSION;
use portcullis_gate::process::{self, Finished};
use portcullis_install::ours::Registered;

/// What Amp tells in variables.
const VARIABLES: [(&str, &str); 3] =
    [("AGENT", "amp"), ("AGENT_TOOL_NAME", "Bash"), ("AMP_THREAD_ID", DOCTOR_SESSION)];

/// A call that nothing allows.
const REFUSED: &str = "rm -rf /";

/// A call that only looks.
const HARMLESS: &str = "ls";

/// How long the command may take; the hook's own limit is shorter.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs the canary; returns how long the slower call took, or what went wrong.
pub(super) fn run(
    host: Host,
    registered: &Registered,
    home: &Path,
    found: Option<&PathBuf>,
) -> Result<Duration, String> {
    let refused = ask(host, registered, home, found, REFUSED)?;
    let said = answer(host, &refused)?;
    let asks_by = moment(host, &input(host, home, REFUSED).to_string())?.capabilities.ask;
    let is_stopped = match said {
        HostDecision::Deny | HostDecision::Ask => true,
        HostDecision::Silence => asks_by == AskBy::Silence,
        HostDecision::Allow | HostDecision::Contained => false,
    };
    if !is_stopped {
        return Err(format!("the call `{REFUSED}` was not stopped: the answer was {}", said.as_str()));
    }
    let harmless = ask(host, registered, home, found, HARMLESS)?;
    answer(host, &harmless)?;
    Ok(refused.elapsed.max(harmless.elapsed))
}

fn ask(
    host: Host,
    registered: &Registered,
    home: &Path,
    found: Option<&PathBuf>,
    command_line: &str,
) -> Result<Finished, String> {
    let mut command = match registered {
        Registered::Words(words) => {
            let (program, arguments) = words.split_first().ok_or("the registered command is empty")?;
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        Registered::Line(line) => {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", line]);
            command
        }
        Registered::Name(_) => Command::new(found.ok_or("the registered program is not on the PATH")?),
    };
    command.current_dir(home);
    if host == Host::Amp {
        command.envs(VARIABLES);
    }
    let text = input(host, home, command_line).to_string();
    process::run(command, &text, LIMIT).map_err(|why| format!("the registered command {why}"))
}

/// What the host would hand over for a shell command, in the mode that asks least.
fn input(host: Host, home: &Path, command: &str) -> Value {
    let claude_shape = |event: &str, tool: &str| {
        json!({
            "session_id": DOCTOR_SESSION, "cwd": home, "hook_event_name": event, "tool_name": tool,
            "tool_input": {"command": command}, "tool_use_id": DOCTOR_SESSION,
        })
    };
    let with = |mut value: Value, name: &str, field: Value| {
        if let Some(object) = value.as_object_mut() {
            object.insert(name.to_owned(), field);
        }
        value
    };
    match host {
        Host::Claude => {
            with(claude_shape("PreToolUse", "Bash"), "permission_mode", json!("bypassPermissions"))
        }
        Host::Codex => {
            let value =
                with(claude_shape("PreToolUse", "Bash"), "permission_mode", json!("bypassPermissions"));
            with(with(value, "turn_id", json!(DOCTOR_SESSION)), "model", json!("none"))
        }
        Host::Gemini => {
            let value = claude_shape("BeforeTool", "run_shell_command");
            with(value, "timestamp", json!("2026-01-01T00:00:00.000Z"))
        }
        Host::Qwen => with(claude_shape("PreToolUse", "run_shell_command"), "permission_mode", json!("yolo")),
        Host::Droid => with(claude_shape("PreToolUse", "Execute"), "permission_mode", json!("auto-high")),
        Host::Opencode => json!({
            "event": "tool.execute.before", "tool": "bash", "sessionID": DOCTOR_SESSION, "callID": DOCTOR_SESSION,
            "args": {"command": command}, "directory": home, "worktree": home,
        }),
        Host::Cursor => json!({
            "hook_event_name": "beforeShellExecution", "conversation_id": DOCTOR_SESSION, "generation_id": DOCTOR_SESSION,
            "command": command, "cwd": home, "workspace_roots": [home],
        }),
        Host::Copilot => json!({
            "sessionId": DOCTOR_SESSION, "timestamp": 1_767_225_600_000_u64, "cwd": home, "toolName": "bash",
            "toolArgs": {"command": command},
        }),
        Host::Crush => json!({
            "event": "PreToolUse", "session_id": DOCTOR_SESSION, "cwd": home, "tool_name": "bash",
            "tool_input": {"command": command},
        }),
        Host::Amp => json!({"cmd": command}),
        Host::Kimi => claude_shape("PreToolUse", "Bash"),
        Host::Pi => json!({
            "event": "tool_call", "tool": "bash", "sessionID": DOCTOR_SESSION, "callID": DOCTOR_SESSION,
            "args": {"command": command}, "directory": home, "hasUI": true,
        }),
        Host::Cline => json!({
            "hookName": "tool_call", "taskId": DOCTOR_SESSION, "workspaceRoots": [home],
            "tool_call": {"id": DOCTOR_SESSION, "name": "run_commands", "input": {"commands": [command]}},
        }),
        Host::Generic => json!({
            "event": "call", "tool": "Bash", "input": {"command": command}, "cwd": home, "session": DOCTOR_SESSION,
        }),
    }
}

/// Returns the moment that an input is about: what an answer means depends on it.
fn moment(host: Host, text: &str) -> Result<&'static HookMoment, String> {
    match read(host, text) {
        Ok(HostEvent::Call(call)) => Ok(call.moment),
        Ok(_) => Err("the trial call is not taken for a call".to_owned()),
        Err(error) => Err(format!("the trial call is not understood: {error}")),
    }
}

/// Reads an input as the hook does.
fn read(host: Host, text: &str) -> Result<HostEvent, HostError> {
    let variable =
        |name: &str| VARIABLES.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    (host.adapter().read)(&HostInput { input: text.as_bytes(), directory: "/", variable: &variable })
}

/// Reads an answer as the host would. An answer that comes from a failure of ours is an error.
fn answer(host: Host, finished: &Finished) -> Result<HostDecision, String> {
    let complaint = || {
        let line = finished.stderr.lines().next().unwrap_or("it said nothing").to_owned();
        line.chars().take(300).collect::<String>()
    };
    if host == Host::Amp {
        return match finished.code {
            Some(0) => Ok(HostDecision::Allow),
            Some(1) => Ok(HostDecision::Ask),
            Some(2) if !finished.stderr.contains("check failed") => Ok(HostDecision::Deny),
            _ => Err(format!("the answer is a failure: {}", complaint())),
        };
    }
    if finished.code != Some(0) {
        let code = finished.code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
        return Err(format!("the registered command ended with {code}: {}", complaint()));
    }
    if finished.stdout.trim().is_empty() {
        return Ok(HostDecision::Silence);
    }
    let reply: Value = serde_json::from_str(&finished.stdout)
        .map_err(|_| "the registered command's answer is not JSON".to_owned())?;
    if host == Host::Cline {
        return match reply.get("cancel").and_then(Value::as_bool) {
            Some(true) => Ok(HostDecision::Deny),
            Some(false) => Ok(HostDecision::Silence),
            None => Err("the registered command's answer is not one that the agent knows".to_owned()),
        };
    }
    let places =
        ["/hookSpecificOutput/permissionDecision", "/permissionDecision", "/permission", "/decision"];
    let word = places.iter().find_map(|place| reply.pointer(place)).and_then(Value::as_str);
    match word {
        Some("allow" | "approve") => Ok(HostDecision::Allow),
        Some("ask") => Ok(HostDecision::Ask),
        Some("deny" | "block") => Ok(HostDecision::Deny),
        Some("silence") | None => Ok(HostDecision::Silence),
        Some(_) => Err("the registered command's answer is not one that the agent knows".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_host_reads_what_the_canary_says_as_a_shell_command_of_its_session() {
        for host in Host::ALL {
            let text = input(host, Path::new("/home/me"), REFUSED).to_string();
            let event = read(host, &text).unwrap_or_else(|error| panic!("{host:?}: {error}"));
            let HostEvent::Call(call) = event else { panic!("{host:?}: {event:?}") };
            assert_eq!(call.calls.len(), 1, "{host:?}");
            assert_eq!(call.calls[0].tool(), "Bash", "{host:?}");
            assert!(format!("{:?}", call.calls[0]).contains(REFUSED), "{host:?}");
            assert_eq!(call.session.id, DOCTOR_SESSION, "{host:?}");
        }
    }

    #[test]
    fn answers_are_read_as_hosts_read_them() {
        let finished = |code: i32, stdout: &str, stderr: &str| Finished {
            code: Some(code),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            elapsed: Duration::ZERO,
        };
        let read = |host, code, stdout: &str| answer(host, &finished(code, stdout, "")).ok();
        let claude = r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#;
        assert_eq!(read(Host::Claude, 0, claude), Some(HostDecision::Deny));
        assert_eq!(read(Host::Claude, 2, claude), None, "a failure blocks, but is a failure");
        assert_eq!(read(Host::Codex, 0, ""), Some(HostDecision::Silence));
        assert_eq!(read(Host::Cursor, 0, r#"{"permission":"allow"}"#), Some(HostDecision::Allow));
        assert_eq!(read(Host::Crush, 0, r#"{"version":1,"decision":null}"#), Some(HostDecision::Silence));
        assert_eq!(read(Host::Gemini, 0, "garbage"), None);
        assert_eq!(read(Host::Gemini, 0, r#"{"decision":"maybe"}"#), None);
        assert_eq!(read(Host::Amp, 1, ""), Some(HostDecision::Ask));
        assert!(answer(Host::Amp, &finished(2, "", "portcullis: the permission check failed\n")).is_err());
    }
}
