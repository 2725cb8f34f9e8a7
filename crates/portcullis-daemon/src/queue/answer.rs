//! An answer on its way: is it one, does it count, is it done.

use std::time::Duration;

use portcullis_store::{AnswerOutcome, AnswerScope, ApprovalAnswer, ApprovalRequest};

use super::Inner;
use super::apply::{apply, behavior};
use portcullis_gate::Failure;
use portcullis_gate::session_settings::compile;

/// The longest message to an agent, in characters.
const LONGEST_MESSAGE: usize = 2_000;

/// The longest rule, in bytes.
const LONGEST_RULE: usize = 4_096;

impl Inner {
    /// Answers a question: checks the answer, writes it down, applies it, tells everybody.
    pub(super) fn answer(&self, id: &str, given: ApprovalAnswer) -> Result<AnswerOutcome, Failure> {
        let backend = self.store.backend();
        let Some(asked) = backend.approval(id).map_err(|error| Failure::from(&error))? else {
            return Ok(AnswerOutcome::Unknown);
        };
        let answer = checked(&asked, given)?;
        match backend.answer_approval(id, &answer).map_err(|error| Failure::from(&error))? {
            AnswerOutcome::First(approval) => {
                let waited = answer.at_ms.saturating_sub(approval.created_at_ms);
                self.telemetry.approval_answered(approval.state, Duration::from_millis(waited));
                // Whoever watches sees the answer at once; whoever waits is woken when it was applied.
                self.tell_own(&approval);
                let applied = apply(&self.store, &approval, true);
                let approval =
                    backend.approval(id).map_err(|error| Failure::from(&error))?.unwrap_or(*approval);
                self.tell_own(&approval);
                applied?;
                Ok(AnswerOutcome::First(Box::new(approval)))
            }
            other => Ok(other),
        }
    }
}

/// Completes an answer: a rule where it holds beyond the call, and nothing that is too long.
fn checked(asked: &ApprovalRequest, given: ApprovalAnswer) -> Result<ApprovalAnswer, Failure> {
    let message =
        given.message.map(|message| message.trim().to_owned()).filter(|message| !message.is_empty());
    if message.as_ref().is_some_and(|message| message.chars().count() > LONGEST_MESSAGE) {
        return Err(Failure::usage(format!("the message is longer than {LONGEST_MESSAGE} characters")));
    }
    let answer = ApprovalAnswer { message, ..given };
    let rule = answer.rule.as_deref().map(str::trim).filter(|rule| !rule.is_empty());
    if answer.scope == AnswerScope::Once {
        return match rule {
            Some(_) => Err(Failure::usage("a rule holds for longer than one call")
                .with_hint("use the scope `session` or `always`, or leave the rule out")),
            None => Ok(ApprovalAnswer { rule: None, ..answer }),
        };
    }
    let rule = match rule {
        Some(rule) => rule.to_owned(),
        None => fitting(asked, behavior(&answer).as_str())?,
    };
    if rule.len() > LONGEST_RULE {
        return Err(Failure::usage(format!("the rule is longer than {LONGEST_RULE} bytes")));
    }
    compile(&rule, behavior(&answer))?;
    Ok(ApprovalAnswer { rule: Some(rule), ..answer })
}

/// Returns the first rule that is suggested for the call.
fn fitting(asked: &ApprovalRequest, behavior: &str) -> Result<String, Failure> {
    let suggestions = &asked.question.suggestions;
    let first = suggestions.iter().find(|one| one.behavior == behavior && one.is_whole());
    first.map(|one| one.rule.clone()).ok_or_else(|| {
        Failure::usage("no rule would cover such calls in general")
            .with_hint("name a rule, or answer for this very call with the scope `once`")
    })
}
