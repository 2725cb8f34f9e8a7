//! What is common to all answers: the status, the content type, JSON without tricks, and exactly one tool call.

use portcullis_hosts::json;
use serde_json::Value;

use super::complaint::ProviderError;
use super::{ModelAnswer, TokenUsage, failure};
use crate::fault::{FaultKind, ModelFault};
use crate::model::ModelProvider;

/// How one provider's answers are opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerEnvelope {
    pub(super) provider: ModelProvider,
    /// Reads the tokens out of a body; zeros where it has none.
    pub(super) usage: fn(&Value) -> TokenUsage,
}

impl AnswerEnvelope {
    /// Returns the body of an answer, or the fault it reports.
    pub(super) fn open(
        self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Value, ModelFault> {
        if status != 200 {
            let body = serde_json::from_slice(body).unwrap_or(Value::Null);
            let complaint = ProviderError::of_failure(&body);
            let fault = failure::of_status(self.provider, status, headers, &complaint);
            return Err(ModelFault { usage: (self.usage)(&body), ..fault });
        }
        if header(headers, "content-type").is_some_and(|kind| !is_json(kind)) {
            return Err(self.fault(
                FaultKind::Malformed,
                "something that is not JSON",
                TokenUsage::default(),
            ));
        }
        // The strict reader refuses names given twice, which the other would silently take the last of.
        let value = match (json::parse(body), serde_json::from_slice::<Value>(body)) {
            (Ok(_), Ok(value @ Value::Object(_))) => value,
            (Ok(_), Ok(Value::Array(items))) => return Err(self.fault_of_list(headers, &items)),
            _ => return Err(self.fault(FaultKind::Malformed, "no JSON object", TokenUsage::default())),
        };
        match ProviderError::of_success(&value) {
            None => Ok(value),
            Some(complaint) => {
                let fault = failure::of_status(self.provider, complaint.status(), headers, &complaint);
                Err(ModelFault { usage: (self.usage)(&value), ..fault })
            }
        }
    }

    /// Handles a list, which is how some gateways wrap a complaint.
    fn fault_of_list(self, headers: &[(String, String)], items: &[Value]) -> ModelFault {
        match items.first().and_then(ProviderError::of_success) {
            Some(complaint) => failure::of_status(self.provider, complaint.status(), headers, &complaint),
            None => self.fault(FaultKind::Malformed, "no JSON object", TokenUsage::default()),
        }
    }

    /// Makes a fault of what a provider answered without failing. Asking the same again would not help.
    pub(super) fn fault(self, kind: FaultKind, what: &str, usage: TokenUsage) -> ModelFault {
        failure::of_answer(self.provider, kind, what, usage)
    }

    /// Makes the reply of the parts that were found: it must say something, and call one tool at most.
    pub(super) fn reply(self, parts: AnswerParts, usage: TokenUsage) -> Result<ModelAnswer, ModelFault> {
        let mut calls = parts.calls.into_iter();
        let tool = calls.next();
        if calls.next().is_some() {
            return Err(self.fault(FaultKind::Ambiguous, "more than one tool call", usage));
        }
        if tool.as_ref().is_some_and(|(_, arguments)| !arguments.is_object()) {
            return Err(self.fault(FaultKind::Malformed, "a tool call whose arguments are no object", usage));
        }
        // A line break between blocks, so that no verdict is put together from the pieces of two.
        let text = parts.texts.join("\n");
        if tool.is_none() && text.trim().is_empty() {
            return Err(self.fault(FaultKind::Empty, "nothing", usage));
        }
        Ok(ModelAnswer { text, tool, usage, is_stopped: parts.is_stopped })
    }
}

/// The parts of an answer that count.
#[derive(Debug, Default)]
pub(super) struct AnswerParts {
    /// Texts, without the empty ones.
    pub(super) texts: Vec<String>,
    /// Tool calls: name and arguments.
    pub(super) calls: Vec<(String, Value)>,
    /// Whether a stop sequence ended it, or may have.
    pub(super) is_stopped: bool,
}

impl AnswerParts {
    /// Adds a text, if it says anything.
    pub(super) fn add_text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.texts.push(text.to_owned());
        }
    }

    /// Adds a tool call with its arguments as text, which must be one JSON value without a name given twice.
    pub(super) fn add_written_call(&mut self, name: &str, arguments: &str) -> Option<()> {
        json::parse(arguments.as_bytes()).ok()?;
        self.calls.push((name.to_owned(), serde_json::from_str(arguments).ok()?));
        Some(())
    }
}

/// Returns a text without the thoughts that some local models put before their answer. What is ambiguous stays.
pub(super) fn without_thoughts(text: &str) -> &str {
    let Some(thoughts) = text.trim_start().strip_prefix("<think>") else { return text };
    let mut ends = thoughts.split("</think>");
    match (ends.next(), ends.next(), ends.next()) {
        (Some(_), None, _) => "",
        (Some(inner), Some(rest), None) if !inner.contains("<think>") => rest,
        _ => text,
    }
}

/// Returns the value of a header; names of headers have no case.
pub(super) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Says whether a content type is JSON.
fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json"
        || kind == "text/json"
        || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// Returns a text field.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// Returns the items of a list that may be missing; `None` if the field is something else.
pub(super) fn list<'a>(value: &'a Value, field: &str) -> Option<&'a [Value]> {
    match value.get(field) {
        None | Some(Value::Null) => Some(&[]),
        Some(Value::Array(items)) => Some(items),
        Some(_) => None,
    }
}

/// Returns a count of tokens below a path of fields; zero if it is missing or no count.
pub(super) fn count(value: &Value, path: &[&str]) -> u64 {
    let found = path.iter().try_fold(value, |value, field| value.get(field));
    found.and_then(Value::as_u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_clear_run_of_thoughts_is_left_out() {
        for (text, expected) in [
            ("<block>no</block>", "<block>no</block>"),
            ("<think>hm</think><block>no</block>", "<block>no</block>"),
            ("\n<think>\n</think>\n\nyes", "\n\nyes"),
            ("<think><block>no</block>", ""),
            (
                "<think>a</think><block>yes</block></think><block>no</block>",
                "<think>a</think><block>yes</block></think><block>no</block>",
            ),
            ("<think>a<think>b</think>c", "<think>a<think>b</think>c"),
            ("so <think>a</think>b", "so <think>a</think>b"),
        ] {
            assert_eq!(without_thoughts(text), expected);
        }
    }

    #[test]
    fn content_types_of_json_are_told_from_others() {
        for kind in
            ["application/json", "Application/JSON; charset=utf-8", "application/problem+json", "text/json"]
        {
            assert!(is_json(kind), "{kind}");
        }
        for kind in [
            "text/html",
            "text/plain; application/json",
            "text/event-stream",
            "",
            "application/jsonl",
            "x+json",
        ] {
            assert!(!is_json(kind), "{kind}");
        }
    }
}
