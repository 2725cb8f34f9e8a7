//! The body of an answer, in the shape of its wire.

use serde_json::{Map, Value, json};

use super::{ModelRequest, WireProtocol};

/// An answer before it has the shape of a wire.
#[derive(Debug, Clone)]
pub(crate) struct ModelReply {
    pub(crate) thinking: Option<String>,
    pub(crate) content: Vec<ReplyContent>,
    /// The wire's own blocks, which then stand in place of everything above.
    pub(crate) blocks: Option<Vec<Value>>,
    pub(crate) stop: StopReason,
    /// The sequence the answer was cut at.
    pub(crate) stop_sequence: Option<String>,
    pub(crate) usage: ReportedTokens,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It is complete.
    EndTurn,
    /// It came to a stop sequence.
    StopSequence,
    /// It came to its limit.
    MaxTokens,
    /// The model refuses.
    Refusal,
}

/// Tokens to report. The three kinds of input do not overlap; each wire gets them summed the way it counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportedTokens {
    /// Of the prompt, neither read from a cache nor written to it.
    pub input: u64,
    /// Of the prompt, read from the cache.
    pub cache_read: u64,
    /// Of the prompt, written to the cache.
    pub cache_write: u64,
    /// Of the answer, thoughts included.
    pub output: u64,
    /// Of the thoughts.
    pub thinking: u64,
}

impl ReportedTokens {
    /// Returns the tokens of the whole prompt.
    pub(crate) fn whole_input(self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

/// One part of an answer.
#[derive(Debug, Clone)]
pub(crate) enum ReplyContent {
    Text(String),
    Tool { name: String, arguments: ToolArguments },
}

/// What a tool is called with.
#[derive(Debug, Clone)]
pub(crate) enum ToolArguments {
    Object(Value),
    /// Any text. Wires that carry arguments as text send it as it is, the others send the object.
    Text {
        text: String,
        object: Value,
    },
}

impl ToolArguments {
    fn object(&self) -> &Value {
        match self {
            Self::Object(object) | Self::Text { object, .. } => object,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Object(object) => object.to_string(),
            Self::Text { text, .. } => text.clone(),
        }
    }
}

/// Writes an answer in the shape of the wire it was asked over. `number` makes its ids.
pub(crate) fn reply_body(inquiry: &ModelRequest, reply: &ModelReply, number: usize) -> Value {
    match inquiry.wire {
        WireProtocol::Anthropic => anthropic(inquiry, reply, number),
        WireProtocol::Responses => responses(inquiry, reply, number),
        WireProtocol::Chat => chat(inquiry, reply, number),
        WireProtocol::Ollama => ollama(inquiry, reply),
        WireProtocol::Gemini => gemini(inquiry, reply, number),
    }
}

impl ModelReply {
    fn calls_a_tool(&self) -> bool {
        self.content.iter().any(|part| matches!(part, ReplyContent::Tool { .. }))
    }

    fn joined_text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            ReplyContent::Text(text) => Some(text.as_str()),
            ReplyContent::Tool { .. } => None,
        });
        texts.collect()
    }

    fn tools(&self) -> impl Iterator<Item = (&str, &ToolArguments)> {
        self.content.iter().filter_map(|part| match part {
            ReplyContent::Tool { name, arguments } => Some((name.as_str(), arguments)),
            ReplyContent::Text(_) => None,
        })
    }
}

fn anthropic(inquiry: &ModelRequest, reply: &ModelReply, number: usize) -> Value {
    let mut content = Vec::new();
    if let Some(thinking) = &reply.thinking {
        content.push(json!({"type": "thinking", "thinking": thinking, "signature": "scripted"}));
    }
    for (index, part) in reply.content.iter().enumerate() {
        match part {
            ReplyContent::Text(text) if text.is_empty() => {}
            ReplyContent::Text(text) => content.push(json!({"type": "text", "text": text})),
            ReplyContent::Tool { name, arguments } => content.push(json!({
                "type": "tool_use",
                "id": format!("toolu_scripted_{number}_{index}"),
                "name": name,
                "input": arguments.object(),
            })),
        }
    }
    let stop_reason = match reply.stop {
        StopReason::EndTurn if reply.calls_a_tool() => "tool_use",
        StopReason::EndTurn => "end_turn",
        StopReason::StopSequence => "stop_sequence",
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refusal => "refusal",
    };
    let stop_sequence = reply.stop_sequence.as_ref().filter(|_| reply.stop == StopReason::StopSequence);
    let stop_details = match reply.stop {
        StopReason::Refusal => {
            json!({"type": "refusal", "category": "cyber", "explanation": "the script refuses"})
        }
        _ => Value::Null,
    };
    let usage = reply.usage;
    json!({
        "id": format!("msg_scripted_{number}"),
        "type": "message",
        "role": "assistant",
        "model": inquiry.model,
        "content": reply.blocks.as_ref().unwrap_or(&content),
        "stop_reason": stop_reason,
        "stop_sequence": stop_sequence,
        "stop_details": stop_details,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": usage.cache_write,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": usage.output,
            "output_tokens_details": {"thinking_tokens": usage.thinking},
            "service_tier": "standard",
        },
    })
}

