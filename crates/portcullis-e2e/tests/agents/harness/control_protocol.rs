//! Claude Code or Qwen Code with a user at its other end: the protocol by which programs drive them, which asks as their
//! terminals would.

use std::process::Command;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::setup::{PROMPT, ScriptedUser};

/// How many messages it may send.
const MOST_MESSAGES: usize = 10_000;

/// Runs one turn, and returns the questions that the user was asked.
pub(super) fn run_a_turn(command: &mut Command, user: ScriptedUser) -> Vec<Question> {
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
                let request = &message["request"];
                questions.push(Question::of(request));
                conversation.send(&answer(&message["request_id"], &request["input"], user));
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

/// A question of an agent to its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The command, or else the tool.
    pub(crate) subject: String,
    /// Whether the user may say that they do not want to be asked again.
    pub(crate) may_be_last: bool,
}

impl Question {
    fn of(request: &Value) -> Self {
        let command = request["input"]["command"].as_str();
        let subject = command.or(request["tool_name"].as_str()).unwrap_or_default().to_owned();
        let offers = request["permission_suggestions"].as_array();
        Self { subject, may_be_last: offers.is_some_and(|offers| !offers.is_empty()) }
    }
}

fn answer(id: &Value, input: &Value, user: ScriptedUser) -> Value {
    let said = match user {
        ScriptedUser::Accepts => json!({"behavior": "allow", "updatedInput": input}),
        ScriptedUser::Declines => json!({"behavior": "deny", "message": "the user said no"}),
    };
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": said}})
}
