//! Whatever goes wrong in the middle of a hook, every host gets its own blocking answer.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use portcullis_hosts::{BlockingReply, Host, HostEvent, HostInput};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What every host is asked: may this harmless command run?
const HARMLESS: &str = "git status";

/// A host's input for a harmless command, and what it says in the environment.
fn question(host: Host, directory: &str) -> (Value, Vec<(&'static str, &'static str)>) {
    let claude = |tool: &str| {
        json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": directory, "tool_name": tool,
            "tool_input": {"command": HARMLESS}, "tool_use_id": "t",
        })
    };
    let input = match host {
        Host::Claude | Host::Codex | Host::Kimi => claude("Bash"),
        Host::Qwen => claude("run_shell_command"),
        Host::Droid => claude("Execute"),
        Host::Gemini => json!({
            "hook_event_name": "BeforeTool", "session_id": "s", "cwd": directory, "tool_name": "run_shell_command",
            "tool_input": {"command": HARMLESS},
        }),
        Host::Opencode => json!({
            "event": "tool.execute.before", "tool": "bash", "sessionID": "s", "callID": "t",
            "args": {"command": HARMLESS}, "directory": directory, "worktree": directory, "servers": [],
        }),
        Host::Cursor => json!({
            "hook_event_name": "beforeShellExecution", "conversation_id": "s", "workspace_roots": [directory],
            "command": HARMLESS, "cwd": directory,
        }),
        Host::Copilot => json!({
            "sessionId": "s", "timestamp": 1, "cwd": directory, "toolName": "bash",
            "toolArgs": {"command": HARMLESS},
        }),
        Host::Crush => json!({
            "event": "PreToolUse", "session_id": "s", "cwd": directory, "tool_name": "bash",
            "tool_input": {"command": HARMLESS},
        }),
        Host::Amp => json!({"cmd": HARMLESS}),
        Host::Pi => json!({
            "event": "tool_call", "tool": "bash", "sessionID": "s", "callID": "t", "args": {"command": HARMLESS},
            "directory": directory, "hasUI": false,
        }),
        Host::Cline => json!({
            "hookName": "tool_call", "taskId": "s", "workspaceRoots": [directory],
            "tool_call": {"id": "t", "name": "run_commands", "input": {"commands": [HARMLESS]}},
        }),
        Host::Generic => {
            json!({"event": "call", "tool": "Bash", "input": {"command": HARMLESS}, "cwd": directory, "session": "s"})
        }
    };
    let variables = match host {
        Host::Amp => vec![("AGENT", "amp"), ("AGENT_TOOL_NAME", "Bash"), ("AMP_THREAD_ID", "T-1")],
        _ => Vec::new(),
    };
    (input, variables)
}

/// A hook that waits to be fed.
struct Hook {
    host: Host,
    sandbox: Sandbox,
    input: String,
    variables: Vec<(&'static str, &'static str)>,
}

impl Hook {
    fn new(host: Host) -> Self {
        let sandbox = Sandbox::new();
        let (input, variables) = question(host, sandbox.project.to_str().unwrap());
        Self { host, sandbox, input: input.to_string(), variables }
    }

    fn command(&self, more: &[&str]) -> Command {
        let words: Vec<&str> = ["hook", self.host.name()].into_iter().chain(more.iter().copied()).collect();
        let mut command = self.sandbox.command(&words);
        command.envs(self.variables.iter().copied()).stdin(Stdio::piped());
        command
    }

