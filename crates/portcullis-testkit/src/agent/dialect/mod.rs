//! The dialects agents speak to their models in, one file each.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::Value;

use super::script::AgentCall;

/// How one kind of client speaks to its model.
#[derive(Debug)]
pub(super) struct ClientProtocol {
    /// How its paths end, and how the answer is delivered there.
    pub(super) paths: &'static [(&'static str, AnswerDelivery)],
    /// Says whether the request offers tools. One that does not is a question beside the work.
    pub(super) has_tools: fn(&Value) -> bool,
    /// Returns what the user said, or what a subagent was asked to do.
    pub(super) said_by_user: fn(&Value) -> String,
    /// Returns the results of tools in the conversation.
    pub(super) results: fn(&Value) -> Vec<ToolResult>,
    /// Writes an answer.
    pub(super) write: fn(&Value, ModelTurn<'_>) -> WrittenAnswer,
}

/// How an answer is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerDelivery {
    /// As a stream of events.
    Streamed,
    /// As one JSON object.
    Whole,
    /// As the field `stream` of the request says.
    AsAsked,
}

/// What the model says.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelTurn<'a> {
    pub(super) text: Option<&'a str>,
    pub(super) calls: &'a [AgentCall],
}

/// What a call came to, as the model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolResult {
    /// The id of the call.
    pub(super) id: String,
    pub(super) text: String,
}

/// An answer in both forms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenAnswer {
    pub(super) whole: Value,
    pub(super) events: Vec<StreamEvent>,
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StreamEvent {
    /// Its name, in dialects where events have one.
    pub(super) name: Option<String>,
    pub(super) data: String,
}

impl StreamEvent {
    /// Writes it as a stream has it.
    pub(super) fn to_text(&self) -> String {
        let name = self.name.as_ref().map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data)
    }

    /// Makes an event that is named like the field `type` of its data.
    fn typed(data: &Value) -> Self {
        let name = data.get("type").and_then(Value::as_str).map(ToOwned::to_owned);
        Self { name, data: data.to_string() }
    }

    fn unnamed(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }
}

const ALL: [&ClientProtocol; 4] = [&messages::DIALECT, &responses::DIALECT, &chat::DIALECT, &gemini::DIALECT];

impl ClientProtocol {
    /// Finds the dialect of a path, and how answers are delivered there.
    pub(super) fn of_path(path: &str) -> Option<(&'static Self, AnswerDelivery)> {
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        ALL.iter().find_map(|dialect| {
            let (_, delivery) = dialect.paths.iter().find(|(end, _)| path.ends_with(end))?;
            Some((*dialect, *delivery))
        })
    }
}

/// Returns the elements of a list in an object; none if there is no such list.
fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns a text field of an object; empty if there is none.
fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Says whether an object has a list with something in it.
fn has_some(value: &Value, name: &str) -> bool {
    !list(value, name).is_empty()
}

/// Joins every text in a value, however clients nest it.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Joins the texts of the messages that have a role.
fn texts_of_role(messages: &[Value], role: &str) -> String {
    let own = messages.iter().filter(|message| text(message, "role") == role);
    own.map(texts).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_dialect_is_known_by_its_path() {
        let table = [
            ("/v1/messages?beta=true", Some(AnswerDelivery::AsAsked)),
            ("/v1/responses", Some(AnswerDelivery::AsAsked)),
            ("/v1/chat/completions", Some(AnswerDelivery::AsAsked)),
            ("/v1beta/models/m:streamGenerateContent?alt=sse", Some(AnswerDelivery::Streamed)),
            ("/v1beta/models/m:generateContent", Some(AnswerDelivery::Whole)),
            ("/v1/messages/count_tokens", None),
            ("/v1/models", None),
        ];
        for (path, delivery) in table {
            assert_eq!(ClientProtocol::of_path(path).map(|(_, delivery)| delivery), delivery, "{path}");
        }
    }

    #[test]
    fn texts_are_found_wherever_they_stand() {
        let value = json!([{"type": "text", "text": "a"}, {"output": {"error": ["b", 1, null]}}]);
        let joined = texts(&value);
        assert!(joined.contains('a') && joined.contains('b'), "{joined}");
    }
}
