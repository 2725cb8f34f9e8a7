//! `portcullis check --batch`: a stream of calls.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox, ran};
use super::scene::{JUDGE, Scene};

const RULES: &str = r#"{"permissions":{"allow":["Bash(cargo:*)"],"deny":["Bash(git push:*)"]}}"#;

fn answers(sandbox: &Sandbox, arguments: &[&str], input: &str) -> (Option<i32>, Vec<Value>) {
    let all: Vec<&str> = ["check", "--batch"].iter().chain(arguments).copied().collect();
    let ran = sandbox.run_with_input(&all, input.as_bytes());
    (ran.code, ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn bash(id: impl Into<Value>, command: &str) -> Value {
    json!({"id": id.into(), "tool": "Bash", "input": {"command": command}})
}

#[test]
fn answers_come_in_order_with_their_ids() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let commands = ["cargo build", "git push", "make"];
    let input: String = (0..3_000)
        .flat_map(|index| [bash(index, commands[index % 3]).to_string(), "\n".to_owned()])
        .collect();
    let (code, answers) = answers(&sandbox, &[], &input);
    assert_eq!(code, Some(0));
    assert_eq!(answers.len(), 3_000);
    for (index, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], index);
        assert_eq!(answer["decision"], ["allow", "deny", "ask"][index % 3]);
    }
    let keys: Vec<&String> = answers[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "decision", "step", "reason", "findings", "trace", "suggestions", "elapsed_us"]);
}

