//! Chat completions, as opencode, Qwen Code, Copilot CLI, Droid, Kimi Code, Pi and Cline CLI speak it.

use serde_json::{Value, json};

use super::{
    AnswerDelivery, ClientProtocol, ModelTurn, StreamEvent, ToolResult, WrittenAnswer, has_some, list, text,
    texts, texts_of_role,
};

pub(super) static DIALECT: ClientProtocol = ClientProtocol {
    paths: &[("/chat/completions", AnswerDelivery::AsAsked)],
    has_tools: |body| has_some(body, "tools"),
    said_by_user: |body| texts_of_role(list(body, "messages"), "user"),
    results,
    write,
};

fn results(body: &Value) -> Vec<ToolResult> {
    let messages = list(body, "messages").iter();
    messages
        .filter(|message| text(message, "role") == "tool")
        .map(|message| ToolResult {
            id: text(message, "tool_call_id").to_owned(),
            text: message.get("content").map(texts).unwrap_or_default(),
        })
        .collect()
}

fn write(body: &Value, words: ModelTurn<'_>) -> WrittenAnswer {
    let calls: Vec<Value> = words
        .calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let function = json!({"name": call.tool, "arguments": call.input_value().to_string()});
            json!({"index": index, "id": call.id(), "type": "function", "function": function})
        })
        .collect();
    let end = if calls.is_empty() { "stop" } else { "tool_calls" };
    let mut message = json!({"role": "assistant", "content": words.text});
    if let Some(fields) = message.as_object_mut().filter(|_| !calls.is_empty()) {
        fields.insert("tool_calls".to_owned(), Value::from(calls));
    }
    let answer = |kind: &str, part: &str, content: &Value, end: Option<&str>| {
        json!({
            "id": "chat_scripted", "object": kind, "created": 1, "model": text(body, "model"),
            "choices": [{"index": 0, part: content, "finish_reason": end}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        })
    };
    let chunk =
        |delta: &Value, end| StreamEvent::unnamed(&answer("chat.completion.chunk", "delta", delta, end));
    let last = StreamEvent { name: None, data: "[DONE]".to_owned() };
    let events = vec![chunk(&message, None), chunk(&json!({}), Some(end)), last];
    WrittenAnswer { whole: answer("chat.completion", "message", &message, Some(end)), events }
}
