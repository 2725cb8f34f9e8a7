//! The program `portcullis-scripted-model`.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use portcullis_testkit::WireProtocol;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::client::{Form, Got, exchange, path, post_bytes, request, text_of};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_portcullis-scripted-model"))
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// A file of this test process, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let path = directory.join(format!("{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A running program, ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program and returns the address it prints.
fn start(command: &mut Command, input: &str) -> (Running, SocketAddr) {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut running = Running(child);
    running.0.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
    (running, address)
}

#[test]
fn help_is_printed_and_names_every_option() {
    let output = run(&["--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for part in ["--listen", "--record", "SCRIPT.json"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn it_answers_by_a_script_from_standard_input() {
    let mut command = program();
    command.args(["--listen", "localhost:0", "-"]);
    let (_running, address) = start(&mut command, r#"[{"block": {"reason": "because"}}]"#);
    let bytes =
        post_bytes(path(WireProtocol::Anthropic), &request(WireProtocol::Anthropic, Form::Thinking), "close");
    let text = text_of(WireProtocol::Anthropic, &Got::of(&exchange(address, &bytes)).json());
    assert!(text.ends_with("<reason>because</reason>"), "{text}");
}

#[test]
fn it_appends_requests_to_a_file_without_keys() {
    let script = Scratch::new("script.json", r#"[{"allow": true}]"#);
    let record = Scratch::new("record.jsonl", "{\"earlier\":true}\n");
    let mut command = program();
    command.args(["--listen", "127.0.0.1:0", "--record", record.path(), script.path()]);
    let (_running, address) = start(&mut command, "");
    let body = request(WireProtocol::Chat, Form::Block);
    for _ in 0..2 {
        exchange(address, &post_bytes(path(WireProtocol::Chat), &body, "close"));
    }
    let text = std::fs::read_to_string(&record.0).unwrap();
    assert!(!text.contains("secret-key"), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], json!({"earlier": true}));
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[2]["number"], &lines[2]["body"]), (&json!(1), &body));
    assert_eq!(lines[2]["headers"][1], json!(["x-api-key", "(left out)"]));
}

#[test]
fn wrong_arguments_and_scripts_are_told_and_exit_with_64() {
    let broken = Scratch::new("broken.json", r#"[{"fualt": "close"}]"#);
    let good = Scratch::new("good.json", r#"[{"allow": true}]"#);
    let table: &[(&[&str], &str)] = &[
        (&[], "error: no script is named; give a file or - for standard input\n"),
        (&["--lisen", "x"], "error: unknown option \"--lisen\"; see --help\n"),
        (&["a", "b"], "error: one script too many: \"b\"; name one\n"),
        (&["--record"], "error: --record has no value; see --help\n"),
        (
            &["--listen", "8765", "x"],
            "error: --listen \"8765\" is not an address with a port; write 127.0.0.1:8765\n",
        ),
        (
            &["--listen", "0.0.0.0:0", good.path()],
            "error: --listen \"0.0.0.0:0\" is not on loopback; use 127.0.0.1 or [::1]\n",
        ),
        (&[broken.path()], "error: the script at steps[0]: unknown field `fualt`; did you mean `fault`?\n"),
    ];
    for (arguments, message) in table {
        let output = run(arguments);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), *message, "{arguments:?}");
        assert_eq!(output.status.code(), Some(64), "{arguments:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let script = Scratch::new("taken.json", r#"[{"allow": true}]"#);
    let output = run(&["--listen", &address, script.path()]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with(&format!("error: cannot listen on {address}: ")), "{text}");
    assert_eq!(output.status.code(), Some(1));
}
