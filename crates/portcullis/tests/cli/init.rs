//! `portcullis init` and `uninstall`, in homes of their own with agents that are scripts.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::{Ran, Sandbox, ran};

pub(crate) const THEIRS: &str = r#"{
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "theirs"}]}
        ]
    }
}
"#;

const SETTINGS: &str = ".claude/settings.json";

/// Puts an agent that is a script into the home.
pub(crate) fn agent(sandbox: &Sandbox, name: &str, script: &str) -> PathBuf {
    let path = sandbox.write_home(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Returns the command with the home's own programs on its path.
pub(crate) fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", sandbox.home.join("bin").display()));
    command
}

pub(crate) fn run(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    ran(&command(sandbox, arguments).output().unwrap())
}

pub(crate) fn with_claude(settings: &str) -> Sandbox {
    let sandbox = Sandbox::with_user_settings(settings);
    agent(&sandbox, "claude", "echo '2.1.300 (Claude Code)'");
    sandbox
}

pub(crate) fn settings(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.home.join(SETTINGS)).unwrap()
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Lists the programs that Claude Code is told to start before a call.
pub(crate) fn programs(sandbox: &Sandbox) -> Vec<String> {
    let groups = json(&settings(sandbox))["hooks"]["PreToolUse"].as_array().unwrap().clone();
    let handlers = groups.iter().flat_map(|group| group["hooks"].as_array().unwrap());
    handlers.map(|handler| handler["command"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn ours() -> String {
    Path::new(env!("CARGO_BIN_EXE_portcullis")).canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_fresh_home_is_registered_once_and_given_back_without_a_trace() {
    let sandbox = Sandbox::new();
    agent(&sandbox, "claude", "echo '2.1.300 (Claude Code)'");
    let first = run(&sandbox, &["init", "--yes", "--diff"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stdout.contains("+++ "), "{}", first.stdout);
    assert!(first.stdout.ends_with("Claude Code: registered\n"), "{}", first.stdout);
    assert_eq!(programs(&sandbox), [ours()]);
    let before = &json(&settings(&sandbox))["hooks"]["PreToolUse"][0];
    assert_eq!(before["matcher"], "*");
    assert_eq!(before["hooks"][0]["args"], serde_json::json!(["hook", "claude"]));
    assert_eq!(before["hooks"][0]["onFailure"], "block");

    let written = settings(&sandbox);
    let second = run(&sandbox, &["init", "--yes"]);
    assert_eq!((second.code, second.stdout.as_str()), (Some(0), "Claude Code: already registered\n"));
    assert_eq!(settings(&sandbox), written);

    let undone = run(&sandbox, &["uninstall", "--yes"]);
    assert_eq!(undone.code, Some(0), "{}", undone.stderr);
    assert!(!sandbox.home.join(".claude").exists(), "the folder was made by init");
    let again = run(&sandbox, &["uninstall", "--yes"]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "nothing of ours is registered\n"));
}

#[test]
fn settings_are_given_back_byte_for_byte() {
    for original in [THEIRS, "{}", "", "{\r\n\t\"hooks\": {}\r\n}\r\n", "{\"hooks\":{\"Stop\":[]}}"] {
        let sandbox = with_claude(original);
        let file = sandbox.home.join(SETTINGS);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let done = run(&sandbox, &["init", "claude", "--yes"]);
        assert_eq!(done.code, Some(0), "{original:?}: {}", done.stderr);
        assert!(settings(&sandbox).contains(&ours()), "{original:?}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
        assert_eq!(settings(&sandbox), original);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }
}

#[test]
fn comments_stay_in_settings_of_an_agent_that_takes_them() {
    let original = "{\n    // my settings\n    \"ui\": {\"theme\": \"dark\"} // keep\n}\n";
    let sandbox = Sandbox::new();
    agent(&sandbox, "gemini", "echo 0.61.0");
    let file = sandbox.write_home(".gemini/settings.json", original);
    let done = run(&sandbox, &["init", "gemini", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let text = fs::read_to_string(&file).unwrap();
    for part in ["// my settings", "// keep", &ours()] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), original);
}

#[test]
fn a_file_that_the_agent_would_not_take_is_never_written_into() {
    let dropped = [
        "{\n  // mine\n  \"model\": \"opus\"\n}\n",
        "{\"model\": \"opus\",}",
        "\u{feff}{\"model\": \"opus\"}",
        "{\"permissions\": {\"allow\": \"Bash(ls:*)\"}}",
        "{\"env\": []}",
    ];
    for text in dropped {
        let sandbox = with_claude(text);
        let ran = run(&sandbox, &["init", "--yes"]);
        assert_eq!(ran.code, Some(64), "{text}: {}", ran.stdout);
        assert!(ran.stderr.contains("calls no hook of it"), "{text}: {}", ran.stderr);
        assert_eq!(settings(&sandbox), text);
    }
    // One that became such a file after it was registered.
    let sandbox = with_claude("{}");
    run(&sandbox, &["init", "--yes"]);
    let broken = settings(&sandbox).replacen('{', "{\n  \"permissions\": {\"deny\": 7},", 1);
    sandbox.write_home(SETTINGS, &broken);
    let checked = run(&sandbox, &["doctor", "claude"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stdout);
    assert!(checked.stdout.contains("`permissions.deny` must be a list of texts"), "{}", checked.stdout);
}

#[test]
fn the_mode_is_set_with_one_word_and_counts_where_a_host_says_default() {
    let sandbox = with_claude("{\"permissions\": {\"defaultMode\": \"acceptEdits\"}}");
    sandbox.write_project(
        "package.json",
        "{\"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"29\"}}",
    );
    let hook = || {
        let input = serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": sandbox.project, "permission_mode": "default",
            "tool_name": "WebFetch", "tool_input": {"url": "https://docs.rs/serde"},
        });
        sandbox.run_with_input(&["hook", "claude"], input.to_string().as_bytes()).stdout
    };
    assert_eq!(hook(), "", "Claude Code's own mode is not ours, and its own prompt serves better");
    let ran = run(&sandbox, &["init", "--mode", "auto", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let meaning = "auto, from now on: what is harmless runs, what is dangerous stops, the rest asks you";
    assert!(ran.stdout.contains(meaning), "{}", ran.stdout);
    assert!(hook().contains("\"permissionDecision\":\"allow\""), "{}", hook());
    let checked = run(&sandbox, &["doctor", "claude"]);
    assert!(checked.stdout.contains("mode: auto"), "{}", checked.stdout);
    assert_eq!(run(&sandbox, &["init", "--mode", "bypassPermissions", "--yes"]).code, Some(64));
}

#[test]
fn a_person_is_offered_auto_mode_once() {
    let own = ".config/portcullis/settings.json";
    for (typed, expected) in [("y\ny\n", Some("auto")), ("n\ny\n", None)] {
        let sandbox = Sandbox::with_user_settings("{}");
        let ran = sandbox.at_terminal(&["init", "claude"], typed);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("Auto mode in every agent"), "{}", ran.stdout);
        let text = fs::read_to_string(sandbox.home.join(own)).unwrap_or_else(|_| "{}".to_owned());
        assert_eq!(json(&text)["permissions"]["defaultMode"].as_str(), expected, "{text}");
        assert!(settings(&sandbox).contains(&ours()), "it is registered either way");
    }
    let sandbox = Sandbox::with_user_settings("{}");
    sandbox.write_home(own, "{\"permissions\": {\"defaultMode\": \"acceptEdits\"}}");
    let ran = sandbox.at_terminal(&["init", "claude"], "y\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stdout.contains("Auto mode in every agent"), "{}", ran.stdout);
}

#[test]
fn hooks_of_others_stay_and_run_beside_ours() {
    let sandbox = with_claude(THEIRS);
    run(&sandbox, &["init", "--yes"]);
    assert_eq!(programs(&sandbox), ["theirs".to_owned(), ours()]);
    let backup = sandbox.home.join(".local/state/portcullis/installs/claude.settings.json.backup");
    assert_eq!(fs::read_to_string(&backup).unwrap(), THEIRS);
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_earlier_registration_is_replaced_wherever_it_stands_and_never_doubled() {
    let old = r#"{"type":"command","command":"/old/portcullis","args":["hook","claude"],"timeout":5}"#;
    let line = r#"{"type":"command","command":"'/my old/portcullis' hook claude --headless"}"#;
    let theirs = r#"{"type":"command","command":"theirs"}"#;
    let table = [
        (format!(r#"[{{"matcher":"Bash","hooks":[{old}]}}]"#), vec![ours()]),
        (format!(r#"[{{"hooks":[{old}]}},{{"hooks":[{line}]}}]"#), vec![ours()]),
        (format!(r#"[{{"hooks":[{theirs},{line}]}}]"#), vec!["theirs".to_owned(), ours()]),
        (format!(r#"[{{"hooks":[{old},{old},{theirs}]}}]"#), vec!["theirs".to_owned(), ours()]),
    ];
    for (groups, expected) in table {
        let text = format!(r#"{{"hooks":{{"PreToolUse":{groups},"Stop":[{{"hooks":[{old}]}}]}}}}"#);
        let sandbox = with_claude(&text);
        assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0));
        assert_eq!(programs(&sandbox), expected, "{groups}");
        assert!(!settings(&sandbox).contains("old/portcullis"), "{groups}");
        assert_eq!(run(&sandbox, &["init", "--yes"]).stdout, "Claude Code: already registered\n");
        run(&sandbox, &["uninstall", "--yes"]);
        let left = settings(&sandbox);
        assert!(!left.contains("portcullis"), "{groups}: {left}");
        assert_eq!(left.contains("theirs"), groups.contains("theirs"), "{left}");
    }
}

#[test]
fn a_new_program_is_registered_in_the_place_of_the_old_and_undoing_still_gives_the_first_bytes() {
    let sandbox = with_claude(THEIRS);
    let other = agent(&sandbox, "portcullis", "exit 0");
    run(&sandbox, &["init", "--yes"]);
    let ran = run(&sandbox, &["init", "--yes", "--program", other.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(programs(&sandbox), ["theirs", other.to_str().unwrap()]);
    run(&sandbox, &["uninstall", "--yes"]);
    assert_eq!(settings(&sandbox), THEIRS);
}

#[test]
fn from_a_file_that_was_edited_since_only_our_entries_are_taken() {
    let sandbox = with_claude(THEIRS);
    run(&sandbox, &["init", "--yes"]);
    let edited = settings(&sandbox).replace("Bash(ls:*)", "Bash(ll:*)");
    sandbox.write_home(SETTINGS, &edited);
    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    assert_eq!(settings(&sandbox), THEIRS.replace("Bash(ls:*)", "Bash(ll:*)"));

    // A file that init made, with something of the user's in it by now.
    let sandbox = Sandbox::new();
    agent(&sandbox, "claude", "echo 2.1.300");
    run(&sandbox, &["init", "--yes"]);
    let edited = settings(&sandbox).replacen('{', "{\n  \"model\": \"opus\",", 1);
    sandbox.write_home(SETTINGS, &edited);
    run(&sandbox, &["uninstall", "--yes"]);
    assert_eq!(json(&settings(&sandbox)), serde_json::json!({"model": "opus"}));
}

#[test]
fn what_is_registered_is_found_and_undone_without_a_record() {
    let sandbox = with_claude(THEIRS);
    run(&sandbox, &["init", "--yes"]);
    for record in ["garbage", ""] {
        sandbox.write_home(".local/state/portcullis/installs/claude.json", record);
    }
    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    assert_eq!(settings(&sandbox), THEIRS);
}

#[test]
fn a_record_that_was_tampered_with_reaches_no_other_file() {
    let sandbox = with_claude(THEIRS);
    assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0));
    let profile = sandbox.write_home(".profile", "echo hello\n");
    let script = sandbox.write_home("work/hooks/check.sh", "true\n");
    symlink(&script, sandbox.home.join(".claude/check.sh")).unwrap();
    let link = sandbox.home.join("bin/other");
    symlink(env!("CARGO_BIN_EXE_portcullis"), &link).unwrap();
    let empty = sandbox.home.join("empty");
    fs::create_dir(&empty).unwrap();
    let place = sandbox.home.join(".local/state/portcullis/installs/claude.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&place).unwrap()).unwrap();
    let paths =
        [profile.clone(), sandbox.home.join(".claude/../.profile"), sandbox.home.join(".claude/check.sh")];
    for path in paths {
        let after = fs::read_to_string(&path).unwrap();
        let forged = serde_json::json!({"path": path, "kind": "json", "before": "evil\n", "after": after});
        record["files"].as_array_mut().unwrap().push(forged);
    }
    record["links"] = serde_json::json!([link]);
    record["directories"].as_array_mut().unwrap().push(serde_json::json!(empty));
    fs::write(&place, record.to_string()).unwrap();

    let ran = run(&sandbox, &["uninstall", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stderr.matches("is left as it is").count(), 3, "{}", ran.stderr);
    assert_eq!(settings(&sandbox), THEIRS);
    assert_eq!(fs::read_to_string(&profile).unwrap(), "echo hello\n");
    assert_eq!(fs::read_to_string(&script).unwrap(), "true\n");
    assert!(fs::symlink_metadata(&link).is_ok() && empty.is_dir());
    assert!(place.exists(), "what was not undone stays on record");
}

#[test]
fn a_file_that_cannot_be_understood_is_left_alone_and_said_so() {
    let table = [
        "{\"hooks\": ",
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{'hooks': {}}",
        "not json",
    ];
    for text in table {
        let sandbox = with_claude(text);
        let ran = run(&sandbox, &["init", "--yes"]);
        assert_eq!(ran.code, Some(64), "{text}: {}", ran.stdout);
        assert!(ran.stderr.contains("settings.json` was left as it is"), "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains("hint: "), "{text}");
        assert_eq!(settings(&sandbox), text);
        assert_eq!(
            run(&sandbox, &["uninstall", "claude", "--yes"]).stdout.lines().last(),
            Some("nothing of ours is registered")
        );
        assert_eq!(settings(&sandbox), text);
    }
}

#[test]
fn a_link_to_the_settings_stays_a_link() {
    let sandbox = Sandbox::new();
    let target = sandbox.write_home("dotfiles/claude.json", THEIRS);
    fs::create_dir(sandbox.home.join(".claude")).unwrap();
    symlink(&target, sandbox.home.join(SETTINGS)).unwrap();
    assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0));
    assert!(fs::symlink_metadata(sandbox.home.join(SETTINGS)).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains(&ours()));
    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    assert_eq!(fs::read_to_string(&target).unwrap(), THEIRS);
    assert!(fs::symlink_metadata(sandbox.home.join(SETTINGS)).unwrap().is_symlink());

    fs::remove_file(&target).unwrap();
    let ran = run(&sandbox, &["init", "--yes"]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("leads to nothing"), "{}", ran.stderr);
}

#[test]
fn a_read_only_file_is_left_alone() {
    let sandbox = with_claude(THEIRS);
    let file = sandbox.home.join(SETTINGS);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let ran = run(&sandbox, &["init", "--yes"]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("read-only"), "{}", ran.stderr);
    assert_eq!(settings(&sandbox), THEIRS);
}

#[test]
fn nothing_is_written_without_a_yes() {
    let sandbox = with_claude(THEIRS);
    let dry = run(&sandbox, &["init", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);
    assert!(
        dry.stdout.contains(&format!("+                        \"command\": \"{}\"", ours())),
        "{}",
        dry.stdout
    );
    assert!(!sandbox.home.join(".local").exists(), "a dry run makes nothing");
    let asked = run(&sandbox, &["init"]);
    assert_eq!(asked.code, Some(64));
    assert!(asked.stderr.contains("nothing was changed"), "{}", asked.stderr);
    assert_eq!(settings(&sandbox), THEIRS);
    assert!(!sandbox.home.join(".local").exists());

    run(&sandbox, &["init", "--yes"]);
    let written = settings(&sandbox);
    assert_eq!(run(&sandbox, &["uninstall", "--dry-run"]).code, Some(0));
    assert_eq!(run(&sandbox, &["uninstall"]).code, Some(64));
    assert_eq!(settings(&sandbox), written);
}

#[test]
fn many_at_once_register_once() {
    let sandbox = with_claude(THEIRS);
    let start = || command(&sandbox, &["init", "--yes"]).spawn().unwrap();
    let children: Vec<_> = (0..8).map(|_| start()).collect();
    for child in children {
        let ran = ran(&child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    assert_eq!(programs(&sandbox), ["theirs".to_owned(), ours()]);
    run(&sandbox, &["uninstall", "--yes"]);
    assert_eq!(settings(&sandbox), THEIRS);
}

#[test]
fn agents_are_named_found_or_missed() {
    let sandbox = Sandbox::new();
    let none = run(&sandbox, &["init", "--yes"]);
    assert_eq!(none.code, Some(64));
    assert!(none.stderr.contains("no agent was found"), "{}", none.stderr);
    for name in ["generic", "emacs"] {
        let ran = run(&sandbox, &["init", name, "--yes"]);
        assert_eq!(ran.code, Some(64), "{name}");
        assert!(ran.stderr.contains("not an agent that can be registered"), "{}", ran.stderr);
    }
    fs::create_dir(sandbox.home.join(".claude")).unwrap();
    assert_eq!(run(&sandbox, &["init", "--dry-run"]).code, Some(0));
}

#[test]
fn the_state_is_removed_only_when_that_is_asked_for() {
    let sandbox = with_claude(THEIRS);
    run(&sandbox, &["init", "--yes"]);
    run(&sandbox, &["uninstall", "--yes"]);
    let state = sandbox.home.join(".local/state/portcullis");
    assert!(state.exists());
    let ran = run(&sandbox, &["uninstall", "--purge-state"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stdout);
    assert!(state.exists());
    assert_eq!(run(&sandbox, &["uninstall", "--purge-state", "--yes"]).code, Some(0));
    assert!(!state.exists());
    assert_eq!(settings(&sandbox), THEIRS);
}

/// Lists every file below the home but the state, with its text.
pub(crate) fn tree(sandbox: &Sandbox) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![sandbox.home.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.ends_with(".local/state") {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                found.push((
                    path.clone(),
                    fs::read_to_string(&path).unwrap_or_else(|_| "a program".to_owned()),
                ));
            }
        }
    }
    found.sort();
    found
}
