//! The protocols models are spoken to with, one file each: a [`ModelQuery`] becomes a request, an answer a [`ModelAnswer`].
//!
//! No I/O here: what is sent is a value, and so is what came back.
//!
//! ```text
//! Prompt ─ layout ─┐
//! Model ───────────┼─► request (one file a protocol) ─► WireRequest
//! Query ───────────┘
//! status, headers, body ─► envelope ─► answer (one file a protocol) ─► Reply
//!                             └─► complaint ─► failure ─► Fault
//! ```
//!
//! INVARIANT: what stands before the last block of a request depends on the prompt and the model alone, never on the stage
//! or the form of the answer, which come behind it. And an answer that is not wholly what its protocol promises is a fault.

mod anthropic;
mod chat;
mod complaint;
mod envelope;
mod failure;
mod gemini;
mod layout;
mod ollama;
mod responses;
mod unsupported;

use std::borrow::Cow;

use serde_json::Value;

use crate::fault::ModelFault;
use crate::model::{ModelInfo, ModelProvider};
use crate::prompt::{AnswerSpec, Prompt};
pub use crate::tokens::TokenUsage;

/// One question to a model, whatever it is served by.
#[derive(Debug, Clone, Copy)]
pub struct ModelQuery<'a> {
    /// What it is about.
    pub prompt: &'a Prompt,
    /// The words that come last: what to answer now.
    pub suffix: &'a str,
    /// The most tokens of the answer, without room for thoughts a model cannot leave.
    pub max_tokens: u32,
    /// Whether the answer is a verdict alone: then only a model that cannot leave its thoughts gets room for them.
    pub is_brief: bool,
    /// Where the answer ends, if the model takes such.
    pub stop: Option<&'a str>,
    /// The form of the answer.
    pub form: RequiredForm<'a>,
}

/// The form an answer must have.
#[derive(Debug, Clone, Copy)]
pub enum RequiredForm<'a> {
    /// Text.
    Text,
    /// A call of this tool.
    Tool(&'a AnswerSpec),
    /// JSON that follows the schema.
    Schema(&'a AnswerSpec),
}

/// A request, ready to be sent below an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    /// What is appended to the base address, with its leading `/`.
    pub path: String,
    /// Headers besides the content type and the key.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body: JSON with its fields in a fixed order.
    pub body: Value,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelAnswer {
    /// Its text, thoughts left out; empty if there is none.
    pub text: String,
    /// The tool it called, with what it gave: name and arguments.
    pub tool: Option<(String, Value)>,
    /// What it cost in tokens.
    pub usage: TokenUsage,
    /// Whether it ends because a stop sequence came. Where the protocol cannot tell that from an end by itself, whether
    /// it may.
    pub is_stopped: bool,
}

/// What came back of a request: an answer, or why there is none. A model that refused, was cut off or said nothing has
/// not answered.
pub type ModelResult = Result<ModelAnswer, ModelFault>;

/// Makes the request that asks a model a question.
pub fn request(model: &ModelInfo, query: &ModelQuery<'_>) -> WireRequest {
    match model.provider {
        ModelProvider::Anthropic => anthropic::request(model, query),
        ModelProvider::OpenAi => responses::request(model, query),
        ModelProvider::Chat => chat::request(model, query),
        ModelProvider::Ollama => ollama::request(model, query),
        ModelProvider::Gemini => gemini::request(model, query),
    }
}

/// Reads what came back of a request.
pub fn answer(
    provider: ModelProvider,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> ModelResult {
    match provider {
        ModelProvider::Anthropic => anthropic::answer(status, headers, body),
        ModelProvider::OpenAi => responses::answer(status, headers, body),
        ModelProvider::Chat => chat::answer(status, headers, body),
        ModelProvider::Ollama => ollama::answer(status, headers, body),
        ModelProvider::Gemini => gemini::answer(status, headers, body),
    }
}

#[cfg(test)]
mod answer_tests;
