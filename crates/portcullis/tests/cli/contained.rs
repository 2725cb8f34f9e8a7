//! Contained calls from the hook to the runner and back.
//!
//! These tests need a machine on which a fence goes up: Linux with user namespaces and overlay file systems. Without one
//! they fail, and say so; every other test of this folder takes fences away.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox, WITHOUT_FENCES, ran};

/// A project in which the session wrote a `conftest.py` that takes away what is in its way.
struct Scene {
    sandbox: Sandbox,
}

const CONFTEST: &str =
    "import os, shutil\nos.remove('notes.txt')\nshutil.rmtree(os.environ['HOME'], ignore_errors=True)\n";

impl Scene {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.write_home(".config/portcullis/settings.json", r#"{"permissions":{"defaultMode":"auto"}}"#);
        sandbox.write_home("precious.txt", "precious\n");
        sandbox.write_project("notes.txt", "work\n");
        sandbox.write_project("conftest.py", CONFTEST);
        Self { sandbox }
    }

    fn hook(&self, host: &str, event: &Value) -> Ran {
        let mut command = self.sandbox.command(&["hook", host]);
        command.env_remove(WITHOUT_FENCES).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        serde_json::to_writer(child.stdin.take().unwrap(), event).unwrap();
        ran(&child.wait_with_output().unwrap())
    }

    /// Asks as Claude Code does and returns its answer.
    fn ask(&self, id: &str, command: &str) -> Value {
        let input = json!({"command": command, "description": "d", "timeout": 5000});
        let mut event = self.claude("PreToolUse", id, &input);
        event["permission_mode"] = json!("auto");
        let ran = self.hook("claude", &event);
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))["hookSpecificOutput"]
            .clone()
    }

    fn claude(&self, event: &str, id: &str, input: &Value) -> Value {
        json!({"hook_event_name": event, "session_id": "s", "cwd": self.sandbox.project, "tool_name": "Bash",
            "tool_use_id": id, "tool_input": input})
    }

    /// Asks about a command that must be contained, and returns what Claude Code is to run.
    fn contained(&self, id: &str, command: &str) -> String {
        let answer = self.ask(id, command);
        let line = answer["updatedInput"]["command"].as_str();
        let line = line.unwrap_or_else(|| panic!("no fence goes up on this machine, or: {answer}"));
        assert_eq!(answer["permissionDecision"], "allow");
        assert_eq!(answer["updatedInput"]["timeout"], 5000);
        line.to_owned()
    }

    /// Runs a line as the shell of an agent does.
    fn shell(&self, line: &str, directory: &str) -> Ran {
        let mut command = Command::new("bash");
        command.args(["-c", line]).env_clear().env("HOME", &self.sandbox.home);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.current_dir(self.sandbox.project.join(directory)).stdin(Stdio::null());
        ran(&command.output().unwrap())
    }

    fn has(&self, file: &str) -> bool {
        self.sandbox.project.join(file).exists()
    }
}

#[test]
fn what_an_agents_own_code_destroys_is_held_and_nothing_outside_changes() {
    let scene = Scene::new();
    let wrote = json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": scene.sandbox.project,
        "tool_name": "Write", "tool_use_id": "w", "tool_input": {"file_path": "conftest.py", "content": CONFTEST}});
    assert_eq!(scene.hook("claude", &wrote).code, Some(0));
    // What pytest does before any test: it loads the file.
    scene
        .sandbox
        .write_project("tools/pytest", "#!/bin/sh\npython3 -B -c 'import conftest' && echo 1 passed\n");
    let tool = scene.sandbox.project.join("tools/pytest");
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let line = scene.contained("t1", "pytest -q");
    assert!(line.ends_with(" -- bash -c 'pytest -q'"), "{line}");
    let line = format!("PATH=$PWD/tools:$PATH; {line}");
    let ran = scene.shell(&line, "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "1 passed\n"), "{ran:?}");
    assert!(scene.has("notes.txt") && scene.sandbox.home.join("precious.txt").exists(), "{ran:?}");
    assert!(ran.stderr.contains("held for a person") && ran.stderr.contains("`notes.txt`"), "{ran:?}");
    let runs = scene.sandbox.run(&["runs", "list", "--json"]);
    let runs: Value = serde_json::from_str(&runs.stdout).unwrap();
    let held: Vec<_> = runs["runs"].as_array().unwrap().iter().filter(|run| run["state"] == "held").collect();
    assert_eq!(held.len(), 1, "{runs}");
    // The host's own event after the call finds its proof, and the same command is a person's question now.
    let done = scene.claude("PostToolUse", "t1", &json!({"command": "pytest -q"}));
    assert_eq!(
        scene.hook("claude", &done),
        Ran { code: Some(0), stdout: String::new(), stderr: String::new() }
    );
    assert_eq!(scene.ask("t2", "pytest -q")["permissionDecision"], "ask");
}

