//! Codex with a user at its other end: its server for editors, which asks before what leaves the sandbox.
//!
//! `codex exec` never asks, so this is the only way without a terminal to see what becomes of its questions.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::place::Place;
use super::run::end_group;
use super::setup::PROMPT;

/// How long the server may be silent.
const LONGEST_SILENCE: Duration = Duration::from_mins(1);

/// How many messages it may send.
const MOST_MESSAGES: usize = 10_000;

/// A conversation with the server.
struct Conversation {
    input: ChildStdin,
    lines: Receiver<String>,
    next_id: u64,
    questions: Vec<String>,
}

/// Runs one turn. The user declines whatever they are asked, and what they were asked is returned.
pub(super) fn run_a_turn(command: &mut Command, place: &Place) -> Vec<String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
    let group = child.id();
    let output = BufReader::new(child.stdout.take().expect("an output"));
    let (sender, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).unwrap_or_default();
    });
    let input = child.stdin.take().expect("an input");
    let mut conversation = Conversation { input, lines, next_id: 0, questions: Vec::new() };
    conversation.call("initialize", &json!({"clientInfo": {"name": "e2e", "version": "1"}}));
    conversation.send(&json!({"method": "initialized"}));
    let settings =
        json!({"cwd": place.repository, "approvalPolicy": "on-request", "sandbox": "workspace-write"});
    let thread = conversation.call("thread/start", &settings)["thread"]["id"].clone();
    let input = json!([{"type": "text", "text": PROMPT}]);
    conversation.call("turn/start", &json!({"threadId": thread, "input": input}));
    conversation.wait(|message| message["method"] == "turn/completed");
    let questions = std::mem::take(&mut conversation.questions);
    drop(conversation);
    end_group(group);
    let _ = (child.wait(), reader.join());
    questions
}

impl Conversation {
    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server listens");
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"id": id, "method": method, "params": parameters}));
        let answer = self.wait(|message| message["id"] == id && message.get("method").is_none());
        assert!(answer.get("error").is_none(), "`{method}` failed: {answer}");
        answer["result"].clone()
    }

    /// Reads on until a message is found, and answers what the server wants to know in between.
    fn wait(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..MOST_MESSAGES {
            let line = self.lines.recv_timeout(LONGEST_SILENCE).expect("the server says something");
            let message: Value = serde_json::from_str(&line).expect("the server speaks JSON");
            if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
                self.questions.push(method.to_owned());
                self.send(&json!({"id": id, "result": {"decision": "decline"}}));
            }
            if is_wanted(&message) {
                return message;
            }
        }
        panic!("the server talks without end");
    }
}
