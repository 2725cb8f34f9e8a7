//! The order of a question (spec D9), the same for every protocol: session data, transcript, action, facts, and the words
//! of the stage last.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{ModelQuery, WireRequest};
use crate::model::ModelInfo;
use crate::prompt::Prompt;

/// What opens the transcript.
pub(super) const OPENING: &str = "<transcript>\n";

/// Says whether a text says anything; providers refuse blocks that do not.
pub(super) fn has_content(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Returns what closes the transcript, with the facts that follow it. It begins and ends as a line of its own.
pub(super) fn closing(prompt: &Prompt) -> String {
    let start = if prompt.action.is_empty() || prompt.action.ends_with('\n') { "" } else { "\n" };
    format!("{start}</transcript>\n{}", as_lines(&prompt.facts))
}

/// Returns the session data as whole lines, if there is any.
pub(super) fn session(prompt: &Prompt) -> Option<Cow<'_, str>> {
    has_content(&prompt.session).then(|| as_lines(&prompt.session))
}

/// Returns everything from the transcript up to the words of the stage as one text.
pub(super) fn transcript(prompt: &Prompt) -> String {
    let closing = closing(prompt);
    let parts = [OPENING].into_iter().chain(prompt.history.iter().map(String::as_str));
    parts.chain([prompt.action.as_str(), closing.as_str()]).collect()
}

/// Returns everything between the system prompt and the words of the stage as one text.
pub(super) fn whole(prompt: &Prompt) -> String {
    let mut text = session(prompt).unwrap_or_default().into_owned();
    text.push_str(&transcript(prompt));
    text
}

/// Ends a text with a line break unless it is empty or ends with one.
fn as_lines(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.ends_with('\n') {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{text}\n"))
    }
}

/// Returns how long an answer may be, with room for thoughts the model cannot leave.
pub(super) fn limit(model: &ModelInfo, query: &ModelQuery<'_>) -> u32 {
    let room = if query.is_brief && !model.always_thinks() { 0 } else { model.padding };
    query.max_tokens.saturating_add(room)
}

/// Returns where an answer ends, if the model takes such.
pub(super) fn stops(model: &ModelInfo, query: &ModelQuery<'_>) -> Option<Vec<Value>> {
    query.stop.filter(|_| model.stop).map(|stop| vec![Value::from(stop)])
}

/// A body in the making: its fields stand in the order they are put in.
#[derive(Debug, Default)]
pub(super) struct RequestBody(Map<String, Value>);

impl RequestBody {
    /// Adds a field.
    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Adds a field that may be missing.
    pub(super) fn put_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Returns the fields, if there are any.
    pub(super) fn into_value(self) -> Option<Value> {
        (!self.0.is_empty()).then_some(Value::Object(self.0))
    }

    /// Makes the request, without the optional fields the model refuses.
    pub(super) fn into_request(mut self, model: &ModelInfo, path: String) -> WireRequest {
        self.0.retain(|name, _| !model.leave_out.contains(name));
        WireRequest { path, headers: Vec::new(), body: Value::Object(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn prompt(session: &str, action: &str, facts: &str) -> Prompt {
        Prompt {
            system: "s".to_owned(),
            session: session.to_owned(),
            history: vec!["{\"user\":\"a\"}\n".to_owned()],
            action: action.to_owned(),
            facts: facts.to_owned(),
        }
    }

    #[test]
    fn every_part_stands_on_lines_of_its_own_whether_or_not_it_ends_with_one() {
        let expected = "S\n<transcript>\n{\"user\":\"a\"}\nA\n</transcript>\nF\n";
        assert_eq!(whole(&prompt("S\n", "A\n", "F\n")), expected);
        assert_eq!(whole(&prompt("S", "A", "F")), expected);
    }

    #[test]
    fn parts_that_are_empty_leave_no_trace() {
        assert_eq!(session(&prompt(" \n", "A\n", "")), None);
        assert_eq!(whole(&prompt("", "A\n", "")), "<transcript>\n{\"user\":\"a\"}\nA\n</transcript>\n");
    }
}
