//! `portcullis check --explain` by a model: the forced tool, the worse of two risk levels, the way back offline.

use std::fs::File;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, ran};
use super::scene::{JUDGE, KEY, Scene};

const HARMLESS: &str = "cat a.txt";
const RISKY: &str = "git push --force origin main";

/// A model that explains with these words.
fn script(explanation: &Value) -> String {
    json!([{"tool": {"name": "explain_command", "input": explanation}}]).to_string()
}

fn told(level: &str) -> Value {
    json!({"explanation": "It prints a file.", "reasoning": "I want to read it.", "risk": "none to speak of", "riskLevel": level})
}

fn explanation(ran: &Ran) -> Value {
    let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    json["explanation"].clone()
}

#[test]
fn the_model_explains_through_a_tool_it_is_forced_to_call() {
    let scene = Scene::new(&script(&told("LOW")));
    let ran = scene.run(&["check", "--json", "--explain=model", "--said", "show me the file", HARMLESS]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(explanation(&ran), told("LOW"));
    let request = scene.server.requests().remove(0);
    let body = request.json.as_ref().unwrap();
    let choice = &body["tool_choice"];
    assert_eq!((&choice["type"], &choice["name"]), (&json!("tool"), &json!("explain_command")));
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
    let everything = request.inquiry().unwrap().everything();
    assert!(everything.contains(HARMLESS) && everything.contains("show me the file"), "{everything}");
    assert!(!everything.contains(KEY));
}

#[test]
fn an_explanation_changes_no_verdict() {
    let scene = Scene::new(&script(&told("LOW")));
    for command in [HARMLESS, RISKY, "make install"] {
        let (plain, explained) = (
            scene.run(&["check", "--json", command]),
            scene.run(&["check", "--json", "--explain=model", command]),
        );
        let verdict = |ran: &Ran| serde_json::from_str::<Value>(&ran.stdout).unwrap()["reason"].clone();
        assert_eq!((plain.code, verdict(&plain)), (explained.code, verdict(&explained)), "{command}");
    }
}

#[test]
fn the_worse_of_both_risk_levels_is_told() {
    for (command, by_model, expected) in [
        (RISKY, "LOW", "HIGH"),
        (RISKY, "HIGH", "HIGH"),
        (HARMLESS, "LOW", "LOW"),
        (HARMLESS, "HIGH", "HIGH"),
    ] {
        let scene = Scene::new(&script(&told(by_model)));
        let explained = explanation(&scene.run(&["check", "--json", "--explain=model", command]));
        assert_eq!(explained["riskLevel"], expected, "{command}, {by_model}");
        assert_eq!(explained["explanation"], "It prints a file.");
    }
}

#[test]
fn a_model_that_fails_or_says_something_else_leaves_the_offline_explanation_and_a_note() {
    let mut more = told("LOW");
    more["extra"] = json!(1);
    let mut third_person = told("LOW");
    third_person["reasoning"] = json!("The agent wants it.");
    let other_tool = json!([{"tool": {"name": "run_command", "input": told("LOW")}}]).to_string();
    for script in [
        r#"[{"status": 401}]"#.to_owned(),
        r#"[{"fault": "truncated_json"}]"#.to_owned(),
        r#"[{"say": "It is fine."}]"#.to_owned(),
        r#"[{"say": "{}"}]"#.to_owned(),
        other_tool,
        self::script(&told("NONE")),
        self::script(&more),
        self::script(&third_person),
        self::script(&json!({"explanation": "It prints."})),
    ] {
        let scene = Scene::new(&script);
        let offline = explanation(&scene.run(&["check", "--json", "--explain=offline", RISKY]));
        assert_eq!(scene.server.requests().len(), 0, "offline means offline");
        let ran = scene.run(&["check", "--json", "--explain=model", RISKY]);
        assert_eq!(explanation(&ran), offline, "{script}");
        assert!(ran.stderr.contains("so this is the offline explanation"), "{script}: {}", ran.stderr);
        assert!(!scene.server.requests().is_empty(), "{script}");
    }
}

#[test]
fn without_a_model_or_a_key_the_offline_explanation_serves() {
    let scene = Scene::new(JUDGE);
    let offline = explanation(&scene.run(&["check", "--json", "--explain=offline", RISKY]));
    let without_key = scene.sandbox.run(&["check", "--json", "--explain=model", RISKY]);
    scene.set(&json!({}));
    let without_model = scene.run(&["check", "--json", "--explain=model", RISKY]);
    for (ran, why) in [(without_key, "ANTHROPIC_API_KEY"), (without_model, "no model is configured")] {
        assert_eq!(explanation(&ran), offline);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    assert_eq!(scene.server.requests().len(), 0);
}

#[test]
fn settings_say_who_explains() {
    let scene = Scene::new(&script(&told("LOW")));
    let classifier = json!({"provider": "anthropic", "baseUrl": scene.server.url()});
    for (explainer, asked, is_told) in [("off", 0, false), ("offline", 0, true), ("model", 1, true)] {
        scene.set(&json!({"classifier": classifier, "explainer": explainer}));
        let ran = scene.run(&["check", "--json", "--explain", HARMLESS]);
        assert_eq!(explanation(&ran).is_object(), is_told, "{explainer}");
        assert_eq!(scene.server.requests().len(), asked, "{explainer}");
    }
    scene.set(&json!({"classifier": classifier, "explainer": "off"}));
    let ran = scene.run(&["check", "--explain", HARMLESS]);
    assert_eq!((ran.code, ran.stdout.contains("what it does")), (Some(0), false));
    let forced = scene.run(&["check", "--json", "--explain=model", HARMLESS]);
    assert_eq!(explanation(&forced), told("LOW"), "the flag is stronger");
}

#[test]
fn the_repository_switches_no_explainer() {
    let scene = Scene::new(&script(&told("LOW")));
    for file in [".portcullis/settings.json", ".claude/settings.json"] {
        scene.sandbox.write_project(file, r#"{"explainer":"off"}"#);
    }
    let ran = scene.run(&["check", "--json", "--explain", RISKY]);
    assert_eq!(explanation(&ran)["riskLevel"], "HIGH");
}

#[test]
fn what_the_model_says_never_moves_the_cursor_and_is_bounded() {
    let mut wild = told("LOW");
    wild["explanation"] = json!(format!("a\u{1b}[2Jb\u{202e}c{}", "x".repeat(5_000)));
    wild["risk"] = json!("line\r\nline");
    let scene = Scene::new(&script(&wild));
    let ran = scene.run(&["check", "--explain=model", HARMLESS]);
    assert!(ran.stdout.contains("\\u{1b}[2Jb\\u{202e}c"), "{}", ran.stdout);
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}', '\r']), "{}", ran.stdout);
    assert!(ran.stdout.len() < 2_000, "{}", ran.stdout.len());
}

/// Explains the commands as lines of a batch.
fn explain_lines(scene: &Scene, flag: &str, commands: &[&str]) -> (Ran, Vec<Value>) {
    let line = |command: &&str| format!("{}\n", json!({"tool": "Bash", "input": {"command": command}}));
    let lines: String = commands.iter().map(line).collect();
    let input = File::open(scene.sandbox.write_home("calls.jsonl", &lines)).unwrap();
    let ran = ran(&scene.command(&["check", "--batch", flag]).stdin(input).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap()["explanation"].clone();
    let explanations = ran.stdout.lines().map(read).collect();
    (ran, explanations)
}

#[test]
fn the_lines_of_a_batch_are_explained_by_whom_flag_and_settings_say() {
    let scene = Scene::new(
        &json!({"default": {"tool": {"name": "explain_command", "input": told("LOW")}}}).to_string(),
    );
    let classifier =
        json!({"provider": "anthropic", "baseUrl": scene.server.url(), "model": "claude-haiku-5-5"});
    let offline = explanation(&scene.run(&["check", "--json", "--explain=offline", HARMLESS]));
    let by_model = told("LOW");
    assert_ne!(offline, by_model);
    let mut asked = 0;
    for (settings, flag, expected) in [
        (json!({}), "--explain", &offline),
        (json!({"explainer": "offline"}), "--explain", &offline),
        (json!({"explainer": "off"}), "--explain", &Value::Null),
        (json!({"explainer": "off"}), "--explain=offline", &offline),
        (json!({"explainer": "off"}), "--explain=model", &by_model),
        (json!({"explainer": "model"}), "--explain", &by_model),
        (json!({"explainer": "model"}), "--explain=offline", &offline),
    ] {
        let mut all = settings.clone();
        all["classifier"] = classifier.clone();
        scene.set(&all);
        let (ran, explanations) = explain_lines(&scene, flag, &[HARMLESS, HARMLESS]);
        assert_eq!(explanations, [expected, expected].map(Clone::clone), "{settings}, {flag}");
        assert_eq!(ran.stderr, "", "{settings}, {flag}");
        asked += if expected == &by_model { 2 } else { 0 };
        assert_eq!(scene.server.requests().len(), asked, "{settings}, {flag}");
    }
}

#[test]
fn a_model_that_explains_no_line_of_a_batch_is_noted_once() {
    let scene = Scene::new(JUDGE);
    scene.set(&json!({}));
    let offline = explanation(&scene.run(&["check", "--json", "--explain=offline", RISKY]));
    let (ran, explanations) = explain_lines(&scene, "--explain=model", &[RISKY; 3]);
    assert_eq!(explanations, [&offline, &offline, &offline].map(Clone::clone));
    assert_eq!(ran.stderr.matches("no model is configured").count(), 1, "{}", ran.stderr);
}
