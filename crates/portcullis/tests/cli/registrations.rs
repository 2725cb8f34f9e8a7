//! `portcullis init` and `uninstall` for agents whose settings have a form of their own.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::init::{agent, run};
use super::sandbox::Sandbox;

/// What an earlier version wrote for Droid, between hooks of somebody else; Droid ignores it.
const FORMER_DROID: &str = r#"{
  "Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}],
  "hooks": {
    "PreToolUse": [
      {"matcher": "*", "hooks": [{"type": "command", "command": "/old/portcullis hook droid", "timeout": 90}]}
    ],
    "SessionEnd": [{"hooks": [{"type": "command", "command": "/old/portcullis hook droid", "timeout": 10}]}]
  }
}
"#;

#[test]
fn droid_has_its_events_at_the_top_of_its_file() {
    let sandbox = Sandbox::new();
    agent(&sandbox, "droid", "echo 0.215.0");
    let file = sandbox.write_home(".factory/hooks.json", FORMER_DROID);
    let done = run(&sandbox, &["init", "droid", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let text = fs::read_to_string(&file).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert!(written.get("hooks").is_none(), "what Droid ignores is taken away: {text}");
    assert_eq!(written["Stop"][0]["hooks"][0]["command"], "theirs");
    let command = written["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.contains("hook droid"), "{text}");
    assert!(!text.contains("/old/portcullis"), "{text}");
    assert_eq!(run(&sandbox, &["doctor", "droid"]).code, Some(0));

    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    let left: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(left.as_object().unwrap().keys().collect::<Vec<_>>(), ["Stop"]);
}

#[test]
fn what_droid_ignores_is_no_registration_and_uninstall_takes_it_away() {
    let sandbox = Sandbox::new();
    agent(&sandbox, "droid", "echo 0.215.0");
    let file = sandbox.write_home(".factory/hooks.json", FORMER_DROID);
    assert_eq!(run(&sandbox, &["doctor", "droid"]).code, Some(1));
    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    let left: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(left.as_object().unwrap().keys().collect::<Vec<_>>(), ["Stop"]);
}
