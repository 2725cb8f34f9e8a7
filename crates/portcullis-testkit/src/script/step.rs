//! One step of a script: an answer and what surrounds it.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::wire::{ReportedTokens, StopReason};

/// One answer with what surrounds it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptStep {
    /// The answer.
    pub answer: ScriptedAnswer,
    /// How long to wait before it.
    pub delay: Duration,
    /// Thoughts before the answer, where the wire has a place for them.
    pub thinking: Option<String>,
    /// Why the answer ends; by default what fits it.
    pub stop: Option<StopReason>,
    /// The tokens to report; by default they are guessed from the length.
    pub usage: Option<ReportedTokens>,
    /// More headers.
    pub headers: Vec<(String, String)>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedAnswer {
    /// This text.
    Say(String),
    /// A call of a tool.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments.
        input: Value,
    },
    /// This JSON as text.
    Json(Value),
    /// A verdict, in the form the request asks for.
    Verdict(ScriptedVerdict),
    /// Parts in the wire's own shape: `content` of Anthropic, `output` of Responses, `choices` of chat, `parts` of
    /// Gemini; for Ollama the first is the `message`.
    Blocks(Vec<Value>),
    /// What the server was told, in the form the request asks for.
    Echo(EchoedPart),
    /// A verdict by a list of words.
    Judge(WordJudge),
    /// An error in the wire's own shape.
    Error {
        /// The HTTP status.
        status: u16,
        /// Fields of the error: `type`, `message`, and whatever else the wire has.
        details: Map<String, Value>,
    },
    /// Any status and body.
    Raw {
        /// The HTTP status.
        status: u16,
        /// The body, byte for byte.
        body: String,
    },
    /// A fault.
    Fault(ServerFault),
}

/// What a scripted judge says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedVerdict {
    /// Whether the action is to be blocked.
    pub is_block: bool,
    /// The label of the rule; empty for an allow.
    pub category: String,
    /// One sentence.
    pub reason: String,
    /// From 0 to 100, where the request asks for that.
    pub severity: u8,
}

/// What an echo repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoedPart {
    /// The last message.
    LastMessage,
    /// The system prompt and all messages.
    Everything,
    /// The action as it is quoted.
    Action,
    /// The action decoded.
    ActionRaw,
    /// The system prompt.
    System,
}

/// Blocks what contains one of some words, and allows the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordJudge {
    /// The words, in any case.
    pub block_if: Vec<String>,
    /// The category of a block.
    pub category: String,
}

/// A server that misbehaves. Where it needs an answer to spoil, the answer is an allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerFault {
    /// Closes the connection instead of answering.
    Close,
    /// Never answers.
    Silent,
    /// Sends headers and then nothing.
    HeadersThenSilent,
    /// Sends headers, and the body one byte at a time.
    SlowDrip {
        /// The time between two bytes.
        every: Duration,
    },
    /// Sends the first half of a body as if it were whole.
    TruncatedJson,
    /// Sends a good body as `text/html`.
    WrongContentType,
    /// Sends a good body with white space behind it.
    HugeBody {
        /// How many bytes in all; without end if not given.
        bytes: Option<u64>,
    },
    /// Resets the connection.
    Reset,
    /// Sends what is not HTTP.
    Garbage,
    /// Sends no body.
    EmptyBody,
    /// Allows and blocks in one answer.
    TwoVerdicts,
    /// Allows in its thoughts and gives no verdict.
    VerdictInThinking,
}

impl From<ScriptedAnswer> for ScriptStep {
    fn from(answer: ScriptedAnswer) -> Self {
        Self { answer, delay: Duration::ZERO, thinking: None, stop: None, usage: None, headers: Vec::new() }
    }
}

impl ScriptedVerdict {
    /// Allows.
    pub fn allow() -> Self {
        Self {
            is_block: false,
            category: String::new(),
            reason: "the script allows this".into(),
            severity: 5,
        }
    }

    /// Blocks.
    pub fn block(category: &str, reason: &str) -> Self {
        Self { is_block: true, category: category.into(), reason: reason.into(), severity: 90 }
    }
}
