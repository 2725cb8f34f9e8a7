//! `portcullis settings`: values in force and the files they come from.

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::Sandbox;

#[test]
fn every_value_names_who_set_it() {
    let sandbox = Sandbox::with_user_settings("{\n\"permissions\":{\"defaultMode\":\"plan\"}}");
    sandbox.write_project(".claude/settings.json", r#"{"permissions":{"defaultMode":"bypassPermissions"}}"#);
    let ran = sandbox.run(&["settings", "show", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let value = |key: &str| {
        json["values"]
            .as_array()
            .unwrap()
            .iter()
            .find(|value| value["key"] == key)
            .unwrap_or(&Value::Null)
            .clone()
    };
    assert_eq!(json["broken_managed"], false);
    assert!(json["ignored"].as_array().unwrap().iter().any(|entry| entry["hint"].is_string()), "{json}");
    assert!(value("permissions.defaultMode")["value"].is_string(), "{json}");

    let text = sandbox.run(&["settings", "show"]).stdout;
    assert!(text.contains("permissions.defaultMode"), "{text}");
    assert!(text.contains("not used: "), "{text}");
}

#[test]
fn every_file_is_named_with_what_was_found_there() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"deny":["Bash(curl:*)","WebFetch"]}}"#);
    let broken = sandbox.write_project(".claude/settings.json", "{");
    let ran = sandbox.run(&["settings", "where", "--json"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains(broken.to_str().unwrap()), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let state = |path: &str| {
        let files = json["files"].as_array().unwrap();
        let file = files.iter().find(|file| sandbox.plain(file["file"].as_str().unwrap()) == path).unwrap();
        (
            file["state"].as_str().unwrap().to_owned(),
            file["source"].as_str().unwrap().to_owned(),
            file["rules"].clone(),
        )
    };
    let found =
        |state: &str, source: &str, rules: u64| (state.to_owned(), source.to_owned(), Value::from(rules));
    assert_eq!(state("HOME/.claude/settings.json"), found("read", "user", 2));
    assert_eq!(state("PROJECT/.claude/settings.json"), found("broken", "project", 0));
    assert_eq!(state("PROJECT/.portcullis/settings.local.json"), found("missing", "local", 0));
    let text = sandbox.plain(&sandbox.run(&["settings", "where"]).stdout);
    assert!(text.contains("user     HOME/.claude/settings.json  2 rules\n"), "{text}");
}
