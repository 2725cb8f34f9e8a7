//! `PermissionRequest` hooks of our own settings: asked when a call needs a person and nobody is there.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

const ALLOW: &str =
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;
const DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"not on a Sunday"}}}"#;

/// A home whose user has these hooks in our own settings.
fn sandbox(hooks: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    let settings = json!({"hooks": {"PermissionRequest": [{"hooks": hooks}]}});
    sandbox.write_home(".config/portcullis/settings.json", &settings.to_string());
    sandbox
}

fn program(text: &str) -> Value {
    json!({"type": "command", "command": "sh", "args": ["-c", text], "timeout": 20})
}

/// Asks about a call that needs a person.
fn ask(sandbox: &Sandbox, more: &[&str]) -> Ran {
    let input = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": sandbox.project, "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": "make deploy"}, "tool_use_id": "t",
    });
    let words: Vec<&str> = ["hook", "claude"].into_iter().chain(more.iter().copied()).collect();
    sandbox.run_with_input(&words, input.to_string().as_bytes())
}

/// Returns what is said to the host: nothing where a question is left to its own prompt.
fn said(ran: &Ran) -> (String, String) {
    if ran.stdout.is_empty() {
        return ("silence".to_owned(), String::new());
    }
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let output = &value["hookSpecificOutput"];
    let text = |name: &str| output[name].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

#[test]
fn a_hook_answers_in_a_persons_place() {
    let table = [
        (vec![program(&format!("echo '{ALLOW}'"))], "allow", "settings.json"),
        (vec![program(&format!("echo '{DENY}'"))], "deny", "not on a Sunday"),
        (vec![program("echo no deploys >&2; exit 2")], "deny", "no deploys"),
        // One that denies settles it, whoever allows and whoever comes first.
        (
            vec![program(&format!("echo '{ALLOW}'")), program(&format!("echo '{DENY}'"))],
            "deny",
            "not on a Sunday",
        ),
        (vec![program("exit 0"), program(&format!("echo '{ALLOW}'"))], "allow", "settings.json"),
        // What is not an answer allows nothing.
        (vec![program("exit 0")], "deny", "nobody is connected"),
        (vec![program("echo allow")], "deny", "nobody is connected"),
        (vec![program("exit 1")], "deny", "nobody is connected"),
        (vec![program("kill -9 $$")], "deny", "nobody is connected"),
        (vec![program("yes | head -c 1000000")], "deny", "nobody is connected"),
        (
            vec![json!({"type": "command", "command": "/nonexistent", "args": []})],
            "deny",
            "nobody is connected",
        ),
        (vec![json!({"type": "command", "command": format!("echo '{ALLOW}'")})], "allow", "settings.json"),
    ];
    for (hooks, expected, reason) in table {
        let (decision, why) = said(&ask(&sandbox(&json!(hooks)), &["--headless"]));
        assert_eq!(decision, expected, "{hooks:?}: {why}");
        assert!(why.contains(reason), "{hooks:?}: {why}");
    }
}

#[test]
fn a_person_is_asked_first() {
    let (decision, _) = said(&ask(&sandbox(&json!([program(&format!("echo '{ALLOW}'"))])), &[]));
    assert_eq!(decision, "silence", "the host asks its user by itself");
}

#[test]
fn a_hook_that_hangs_is_not_waited_for() {
    let mut slow = program(&format!("echo '{ALLOW}'; exec sleep 600"));
    slow["timeout"] = json!(1);
    let ran = ask(&sandbox(&json!([slow])), &["--headless"]);
    assert_eq!(said(&ran).0, "deny");
    assert!(ran.stdout.contains("took longer than 1 s"), "{ran:?}");
}

#[test]
fn a_hook_is_told_the_call_and_why_it_is_asked() {
    let sandbox = sandbox(&json!([program("cat > asked.json; exit 1")]));
    assert_eq!(said(&ask(&sandbox, &["--headless"])).0, "deny");
    let asked: Value =
        serde_json::from_str(&std::fs::read_to_string(sandbox.project.join("asked.json")).unwrap()).unwrap();
    assert_eq!(asked["hook_event_name"], "PermissionRequest");
    assert_eq!(asked["tool_name"], "Bash");
    assert_eq!(asked["tool_input"], json!({"command": "make deploy"}));
    assert_eq!(asked["session_id"], "s");
    assert_eq!(asked["permission_mode"], "default");
    assert!(asked["reason"].as_str().unwrap().contains("make deploy"), "{asked}");
}

#[test]
fn a_hook_has_the_memory_and_the_signals_it_would_have_without_us() {
    let sandbox =
        sandbox(&json!([program("ulimit -S -v > limit; grep SigIgn /proc/self/status >> limit; exit 1")]));
    assert_eq!(said(&ask(&sandbox, &["--headless"])).0, "deny");
    let limit = std::fs::read_to_string(sandbox.project.join("limit")).unwrap();
    let mut lines = limit.lines();
    assert_eq!(lines.next(), Some("unlimited"));
    let ignored = lines.next().unwrap().split_whitespace().last().unwrap();
    // A broken pipe, the three that stop a process, and a file that grows too long.
    let ours = [13, 20, 21, 22, 25].map(|signal| 1_u64 << (signal - 1)).into_iter().sum::<u64>();
    assert_eq!(u64::from_str_radix(ignored, 16).unwrap() & ours, 0);
}

#[test]
fn hooks_of_a_repository_and_of_claude_code_are_not_asked() {
    let settings =
        json!({"hooks": {"PermissionRequest": [{"hooks": [program(&format!("echo '{ALLOW}'"))]}]}});
    for place in [".portcullis/settings.json", ".claude/settings.json", ".portcullis/settings.local.json"] {
        let sandbox = Sandbox::new();
        sandbox.write_project(place, &settings.to_string());
        assert_eq!(said(&ask(&sandbox, &["--headless"])).0, "deny", "{place}");
    }
    let sandbox = Sandbox::with_user_settings(&settings.to_string());
    assert_eq!(said(&ask(&sandbox, &["--headless"])).0, "deny");
}

#[test]
fn a_hook_lifts_neither_a_deny_rule_nor_what_stands_beyond_a_person() {
    let sandbox = sandbox(&json!([program(&format!("echo '{ALLOW}'"))]));
    sandbox.write_home(".claude/settings.json", r#"{"permissions":{"deny":["Bash(make *)"]}}"#);
    let (decision, why) = said(&ask(&sandbox, &["--headless"]));
    assert_eq!(decision, "deny", "{why}");
    assert!(why.contains("Bash(make *)"), "{why}");
}

#[test]
fn a_matcher_chooses_the_tools() {
    for (matcher, expected) in [("Bash", "allow"), ("Write|Edit", "deny"), ("", "allow"), ("^Ba.h$", "deny")]
    {
        let sandbox = Sandbox::new();
        let group = json!({"matcher": matcher, "hooks": [program(&format!("echo '{ALLOW}'"))]});
        let settings = json!({"hooks": {"PermissionRequest": [group]}});
        sandbox.write_home(".config/portcullis/settings.json", &settings.to_string());
        assert_eq!(said(&ask(&sandbox, &["--headless"])).0, expected, "{matcher}");
    }
}

/// Answers one request on loopback, and returns the address and what was asked.
fn serve(status: &'static str, body: &'static str) -> (String, thread::JoinHandle<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/decide", listener.local_addr().unwrap());
    let thread = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head.push_str(&line);
        }
        let mut asked = vec![0; length];
        reader.read_exact(&mut asked).unwrap();
        let answer =
            format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        reader.into_inner().write_all(answer.as_bytes()).unwrap();
        (head, String::from_utf8(asked).unwrap())
    });
    (address, thread)
}

