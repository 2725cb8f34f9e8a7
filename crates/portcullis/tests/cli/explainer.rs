//! `portcullis check --explain`: what a call does, in plain words.

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::Sandbox;

#[test]
fn the_explanation_follows_the_verdict() {
    let ran = Sandbox::new().run(&["check", "--explain", "git push --force origin main"]);
    let at = |text: &str| ran.stdout.find(text).unwrap_or_else(|| panic!("{text} in\n{}", ran.stdout));
    assert!(at("  step") < at("\n  what it does\n    `git push` "));
    assert!(
        at("what it does") < at("\n  why it matters\n    It overwrites commits of the remote repository")
    );
    assert!(at("why it matters") < at("\n  risk\n    HIGH: it overwrites history of a remote repository"));
}

#[test]
fn without_the_flag_nothing_is_explained() {
    let sandbox = Sandbox::new();
    assert!(!sandbox.run(&["check", "ls"]).stdout.contains("what it does"));
    let json: Value = serde_json::from_str(&sandbox.run(&["check", "--json", "ls"]).stdout).unwrap();
    assert_eq!(json.get("explanation"), None);
}

#[test]
fn json_carries_the_explanation_and_the_same_answer() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["check", "--json", "--explain", "cat a.txt"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["decision"], "allow");
    let explanation = json["explanation"].as_object().unwrap();
    let keys: Vec<&str> = explanation.keys().map(String::as_str).collect();
    assert_eq!(keys, ["explanation", "reasoning", "risk", "riskLevel"]);
    assert_eq!(explanation["explanation"], "`cat` prints files: it reads `a.txt`.");
    assert_eq!(explanation["riskLevel"], "LOW");
    let plain = sandbox.run(&["check", "--json", "cat a.txt"]);
    assert_eq!(ran.code, plain.code);
}

#[test]
fn every_line_of_a_batch_is_explained() {
    let sandbox = Sandbox::new();
    let lines = b"{\"id\":1,\"tool\":\"Bash\",\"input\":{\"command\":\"ls\"}}\n{\"id\":2,\"tool\":\"Frob\",\"input\":{}}\n";
    let ran = sandbox.run_with_input(&["check", "--batch", "--explain"], lines);
    let answers: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let levels: Vec<&Value> = answers.iter().map(|answer| &answer["explanation"]["riskLevel"]).collect();
    assert_eq!(levels, ["LOW", "MEDIUM"]);
}

#[test]
fn an_explanation_never_moves_the_cursor() {
    let ran = Sandbox::new().run(&["check", "--explain", "cat 'a\u{1b}[2Jb\u{202e}c'"]);
    assert!(ran.stdout.contains("\\u{1b}[2Jb\\u{202e}c"), "{}", ran.stdout);
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{}", ran.stdout);
}
