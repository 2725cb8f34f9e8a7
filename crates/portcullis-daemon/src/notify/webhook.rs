//! The webhook: every new question is posted to an address, which may answer at once or later by the link that comes with
//! it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_settings::WebhookSettings;
use portcullis_store::{AnswerScope, ApprovalRequest};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{NotifiedQuestions, answer};
use crate::approval_object::approval_object;
use portcullis_gate::posting::post;
use portcullis_output::terminal::print_notes;

/// How many questions are posted at once.
const AT_ONCE: usize = 4;
/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(30);
/// How long to wait after the first failure; every further wait is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Posts questions, a few at once.
#[derive(Debug)]
pub(super) struct Posts {
    room: Arc<Semaphore>,
}

impl Default for Posts {
    fn default() -> Self {
        Self { room: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Posts {
    /// Posts a question until it is taken or ended.
    pub(super) fn send(
        &self,
        questions: Arc<dyn NotifiedQuestions>,
        approval: ApprovalRequest,
        webhook: WebhookSettings,
    ) {
        let room = Arc::clone(&self.room);
        tokio::spawn(async move {
            let mut body = approval_object(&approval);
            if let (Some(link), Some(fields)) = (questions.link(&approval.id), body.as_object_mut()) {
                fields.insert("answerUrl".to_owned(), Value::String(link));
            }
            let mut pause = FIRST_PAUSE;
            while questions.is_open(&approval.id) {
                let Ok(place) = room.acquire().await else { return };
                let (questions_there, id) = (Arc::clone(&questions), approval.id.clone());
                let (webhook_there, body_there) = (webhook.clone(), body.clone());
                let attempt = move || attempt(questions_there.as_ref(), &id, &webhook_there, body_there);
                let told = tokio::task::spawn_blocking(attempt).await;
                drop(place);
                match told {
                    Ok(Ok(())) => return,
                    Ok(Err(what)) => print_notes([format!("the webhook of approvals {what}")]),
                    Err(_) => print_notes(["the webhook of approvals failed".to_owned()]),
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        });
    }
}

/// Posts a question once, and takes an answer that comes back.
fn attempt(
    questions: &dyn NotifiedQuestions,
    id: &str,
    webhook: &WebhookSettings,
    body: Value,
) -> Result<(), String> {
    let WebhookSettings { url, headers, variables } = webhook;
    let said = post((url, headers, variables), body, Instant::now() + ATTEMPT)?;
    match read(&said) {
        Ok(Some(given)) => answer(questions, id, "webhook", given),
        Ok(None) => {}
        // It has the question, and posting it again would change nothing.
        Err(what) => print_notes([format!("the webhook of approvals {what}, so the question stays open")]),
    }
    Ok(())
}

/// Reads what came back: a decision as Claude Code's hooks write it, or nothing.
fn read(said: &[u8]) -> Result<Option<(bool, AnswerScope, Option<String>)>, String> {
    let Ok(value) = serde_json::from_slice::<Value>(said) else { return Ok(None) };
    let decision = value.get("decision").or_else(|| value.pointer("/hookSpecificOutput/decision"));
    let Some(decision) = decision else { return Ok(None) };
    let wrong = || "said something that is no decision".to_owned();
    let is_allowed = match decision.get("behavior").and_then(Value::as_str) {
        Some("allow") => true,
        Some("deny") => false,
        _ => return Err(wrong()),
    };
    // A changed call is another call, which nobody has judged.
    if is_allowed && decision.get("updatedInput").is_some() {
        return Err("changed the call, which is not supported".to_owned());
    }
    let scope = match decision.get("scope") {
        None => AnswerScope::Once,
        Some(scope) => serde_json::from_value(scope.clone()).map_err(|_| wrong())?,
    };
    // Whoever serves the webhook answers the question that was put, and makes no rule of it.
    if is_allowed && scope != AnswerScope::Once {
        return Err("allowed more than this very call, which only a person who is there can do".to_owned());
    }
    let message = match decision.get("message") {
        None | Some(Value::Null) => None,
        Some(Value::String(message)) => Some(message.clone()),
        Some(_) => return Err(wrong()),
    };
    Ok(Some((is_allowed, scope, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_decision_answers() {
        let read = |text: &str| read(text.as_bytes());
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("ok"), Ok(None));
        assert_eq!(read(r#"{"status":"queued"}"#), Ok(None));
        assert_eq!(read(r#"{"decision":{"behavior":"allow"}}"#), Ok(Some((true, AnswerScope::Once, None))));
        assert_eq!(
            read(r#"{"decision":{"behavior":"deny","message":"not now","scope":"session"}}"#),
            Ok(Some((false, AnswerScope::Session, Some("not now".to_owned()))))
        );
        for wrong in [
            r#"{"decision":"allow"}"#,
            r#"{"decision":{"behavior":"Allow"}}"#,
            r#"{"decision":{"behavior":true}}"#,
            r#"{"decision":{"behavior":"allow","scope":"forever"}}"#,
            r#"{"decision":{"behavior":"allow","scope":"session"}}"#,
            r#"{"decision":{"behavior":"allow","scope":"always"}}"#,
            r#"{"decision":{"behavior":"allow","message":1}}"#,
            r#"{"decision":{"behavior":"allow","updatedInput":{}}}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
