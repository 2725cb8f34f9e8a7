//! Qwen Code with a user at its other end: the protocol by which programs drive it, which asks as its terminal would.

use std::process::Command;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::setup::{PROMPT, ScriptedUser};

/// How many messages it may send.
const MOST_MESSAGES: usize = 10_000;

/// Runs one turn, and returns the commands and tools that the user was asked about.
pub(super) fn run_a_turn(command: &mut Command, user: ScriptedUser) -> Vec<String> {
    let mut conversation = Conversation::start(command);
    let mut questions = Vec::new();
    let initialize = json!({"subtype": "initialize"});
    conversation.send(&json!({"type": "control_request", "request_id": "start", "request": initialize}));
    for _ in 0..MOST_MESSAGES {
        let message = conversation.hear();
        match message["type"].as_str() {
            Some("control_response") if message["response"]["request_id"] == "start" => {
                let words = json!({"role": "user", "content": PROMPT});
                conversation.send(
                    &json!({"type": "user", "session_id": "", "message": words, "parent_tool_use_id": null}),
                );
            }
            Some("control_request") if message["request"]["subtype"] == "can_use_tool" => {
                questions.push(subject(&message["request"]));
                conversation.send(&answer(&message["request_id"], user));
            }
            Some("result") => {
                conversation.end();
                return questions;
            }
            _ => {}
        }
    }
    panic!("the agent talks without end");
}

fn subject(request: &Value) -> String {
    let command = request["input"]["command"].as_str();
    command.or(request["tool_name"].as_str()).unwrap_or_default().to_owned()
}

fn answer(id: &Value, user: ScriptedUser) -> Value {
    let said = match user {
        ScriptedUser::Accepts => json!({"behavior": "allow"}),
        ScriptedUser::Declines => json!({"behavior": "deny", "message": "the user said no"}),
    };
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": said}})
}
