//! Anthropic's Messages, as Claude Code speaks it.

use serde_json::{Value, json};

use super::{
    AnswerDelivery, ClientProtocol, ModelTurn, StreamEvent, ToolResult, WrittenAnswer, has_some, list, text,
    texts,
};

pub(super) static DIALECT: ClientProtocol = ClientProtocol {
    paths: &[("/v1/messages", AnswerDelivery::AsAsked)],
    has_tools: |body| has_some(body, "tools"),
    said_by_user,
    results,
    write,
};

/// What the user said stands in the first message; later ones of the same role hold results.
fn said_by_user(body: &Value) -> String {
    let first = list(body, "messages").iter().find(|message| text(message, "role") == "user");
    first.map(texts).unwrap_or_default()
}

fn results(body: &Value) -> Vec<ToolResult> {
    let blocks = list(body, "messages").iter().flat_map(|message| list(message, "content"));
    blocks
        .filter(|block| text(block, "type") == "tool_result")
        .map(|block| ToolResult {
            id: text(block, "tool_use_id").to_owned(),
            text: block.get("content").map(texts).unwrap_or_default(),
        })
        .collect()
}

fn write(body: &Value, words: ModelTurn<'_>) -> WrittenAnswer {
    let mut content: Vec<Value> = Vec::new();
    content.extend(words.text.map(|text| json!({"type": "text", "text": text})));
    content.extend(words.calls.iter().map(
        |call| json!({"type": "tool_use", "id": call.id(), "name": call.tool, "input": call.input_value()}),
    ));
    let stop = if words.calls.is_empty() { "end_turn" } else { "tool_use" };
    let message = |content: &[Value], stop: Option<&str>| {
        json!({
            "id": "msg_scripted", "type": "message", "role": "assistant", "model": text(body, "model"),
            "content": content, "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        })
    };
    let mut events =
        vec![StreamEvent::typed(&json!({"type": "message_start", "message": message(&[], None)}))];
    for (index, block) in content.iter().enumerate() {
        events.extend(block_events(index, block).iter().map(StreamEvent::typed));
    }
    let end = json!({"stop_reason": stop, "stop_sequence": null});
    events.push(StreamEvent::typed(
        &json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}),
    ));
    events.push(StreamEvent::typed(&json!({"type": "message_stop"})));
    WrittenAnswer { whole: message(&content, Some(stop)), events }
}

/// A block comes empty at first; its text or its input follows in pieces, here in one.
fn block_events(index: usize, block: &Value) -> [Value; 3] {
    let mut start = block.clone();
    let delta = if let Some(input) = start.get_mut("input") {
        let whole = std::mem::replace(input, json!({}));
        json!({"type": "input_json_delta", "partial_json": whole.to_string()})
    } else {
        let whole = text(block, "text");
        start = json!({"type": "text", "text": ""});
        json!({"type": "text_delta", "text": whole})
    };
    [
        json!({"type": "content_block_start", "index": index, "content_block": start}),
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}