    fn feed(&self, mut command: Command) -> Output {
        let mut child = command.spawn().unwrap();
        // A process that is already dead does not read.
        let _ = child.stdin.take().unwrap().write_all(self.input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Returns the answer that blocks at the moment this question is asked at.
    fn blocking(&self) -> BlockingReply {
        let variable = |name: &str| {
            self.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let directory = self.sandbox.project.to_str().unwrap();
        let told = HostInput { input: self.input.as_bytes(), directory, variable: &variable };
        match (self.host.adapter().read)(&told).unwrap() {
            HostEvent::Call(call) => call.moment.blocking,
            other => panic!("{}: {other:?}", self.host.name()),
        }
    }

    #[track_caller]
    fn check_blocked(&self, what: &str, output: &Output) {
        let blocking = self.blocking();
        let name = format!("{} {what}", self.host.name());
        assert_eq!(output.status.code(), Some(blocking.exit_code), "{name}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), blocking.stdout, "{name}");
        assert!(String::from_utf8_lossy(&output.stderr).ends_with(blocking.stderr), "{name}: {output:?}");
    }

    /// The answer to a failure that is understood says more than the prepared one, and blocks alike.
    #[track_caller]
    fn check_refused(&self, what: &str, output: &Output, reason: &str) {
        let name = format!("{} {what}: {output:?}", self.host.name());
        assert_eq!(output.status.code(), Some(self.blocking().exit_code), "{name}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(reason), "{name}");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(!stdout.contains("allow") && !stdout.contains("\"ask\""), "{name}");
        assert_eq!(stdout.is_empty(), self.blocking().stdout.is_empty(), "{name}");
    }
}

#[test]
fn every_question_is_answered_when_nothing_goes_wrong() {
    for host in Host::ALL {
        let hook = Hook::new(host);
        let output = hook.feed(hook.command(&[]));
        assert_eq!(output.status.code(), Some(0), "{}: {output:?}", host.name());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!said.contains("deny") && !said.contains("reject"), "{}: {said}", host.name());
    }
}

#[test]
fn every_host_gets_its_blocking_answer_whatever_fails() {
    for host in Host::ALL {
        let hook = Hook::new(host);
        for fault in ["panic", "abort", "overflow", "memory", "hang"] {
            let mut command = hook.command(&[]);
            command.env("PORTCULLIS_FAULT", fault);
            hook.check_blocked(fault, &hook.feed(command));
        }
    }
}

#[test]
fn every_host_gets_its_blocking_answer_on_termination() {
    for host in Host::ALL {
        let hook = Hook::new(host);
        let child = hook.command(&[]).spawn().unwrap();
        crate::hook::wait_until_reading(child.id());
        let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        // Nothing was read yet, so the answer is that of the moment the host usually asks at.
        let blocking = host.adapter().usual.blocking;
        assert_eq!(output.status.code(), Some(blocking.exit_code), "{}", host.name());
        assert_eq!(String::from_utf8_lossy(&output.stdout), blocking.stdout, "{}", host.name());
    }
}

#[test]
fn every_host_is_refused_with_settings_that_cannot_be_read() {
    for host in Host::ALL {
        let hook = Hook::new(host);
        let broken = hook.sandbox.write_home("flag.json", "{\"permissions\": ");
        let output = hook.feed(hook.command(&["--settings", broken.to_str().unwrap()]));
        hook.check_refused("broken settings", &output, "--settings");
    }
}

#[test]
fn every_host_is_refused_when_nothing_can_be_recorded() {
    for host in Host::ALL {
        let hook = Hook::new(host);
        // A file that may not grow is what a full disk looks like.
        let binary = hook.command(&[]).get_program().to_owned();
        let mut command = Command::new("bash");
        command.args(["-c", "ulimit -f 0 && exec \"$0\" hook \"$1\""]).arg(binary).arg(host.name());
        let plain = hook.command(&[]);
        command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
            .current_dir(&hook.sandbox.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = hook.feed(command);
        hook.check_refused("full disk", &output, "audit trail");
        assert_eq!(recorded(&hook.sandbox.home), 0, "{}", host.name());
    }
}

#[test]
fn every_host_is_refused_when_the_state_is_no_directory_of_ours() {
    for host in Host::ALL {
        let hook = Hook::new(host);
        hook.sandbox.write_home(".local/state/portcullis", "");
        let output = hook.feed(hook.command(&[]));
        hook.check_refused("a file in place of the state", &output, "audit trail");
        let state = hook.sandbox.home.join(".local/state/portcullis");
        fs::remove_file(&state).unwrap();
        std::os::unix::fs::symlink(&hook.sandbox.project, &state).unwrap();
        let output = hook.feed(hook.command(&[]));
        hook.check_refused("a link in place of the state", &output, "");
    }
}

/// Counts the bytes of the audit trail.
fn recorded(home: &Path) -> u64 {
    fs::metadata(home.join(".local/state/portcullis/audit/current.jsonl")).map_or(0, |file| file.len())
}

#[test]
fn every_host_is_blocked_by_the_exit_code_when_nobody_can_read_the_answer() {
    for host in Host::ALL {
        let hook = Hook::new(host);
        // A host that is told nothing when all is well loses nothing: only an answer must arrive.
        let is_silent = hook.feed(hook.command(&[])).stdout.is_empty();
        let mut command = hook.command(&[]);
        command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        let output = hook.feed(command);
        let expected = if is_silent { 0 } else { hook.blocking().exit_code };
        assert_eq!(output.status.code(), Some(expected), "{}: {output:?}", host.name());
    }
}
