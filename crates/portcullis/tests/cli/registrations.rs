//! `portcullis init` and `uninstall` for agents whose settings have a form of their own.

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::init::{agent, command, run, tree};
use super::sandbox::{Sandbox, ran};

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
    assert!(!ran.stdout.contains("trusted_hash"), "line by line only with --diff: {}", ran.stdout);
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
