//! Agents whose session files cannot be read: what their sessions write is kept from the start on, so that the project's own
//! builds and tests run after `init` with no settings, and what the agent wrote does not pass for the project's.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::Sandbox;

/// A project with a test and a build of its own.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    let scripts = json!({"test": "node test/add.test.js", "build": "mkdir -p dist && cp src/add.js dist/"});
    sandbox.write_project("package.json", &json!({"name": "sums", "scripts": scripts}).to_string());
    sandbox.write_project("src/add.js", "module.exports = (a, b) => a + b\n");
    sandbox.write_project("test/add.test.js", "if (require('../src/add')(1, 2) !== 3) process.exit(1)\n");
    sandbox
}

/// What an agent writes to our hook when its session begins, and for a command.
struct Words {
    host: &'static str,
    start: Value,
    call: fn(&str, &str) -> Value,
    /// Reads whether the call goes the host's own way.
    is_left: fn(&str) -> bool,
}

fn is_silent(answer: &str) -> bool {
    answer.is_empty()
}

fn says_silence(answer: &str) -> bool {
    serde_json::from_str::<Value>(answer).is_ok_and(|answer| answer["decision"] == "silence")
}

fn agents(directory: &str) -> Vec<Words> {
    let family = |source: &str| json!({"hook_event_name": "SessionStart", "session_id": "s1", "cwd": directory, "source": source});
    vec![
        Words {
            host: "opencode",
            start: json!({"event": "session.created", "sessionID": "s1", "rootID": "s1", "directory": directory}),
            call: |directory, command| {
                json!({"event": "tool.execute.before", "sessionID": "s1", "rootID": "s1", "directory": directory,
                       "callID": "c", "tool": "bash", "args": {"command": command}})
            },
            is_left: says_silence,
        },
        Words {
            host: "copilot",
            start: json!({"sessionId": "s1", "timestamp": 1, "cwd": directory, "source": "new"}),
            call: |directory, command| {
                json!({"sessionId": "s1", "timestamp": 2, "cwd": directory, "toolName": "bash",
                       "toolArgs": {"command": command}})
            },
            is_left: is_silent,
        },
        Words {
            host: "kimi",
            start: family("startup"),
            call: |directory, command| family_call(directory, "Bash", command),
            is_left: is_silent,
        },
        Words {
            host: "droid",
            start: family("startup"),
            call: |directory, command| family_call(directory, "Execute", command),
            is_left: is_silent,
        },
        Words {
            host: "pi",
            start: json!({"event": "session_start", "sessionID": "s1", "directory": directory, "reason": "startup"}),
            call: |directory, command| {
                json!({"event": "tool_call", "sessionID": "s1", "directory": directory, "callID": "c",
                       "tool": "bash", "args": {"command": command}, "hasUI": false})
            },
            is_left: says_silence,
        },
    ]
}

fn family_call(directory: &str, tool: &str, command: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": directory, "tool_name": tool,
           "tool_input": {"command": command}})
}

impl Words {
    fn tell(&self, sandbox: &Sandbox, words: &Value) -> String {
        let ran = sandbox.run_with_input(&["hook", self.host], words.to_string().as_bytes());
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", self.host);
        ran.stdout.trim().to_owned()
    }

    /// Says whether a command goes the host's own way.
    fn is_left(&self, sandbox: &Sandbox, command: &str) -> bool {
        let answer = self.tell(sandbox, &(self.call)(sandbox.project.to_str().unwrap(), command));
        (self.is_left)(&answer)
    }
}

fn each(check: impl Fn(&Sandbox, &Words)) {
    let count = agents("").len();
    for place in 0..count {
        let sandbox = project();
        let words = agents(sandbox.project.to_str().unwrap()).swap_remove(place);
        check(&sandbox, &words);
    }
}

#[test]
fn tests_and_builds_of_the_project_run_after_init_with_no_settings() {
    each(|sandbox, words| {
        words.tell(sandbox, &words.start);
        for command in ["npm test", "npm run build", "sed -i 's/a + b/b + a/' src/add.js", "npm test"] {
            assert!(words.is_left(sandbox, command), "{}: {command}", words.host);
        }
    });
}

#[test]
fn a_session_whose_start_nobody_saw_is_not_taken_for_a_new_one() {
    each(|sandbox, words| {
        assert!(!words.is_left(sandbox, "npm test"), "{}", words.host);
        // What is written before the start is known makes the start come too late.
        words.tell(sandbox, &(words.call)(sandbox.project.to_str().unwrap(), "sed -i 's/a/b/' src/add.js"));
        words.tell(sandbox, &words.start);
        assert!(!words.is_left(sandbox, "npm test"), "{}", words.host);
    });
}

#[test]
fn what_the_agent_wrote_does_not_pass_for_the_projects() {
    each(|sandbox, words| {
        words.tell(sandbox, &words.start);
        let written = "require('some-helper').run(process.argv)";
        let edit = format!("sed -i \"s/^if.*/{written}/\" test/add.test.js");
        assert!(words.is_left(sandbox, &edit), "{}", words.host);
        sandbox.write_project("test/add.test.js", written);
        assert!(!words.is_left(sandbox, "npm test"), "{}", words.host);
    });
}

#[test]
fn a_subagent_whose_calls_belong_to_another_session_makes_any_file_the_agents_own() {
    let sandbox = project();
    let directory = sandbox.project.to_str().unwrap().to_owned();
    let words = agents(&directory).into_iter().find(|words| words.host == "copilot").unwrap();
    words.tell(&sandbox, &words.start);
    assert!(words.is_left(&sandbox, "npm test"));
    let task = json!({"sessionId": "s1", "timestamp": 2, "cwd": directory, "toolName": "task",
                      "toolArgs": {"prompt": "write tests", "agent_type": "general-purpose"}});
    assert!(is_silent(&words.tell(&sandbox, &task)));
    assert!(!words.is_left(&sandbox, "npm test"));
}

#[test]
fn an_agent_cannot_say_itself_that_its_session_begins() {
    let sandbox = project();
    let directory = sandbox.project.to_str().unwrap().to_owned();
    let words = agents(&directory).into_iter().find(|words| words.host == "kimi").unwrap();
    assert!(!words.is_left(&sandbox, "npm test"));
    let program = env!("CARGO_BIN_EXE_portcullis");
    let forged = format!("printf '%s' '{}' | {program} hook kimi", words.start);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &forged]).env_clear().env("HOME", &sandbox.home).env("PATH", "/usr/bin:/bin");
    assert!(shell.current_dir(&sandbox.project).status().unwrap().success());
    assert!(!words.is_left(&sandbox, "npm test"));
}
