//! Gemini's own, as Gemini CLI speaks it.

use serde_json::{Value, json};

use super::{
    AnswerDelivery, ClientProtocol, ModelTurn, StreamEvent, ToolResult, WrittenAnswer, has_some, list, text,
    texts, texts_of_role,
};

pub(super) static DIALECT: ClientProtocol = ClientProtocol {
    paths: &[
        (":streamGenerateContent", AnswerDelivery::Streamed),
        (":generateContent", AnswerDelivery::Whole),
    ],
    has_tools: |body| has_some(body, "tools"),
    said_by_user,
    results,
    write,
};

/// What the user said stands in the first message beside what the client says of the place; later messages of the same
/// role hold results.
fn said_by_user(body: &Value) -> String {
    let contents = list(body, "contents");
    texts_of_role(contents.get(..2).unwrap_or(contents), "user")
}

fn results(body: &Value) -> Vec<ToolResult> {
    let parts = list(body, "contents").iter().flat_map(|content| list(content, "parts"));
    parts
        .filter_map(|part| part.get("functionResponse"))
        .map(|result| ToolResult {
            id: text(result, "id").to_owned(),
            text: result.get("response").map(texts).unwrap_or_default(),
        })
        .collect()
}

fn write(_body: &Value, words: ModelTurn<'_>) -> WrittenAnswer {
    let mut parts: Vec<Value> = Vec::new();
    parts.extend(words.text.map(|text| json!({"text": text})));
    parts.extend(words.calls.iter().map(
        |call| json!({"functionCall": {"name": call.tool, "args": call.input_value(), "id": call.id()}}),
    ));
    let content = json!({"role": "model", "parts": parts});
    let whole = json!({
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "scripted", "responseId": "scripted",
    });
    let events = vec![StreamEvent::unnamed(&whole)];
    WrittenAnswer { whole, events }
}
