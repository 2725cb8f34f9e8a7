//! Approvals as the daemon writes them, read back.
//!
//! INVARIANT: what is not understood is no question. A text that is missing is empty, but a question without an id, a state
//! or a question is none, so that nobody answers what they were not shown.

use portcullis_store::audit::Entry;
use portcullis_store::{AnswerScope, ApprovalAnswer, ApprovalState, ExplanationEntry};
use serde_json::Value;

use portcullis_gate::gate::read_explanation;
use portcullis_gate::is_id;
use portcullis_gate::record_json::read_entry;

/// A question, as far as the daemon tells it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QueuedQuestion {
    /// What it is known by.
    pub(super) id: String,
    /// The number of its last change.
    pub(super) sequence: u64,
    /// When it was asked, in unix milliseconds.
    pub(super) created_at_ms: u64,
    /// When nobody can answer it any more.
    pub(super) expires_at_ms: u64,
    /// The name of the session.
    pub(super) session: String,
    /// What is asked.
    pub(super) question: Entry,
    /// What the call does, for people, if that is known.
    pub(super) explanation: Option<ExplanationEntry>,
    /// What became of it.
    pub(super) state: ApprovalState,
    /// The answer, if somebody answered.
    pub(super) answer: Option<ApprovalAnswer>,
    /// Whether it is about what a fenced command changed: the daemon knows nothing of it.
    pub(super) is_held_run: bool,
}

/// Reads a question; `None` if it is none.
pub(super) fn parse_question(value: &Value) -> Option<QueuedQuestion> {
    let state = value.get("state")?.as_str()?;
    Some(QueuedQuestion {
        id: value.get("id")?.as_str().filter(|id| is_id(id))?.to_owned(),
        sequence: number(value, "sequence"),
        created_at_ms: number(value, "createdAtMs"),
        expires_at_ms: number(value, "expiresAtMs"),
        session: text(value, "session"),
        question: read_entry(value.get("question")?)?,
        explanation: value.get("explanation").and_then(read_explanation),
        state: ApprovalState::ALL.into_iter().find(|known| known.as_str() == state)?,
        answer: value.get("answer").and_then(answer),
        is_held_run: false,
    })
}

/// Reads a list of questions; what is none is left out.
pub(super) fn parse_questions(value: &Value) -> Vec<QueuedQuestion> {
    let list = value.get("approvals").and_then(Value::as_array);
    list.map(|list| list.iter().filter_map(parse_question).collect()).unwrap_or_default()
}

fn answer(value: &Value) -> Option<ApprovalAnswer> {
    let scope = match value.get("scope").and_then(Value::as_str) {
        Some("session") => AnswerScope::Session,
        Some("always") => AnswerScope::Always,
        _ => AnswerScope::Once,
    };
    let opt_text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(ApprovalAnswer {
        is_allowed: value.get("decision")?.as_str()? == "allow",
        scope,
        rule: opt_text("rule"),
        message: opt_text("message"),
        by: text(value, "by"),
        via: text(value, "via"),
        at_ms: number(value, "atMs"),
    })
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_understood_is_no_question() {
        let entry = json!({"atMs": 1, "host": "claude", "event": "PreToolUse", "session": "s", "callId": null,
            "cwd": "/", "mode": "default", "headless": true, "tool": "Bash", "summary": "ls", "input": "{}",
            "decision": "deny", "said": "deny", "step": "A11", "kind": "headless", "reason": "x", "rule": null,
            "findings": [], "trace": [], "suggestions": [], "models": [], "micros": 1});
        let id = "0123456789abcdef0123456789abcdef";
        let whole = json!({"id": id, "state": "open", "question": entry, "sequence": 7, "explanation": null});
        let read = parse_question(&whole).unwrap();
        assert_eq!((read.id.as_str(), read.sequence, read.question.at_ms), (id, 7, 1));
        let answered =
            json!({"decision": "deny", "scope": "session", "rule": "Bash(ls *)", "by": "ada", "via": "web"});
        for (key, value) in [
            ("id", json!("../../x")),
            ("id", json!("")),
            ("state", json!("maybe")),
            ("state", Value::Null),
            ("question", json!({"host": "claude"})),
            ("question", Value::Null),
        ] {
            let mut wrong = whole.clone();
            wrong[key] = value;
            assert_eq!(parse_question(&wrong), None, "{wrong}");
            assert_eq!(parse_questions(&json!({"approvals": [whole, wrong]})).len(), 1);
        }
        let mut ended = whole;
        ended["state"] = json!("denied");
        ended["answer"] = answered;
        let answer = parse_question(&ended).unwrap().answer.unwrap();
        assert!(!answer.is_allowed);
        assert_eq!((answer.scope, answer.rule.as_deref()), (AnswerScope::Session, Some("Bash(ls *)")));
    }
}
