//! `portcullis doctor`: what it sees, in homes of their own with agents that are scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::init::{agent, command, run};
use super::registrations::CODEX;
use super::sandbox::{Sandbox, ran};

const SETTINGS: &str = ".claude/settings.json";

fn registered() -> Sandbox {
    let sandbox = Sandbox::new();
    agent(&sandbox, "claude", "echo '2.1.325 (Claude Code)'");
    let ran = run(&sandbox, &["init", "claude", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    sandbox
}

/// Runs it and returns its exit code and checks: host, check, state, message.
fn doctor(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, Vec<[String; 4]>) {
    let ran = run(sandbox, &[&["doctor", "--json"], arguments].concat());
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let text = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
    let list = report["checks"].as_array().unwrap().iter();
    let checks: Vec<[String; 4]> =
        list.map(|check| ["host", "check", "state", "message"].map(|name| text(check, name))).collect();
    for check in report["checks"].as_array().unwrap() {
        assert_eq!(check["remedy"].is_string(), check["state"] != "fine", "{check}");
    }
    (ran.code, checks)
}

/// Asserts that one check of an agent is a problem that says so.
fn assert_problem(sandbox: &Sandbox, host: &str, name: &str, part: &str) {
    let (code, checks) = doctor(sandbox, &[host]);
    assert_eq!(code, Some(1), "{checks:#?}");
    let is_it = |check: &&[String; 4]| {
        [&check[1], &check[2]] == [name, "problem"]
            && check[3].contains(part)
            && (check[0] == host || check[0].is_empty())
    };
    assert!(checks.iter().any(|check| is_it(&check)), "no {name} with {part:?} in {checks:#?}");
}

fn edit(sandbox: &Sandbox, from: &str, to: &str) {
    let text = fs::read_to_string(sandbox.home.join(SETTINGS)).unwrap();
    assert!(text.contains(from), "{text}");
    sandbox.write_home(SETTINGS, &text.replace(from, to));
}

#[test]
fn what_init_registered_is_fine_and_the_canary_comes_back() {
    let sandbox = registered();
    let (code, checks) = doctor(&sandbox, &["claude"]);
    assert_eq!(code, Some(0), "{checks:#?}");
    let own = |name: &str| checks.iter().find(|check| check[0] == "claude" && check[1] == name).unwrap();
    assert!(own("program")[3].contains("2.1.325"), "{checks:#?}");
    assert_eq!(own("registration")[2], "fine");
    assert_eq!(own("canary")[2], "fine");
    let plain = run(&sandbox, &["doctor"]);
    assert_eq!(plain.code, Some(0));
    assert!(plain.stdout.contains("\nClaude Code\n  ✓ program: "), "{}", plain.stdout);
    assert!(plain.stdout.contains("0 problems"), "{}", plain.stdout);
}

#[test]
fn trial_calls_are_nobodys_to_allow_and_in_no_figures() {
    let sandbox = registered();
    // Headless, the canary is a question that nobody could be asked.
    assert_eq!(run(&sandbox, &["init", "claude", "--yes", "--headless"]).code, Some(0));
    assert_eq!(doctor(&sandbox, &["claude"]).0, Some(0));
    let json = |arguments: &[&str]| serde_json::from_str::<Value>(&run(&sandbox, arguments).stdout).unwrap();
    assert_eq!(json(&["allow", "--json"])["denied"], Value::Array(Vec::new()));
    assert_eq!(json(&["stats", "--json"])["calls"], 0);
    assert_eq!(json(&["stats", "--json", "--session", "portcullis-doctor"])["calls"], 2);
    assert_eq!(json(&["log", "--json"])["records"].as_array().unwrap().len(), 2);
}

#[test]
fn the_canary_holds_whatever_the_policy_allows() {
    let sandbox = registered();
    let text = fs::read_to_string(sandbox.home.join(SETTINGS)).unwrap();
    let open = r#"{ "permissions": {"allow": ["Bash", "Bash(rm:*)"], "defaultMode": "bypassPermissions"},"#;
    sandbox.write_home(SETTINGS, &text.replacen('{', open, 1));
    let (code, checks) = doctor(&sandbox, &["claude"]);
    assert_eq!(code, Some(0), "{checks:#?}");
}

#[test]
fn an_agent_that_does_not_ask_us_is_a_problem() {
    let sandbox = Sandbox::with_user_settings("{}");
    assert_problem(&sandbox, "claude", "registration", "does not name us: calls are not judged");
    let (_, checks) = doctor(&sandbox, &["claude"]);
    assert!(
        checks.iter().any(|check| check[1] == "program" && check[3].contains("no program of Claude Code"))
    );
    let about_it: Vec<_> = checks.iter().filter(|check| check[3].contains("does not name us")).collect();
    assert_eq!(about_it.len(), 1, "one thing that is missing is one line: {about_it:#?}");
}

#[test]
fn a_switch_is_one_only_for_the_agent_that_has_it() {
    let sandbox = registered();
    assert_eq!(
        run(&sandbox, &["init", "qwen", "gemini", "codex", "--yes"]).code,
        Some(64),
        "no Codex is there"
    );
    let set = |file: &str, key: &str, value: &str| {
        let text = fs::read_to_string(sandbox.home.join(file)).unwrap();
        sandbox.write_home(file, &text.replacen('{', &format!("{{ \"{key}\": {value},"), 1));
    };
    set(".qwen/settings.json", "hooksConfig", r#"{"enabled": false}"#);
    set(".gemini/settings.json", "hooksConfig", r#"{"enabled": false}"#);
    let has_switch = |host: &str| doctor(&sandbox, &[host]).1.iter().any(|check| check[1] == "switch");
    assert!(!has_switch("qwen"), "Qwen Code does not look at it");
    assert!(has_switch("gemini"));
    sandbox.write_home(".codex/config.toml", "[features]\nhooks = false\n");
    assert!(has_switch("codex"));
    let refused = run(&sandbox, &["init", "codex", "--yes"]);
    assert!(refused.stderr.contains("`hooks = false` in line 2 of"), "{}", refused.stderr);
}

#[test]
fn a_file_that_the_agent_passes_over_is_a_problem_and_nothing_is_written() {
    let sandbox = registered();
    let text = fs::read_to_string(sandbox.home.join(SETTINGS)).unwrap();
    let broken = text.replacen('{', r#"{ "statusLine": {"type": "x"},"#, 1);
    sandbox.write_home(SETTINGS, &broken);
    assert_problem(&sandbox, "claude", "settings file", "`statusLine` must be an object");
    let refused = run(&sandbox, &["init", "claude", "--yes"]);
    assert_eq!(refused.code, Some(64));
    assert!(refused.stderr.contains("nothing was written"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(sandbox.home.join(SETTINGS)).unwrap(), broken);
}

#[test]
fn a_registered_program_that_is_gone_or_another_one_is_seen() {
    let sandbox = registered();
    let ours = fs::canonicalize(env!("CARGO_BIN_EXE_portcullis")).unwrap();
    edit(&sandbox, ours.to_str().unwrap(), "/gone/portcullis");
    assert_problem(&sandbox, "claude", "registered program", "`/gone/portcullis` is not there");

    // One that an agent could have put there is not started.
    let marker = sandbox.home.join("started");
    let planted = sandbox.write_project("portcullis", &format!("#!/bin/sh\ntouch {}\n", marker.display()));
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    edit(&sandbox, "/gone/portcullis", planted.to_str().unwrap());
    assert_problem(&sandbox, "claude", "registered program", "lies in the workspace");
    assert!(!marker.exists());
}

#[test]
fn an_entry_that_was_weakened_is_seen() {
    let table = [
        ("\"timeout\": 90", "\"timeout\": 1", "`timeout` is 1, not 90"),
        ("\"onFailure\": \"block\"", "\"async\": true", "`onFailure` is missing"),
        ("\"matcher\": \"*\"", "\"matcher\": \"Read\"", "`matcher` is \"Read\", not \"*\""),
    ];
    for (from, to, part) in table {
        let sandbox = registered();
        edit(&sandbox, from, to);
        assert_problem(&sandbox, "claude", "registration", part);
    }
}

#[test]
fn a_switch_that_turns_hooks_off_is_seen_wherever_it_stands() {
    let sandbox = registered();
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        let path = sandbox.write_project(file, r#"{"disableAllHooks": true}"#);
        assert_problem(&sandbox, "claude", "switch", "`disableAllHooks` in `");
        fs::remove_file(path).unwrap();
    }
    let text = fs::read_to_string(sandbox.home.join(SETTINGS)).unwrap();
    sandbox.write_home(SETTINGS, &text.replacen('{', "{ \"disableAllHooks\": true,", 1));
    assert_problem(&sandbox, "claude", "switch", "turns our hooks off");
}

#[test]
fn the_switches_of_gemini_are_known() {
    let sandbox = Sandbox::new();
    agent(&sandbox, "gemini", "echo 0.61.0");
    assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0));
    assert_eq!(doctor(&sandbox, &["gemini"]).0, Some(0));
    for (key, text) in [
        ("hooksConfig.enabled", r#"{"hooksConfig": {"enabled": false}}"#),
        ("hooksConfig.disabled", r#"{"hooksConfig": {"disabled": ["other", "portcullis"]}}"#),
    ] {
        sandbox.write_project(".gemini/settings.json", text);
        assert_problem(&sandbox, "gemini", "switch", key);
    }
}

#[test]
fn settings_that_cannot_be_read_are_seen() {
    let sandbox = registered();
    sandbox.write_home(".config/portcullis/settings.json", "{");
    assert_problem(&sandbox, "claude", "settings", "settings.json");
    let sandbox = Sandbox::with_user_settings("{ broken");
    assert_problem(&sandbox, "claude", "registration", "cannot be read");
}

#[test]
fn a_canary_that_does_not_come_back_is_a_problem() {
    let table = [
        ("exit 1", "ended with exit code 1"),
        ("echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'", "was not stopped"),
        ("echo hello", "is not JSON"),
        ("exit 0", "was not stopped: the answer was silence"),
        ("echo broken >&2; exit 2", "ended with exit code 2: broken"),
    ];
    for (script, part) in table {
        let sandbox = Sandbox::new();
        agent(&sandbox, "claude", "echo 2.1.325");
        let fake = agent(&sandbox, "portcullis", script);
        run(&sandbox, &["init", "claude", "--yes", "--program", fake.to_str().unwrap()]);
        let (code, checks) = doctor(&sandbox, &["claude"]);
        assert_eq!(code, Some(1), "{checks:#?}");
        let has =
            |name: &str, part: &str| checks.iter().any(|check| check[1] == name && check[3].contains(part));
        assert!(has("canary", part), "{script}: {checks:#?}");
    }
}

#[test]
fn the_state_is_looked_at() {
    let sandbox = registered();
    let state = sandbox.home.join(".local/state/portcullis");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    assert_problem(&sandbox, "claude", "state", "can be used by others (mode 755)");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();

    let late = sandbox.write_home(".local/state/portcullis/late", "x");
    let future = std::time::SystemTime::now() + std::time::Duration::from_hours(72);
    fs::File::options().write(true).open(&late).unwrap().set_modified(future).unwrap();
    let (_, checks) = doctor(&sandbox, &["claude"]);
    let clock = checks.iter().find(|check| check[1] == "clock").unwrap();
    assert_eq!(clock[2], "warning", "{checks:#?}");
    assert!(clock[3].contains("late` is from the future"));
}

#[test]
fn a_key_is_looked_for_and_never_shown() {
    let sandbox = registered();
    sandbox.write_home(
        ".config/portcullis/settings.json",
        r#"{"classifier": {"provider": "anthropic", "keyVariable": "JUDGE_KEY"}}"#,
    );
    assert_problem(&sandbox, "claude", "classifier", "the variable `JUDGE_KEY` is not set");
    let mut with_key = command(&sandbox, &["doctor", "claude"]);
    let ran = ran(&with_key.env("JUDGE_KEY", "sk-very-secret").output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.contains("its key is in the variable `JUDGE_KEY`"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("very-secret"));
}

#[test]
fn an_agent_that_takes_no_scripted_model_is_said_not_to_be_proven() {
    let sandbox = Sandbox::new();
    agent(&sandbox, "cursor", "echo 1.7.2");
    run(&sandbox, &["init", "cursor", "--yes"]);
    let (_, checks) = doctor(&sandbox, &["cursor", "--prove", "--yes"]);
    let proof = checks.iter().find(|check| check[1] == "proof").unwrap_or_else(|| panic!("{checks:#?}"));
    let said = "Cursor cannot be started with a scripted model";
    assert_eq!([&proof[0], &proof[2], &proof[3]], ["cursor", "warning", said]);
}

#[test]
fn an_agent_nobody_knows_is_wrong_usage() {
    assert_eq!(run(&Sandbox::new(), &["doctor", "emacs"]).code, Some(64));
}

#[test]
fn hooks_that_codex_does_not_trust_are_a_problem() {
    let sandbox = Sandbox::new();
    agent(&sandbox, "codex", CODEX);
    assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0));
    assert_eq!(doctor(&sandbox, &["codex"]).0, Some(0));
    fs::write(sandbox.home.join(".codex/config.toml"), "").unwrap();
    assert_problem(&sandbox, "codex", "trust", "skips them: calls are not judged");
    agent(&sandbox, "codex", "echo 0.166.0");
    let (_, checks) = doctor(&sandbox, &["codex"]);
    assert!(checks.iter().any(|check| check[1] == "trust" && check[2] == "warning"), "{checks:#?}");
}

#[test]
fn a_plugin_that_was_changed_is_a_problem() {
    let sandbox = Sandbox::new();
    agent(&sandbox, "opencode", "echo 1.18.33");
    assert_eq!(run(&sandbox, &["init", "--yes"]).code, Some(0));
    let plugin = sandbox.home.join(".config/opencode/plugin/portcullis.js");
    let text = fs::read_to_string(&plugin).unwrap();
    fs::write(&plugin, format!("{text}// one line more\n")).unwrap();
    assert_problem(&sandbox, "opencode", "registration", "is not what `init` writes");
    fs::remove_file(&plugin).unwrap();
    assert_problem(&sandbox, "opencode", "registration", "is not there: calls are not judged");
}

#[test]
fn a_name_that_the_agent_cannot_find_is_one_problem_and_no_two_that_disagree() {
    let sandbox = Sandbox::new();
    // The link goes to `.local/bin`, which is not on the path.
    assert_eq!(run(&sandbox, &["init", "amp", "--yes"]).code, Some(0));
    let (code, checks) = doctor(&sandbox, &["amp"]);
    assert_eq!(code, Some(1), "{checks:#?}");
    let problems: Vec<&[String; 4]> = checks.iter().filter(|check| check[2] == "problem").collect();
    let [problem] = problems.as_slice() else { panic!("{checks:#?}") };
    assert!(problem[3].contains("is not on the PATH: calls are rejected"), "{problem:?}");
}

/// Returns what the check of other hooks found: state and message.
fn neighbours(sandbox: &Sandbox, host: &str) -> Vec<(String, String)> {
    let (code, checks) = doctor(sandbox, &[host]);
    assert_eq!(code, Some(0), "{checks:#?}");
    let own = checks.into_iter().filter(|check| check[1] == "neighbours");
    own.map(|[_, _, state, message]| (state, sandbox.plain(&message))).collect()
}

#[test]
fn a_hook_of_somebody_else_that_may_change_a_call_is_named_wherever_it_stands() {
    const CHANGES: &str = "a hook that changes the input makes another call run than was judged";
    let sandbox = registered();
    assert_eq!(neighbours(&sandbox, "claude"), []);
    let hooks =
        r#""PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "rewrite"}]},"#;
    edit(&sandbox, "\"PreToolUse\": [", hooks);
    let list = |file: &str, names: &str| {
        let message = format!("`hooks.PreToolUse` in `{file}` names {names}: {CHANGES}");
        ("warning".to_owned(), message)
    };
    let user = list("HOME/.claude/settings.json", "`rewrite`");
    assert_eq!(neighbours(&sandbox, "claude"), std::slice::from_ref(&user));

    let group = r#"[{"hooks": [{"type": "command", "command": "a"}, {"type": "http", "url": "http://b"}]}]"#;
    let settings = format!(r#"{{"hooks": {{"PreToolUse": {group}, "Stop": {group}}}}}"#);
    sandbox.write_project(".claude/settings.local.json", &settings);
    let project = list("PROJECT/.claude/settings.local.json", "`a`, `http://b`");
    assert_eq!(neighbours(&sandbox, "claude"), [user, project]);
    let shown = run(&sandbox, &["doctor", "claude"]).stdout;
    assert!(shown.contains("make sure that it changes no input"), "{shown}");
}

#[test]
fn a_hook_of_somebody_else_that_cannot_change_a_call_is_no_warning() {
    let sandbox = Sandbox::new();
    agent(&sandbox, "kimi", "echo 2.1.0");
    let theirs = "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"theirs\"\n";
    sandbox.write_home(".kimi-code/config.toml", theirs);
    assert_eq!(run(&sandbox, &["init", "kimi", "--yes"]).code, Some(0));
    let found = neighbours(&sandbox, "kimi");
    let [(state, message)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(state, "fine");
    assert!(message.ends_with("names `theirs`"), "{message}");
}
