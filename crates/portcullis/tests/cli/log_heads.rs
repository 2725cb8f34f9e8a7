//! Heads of the audit trail that are kept elsewhere: after every so many records, by the real program.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::approvals::{claude, sandbox, until};
use super::sandbox::Sandbox;

fn decide(sandbox: &Sandbox, times: usize) {
    for _ in 0..times {
        let ran = sandbox.run_with_input(&["hook", "claude"], claude(sandbox, "ls").to_string().as_bytes());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

/// Reads the numbers of the heads in a file.
fn numbers(text: &str) -> Vec<u64> {
    text.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
}

fn with_head(head: &Value) -> Sandbox {
    sandbox(&json!({"audit": {"head": head}}))
}

#[test]
fn a_file_that_keeps_heads_makes_up_for_a_lost_index() {
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("heads.txt");
    let sandbox = with_head(&json!({"every": 2, "file": file}));
    decide(&sandbox, 5);
    assert_eq!(numbers(&fs::read_to_string(&file).unwrap()), [2, 4]);
    assert_eq!(sandbox.run(&["log", "verify"]).code, Some(0));
    let audit = sandbox.home.join(".local/state/portcullis/audit");
    let whole = fs::read_to_string(audit.join("current.jsonl")).unwrap();
    // Cut, emptied, removed: the index goes with it each time.
    for lines in [3, 0] {
        fs::remove_dir_all(&audit).unwrap();
        fs::create_dir(&audit).unwrap();
        fs::set_permissions(&audit, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let cut: String = whole.split_inclusive('\n').take(lines).collect();
        fs::write(audit.join("current.jsonl"), cut).unwrap();
        let ran = sandbox.run(&["log", "verify"]);
        assert_eq!(ran.code, Some(1), "{lines}: {ran:?}");
        assert!(ran.stdout.contains("there were 4"), "{ran:?}");
    }
    fs::remove_dir_all(&audit).unwrap();
    assert_eq!(sandbox.run(&["log", "verify"]).code, Some(1));
    // Made anew from the start, as long as it was.
    decide(&sandbox, 5);
    let ran = sandbox.run(&["log", "verify", "--json"]);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &found["whole"]), (Some(1), &json!(false)), "{found}");
    fs::remove_file(&file).unwrap();
    let ran = sandbox.run(&["log", "verify"]);
    assert!(ran.stdout.contains("kept heads:") && ran.stdout.contains("has lost the head"), "{ran:?}");
    let doctor = sandbox.run(&["doctor", "--json"]);
    assert!(doctor.stdout.contains("has lost the head"), "{}", doctor.stdout);
}

#[test]
fn a_program_and_an_address_are_told_without_keeping_the_hook() {
    let elsewhere = tempfile::tempdir().unwrap();
    let told = elsewhere.path().join("told");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!("sleep 1; cat >> '{}'", told.display());
    let sandbox = with_head(&json!({
        "every": 2,
        "command": ["/bin/sh", "-c", script],
        "webhook": {"url": format!("http://{}/heads", listener.local_addr().unwrap())},
    }));
    let posted = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut request, mut part) = (String::new(), [0; 4096]);
        while !request.contains("\"number\"") {
            let length = stream.read(&mut part).unwrap();
            request.push_str(&String::from_utf8_lossy(&part[..length]));
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        request
    });
    decide(&sandbox, 2);
    let text = until("a head", || fs::read_to_string(&told).ok().filter(|text| text.ends_with('\n')));
    assert_eq!(numbers(&text), [2]);
    let request = posted.join().unwrap();
    assert!(request.starts_with("POST /heads ") && request.contains("\"number\":2"), "{request}");
    until("the last word on both", || {
        let doctor = sandbox.run(&["doctor", "--json"]).stdout;
        let has = |place: &str| doctor.contains(&format!("{place}: has the head of record 2"));
        (has("command") && has("webhook")).then_some(())
    });
    // A place that does not take it is told.
    let ran = sandbox.run(&["log", "head", "--send"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("command: has the head of record 2"), "{ran:?}");
    assert!(ran.stdout.contains("webhook: the address could not be asked"), "{ran:?}");
}

#[test]
fn without_places_nothing_is_sent() {
    let sandbox = Sandbox::new();
    decide(&sandbox, 1);
    assert!(!sandbox.home.join(".local/state/portcullis/heads").exists());
    let ran = sandbox.run(&["log", "head", "--send"]);
    assert_eq!(ran.code, Some(64), "{ran:?}");
}