#[test]
fn a_record_serves_one_run_of_one_command_in_one_directory() {
    let scene = Scene::new();
    let nothing =
        |ran: &Ran| ran.code == Some(125) && ran.stderr.starts_with("portcullis: nothing was run: ");
    let line = scene.contained("t1", "frobnicate --all; touch made; true");
    let ran = scene.shell(&line, "");
    assert_eq!((ran.code, scene.has("made")), (Some(0), true), "{ran:?}");
    let again = scene.shell(&line, "");
    assert!(nothing(&again), "{again:?}");
    for (id, change) in [("t2", "; touch more"), ("t3", ""), ("t4", "")] {
        let command = format!("frobnicate {id}; touch more");
        let line = scene.contained(id, &command);
        let (line, directory) = match id {
            "t2" => (line.replace("touch more'", &format!("touch more{change}'")), ""),
            "t3" => (line, "src"),
            _ => (line.replace("bash -c", "sh -c"), ""),
        };
        let ran = scene.shell(&line, directory);
        assert!(nothing(&ran) && !scene.has("more") && !scene.has("src/more"), "{line}: {ran:?}");
    }
    let forged = line.split(" -- ").next().unwrap().replace(char::is_numeric, "0");
    let ran = scene.shell(&format!("{forged} -- bash -c 'touch more'"), "");
    assert!(nothing(&ran) && !scene.has("more"), "{ran:?}");
}

#[test]
fn a_line_of_ours_that_a_model_writes_gains_nothing() {
    let scene = Scene::new();
    let line = scene.contained("t1", "frobnicate --all");
    let denied = line.replace("frobnicate --all", "git push --force origin main");
    let answer = scene.ask("t2", &denied);
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
    let nested = format!("{} -- {line}", line.split(" -- ").next().unwrap());
    assert!(matches!(scene.ask("t3", &nested)["permissionDecision"].as_str(), Some("ask" | "allow")));
    // The very form is unwrapped, and wrapped once; a program that lies in `/tmp` is not there inside.
    let other = line.replace("frobnicate --all", "frobnicate --some");
    let answer = scene.ask("t4", &other);
    match answer["updatedInput"]["command"].as_str() {
        Some(again) => assert!(again.matches(" run --call ").count() == 1 && again != other, "{again}"),
        None => assert_eq!(answer["permissionDecision"], "ask", "{answer}"),
    }
    for trick in
        ["frobnicate 'a'\\''b'", "frobnicate \"$(echo x)\" '\n' `true`", "frobnicate '; touch made; '"]
    {
        let ran = scene.shell(&scene.contained("t5", trick), "");
        assert_eq!((ran.code, scene.has("made")), (Some(127), false), "{trick}: {ran:?}");
    }
}

#[test]
fn a_directory_survives_in_claude_code() {
    let scene = Scene::new();
    let line = scene.contained("t1", "cd src && frobnicate");
    let ran = scene.shell(&format!("{line}\necho \"$? $PWD\""), "");
    let expected = format!("127 {}\n", scene.sandbox.project.join("src").display());
    assert_eq!(ran.stdout, expected, "{ran:?}");
    // Where nobody can tell, the call is asked about.
    assert_eq!(scene.ask("t2", "cd \"$X\" && frobnicate")["permissionDecision"], "ask");
}

