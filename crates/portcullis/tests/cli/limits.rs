//! How much one token may take of the daemon, and that lists say when they are cut.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::approvals::{Hook, claude, open_questions, sandbox, until};
use super::daemon::{Daemon, serve};
use super::sandbox::Sandbox;

/// The most memory of its own that a daemon has at rest, in kilobytes.
#[cfg(target_os = "linux")]
const MOST_MEMORY_AT_REST: u64 = 24 * 1024;

/// Opens a connection, asks for something and leaves it open; returns the status too.
fn held(daemon: &Daemon, path: &str, token: &str) -> (String, TcpStream) {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n", daemon.address);
    let stream = daemon.raw(request.as_bytes());
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).unwrap();
    (line.split(' ').nth(1).unwrap_or_default().to_owned(), stream)
}

#[test]
fn a_token_has_so_many_streams_of_events() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let token = daemon.person_token();
    let mut streams: Vec<(String, TcpStream)> =
        (0..32).map(|_| held(&daemon, "/v1/events", &token)).collect();
    assert!(streams.iter().all(|(status, _)| status == "200"), "{streams:?}");
    assert_eq!(held(&daemon, "/v1/events", &token).0, "429");
    assert_eq!(daemon.get("/v1/decisions").status, 200, "and everything else is answered");
    streams.pop();
    // The daemon notices that somebody left when it next has something to say to them.
    Hook::start(&sandbox, "claude", &claude(&sandbox, "ls")).finish();
    until("room for another stream", || {
        Hook::start(&sandbox, "claude", &claude(&sandbox, "ls")).finish();
        (held(&daemon, "/v1/events", &token).0 == "200").then_some(())
    });
}

#[test]
#[cfg(target_os = "linux")]
fn threads_and_free_memory_go_back_after_a_rush_of_questions() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let process = std::path::PathBuf::from(format!("/proc/{}", daemon.greeting["pid"]));
    let threads = || std::fs::read_dir(process.join("task")).unwrap().count();
    let before = threads();
    let rush = |number: usize| {
        let call = json!({"tool": "Bash", "input": {"command": format!("frobnicate {number}")},
            "cwd": sandbox.project, "session": "s1", "mode": "default", "person": "absent", "waitSeconds": 1});
        daemon.ask("POST", "/v1/decide").token(&daemon.hook_token()).json(&call).send().status
    };
    let rush = &rush;
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..64).map(|number| scope.spawn(move || rush(number))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert_eq!(open_questions(&daemon).len(), 64);
    // A thread keeps memory of its own, and the allocator what is free, unless they are told otherwise.
    until("as few threads as before", || (threads() <= before + 4).then_some(()));
    let kilobytes = |name: &str| -> u64 {
        let maps = std::fs::read_to_string(process.join("smaps_rollup")).unwrap();
        let line = maps.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    until("as little memory as before", || (kilobytes("Anonymous:") < MOST_MEMORY_AT_REST).then_some(()));
    // The kernel fills up what was given back where it may use pages of two megabytes.
    assert_eq!(kilobytes("AnonHugePages:"), 0);
    let variables = std::fs::read(process.join("environ")).unwrap();
    assert!(variables.split(|byte| *byte == 0).any(|one| one == b"MIMALLOC_PURGE_DELAY=0"));
}

#[test]
fn a_token_cannot_take_every_connection() {
    let sandbox = Sandbox::new();
    let mut command = serve(&sandbox, &[]);
    // Of 16 connections a token has 12 then.
    command.env("PORTCULLIS_FAULT", "patience=600000");
    let daemon = Daemon::run(&sandbox, command);
    let token = daemon.person_token();
    let mut open: Vec<(String, TcpStream)> = (0..12).map(|_| held(&daemon, "/healthz", &token)).collect();
    assert!(open.iter().all(|(status, _)| status == "200"), "{open:?}");
    assert_eq!(held(&daemon, "/v1/decisions", &token).0, "429");
    assert_eq!(held(&daemon, "/v1/approvals", &daemon.hook_token()).0, "200", "others still get in");
    open.clear();
    until("room for another connection", || {
        (held(&daemon, "/v1/decisions", &token).0 == "200").then_some(())
    });
}

#[test]
fn lists_that_are_cut_say_so() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let hooks = ["s1", "s2"].map(|session| {
        let mut input = claude(&sandbox, "make deploy");
        input["session_id"] = json!(session);
        Hook::start(&sandbox, "claude", &input)
    });
    until("two questions", || (open_questions(&daemon).len() == 2).then_some(()));
    for path in ["/v1/approvals", "/v1/sessions"] {
        let whole = daemon.get(&format!("{path}?limit=2")).as_json();
        assert_eq!(whole["hasMore"], false, "{path}: {whole}");
        if path == "/v1/approvals" {
            let cut = daemon.get(&format!("{path}?limit=1")).as_json();
            assert_eq!((&cut["hasMore"], cut["approvals"].as_array().unwrap().len()), (&json!(true), 1));
        }
    }
    let listed = sandbox.run(&["questions", "list", "--limit", "1"]);
    assert!(listed.stderr.contains("only 1 are listed"), "{listed:?}");
    for question in open_questions(&daemon) {
        super::approvals::answer(&daemon, &question, &json!({"decision": "deny"}));
    }
    for hook in hooks {
        drop(hook.finish());
    }
    let cut = daemon.get("/v1/sessions?limit=1").as_json();
    assert_eq!((&cut["hasMore"], cut["sessions"].as_array().unwrap().len()), (&json!(true), 1), "{cut}");
}