#[test]
fn one_bad_line_gives_one_error_line_and_the_rest_go_on() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let good = bash("good", "cargo build").to_string();
    let long = format!(r#"{{"id":"long","tool":"Bash","input":{{"command":"{}"}}}}"#, "x".repeat(9 << 20));
    let table: &[(&str, Value, &str)] = &[
        ("not json", Value::Null, "expected"),
        ("[]", Value::Null, "expected an object, found a list"),
        (r#"{"id":1}"#, json!(1), "field `tool` is missing"),
        (r#"{"id":"a","tool":7}"#, json!("a"), "field `tool` must be a string, but is a number"),
        (r#"{"id":{"x":[1]},"tool":"Bash"}"#, json!({"x": [1]}), "field `input` is missing"),
        (
            r#"{"id":2,"tool":"Bash","input":"ls"}"#,
            json!(2),
            "field `input` must be an object, but is a string",
        ),
        (r#"{"id":3,"tool":"Bash","input":{},"mode":"yolo"}"#, json!(3), "the mode `yolo` is not known"),
        (
            r#"{"id":4,"tool":"Bash","input":{},"cwd":5}"#,
            json!(4),
            "field `cwd` must be a string, but is a number",
        ),
        (r#"{"id":5,"id":6}"#, Value::Null, "field `id` is given twice"),
        (&long, Value::Null, "the line is longer than 8388608 bytes"),
    ];
    for (bad, id, message) in table {
        let (code, answers) = answers(&sandbox, &[], &format!("{good}\n{bad}\n\n   \n{good}"));
        let name = bad.get(..40).unwrap_or(bad);
        assert_eq!(code, Some(64), "{name}");
        assert_eq!(answers.len(), 3, "{name}");
        assert_eq!(answers[0]["decision"], "allow", "{name}");
        assert_eq!(answers[1]["id"], *id, "{name}");
        assert!(answers[1]["error"].as_str().unwrap().contains(message), "{name}: {}", answers[1]);
        assert_eq!(answers[1].as_object().unwrap().len(), 2, "{name}");
        assert_eq!(answers[2]["decision"], "allow", "{name}");
    }
}

/// Answers commands of session `s1` in auto mode, with a model to ask.
fn judged(scene: &Scene, flags: &[&str], commands: &[&str]) -> (Ran, Vec<Value>) {
    let lines: Vec<String> = commands.iter().map(|command| bash(*command, command).to_string()).collect();
    let input = std::fs::File::open(scene.sandbox.write_home("calls.jsonl", &lines.join("\n"))).unwrap();
    let all = [&["check", "--batch", "--mode", "auto", "--session", "s1"], flags].concat();
    let ran = ran(&scene.command(&all).stdin(input).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (ran, answers)
}

#[test]
fn a_line_has_all_that_a_single_check_has() {
    const BLOCKED: &str = "frobnicate blockme";
    let commands = ["frobnicate", BLOCKED, BLOCKED, BLOCKED, "cat a.txt"];
    let (batch, single) = (Scene::new(JUDGE), Scene::new(JUDGE));
    let (ran, answers) = judged(&batch, &["--headless"], &commands);
    assert_eq!(ran.stderr, "");
    assert_eq!(answers.len(), commands.len());
    for (answer, command) in answers.iter().zip(commands) {
        let alone = single.check(&["--session", "s1", "--headless"], command).json;
        let keys = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(answer), [vec!["id".to_owned()], keys(&alone)].concat(), "{command}");
        for key in ["decision", "reason", "denial", "endsRun"] {
            assert_eq!(answer[key], alone[key], "{command}: {key}");
        }
        let stages = |object: &Value| -> Vec<Value> {
            let calls = object["classifier"].as_array().into_iter().flatten();
            calls.map(|call| json!([call["stage"], call["outcome"], call["model"]])).collect()
        };
        assert_eq!(stages(answer), stages(&alone), "{command}");
    }
    let counts = answers.iter().map(|answer| answer["classifier"].as_array().map_or(0, Vec::len));
    assert_eq!(counts.collect::<Vec<_>>(), [1, 2, 2, 2, 0]);
    assert!(answers[1]["denial"].is_string() && answers[0].get("denial").is_none(), "{answers:?}");
    let ends: Vec<bool> = answers.iter().map(|answer| answer["endsRun"] == json!(true)).collect();
    assert_eq!(ends, [false, false, false, true, false]);
}

#[test]
fn what_did_not_work_is_noted_once() {
    let scene = Scene::new(JUDGE);
    scene.sandbox.write_home(".local/state/portcullis/sessions/s1.json", "{\"version\":1,");
    let (ran, answers) = judged(&scene, &[], &["frobnicate blockme"; 4]);
    assert!(answers.iter().all(|answer| answer["decision"] == "deny"), "{answers:?}");
    assert_eq!(ran.stderr.matches("note: ").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("s1.json"), "{}", ran.stderr);
}

#[test]
fn no_input_is_no_output() {
    assert_eq!(answers(&Sandbox::new(), &[], ""), (Some(0), Vec::new()));
}

#[test]
fn mode_and_directory_can_be_given_for_all_or_for_one() {
    let sandbox = Sandbox::new();
    sandbox.write_project("strict/.claude/settings.json", r#"{"permissions":{"deny":["Bash(make:*)"]}}"#);
    let line = |extra: &Value| {
        let mut line = bash(1, "make");
        line.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let input = [
        line(&json!({})),
        line(&json!({"mode": "dontAsk"})),
        line(&json!({"cwd": "strict"})),
        line(&json!({"cwd": sandbox.project.join("strict"), "mode": "bypassPermissions"})),
        line(&json!({"cwd": null, "mode": null})),
    ];
    let decisions = |arguments: &[&str]| -> Vec<String> {
        let (_, answers) = answers(&sandbox, arguments, &input.concat());
        answers.iter().map(|answer| answer["decision"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(decisions(&[]), ["ask", "deny", "deny", "deny", "ask"]);
    assert_eq!(decisions(&["--mode", "bypassPermissions"]), ["allow", "deny", "deny", "deny", "allow"]);
    assert_eq!(decisions(&["--headless"]), ["deny", "deny", "deny", "deny", "deny"]);
}

#[test]
fn an_answer_does_not_wait_for_the_next_line() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let mut child = sandbox.command(&["check", "--batch"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for index in 0..3 {
        writeln!(stdin, "{}", bash(index, "cargo build")).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], index);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn output_that_cannot_be_written_ends_the_run() {
    let sandbox = Sandbox::new();
    let input = sandbox.write_project("calls.jsonl", &format!("{}\n", bash(1, "ls")));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let input = std::fs::File::open(input).unwrap();
    let status = sandbox.command(&["check", "--batch"]).stdin(input).stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(70));
}

#[test]
fn a_call_that_comes_again_is_answered_as_before_and_only_that_call() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let lines = [
        json!({"id": 1, "tool": "Bash", "input": {"command": "touch notes.txt"}, "mode": "acceptEdits"}),
        json!({"id": 2, "tool": "Bash", "input": {"command": "touch notes.txt"}, "mode": "plan"}),
        json!({"id": 3, "tool": "Bash", "input": {"command": "touch notes.txt"}, "mode": "acceptEdits", "cwd": "/"}),
        json!({"id": 4, "tool": "PowerShell", "input": {"command": "touch notes.txt"}, "mode": "acceptEdits"}),
    ];
    let once: Vec<Value> =
        lines.iter().map(|line| answers(&sandbox, &[], &line.to_string()).1.remove(0)).collect();
    let said = |answer: &Value| {
        let mut answer = answer.clone();
        answer.as_object_mut().unwrap().remove("elapsed_us");
        answer
    };
    assert_eq!(once[0]["decision"], "allow");
    assert_eq!(once[1]["decision"], "ask");
    let input: String =
        (0..400).flat_map(|index| [lines[index % lines.len()].to_string(), "\n".to_owned()]).collect();
    let (_, again) = answers(&sandbox, &[], &input);
    for (index, answer) in again.iter().enumerate() {
        assert_eq!(said(answer), said(&once[index % once.len()]), "{index}");
    }
}
