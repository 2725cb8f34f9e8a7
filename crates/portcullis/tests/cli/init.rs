//! `portcullis init` and `uninstall`, in homes of their own with agents that are scripts.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::{Ran, Sandbox, ran};

const THEIRS: &str = r#"{
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

fn with_claude(settings: &str) -> Sandbox {
    let sandbox = Sandbox::with_user_settings(settings);
    agent(&sandbox, "claude", "echo '2.1.300 (Claude Code)'");
    sandbox
}

fn settings(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.home.join(SETTINGS)).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Lists the programs that Claude Code is told to start before a call.
fn programs(sandbox: &Sandbox) -> Vec<String> {
    let groups = json(&settings(sandbox))["hooks"]["PreToolUse"].as_array().unwrap().clone();
    let handlers = groups.iter().flat_map(|group| group["hooks"].as_array().unwrap());
    handlers.map(|handler| handler["command"].as_str().unwrap().to_owned()).collect()
}

fn ours() -> String {
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
fn a_version_that_knows_no_arguments_gets_a_line_that_blocks_by_itself() {
    for version in ["2.1.138", "2.1.142", "2.1.294"] {
        let sandbox = Sandbox::with_user_settings("{}");
        agent(&sandbox, "claude", &format!("echo '{version} (Claude Code)'"));
        assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0), "{version}");
        assert_eq!(programs(&sandbox), [format!("{} hook claude || exit 2", ours())], "{version}");
        let checked = run(&sandbox, &["doctor", "claude"]);
        assert_eq!(checked.code, Some(0), "{version}: {}", checked.stdout);
        assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
        assert_eq!(settings(&sandbox), "{}", "{version}");
    }
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
    assert!(ran.stdout.contains("auto, from now on"), "{}", ran.stdout);
    assert!(hook().contains("\"permissionDecision\":\"allow\""), "{}", hook());
    let checked = run(&sandbox, &["doctor", "claude"]);
    assert!(checked.stdout.contains("mode: auto"), "{}", checked.stdout);
    assert_eq!(run(&sandbox, &["init", "--mode", "bypassPermissions", "--yes"]).code, Some(64));
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
fn a_program_with_blanks_and_quotes_in_its_path_is_registered_as_it_is() {
    let sandbox = with_claude("{}");
    let program = agent(&sandbox, "it's \"a\" $(tool)/portcullis", "exit 0");
    let ran = run(&sandbox, &["init", "--yes", "--program", program.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(programs(&sandbox), [program.to_str().unwrap()]);
    run(&sandbox, &["uninstall", "--yes"]);
    assert_eq!(settings(&sandbox), "{}");
}

#[test]
fn a_program_of_another_name_is_registered_once_and_given_back() {
    let sandbox = Sandbox::new();
    let program = agent(&sandbox, "gate", "exit 0");
    let words = ["init", "copilot", "opencode", "cursor", "--yes", "--program", program.to_str().unwrap()];
    let before = tree(&sandbox);
    assert_eq!(run(&sandbox, &words).code, Some(0));
    let registered = tree(&sandbox);
    let again = run(&sandbox, &words);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(again.stdout.matches("already registered").count(), 3, "{}", again.stdout);
    assert_eq!(tree(&sandbox), registered);
    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    assert_eq!(tree(&sandbox), before);
}

#[test]
fn a_program_that_was_renamed_takes_the_place_of_its_former_name() {
    let sandbox = with_claude(THEIRS);
    let before = tree(&sandbox);
    let programs_of = ["gate", "gate-2"].map(|name| agent(&sandbox, name, "exit 0"));
    for program in &programs_of {
        let ran = run(&sandbox, &["init", "claude", "amp", "--yes", "--program", program.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(programs(&sandbox), ["theirs", program.to_str().unwrap()]);
    }
    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    for program in programs_of {
        fs::remove_file(program).unwrap();
    }
    assert_eq!(tree(&sandbox), before);
}

#[test]
fn a_program_that_others_could_replace_is_refused_and_a_doubtful_one_is_named() {
    let sandbox = with_claude("{}");
    let inside = sandbox.write_project("tools/portcullis", "#!/bin/sh\n");
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = run(&sandbox, &["init", "--dry-run", "--program", inside.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains("lies in the workspace"), "{}", ran.stderr);

    for (path, mode) in [("tools/portcullis", 0o757), ("tools", 0o777)] {
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(sandbox.project.join(path), fs::Permissions::from_mode(mode)).unwrap();
        let ran = run(&sandbox, &["init", "--yes", "--program", inside.to_str().unwrap()]);
        assert_eq!(ran.code, Some(64), "{path}");
        assert!(ran.stderr.contains("can be written by everybody"), "{path}: {}", ran.stderr);
    }
    for path in ["no/such/program", "src"] {
        assert_eq!(run(&sandbox, &["init", "--yes", "--program", path]).code, Some(64), "{path}");
    }
    assert_eq!(settings(&sandbox), "{}");
}

#[test]
fn claude_code_is_told_to_fail_shut_from_the_version_that_knows_how() {
    for (version, expected) in [("2.1.294", None), ("2.1.295", Some("block")), ("3.0.0", Some("block"))] {
        let sandbox = Sandbox::with_user_settings("{}");
        agent(&sandbox, "claude", &format!("echo '{version} (Claude Code)'"));
        run(&sandbox, &["init", "--yes"]);
        let handler = json(&settings(&sandbox))["hooks"]["PreToolUse"][0]["hooks"][0].clone();
        assert_eq!(handler.get("onFailure").and_then(Value::as_str), expected, "{version}");
    }
}

#[test]
fn what_a_version_was_told_is_not_taken_back_when_it_cannot_be_asked() {
    let sandbox = Sandbox::with_user_settings("{}");
    let program = agent(&sandbox, "claude", "echo 2.1.325");
    run(&sandbox, &["init", "--yes"]);
    for script in ["exit 1", "echo hello"] {
        agent(&sandbox, "claude", script);
        assert_eq!(run(&sandbox, &["init", "--yes"]).stdout, "Claude Code: already registered\n", "{script}");
        assert_eq!(run(&sandbox, &["doctor"]).code, Some(0), "{script}");
    }
    fs::remove_file(program).unwrap();
    assert_eq!(run(&sandbox, &["init", "--yes"]).stdout, "Claude Code: already registered\n");
}

#[test]
fn a_program_in_the_workspace_does_not_pass_for_an_agent() {
    let sandbox = Sandbox::with_user_settings("{}");
    let marker = sandbox.home.join("started");
    let planted = sandbox.write_project("claude", &format!("#!/bin/sh\ntouch {}\n", marker.display()));
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    for path in [sandbox.project.to_str().unwrap(), "."] {
        let ran = ran(&sandbox.command(&["init", "claude", "--yes"]).env("PATH", path).output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!marker.exists(), "{path}");
    }
}

#[test]
fn a_variable_that_leads_into_the_workspace_is_refused() {
    let sandbox = Sandbox::new();
    let inside = sandbox.project.join("claude");
    let mut command = command(&sandbox, &["init", "claude", "--yes"]);
    let ran = ran(&command.env("CLAUDE_CONFIG_DIR", &inside).output().unwrap());
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("`CLAUDE_CONFIG_DIR` leads into the workspace"), "{}", ran.stderr);
    assert!(!inside.exists());
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
fn tree(sandbox: &Sandbox) -> Vec<(PathBuf, String)> {
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

/// A Codex that lists one hook for each entry of ours, one of somebody else's and one of a project.
pub(crate) const CODEX: &str = r#"
[ "$1" = --version ] && { echo "codex-cli 0.166.0"; exit; }
[ "$1" = app-server ] || exit 1
while read -r line; do
  case "$line" in
  *'"initialize"'*) echo '{"id":1,"result":{"userAgent":"codex"}}' ;;
  *'hooks/list'*)
    status=untrusted
    grep -q sha256:one "$CODEX_HOME/config.toml" && status=trusted
    command=$(sed -n 's/.*"command": "\(.*\)",*$/\1/p' "$CODEX_HOME/hooks.json" | head -n 1)
    hook='{"key":"%s:pre_tool_use:0:0","currentHash":"sha256:%s","trustStatus":"%s","enabled":true,"isManaged":false,"command":"%s"}'
    echo '{"method":"noise","id":2}'
    printf '{"id":2,"result":{"data":[{"cwd":"/","hooks":['
    printf "$hook" "$CODEX_HOME/hooks.json" one "$status" "$command"; printf ,
    printf "$hook" "$CODEX_HOME/hooks.json:theirs" two untrusted "theirs hook codex"; printf ,
    printf "$hook" "/project/.codex/hooks.json" three untrusted "$command"
    printf ']}]}}\n' ;;
  esac
done"#;

#[test]
fn codex_trusts_our_hooks_and_no_others() {
    let config = "# mine\nmodel = \"m\"\n";
    let sandbox = Sandbox::new();
    sandbox.write_home(".codex/config.toml", config);
    agent(&sandbox, "codex", CODEX);
    let before = tree(&sandbox);
    let ran = run(&sandbox, &["init", "--yes"]);
    assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stdout.ends_with("Codex: our hooks are trusted\n"), "{}", ran.stdout);
    let text = fs::read_to_string(sandbox.home.join(".codex/config.toml")).unwrap();
    let key = sandbox.home.join(".codex/hooks.json:pre_tool_use:0:0");
    let expected = format!("{config}\n[hooks.state.\"{}\"]\ntrusted_hash = \"sha256:one\"\n", key.display());
    assert_eq!(text, expected);

    assert_eq!(run(&sandbox, &["init", "--yes"]).stdout, "Codex: already registered\n");
    // Codex writes its own settings all the time.
    sandbox
        .write_home(".codex/config.toml", &format!("{text}\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n"));
    assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
    let left = fs::read_to_string(sandbox.home.join(".codex/config.toml")).unwrap();
    assert_eq!(left, format!("{config}\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n"));
    sandbox.write_home(".codex/config.toml", config);
    assert_eq!(tree(&sandbox), before);
}

#[test]
fn a_codex_that_cannot_be_asked_for_trust_is_a_failure_that_says_what_to_do() {
    for script in ["exit 1", "echo nonsense", "while read -r line; do echo '{\"id\":1,\"error\":{}}'; done"] {
        let sandbox = Sandbox::new();
        agent(&sandbox, "codex", script);
        let ran = run(&sandbox, &["init", "--yes"]);
        assert_eq!(ran.code, Some(64), "{script}: {}", ran.stdout);
        assert!(ran.stderr.contains("run `/hooks` in Codex"), "{script}: {}", ran.stderr);
        assert!(sandbox.home.join(".codex/hooks.json").exists(), "{script}");
    }
}

#[test]
fn every_agent_is_registered_checked_and_given_back() {
    let hosts = [
        "claude", "codex", "gemini", "opencode", "cursor", "copilot", "qwen", "droid", "crush", "amp",
        "kimi", "pi", "cline",
    ];
    for host in hosts {
        let sandbox = Sandbox::new();
        agent(&sandbox, host, if host == "codex" { CODEX } else { "echo 9.9.9" });
        let before = tree(&sandbox);
        let run = |arguments: &[&str]| {
            let path = format!("{0}/bin:{0}/.local/bin:/usr/bin:/bin", sandbox.home.display());
            ran(&command(&sandbox, arguments).env("PATH", path).output().unwrap())
        };
        let first = run(&["init", host, "--yes"]);
        assert_eq!(first.code, Some(0), "{host}: {} {}", first.stdout, first.stderr);
        let second = run(&["init", "--yes"]);
        assert!(second.stdout.ends_with(": already registered\n"), "{host}: {}", second.stdout);
        assert_eq!(second.stdout.lines().count(), 1, "{host}: {}", second.stdout);
        let checked = run(&["doctor", host]);
        assert_eq!(checked.code, Some(0), "{host}: {}", checked.stdout);
        assert!(checked.stdout.contains("✓ canary"), "{host}: {}", checked.stdout);
        let undone = run(&["uninstall", "--yes"]);
        assert_eq!(undone.code, Some(0), "{host}: {}", undone.stderr);
        assert_eq!(tree(&sandbox), before, "{host}");
    }
}

#[test]
fn a_file_of_somebody_else_in_our_place_is_left_alone() {
    let sandbox = Sandbox::new();
    let theirs = sandbox.write_home(".config/opencode/plugin/portcullis.js", "export const Mine = 1\n");
    let ran = run(&sandbox, &["init", "opencode", "--yes"]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("is there already and is not ours"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "export const Mine = 1\n");
    run_uninstall_leaves(&sandbox, &theirs);

    let sandbox = Sandbox::new();
    let theirs = sandbox.write_home(".local/bin/portcullis-amp", "theirs");
    let ran = run(&sandbox, &["init", "amp", "--yes"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stdout);
    assert!(!sandbox.home.join(".config/amp").exists());
    run_uninstall_leaves(&sandbox, &theirs);
}

fn run_uninstall_leaves(sandbox: &Sandbox, theirs: &Path) {
    let before = fs::read_to_string(theirs).unwrap();
    assert_eq!(run(sandbox, &["uninstall", "--yes"]).code, Some(0));
    assert_eq!(fs::read_to_string(theirs).unwrap(), before);
}