#[test]
fn a_lost_rewrite_is_an_alarm_and_ends_containment_for_its_host() {
    let scene = Scene::new();
    scene.contained("t1", "frobnicate --all");
    let done = scene.claude("PostToolUse", "t1", &json!({"command": "frobnicate --all"}));
    let alarm = scene.hook("claude", &done);
    assert!(alarm.code == Some(1) && alarm.stderr.contains("without the fence"), "{alarm:?}");
    assert_eq!(scene.ask("t2", "frobnicate --other")["permissionDecision"], "ask");
    let doctor = scene.sandbox.run(&["doctor", "claude", "--json"]);
    assert!(doctor.stdout.contains("are not contained any more"), "{doctor:?}");
}

#[test]
fn every_host_that_takes_another_command_gets_one_that_runs() {
    let scene = Scene::new();
    let project = &scene.sandbox.project;
    let cases = [
        (
            "codex",
            "/hookSpecificOutput/updatedInput/command",
            scene.claude("PreToolUse", "c1", &json!({"command": "frobnicate 1; echo ok"})),
        ),
        (
            "gemini",
            "/hookSpecificOutput/tool_input/command",
            json!({"hook_event_name": "BeforeTool", "session_id": "s", "cwd": project, "tool_name": "run_shell_command",
                "tool_input": {"command": "frobnicate 2; echo ok"}}),
        ),
        (
            "opencode",
            "/args/command",
            json!({"event": "tool.execute.before", "sessionID": "s", "directory": project, "tool": "bash", "callID": "c3",
                "args": {"command": "frobnicate 3; echo ok", "description": "d"}}),
        ),
    ];
    for (host, place, event) in cases {
        let answer = scene.hook(host, &event);
        let answer: Value =
            serde_json::from_str(&answer.stdout).unwrap_or_else(|_| panic!("{host}: {answer:?}"));
        let line =
            answer.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{host}: {answer}"));
        let ran = scene.shell(line, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "ok\n"), "{host}: {ran:?}");
    }
    // Codex runs a call elsewhere: another command there would not be what was judged.
    let mut elsewhere = scene.claude("PreToolUse", "c4", &json!({"command": "frobnicate 4"}));
    elsewhere["cwd"] = json!(project.join("src"));
    assert!(!scene.hook("codex", &elsewhere).stdout.contains("updatedInput"));
}

#[test]
fn settings_switch_it_off_and_broken_ones_too() {
    let scene = Scene::new();
    for (settings, expected) in [
        (r#"{"permissions":{"defaultMode":"auto"},"containment":{"enabled":false}}"#, "ask"),
        (r#"{"permissions":{"defaultMode":"auto"},"containment":{"enabled":"yes"}}"#, "ask"),
        (r#"{"permissions":{"ask":["Bash(frobnicate:*)"]}}"#, "ask"),
        (r#"{"permissions":{"deny":["Bash(frobnicate:*)"]}}"#, "deny"),
        (r#"{"permissions":"#, "ask"),
        (r#"{"permissions":{"defaultMode":"auto"},"containment":{"projectCode":"contain"}}"#, "allow"),
    ] {
        scene.sandbox.write_home(".config/portcullis/settings.json", settings);
        let answer = scene.ask("t", "frobnicate --all");
        assert_eq!(answer["permissionDecision"], expected, "{settings}: {answer}");
    }
    assert_eq!(scene.ask("t", "make")["updatedInput"]["description"], "d");
}

#[test]
fn the_record_shows_it_as_a_decision_of_its_own() {
    let scene = Scene::new();
    scene.contained("t1", "frobnicate --all");
    let listed = scene.sandbox.run(&["log", "--decision", "contained", "--json"]);
    assert!(
        listed.stdout.contains(r#""decision":"contained""#)
            || listed.stdout.contains(r#""decision": "contained""#),
        "{listed:?}"
    );
    assert!(listed.stdout.contains("inside a fence"), "{listed:?}");
}
