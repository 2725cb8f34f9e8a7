//! `portcullis init`: which program is registered, and what depends on the versions and places of programs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::init::{THEIRS, agent, command, json, ours, programs, run, settings, tree, with_claude};
use super::sandbox::{Sandbox, ran};

#[test]
fn a_version_that_knows_no_arguments_gets_a_line_that_blocks_by_itself() {
    for version in ["2.1.138", "2.1.142", "2.1.294"] {
        let sandbox = Sandbox::with_user_settings("{}");
        agent(&sandbox, "claude", &format!("echo '{version} (Claude Code)'"));
        assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0), "{version}");
        let [line] = programs(&sandbox).try_into().unwrap();
        assert!(line.starts_with(&format!("{} hook claude || {{ ", ours())), "{version}: {line}");
        let checked = run(&sandbox, &["doctor", "claude"]);
        assert_eq!(checked.code, Some(0), "{version}: {}", checked.stdout);
        assert_eq!(run(&sandbox, &["uninstall", "--yes"]).code, Some(0));
        assert_eq!(settings(&sandbox), "{}", "{version}");
    }
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
fn a_version_that_cannot_be_guarded_is_refused_and_named() {
    let sandbox = Sandbox::with_user_settings("{}");
    agent(&sandbox, "claude", "echo '1.0.58 (Claude Code)'");
    let ran = run(&sandbox, &["init", "--yes"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stdout);
    let why =
        "Claude Code 1.0.58 runs calls that a hook denies; the oldest version that can be guarded is 1.0.59";
    assert!(ran.stderr.contains(why) && ran.stderr.contains("hint: update it"), "{}", ran.stderr);
    assert_eq!(settings(&sandbox), "{}");
    let checked = run(&sandbox, &["doctor", "claude"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.stdout.contains(&format!("{why}: calls are not judged")), "{}", checked.stdout);
    agent(&sandbox, "claude", "echo '1.0.59 (Claude Code)'");
    assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0));
    assert_eq!(run(&sandbox, &["doctor", "claude"]).code, Some(0));
}
