//! Tells people elsewhere that a question waits: a webhook, a notification of the desktop.
//!
//! Neither is needed for a question to wait or to be answered. What cannot be told is said on standard error, and the
//! question stays where it is.

mod desktop;
mod webhook;

use std::sync::Arc;

use portcullis_settings::ApprovalSettings;
use portcullis_store::{AnswerScope, ApprovalAnswer, ApprovalRequest};

use self::desktop::Desktop;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_output::terminal::print_notes;

/// The questions that people are told of, as far as telling them needs it.
pub(crate) trait NotifiedQuestions: Send + Sync {
    /// Answers a question at once. A late answer changes nothing.
    fn answer_now(&self, id: &str, given: ApprovalAnswer) -> Result<(), Failure>;

    /// Says whether a question is open, as far as is known here.
    fn is_open(&self, id: &str) -> bool;

    /// Returns the link that answers a question, if it is known where the page is.
    fn link(&self, id: &str) -> Option<String>;
}

/// Tells people elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    desktop: Desktop,
    webhooks: webhook::Posts,
}

impl Notifier {
    /// Tells of a new question, as settings say. Needs a runtime.
    pub(crate) fn told(
        &self,
        questions: &Arc<dyn NotifiedQuestions>,
        approval: &ApprovalRequest,
        settings: ApprovalSettings,
    ) {
        if let Some(webhook) = settings.webhook {
            self.webhooks.send(Arc::clone(questions), approval.clone(), webhook);
        }
        if settings.is_desktop {
            self.desktop.show(questions, approval);
        }
    }

    /// Takes back what was told of a question that ended.
    pub(crate) fn ended(&self, id: &str) {
        self.desktop.hide(id);
    }
}

/// Answers a question for somebody who was told elsewhere. A late answer changes nothing and is no problem.
fn answer(
    questions: &dyn NotifiedQuestions,
    id: &str,
    via: &str,
    (is_allowed, scope, message): (bool, AnswerScope, Option<String>),
) {
    let answer = ApprovalAnswer {
        is_allowed,
        scope,
        rule: None,
        message,
        by: via.to_owned(),
        via: via.to_owned(),
        at_ms: now_ms(),
    };
    if let Err(failure) = questions.answer_now(id, answer) {
        print_notes([format!("the answer that came by {via}: {}", failure.message)]);
    }
}
