//! Codex with a user at its other end: its server for editors, which asks before what leaves the sandbox.
//!
//! `codex exec` never asks, so this is the only way without a terminal to see what becomes of its questions.

use std::process::Command;

use serde_json::{Value, json};

use super::control_protocol::Question;
use super::conversation::Conversation;
use super::place::Place;
use super::setup::{PROMPT, ScriptedUser};

/// How many messages it may send.
const MOST_MESSAGES: usize = 10_000;

/// The server, and what its user was asked.
struct AppServer {
    conversation: Conversation,
    user: ScriptedUser,
    next_id: u64,
    questions: Vec<Question>,
}

/// Runs one turn, and returns what the user was asked.
pub(super) fn run_a_turn(command: &mut Command, place: &Place, user: ScriptedUser) -> Vec<Question> {
    let conversation = Conversation::start(command);
    let mut server = AppServer { conversation, user, next_id: 0, questions: Vec::new() };
    server.call("initialize", &json!({"clientInfo": {"name": "e2e", "version": "1"}}));
    server.conversation.send(&json!({"method": "initialized"}));
    let settings =
        json!({"cwd": place.repository, "approvalPolicy": "on-request", "sandbox": "workspace-write"});
    let thread = server.call("thread/start", &settings)["thread"]["id"].clone();
    let input = json!([{"type": "text", "text": PROMPT}]);
    server.call("turn/start", &json!({"threadId": thread, "input": input}));
    server.wait(|message| message["method"] == "turn/completed");
    server.conversation.end();
    server.questions
}

impl AppServer {
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.conversation.send(&json!({"id": id, "method": method, "params": parameters}));
        let answer = self.wait(|message| message["id"] == id && message.get("method").is_none());
        assert!(answer.get("error").is_none(), "`{method}` failed: {answer}");
        answer["result"].clone()
    }

    /// Reads on until a message is found, and answers what the server wants to know in between.
    fn wait(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..MOST_MESSAGES {
            let message = self.conversation.hear();
            if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
                let parameters = &message["params"];
                // A tool of an MCP server is asked about as its server itself would ask.
                let tool =
                    parameters["_meta"]["tool_params"].as_object().map(|input| json!(input).to_string());
                let asked = parameters["command"].as_str().map(str::to_owned).or(tool);
                let subject = asked.unwrap_or_else(|| method.to_owned());
                self.questions.push(Question { subject, may_be_last: false });
                let decision = match self.user {
                    ScriptedUser::Accepts => "accept",
                    ScriptedUser::Declines => "decline",
                };
                let result = if method.contains("elicitation") {
                    json!({"action": decision, "content": {}})
                } else {
                    json!({"decision": decision})
                };
                self.conversation.send(&json!({"id": id, "result": result}));
            }
            if is_wanted(&message) {
                return message;
            }
        }
        panic!("the server talks without end");
    }
}
