//! `OpenAI`'s Responses, as Codex speaks it.

use serde_json::{Value, json};

use super::{
    AnswerDelivery, ClientProtocol, ModelTurn, StreamEvent, ToolResult, WrittenAnswer, has_some, list, text,
    texts, texts_of_role,
};
use crate::agent::script::{AgentCall, AgentCallInput};

pub(super) static DIALECT: ClientProtocol = ClientProtocol {
    paths: &[("/responses", AnswerDelivery::AsAsked)],
    has_tools,
    said_by_user: |body| texts_of_role(list(body, "input"), "user"),
    results,
    write,
};

/// Some models get their tools as an item of the conversation.
fn has_tools(body: &Value) -> bool {
    has_some(body, "tools") || list(body, "input").iter().any(|item| text(item, "type") == "additional_tools")
}

fn results(body: &Value) -> Vec<ToolResult> {
    let items = list(body, "input").iter();
    items
        .filter(|item| matches!(text(item, "type"), "function_call_output" | "custom_tool_call_output"))
        .map(|item| ToolResult {
            id: text(item, "call_id").to_owned(),
            text: item.get("output").map(texts).unwrap_or_default(),
        })
        .collect()
}

fn write(body: &Value, words: ModelTurn<'_>) -> WrittenAnswer {
    let mut items: Vec<Value> = Vec::new();
    items.extend(words.text.map(|text| {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        json!({"type": "message", "id": "msg_scripted", "role": "assistant", "status": "completed", "content": content})
    }));
    items.extend(words.calls.iter().map(call_item));
    let response = |status: &str, items: &[Value]| {
        json!({
            "id": "resp_scripted", "object": "response", "created_at": 1, "status": status,
            "model": text(body, "model"), "output": items,
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        })
    };
    let whole = response("completed", &items);
    let start = response("in_progress", &[]);
    let mut events = vec![StreamEvent::typed(&json!({"type": "response.created", "response": start}))];
    for (index, item) in items.iter().enumerate() {
        for name in ["response.output_item.added", "response.output_item.done"] {
            events.push(StreamEvent::typed(&json!({"type": name, "output_index": index, "item": item})));
        }
    }
    events.push(StreamEvent::typed(&json!({"type": "response.completed", "response": whole})));
    WrittenAnswer { whole, events }
}

fn call_item(call: &AgentCall) -> Value {
    let id = call.id();
    match &call.input {
        AgentCallInput::Text(text) => json!({
            "type": "custom_tool_call", "id": format!("ctc_{id}"), "status": "completed", "call_id": id,
            "name": call.tool, "input": text,
        }),
        AgentCallInput::Fields(fields) => {
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{id}"), "status": "completed", "call_id": id,
                "name": call.tool, "arguments": fields.to_string(),
            });
            if let (Some(namespace), Some(item)) = (&call.namespace, item.as_object_mut()) {
                item.insert("namespace".to_owned(), json!(namespace));
            }
            item
        }
    }
}
