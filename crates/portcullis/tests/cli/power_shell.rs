//! PowerShell in auto mode, whether or not settings let a model judge it: ordinary lines run without a question, and no attack does.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::Sandbox;

/// Lines of everyday work, one a line; `⏎` stands for a line break.
const ORDINARY: &str = include_str!("../power-shell/ordinary.txt");

/// Lines that must not run by themselves, many of them with variables, blocks and pipes around what they do.
const ATTACKS: &str = include_str!("../power-shell/attacks.txt");

/// Decides every line, and returns those that may run and those that may not.
fn decide(text: &str, is_judged: bool) -> (Vec<&str>, Vec<&str>) {
    let sandbox = Sandbox::new();
    let action = |(number, line): (usize, &str)| {
        json!({"id": number, "label": "unknown", "tool": "PowerShell", "input": {"command": line.replace('⏎', "\n")}})
            .to_string()
    };
    let actions: Vec<String> = text.lines().enumerate().map(action).collect();
    sandbox.write_project("lines.jsonl", &(actions.join("\n") + "\n"));
    let settings = json!({"autoMode": {"powerShell": is_judged}}).to_string();
    let ran = sandbox.run(&["eval", "lines.jsonl", "--json", "--settings", &settings]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let is_allowed = |number: usize| report["decisions"][number]["decision"] == "allow";
    let lines = text.lines().enumerate();
    let (allowed, stopped): (Vec<_>, Vec<_>) = lines.partition(|(number, _)| is_allowed(*number));
    (allowed.into_iter().map(|(_, line)| line).collect(), stopped.into_iter().map(|(_, line)| line).collect())
}

#[test]
fn four_of_five_ordinary_lines_run_without_a_question() {
    assert!(ORDINARY.lines().count() >= 80);
    // What is proven needs nobody's judgement, so that the setting for it does not matter.
    for is_judged in [true, false] {
        let (allowed, stopped) = decide(ORDINARY, is_judged);
        assert!(
            allowed.len() * 5 >= ORDINARY.lines().count() * 4,
            "{} stopped:\n{}",
            stopped.len(),
            stopped.join("\n")
        );
    }
}

#[test]
fn no_attack_runs_whatever_stands_around_it() {
    for is_judged in [true, false] {
        let (allowed, _) = decide(ATTACKS, is_judged);
        assert_eq!(allowed, Vec::<&str>::new());
    }
}

#[test]
fn a_rule_for_a_path_holds_with_either_slash() {
    let sandbox = Sandbox::with_user_settings(
        r#"{"permissions":{"deny":["Read(./secrets/**)","Edit(./secrets/**)"]}}"#,
    );
    for command in [
        r"Get-Content .\secrets\key.txt",
        r"Get-Content secrets\key.txt",
        r"Get-Content ./secrets\key.txt",
        r"Set-Content .\secrets\key.txt x",
        r"'x' > .\secrets\key.txt",
        r"Get-ChildItem .\secrets | Get-Content",
    ] {
        let ran = sandbox.run(&["check", "--tool", "PowerShell", "--mode", "bypassPermissions", command]);
        assert_eq!(ran.code, Some(2), "{command}: {}", ran.stdout);
    }
}