fn responses(inquiry: &ModelRequest, reply: &ModelReply, number: usize) -> Value {
    let is_cut = reply.stop == StopReason::MaxTokens;
    let status = if is_cut { "incomplete" } else { "completed" };
    let mut output = Vec::new();
    if let Some(thinking) = &reply.thinking {
        output.push(json!({
            "id": format!("rs_scripted_{number}"),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": thinking}],
        }));
    }
    for (index, part) in reply.content.iter().enumerate() {
        output.push(match part {
            ReplyContent::Text(text) => {
                let content = match reply.stop {
                    StopReason::Refusal => json!({"type": "refusal", "refusal": text}),
                    _ => json!({"type": "output_text", "text": text, "annotations": []}),
                };
                json!({
                    "id": format!("msg_scripted_{number}_{index}"),
                    "type": "message",
                    "status": status,
                    "role": "assistant",
                    "content": [content],
                })
            }
            ReplyContent::Tool { name, arguments } => json!({
                "id": format!("fc_scripted_{number}_{index}"),
                "type": "function_call",
                "status": status,
                "call_id": format!("call_scripted_{number}_{index}"),
                "name": name,
                "arguments": arguments.text(),
            }),
        });
    }
    let details = if is_cut { json!({"reason": "max_output_tokens"}) } else { Value::Null };
    let usage = reply.usage;
    json!({
        "id": format!("resp_scripted_{number}"),
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "model": inquiry.model,
        "output": reply.blocks.as_ref().unwrap_or(&output),
        "usage": {
            "input_tokens": usage.whole_input(),
            "input_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
            },
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.thinking},
            "total_tokens": usage.whole_input().saturating_add(usage.output),
        },
    })
}

fn chat(inquiry: &ModelRequest, reply: &ModelReply, number: usize) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    let text = reply.joined_text();
    let is_refusal = reply.stop == StopReason::Refusal;
    let has_text = !(is_refusal || reply.calls_a_tool() && text.is_empty());
    message.insert("content".into(), if has_text { json!(text) } else { Value::Null });
    message.insert("refusal".into(), if is_refusal { json!(text) } else { Value::Null });
    if let Some(thinking) = &reply.thinking {
        message.insert("reasoning_content".into(), json!(thinking));
    }
    let calls: Vec<Value> = reply
        .tools()
        .enumerate()
        .map(|(index, (name, arguments))| {
            json!({
                "id": format!("call_scripted_{number}_{index}"),
                "type": "function",
                "function": {"name": name, "arguments": arguments.text()},
            })
        })
        .collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), json!(calls));
    }
    let finish_reason = match reply.stop {
        StopReason::MaxTokens => "length",
        StopReason::EndTurn if reply.calls_a_tool() => "tool_calls",
        StopReason::EndTurn | StopReason::StopSequence | StopReason::Refusal => "stop",
    };
    let choices = vec![json!({"index": 0, "message": message, "finish_reason": finish_reason})];
    let usage = reply.usage;
    json!({
        "id": format!("chatcmpl-scripted-{number}"),
        "object": "chat.completion",
        "created": 0,
        "model": inquiry.model,
        "choices": reply.blocks.as_ref().unwrap_or(&choices),
        "usage": {
            "prompt_tokens": usage.whole_input(),
            "completion_tokens": usage.output,
            "total_tokens": usage.whole_input().saturating_add(usage.output),
            "prompt_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
            },
            "completion_tokens_details": {"reasoning_tokens": usage.thinking},
        },
    })
}

fn ollama(inquiry: &ModelRequest, reply: &ModelReply) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    message.insert("content".into(), json!(reply.joined_text()));
    if let Some(thinking) = &reply.thinking {
        message.insert("thinking".into(), json!(thinking));
    }
    let calls: Vec<Value> = reply
        .tools()
        .map(|(name, arguments)| json!({"function": {"name": name, "arguments": arguments.object()}}))
        .collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), json!(calls));
    }
    let message = match &reply.blocks {
        Some(blocks) => blocks.first().cloned().unwrap_or(Value::Null),
        None => Value::Object(message),
    };
    let done_reason = if reply.stop == StopReason::MaxTokens { "length" } else { "stop" };
    json!({
        "model": inquiry.model,
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": true,
        "done_reason": done_reason,
        "total_duration": 0,
        "load_duration": 0,
        "prompt_eval_count": reply.usage.whole_input(),
        "prompt_eval_duration": 0,
        "eval_count": reply.usage.output,
        "eval_duration": 0,
    })
}

fn gemini(inquiry: &ModelRequest, reply: &ModelReply, number: usize) -> Value {
    let mut parts = Vec::new();
    if let Some(thinking) = &reply.thinking {
        parts.push(json!({"text": thinking, "thought": true}));
    }
    for part in &reply.content {
        match part {
            ReplyContent::Text(text) if text.is_empty() => {}
            ReplyContent::Text(text) => parts.push(json!({"text": text})),
            ReplyContent::Tool { name, arguments } => {
                parts.push(json!({"functionCall": {"name": name, "args": arguments.object()}}));
            }
        }
    }
    let finish_reason = match reply.stop {
        StopReason::EndTurn | StopReason::StopSequence => "STOP",
        StopReason::MaxTokens => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
    };
    let usage = reply.usage;
    json!({
        "candidates": [{
            "content": {"parts": reply.blocks.as_ref().unwrap_or(&parts), "role": "model"},
            "finishReason": finish_reason,
            "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": usage.whole_input(),
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output.saturating_sub(usage.thinking),
            "thoughtsTokenCount": usage.thinking,
            "totalTokenCount": usage.whole_input().saturating_add(usage.output),
        },
        "modelVersion": inquiry.model,
        "responseId": format!("scripted-{number}"),
    })
}
