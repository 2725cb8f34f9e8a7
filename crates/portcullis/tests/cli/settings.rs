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
    assert_eq!(json["damaged"], false);
    assert!(json["ignored"].as_array().unwrap().iter().any(|entry| entry["hint"].is_string()), "{json}");
    assert!(value("permissions.defaultMode")["value"].is_string(), "{json}");
    assert_eq!(value("permissions.disableAutoMode")["value"], Value::Null);
    assert_eq!(value("disableAllHooks")["value"], false);
    assert_eq!(value("useAutoModeDuringPlan")["value"], true);
    assert_eq!(value("autoMode.allow")["value"], serde_json::json!(["$defaults"]));

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

#[test]
fn values_are_shown_as_they_are_written() {
    let sandbox = Sandbox::with_user_settings(
        r#"{"permissions":{"additionalDirectories":["/srv/a","/srv/b"],"disableBypassPermissionsMode":"disable"},"disableAllHooks":true}"#,
    );
    let text = sandbox.plain(&sandbox.run(&["settings", "show"]).stdout);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    for row in [
        ["permissions.additionalDirectories", "/srv/a"],
        ["permissions.additionalDirectories", "/srv/b"],
        ["permissions.disableBypassPermissionsMode", "disable"],
        ["disableAutoMode", "not"],
        ["disableAllHooks", "true"],
    ] {
        assert!(rows.iter().any(|shown| shown == &row), "no {row:?} in\n{text}");
    }
}

#[test]
fn a_key_that_looks_misspelt_is_told_wherever_settings_are_used() {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/portcullis/settings.json", r#"{"permissions":{"denny":["Bash(ls)"]},"x":1}"#);
    for arguments in
        [["check", "ls"].as_slice(), &["settings", "show"], &["rules", "lint"], &["rules", "list"]]
    {
        let ran = sandbox.run(arguments);
        assert!(ran.stderr.contains("unknown key `permissions.denny`"), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_home_that_cannot_be_found_is_an_error_and_not_a_user_without_rules() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"deny":["Bash(ls:*)"]}}"#);
    for (name, value, code) in [
        ("HOME", "home", 64),
        ("HOME", "", 64),
        ("CLAUDE_CONFIG_DIR", ".claude", 64),
        ("CLAUDE_CONFIG_DIR", "", 2),
        ("XDG_CONFIG_HOME", "config", 2),
    ] {
        let ran = super::sandbox::ran(&sandbox.command(&["check", "ls"]).env(name, value).output().unwrap());
        assert_eq!(ran.code, Some(code), "{name}={value}: {}", ran.stderr);
        assert_eq!(ran.stderr.contains(name), code == 64, "{name}={value}: {}", ran.stderr);
    }
}

#[test]
fn a_variable_that_leads_settings_or_state_into_the_repository_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write_project(".git/HEAD", "ref: refs/heads/main\n");
    let allow = r#"{"permissions":{"allow":["Bash(frobnicate:*)"]}}"#;
    sandbox.write_project("x/portcullis/settings.json", allow);
    sandbox.write_project("x/.config/portcullis/settings.json", allow);
    sandbox.write_project("x/settings.json", allow);
    std::os::unix::fs::symlink(sandbox.project.join("x"), sandbox.home.join("link")).unwrap();
    let inside = sandbox.project.join("x");
    let linked = sandbox.home.join("link");
    let variables = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "HOME"];
    for (variable, directory) in variables.iter().flat_map(|name| [(name, &inside), (name, &linked)]) {
        let mut command = sandbox.command(&["check", "frobnicate"]);
        let ran = super::sandbox::ran(&command.env(variable, directory).output().unwrap());
        assert_eq!(ran.code, Some(64), "{variable} {}: {ran:?}", directory.display());
        assert!(ran.stderr.contains(variable) && ran.stderr.contains("repository"), "{ran:?}");
    }
    let outside = sandbox.home.join("config");
    let mut command = sandbox.command(&["check", "frobnicate"]);
    let ran = super::sandbox::ran(&command.env("XDG_CONFIG_HOME", outside).output().unwrap());
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

#[test]
fn a_repository_is_not_the_home_of_the_user_because_a_variable_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write_project(".config/portcullis/settings.json", r#"{"permissions":{"allow":["Bash"]}}"#);
    let code_with = |home: &std::path::Path| {
        let mut command = sandbox.command(&["check", "frobnicate"]);
        super::sandbox::ran(&command.env("HOME", home).output().unwrap()).code
    };
    let here = std::path::Path::new("/proc/self/cwd");
    assert_eq!(code_with(here), Some(64), "no repository knows where it lies");
    assert_eq!(code_with(&sandbox.project), Some(0), "a directory that is no repository may be a home");
    sandbox.write_project(".git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(code_with(here), Some(64));
    assert_eq!(code_with(&sandbox.project), Some(64), "nobody's home");
}
