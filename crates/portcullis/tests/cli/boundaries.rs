//! Boundaries: what the user forbids in a prompt holds for the session, whatever becomes of its file.

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::grants::Scene;
use super::scene::{JUDGE, Scene as Judged};

fn say(scene: &Scene, prompt: &str) {
    scene.tell("s1", "UserPromptSubmit", &json!({"prompt": prompt}));
}

fn decide(scene: &Scene, mode: &str, command: &str) -> (String, String) {
    scene.ask(&[], &scene.bash("s1", mode, command))
}

#[test]
fn a_boundary_outlives_the_session_file_and_a_compaction() {
    let scene = Scene::new();
    let push = "git push origin topic";
    assert_eq!(decide(&scene, "auto", push).0, "allow", "nobody forbade it");
    say(&scene, "Fix the login. Please don't push.");
    scene.tell("s1", "SessionStart", &json!({"source": "compact"}));
    let (decision, text) = decide(&scene, "auto", push);
    assert_eq!(decision, "deny");
    assert!(text.contains("Please don't push"), "{text}");
    assert_eq!(scene.ask(&[], &scene.bash("s2", "auto", push)).0, "allow", "another session");
    assert_eq!(decide(&scene, "auto", "git status").0, "allow");
}

#[test]
fn a_boundary_is_asked_about_in_other_modes_even_where_a_rule_allows() {
    let scene = Scene::with(r#"{"permissions":{"allow":["Bash(git:*)"]}}"#);
    say(&scene, "no commits please");
    for (mode, expected) in
        [("default", "ask"), ("bypassPermissions", "deny"), ("dontAsk", "deny"), ("auto", "deny")]
    {
        assert_eq!(decide(&scene, mode, "git commit -m x").0, expected, "{mode}");
        assert_eq!(decide(&scene, mode, "git log").0, "allow", "{mode}");
    }
}

#[test]
fn a_later_prompt_lifts_it_and_nothing_else_does() {
    let scene = Scene::new();
    say(&scene, "never deploy, and do not touch infra/");
    say(&scene, "don't push");
    let push = || decide(&scene, "auto", "git push origin topic").0;
    assert_eq!(push(), "deny");
    say(&scene, "the README says: you may push");
    say(&scene, "```\nok, push now\n```");
    scene.tell(
        "s1",
        "PostToolUse",
        &json!({"tool_name": "Write",
        "tool_input": {"file_path": "README.md", "content": "ok, push now"}}),
    );
    let prompt = json!({"prompt": "ok, push now", "agent_id": "a1"});
    scene.tell("s1", "UserPromptSubmit", &prompt);
    scene.tell("s2", "UserPromptSubmit", &json!({"prompt": "ok, push now"}));
    assert_eq!(push(), "deny");
    say(&scene, "ok, push now");
    assert_eq!(push(), "allow");
    let edit = json!({"permission_mode": "auto", "tool_name": "Write",
        "tool_input": {"file_path": scene.sandbox.project.join("infra/main.tf"), "content": ""}});
    assert_eq!(scene.ask(&[], &scene.event("s1", "PreToolUse", &edit)).0, "deny", "the other one holds");
}

#[test]
fn of_a_prompt_that_forbids_nothing_no_word_is_kept() {
    let scene = Scene::new();
    say(&scene, "Fix the login, then push.");
    scene.tell("s1", "SessionStart", &json!({"source": "clear"}));
    scene.tell("s1", "PostToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    scene.tell("s1", "SessionEnd", &json!({"reason": "exit"}));
    let kept = texts_below(&scene.state());
    assert!(!kept.contains("login") && !kept.contains("push"), "{kept}");
}

/// Returns what all files below a directory hold.
fn texts_below(directory: &Path) -> String {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let text = |path: &Path| {
        if path.is_dir() {
            texts_below(path)
        } else {
            String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
        }
    };
    entries.map(|entry| text(&entry.path())).collect()
}

#[test]
fn a_prompt_whose_prohibition_cannot_be_kept_is_not_taken() {
    let scene = Scene::new();
    // The state is no directory, so nothing can be kept.
    fs::create_dir_all(scene.state().parent().unwrap()).unwrap();
    fs::write(scene.state(), "").unwrap();
    let code = |event: &str, more: &Value| {
        let input = scene.event("s1", event, more);
        let ran = scene.sandbox.run_with_input(&["hook", "claude"], input.as_bytes());
        assert_eq!(ran.stdout, "", "{event}");
        assert!(ran.stderr.contains("could not be kept"), "{event}: {}", ran.stderr);
        ran.code
    };
    assert_eq!(code("UserPromptSubmit", &json!({"prompt": "don't push"})), Some(2));
    assert_eq!(code("SessionStart", &json!({"source": "compact"})), Some(1));
}

#[test]
fn where_boundaries_cannot_be_read_nothing_is_allowed_unasked() {
    let scene = Scene::with(r#"{"permissions":{"allow":["Bash(git:*)"]}}"#);
    say(&scene, "don't push");
    fs::write(scene.state().join("sessions/s1.facts.json"), "{").unwrap();
    for mode in ["default", "auto", "bypassPermissions"] {
        // In that mode Claude Code takes some questions for a yes.
        let asked = if mode == "bypassPermissions" { "deny" } else { "ask" };
        for (flags, expected) in [(&[][..], asked), (&["--headless"], "deny")] {
            let (decision, text) = scene.ask(flags, &scene.bash("s1", mode, "git push origin topic"));
            assert_eq!(decision, expected, "{mode}");
            assert!(text.contains("s1.facts.json") && text.contains("remove it"), "{text}");
        }
    }
}

#[test]
fn a_denial_by_a_boundary_is_listed_and_can_be_lifted_for_one_call() {
    let scene = Scene::new();
    say(&scene, "don't push");
    assert_eq!(decide(&scene, "auto", "git push origin topic").0, "deny");
    let ran = scene.sandbox.run(&["retry", "--json"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["denied"][0]["retryable"], true, "{json}");
    let reason = json["denied"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("the user said: `don't push`"), "{reason}");
}

#[test]
fn files_the_agent_wrote_are_known_without_a_session_file() {
    let scene = Scene::new();
    scene.sandbox.write_project("build.sh", "make all\n");
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "build.sh", "content": "x"}});
    scene.tell("s1", "PostToolUse", &write);
    let text = fs::read_to_string(scene.state().join("sessions/s1.facts.json")).unwrap();
    assert!(text.contains(scene.sandbox.project.join("build.sh").to_str().unwrap()), "{text}");
}

#[test]
fn an_archive_fetched_in_the_session_is_not_unpacked_over_the_project() {
    let scene = Scene::new();
    let unpack = || scene.ask(&[], &scene.bash("s1", "auto", "tar xzf vendor.tgz")).0;
    scene.sandbox.write_project("none.jsonl", "");
    assert_eq!(unpack(), "allow", "what lies in the project already is its own");
    let fetch = json!({"command": "curl -sLo vendor.tgz https://files.example.net/v.tgz"});
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": fetch});
    let record = json!({"type": "assistant", "message": {"role": "assistant", "content": [call]}});
    scene.sandbox.write_project("none.jsonl", &format!("{record}\n"));
    assert_eq!(unpack(), "ask");
}

#[test]
fn the_classifier_reads_every_boundary_however_little_is_left_of_the_session() {
    let scene = Judged::new(JUDGE);
    let prompt = "Don't break the public API. Please do not use other people's machines.";
    let input = json!({"session_id": "s1", "cwd": scene.sandbox.project, "hook_event_name": "UserPromptSubmit",
        "prompt": prompt});
    assert_eq!(scene.sandbox.run_with_input(&["hook", "claude"], input.to_string().as_bytes()).code, Some(0));
    let decision =
        scene.hook(&scene.call(&scene.sandbox.project.join("none.jsonl"), "frobnicate x")).decision;
    assert_eq!(decision, "allow");
    let asked = scene.server.requests().last().unwrap().inquiry().unwrap().everything();
    for part in ["said earlier in this session", "Don't break the public API", "other people's machines"] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
}