#[test]
fn a_hook_may_be_asked_over_http() {
    for (status, body, expected) in [
        ("200 OK", ALLOW, "allow"),
        ("200 OK", DENY, "deny"),
        ("200 OK", "", "deny"),
        ("500 No", ALLOW, "deny"),
        ("302 Elsewhere", ALLOW, "deny"),
    ] {
        let (url, server) = serve(status, body);
        let hook = json!({"type": "http", "url": url, "headers": {"X-Team": "blue"}, "timeout": 20});
        let (decision, why) = said(&ask(&sandbox(&json!([hook])), &["--headless"]));
        assert_eq!(decision, expected, "{status} {body}: {why}");
        let (head, asked) = server.join().unwrap();
        assert!(head.starts_with("POST /decide ") && head.to_lowercase().contains("x-team: blue"), "{head}");
        assert!(asked.contains("make deploy"), "{asked}");
    }
}

#[test]
fn a_hook_over_http_is_not_sent_in_the_clear_nor_with_variables_it_may_not_name() {
    let plain = json!({"type": "http", "url": "http://hooks.example/decide"});
    let ran = ask(&sandbox(&json!([plain])), &["--headless"]);
    assert_eq!(said(&ran).0, "deny");
    assert!(ran.stdout.contains("http only on this machine"), "{ran:?}");
    let hook =
        json!({"type": "http", "url": "http://127.0.0.1:9/", "headers": {"Authorization": "Bearer $HOME"}});
    let ran = ask(&sandbox(&json!([hook])), &["--headless"]);
    assert_eq!(said(&ran).0, "deny");
    assert!(ran.stdout.contains("allowedEnvVars"), "{ran:?}");
}
