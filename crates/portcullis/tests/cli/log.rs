//! `portcullis log`: what a hook decided is found again, shown safely, verified and removed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use portcullis_store::Store;
use portcullis_store::audit::{Audit, Entry, OriginEntry, RuleEntry, SuggestionEntry, TraceEntry};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox};

pub(crate) const START: u64 = 1_800_000_000_000;

pub(crate) fn audit(sandbox: &Sandbox) -> Audit {
    Store::new(state(sandbox)).audit()
}

pub(crate) fn state(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.join(".local/state/portcullis")
}

fn current(sandbox: &Sandbox) -> PathBuf {
    state(sandbox).join("audit/current.jsonl")
}

pub(crate) fn entry(number: u64, decision: &str) -> Entry {
    Entry {
        at_ms: START + number * 1_000,
        host: "claude".to_owned(),
        event: "PreToolUse".to_owned(),
        session: "s1".to_owned(),
        agent: None,
        call_id: Some(format!("call-{number}")),
        cwd: "/code/app".to_owned(),
        mode: "default".to_owned(),
        headless: false,
        tool: "Bash".to_owned(),
        summary: format!("Bash make step-{number}"),
        input: format!(r#"{{"command":"make step-{number}"}}"#),
        decision: decision.to_owned(),
        said: decision.to_owned(),
        step: "A10".to_owned(),
        kind: "unsettled".to_owned(),
        reason: "nothing decided".to_owned(),
        rule: Some(RuleEntry {
            text: "Bash(make:*)".to_owned(),
            behavior: "ask".to_owned(),
            origin: OriginEntry { source: "user".to_owned(), ..OriginEntry::default() },
        }),
        code: None,
        denial: None,
        findings: Vec::new(),
        trace: vec![TraceEntry {
            step: "A10".to_owned(),
            outcome: "raiseAsk".to_owned(),
            detail: "no rule".to_owned(),
        }],
        suggestions: vec![SuggestionEntry { behavior: "allow".to_owned(), rule: "Bash(make:*)".to_owned() }],
        models: Vec::new(),
        micros: 700,
        ..Entry::default()
    }
}

/// Runs a hook for a command, as Claude Code does.
fn hook(sandbox: &Sandbox, command: &str) -> Ran {
    let input = json!({
        "session_id": "s1", "cwd": sandbox.project, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": command}
    });
    sandbox.run_with_input(&["hook", "claude"], input.to_string().as_bytes())
}

fn records(ran: &Ran) -> Vec<Value> {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    json["records"].as_array().unwrap().clone()
}

#[test]
fn what_a_hook_decided_is_listed_shown_and_verified() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"deny":["Bash(rm:*)"]}}"#);
    assert_eq!(hook(&sandbox, "ls").code, Some(0));
    assert_eq!(hook(&sandbox, "rm -r build").code, Some(0));
    let listed = records(&sandbox.run(&["log", "--json"]));
    let decisions: Vec<&Value> = listed.iter().map(|record| &record["decision"]).collect();
    assert_eq!(decisions, ["deny", "allow"]);
    let denied = listed.first().unwrap();
    assert_eq!(denied["rule"]["text"], "Bash(rm:*)");
    assert_eq!(denied["input"], r#"{"command":"rm -r build"}"#);
    let id = denied["id"].as_str().unwrap();

    let shown = sandbox.run(&["log", "show", id]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in ["✗ deny", "rm -r build", "Bash(rm:*)", "trace", id] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let json: Value = serde_json::from_str(&sandbox.run(&["log", "show", id, "--json"]).stdout).unwrap();
    assert_eq!(&json, denied);

    let head = sandbox.run(&["log", "head"]).stdout;
    let (count, hash) = head.trim_end().split_once(' ').unwrap();
    assert_eq!((count, hash), ("2", denied["hash"].as_str().unwrap()));
    let verified = sandbox.run(&["log", "verify", "--expect", hash]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.stdout.contains("the record is whole: 2 records"), "{}", verified.stdout);
}

/// Puts a trail into the state directory that an older program wrote.
pub(crate) fn write_old_trail(sandbox: &Sandbox) {
    let old = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../portcullis-store/tests/before_typed_records/trail.jsonl");
    fs::create_dir_all(current(sandbox).parent().unwrap()).unwrap();
    fs::copy(old, current(sandbox)).unwrap();
}

#[test]
fn a_decision_is_shown_as_it_was_whatever_settings_say_now() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"deny":["Bash(rm:*)"]}}"#);
    hook(&sandbox, "ls && rm -r build");
    let id = records(&sandbox.run(&["log", "--json"]))[0]["id"].as_str().unwrap().to_owned();
    let show = |flags: &[&str]| {
        let ran = sandbox.run(&[&["log", "show", id.as_str()], flags].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    let (text, json) = (show(&[]), show(&["--json"]));
    for part in [
        "│ ls && rm -r build\n  │       ^^\n",
        "what it would do",
        "    looks at the names and attributes of `.`\n    removes `build` with everything below\n",
        "by       portcullis ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let recorded: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(recorded["spans"], json!([[6, 8]]));
    assert_eq!(recorded["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(recorded["rule"]["line"], 1);
    assert_eq!(recorded["rule"]["source"], "user");
    let effects: Vec<&Value> = recorded["effects"].as_array().unwrap().iter().collect();
    assert!(effects.iter().any(|one| one["act"] == "delete-tree" && one["target"] == "build"), "{json}");

    sandbox.write_home(".claude/settings.json", r#"{"permissions":{"allow":["Bash(rm:*)"]}}"#);
    assert_eq!(show(&[]), text);
    assert_eq!(show(&["--json"]), json);
    let today = show(&["--today"]);
    let (before, now) = today.split_once("Today's settings and files say").unwrap();
    assert_eq!(before.trim_end(), text.trim_end());
    assert!(now.contains("✓ allow") && now.contains("Bash(rm:*)"), "{now}");
    let today: Value = serde_json::from_str(&show(&["--today", "--json"])).unwrap();
    assert_eq!((&today["decision"], &today["today"]["decision"]), (&json!("deny"), &json!("allow")));
    assert_eq!(records(&sandbox.run(&["log", "--json"])).len(), 1);
}

#[test]
fn a_trail_of_an_older_program_is_shown_and_says_what_was_not_recorded() {
    let sandbox = Sandbox::new();
    write_old_trail(&sandbox);
    assert_eq!(records(&sandbox.run(&["log", "--json", "--limit", "100"])).len(), 25);
    let shown = sandbox.run(&["log", "show", "01M7HD01GN"]);
    for part in ["✗ deny", "PC036", "tar cz ~/.ssh | curl", "an older version of Portcullis"] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    assert!(!shown.stdout.contains("what it would do"), "{shown:?}");
    let verified = sandbox.run(&["log", "verify"]);
    assert!(verified.stdout.contains("the record is whole: 25 records"), "{verified:?}");
    let stats: Value = serde_json::from_str(&sandbox.run(&["stats", "--json"]).stdout).unwrap();
    assert_eq!(stats["decisions"], json!({"allow": 8, "ask": 9, "deny": 8}));
    assert_eq!(hook(&sandbox, "ls").code, Some(0));
    let verified = sandbox.run(&["log", "verify"]);
    assert!(verified.stdout.contains("the record is whole: 26 records"), "{verified:?}");
}

#[test]
fn a_call_that_cannot_be_recorded_is_blocked() {
    let sandbox = Sandbox::new();
    assert!(hook(&sandbox, "ls").stdout.contains("allow"));
    fs::remove_file(current(&sandbox)).unwrap();
    fs::create_dir(current(&sandbox)).unwrap();
    let ran = hook(&sandbox, "ls");
    assert!(!ran.stdout.contains("\"allow\""), "{ran:?}");
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("audit trail"), "{ran:?}");
}

#[test]
fn the_user_may_switch_recording_off_and_a_repository_may_not() {
    let off = r#"{"audit":{"enabled":false}}"#;
    let sandbox = Sandbox::new();
    sandbox.write_project(".portcullis/settings.json", off);
    assert!(hook(&sandbox, "ls").stdout.contains("allow"));
    assert_eq!(records(&sandbox.run(&["log", "--json"])).len(), 1);
    sandbox.write_home(".config/portcullis/settings.json", off);
    assert!(hook(&sandbox, "ls").stdout.contains("allow"));
    assert_eq!(records(&sandbox.run(&["log", "--json"])).len(), 1);
}

#[test]
fn nothing_recorded_is_nothing_to_show() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["log"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "nothing was recorded that fits\n"));
    assert_eq!(records(&sandbox.run(&["log", "--json"])), [] as [Value; 0]);
    assert_eq!(sandbox.run(&["log", "head"]).stdout, format!("0 {}\n", "0".repeat(64)));
    assert_eq!(sandbox.run(&["log", "verify"]).code, Some(0));
    assert_eq!(sandbox.run(&["log", "show", "01"]).code, Some(64));
}

#[test]
fn filters_and_limits_choose() {
    let sandbox = Sandbox::new();
    for (number, decision) in (0..).zip(["allow", "ask", "deny", "ask"]) {
        audit(&sandbox).append(&entry(number, decision)).unwrap();
    }
    let summaries = |arguments: &[&str]| -> Vec<String> {
        let found = records(&sandbox.run(&[&["log", "--json"], arguments].concat()));
        found.iter().map(|record| record["summary"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(summaries(&["--decision", "ask"]), ["Bash make step-3", "Bash make step-1"]);
    assert_eq!(summaries(&["--limit", "1"]), ["Bash make step-3"]);
    assert_eq!(summaries(&["--step", "a10", "--text", "STEP-2"]), ["Bash make step-2"]);
    assert_eq!(
        summaries(&["--since", "2027-01-15T08:00:02", "--until", "2027-01-15T08:00:03"]),
        ["Bash make step-2"]
    );
    assert_eq!(summaries(&["--host", "codex"]), [] as [&str; 0]);
    let wrong = sandbox.run(&["log", "--since", "yesterday"]);
    assert_eq!(wrong.code, Some(64));
    assert!(wrong.stderr.contains("2026-01-31"), "{}", wrong.stderr);
}

#[test]
fn hostile_text_is_made_visible_and_secrets_are_not_there() {
    let sandbox = Sandbox::new();
    let mut hostile = entry(0, "deny");
    hostile.summary = "Bash echo \u{1b}[2J\u{202e}x".to_owned();
    hostile.reason = "because\r\u{1b}]0;title\u{7}".to_owned();
    hostile.tool = "\u{1b}c".to_owned();
    hostile.input =
        "{\"command\":\"export GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789\"}".to_owned();
    let id = audit(&sandbox).append(&hostile).unwrap();
    for arguments in [&["log"][..], &["log", "show", &id], &["stats"]] {
        let text = sandbox.run(arguments).stdout;
        let is_odd = |one: char| (one.is_control() && one != '\n') || one == '\u{202e}';
        assert!(!text.contains(is_odd), "{arguments:?} {text:?}");
        assert!(text.contains("\\u{1b}"), "{arguments:?} {text:?}");
        assert!(!text.contains("ghp_abc"), "{text}");
    }
}

#[test]
fn json_of_a_hostile_call_says_the_same_and_nothing_that_a_terminal_obeys() {
    let sandbox = Sandbox::new();
    let command = "echo \u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{85}\r\u{200b}é";
    let mut hostile = entry(0, "ask");
    (hostile.summary, hostile.tool) = (command.to_owned(), command.to_owned());
    let id = audit(&sandbox).append(&hostile).unwrap();
    assert_eq!(records(&sandbox.run(&["log", "--json"]))[0]["summary"], command);
    let stats: Value = serde_json::from_str(&sandbox.run(&["stats", "--json"]).stdout).unwrap();
    assert_eq!(stats["asked"][0]["example"], command);
    for arguments in [&["log", "--json"][..], &["log", "show", &id, "--json"], &["stats", "--json"]] {
        let printed = sandbox.run(arguments).stdout;
        let hidden = |character: char| character != '\n' && portcullis_core::is_hidden(character);
        assert!(printed.contains("\\u009b31m") && !printed.contains(hidden), "{arguments:?} {printed:?}");
    }
}

#[test]
fn a_changed_record_ends_with_1_and_names_the_place() {
    let sandbox = Sandbox::new();
    for number in 0..4 {
        audit(&sandbox).append(&entry(number, "deny")).unwrap();
    }
    assert_eq!(sandbox.run(&["log", "verify"]).code, Some(0));
    let whole = fs::read_to_string(current(&sandbox)).unwrap();
    fs::write(current(&sandbox), whole.replacen("\"decision\":\"deny\"", "\"decision\":\"allow\"", 1))
        .unwrap();
    let ran = sandbox.run(&["log", "verify"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("current.jsonl:2: record 2 does not follow from"), "{}", ran.stdout);
    // A tail that was cut off is given away by the end that the index has seen.
    let cut = whole.rsplitn(3, '\n').last().unwrap();
    fs::write(current(&sandbox), format!("{cut}\n")).unwrap();
    let ran = sandbox.run(&["log", "verify", "--json"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &json["whole"], &json["records"]), (Some(1), &json!(false), &json!(3)));
    fs::write(current(&sandbox), &whole).unwrap();
    assert_eq!(sandbox.run(&["log", "verify"]).code, Some(0));
    assert_eq!(sandbox.run(&["log", "verify", "--expect", &"a".repeat(64)]).code, Some(1));
    assert_eq!(sandbox.run(&["log", "verify", "--expect", "abc"]).code, Some(64));
}

#[test]
fn old_records_are_removed_when_asked_and_by_those_who_read() {
    let days = |count: u64| count * 24 * 60 * 60 * 1_000;
    let old = |sandbox: &Sandbox| {
        for number in 0..3 {
            let mut made = entry(number, "ask");
            made.at_ms = 1_000_000_000_000 + days(5 * number);
            audit(sandbox).append(&made).unwrap();
        }
    };
    let newer = |sandbox: &Sandbox| audit(sandbox).append(&entry(3, "ask")).unwrap();
    let sandbox = Sandbox::new();
    old(&sandbox);
    sandbox.write_home(".config/portcullis/settings.json", r#"{"audit":{"retentionDays":0}}"#);
    assert_eq!(records(&sandbox.run(&["log", "--json"])).len(), 3);
    assert_eq!(sandbox.run(&["log", "prune"]).code, Some(64));
    // The clock alone makes nothing old; but the file is put aside, because it began long before its last record.
    let prune = ["log", "prune", "--older-than", "30"];
    assert_eq!(sandbox.run(&prune).stdout, "removed 0 records in 0 files, 0 bytes\n");
    newer(&sandbox);
    assert_eq!(records(&sandbox.run(&["log", "--json"])).len(), 4);
    let trial = sandbox.run(&[&prune[..], &["--dry-run"]].concat()).stdout;
    assert!(trial.starts_with("would remove 3 records in 1 file, "), "{trial}");
    let ran = sandbox.run(&[&prune[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&json["records"], &json["files"]), (&json!(3), &json!(1)));
    assert_eq!(records(&sandbox.run(&["log", "--json"])).len(), 1);
    let verified = sandbox.run(&["log", "verify"]).stdout;
    assert!(verified.contains("1 record, after 3 that retention removed"), "{verified}");

    let sandbox = Sandbox::new();
    old(&sandbox);
    // A repository says nothing about how long the user's records are kept.
    sandbox.write_project(".portcullis/settings.json", r#"{"audit":{"retentionDays":0}}"#);
    assert_eq!(records(&sandbox.run(&["log", "--json"])).len(), 3);
    newer(&sandbox);
    assert_eq!(records(&sandbox.run(&["log", "--json"])).len(), 1);
}

#[test]
fn following_shows_what_was_there_and_what_comes() {
    let sandbox = Sandbox::new();
    for number in 0..3 {
        audit(&sandbox).append(&entry(number, "ask")).unwrap();
    }
    let mut child = sandbox.command(&["log", "--follow", "--json", "--limit", "2"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let record: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        record["number"].as_u64().unwrap()
    };
    assert_eq!([next(), next()], [2, 3]);
    audit(&sandbox).append(&entry(3, "deny")).unwrap();
    assert_eq!(next(), 4);
    child.kill().unwrap();
    child.wait().unwrap();
}
