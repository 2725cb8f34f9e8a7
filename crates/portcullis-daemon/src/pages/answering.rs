//! Answers from a page: of somebody who is signed in, or of somebody who was sent a link to this one question.

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_store::{AnswerOutcome, AnswerScope, ApprovalAnswer};
use portcullis_web::VisibleText;
use portcullis_web::pages::DonePage;
use portcullis_web::views::{PageFrame, Tone};
use serde::Deserialize;

use super::approvals::unknown;
use super::words::answered;
use super::{PageError, respond, see_other};
use crate::access::{Anyone, Caller, Stakes};
use crate::{ApiError, Shared};
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_gate::is_id;

/// The longest message to an agent, in characters.
const LONGEST_MESSAGE: usize = 500;

/// What the form sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AnswerForm {
    choice: String,
    rule: String,
    edited: String,
    message: String,
    key: String,
}

/// Answers a question. A late answer changes nothing and shows who was first.
pub(super) async fn answer(
    State(daemon): State<Shared>,
    Anyone(caller): Anyone,
    Path(id): Path<String>,
    form: Result<Form<AnswerForm>, FormRejection>,
) -> Result<Response, PageError> {
    // Whoever may not answer learns nothing of what a form must look like.
    let form = match form {
        Ok(Form(form)) => form,
        Err(_) if caller.role != Some(Role::Person) => return Err(refusal(&caller).into()),
        Err(wrong) => return Err(ApiError::bad_request(wrong.body_text()).into()),
    };
    let has_link = !form.key.is_empty() && is_id(&id) && daemon.queue.is_key(&id, &form.key);
    let given = match caller.role {
        Some(Role::Person) => {
            let given = form.answer(&caller.name, caller.via)?;
            if given.is_allowed && is_id(&id) {
                let stakes = Stakes::of(daemon.queue.get(&id).await?.as_ref(), given.scope);
                match caller.require_presence(&daemon, stakes).await {
                    Ok(()) => {}
                    // The question is shown again once they did.
                    Err(_) if caller.is_signed_in() => {
                        return Ok(see_other(&format!("/presence?next=/approvals/{id}")));
                    }
                    Err(absent) => return Err(absent.into()),
                }
            }
            given
        }
        _ if has_link => form.answer_of_link()?,
        _ => return Err(refusal(&caller).into()),
    };
    if !is_id(&id) {
        return Err(unknown().into());
    }
    let is_signed_in = caller.role.is_some();
    match daemon.queue.answer(&id, given).await? {
        AnswerOutcome::First(_) if is_signed_in => Ok(see_other(&format!("/approvals?answered={id}"))),
        AnswerOutcome::Late(_) if is_signed_in => Ok(see_other(&format!("/approvals/{id}?late=1"))),
        AnswerOutcome::First(approval) => done(Tone::of(approval.state.as_str()), "Your answer counts"),
        AnswerOutcome::Late(approval) => done(Tone::Plain, &answered(&approval)),
        AnswerOutcome::Unknown => Err(unknown().into()),
    }
}

fn refusal(caller: &Caller) -> ApiError {
    if caller.role.is_some() { ApiError::forbidden() } else { ApiError::unauthenticated() }
}

fn done(tone: Tone, message: &str) -> Result<Response, PageError> {
    let frame = PageFrame { title: VisibleText::from("Answered"), ..PageFrame::default() };
    respond(&DonePage { frame, tone, message: VisibleText::from(message) })
}

impl AnswerForm {
    /// Makes the answer of somebody who has nothing but a link: it is good for one call, and writes no rule.
    fn answer_of_link(&self) -> Result<ApprovalAnswer, ApiError> {
        let given = self.answer("link", "webhook")?;
        if given.scope == AnswerScope::Once {
            return Ok(given);
        }
        Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden", "a link answers for this very call alone")
            .with_hint("sign in to allow more"))
    }

    /// Makes the answer. Whatever is not one of the four choices is none.
    fn answer(&self, by: &str, via: &str) -> Result<ApprovalAnswer, ApiError> {
        let (is_allowed, scope) = match self.choice.as_str() {
            "once" => (true, AnswerScope::Once),
            "session" => (true, AnswerScope::Session),
            "always" => (true, AnswerScope::Always),
            "deny" => (false, AnswerScope::Once),
            _ => return Err(ApiError::bad_request("the form does not say what the answer is")),
        };
        let edited = self.edited.trim();
        let rule = if edited.is_empty() { self.rule.trim() } else { edited };
        let message: String = self.message.trim().chars().take(LONGEST_MESSAGE).collect();
        Ok(ApprovalAnswer {
            is_allowed,
            scope,
            rule: (scope != AnswerScope::Once && !rule.is_empty()).then(|| rule.to_owned()),
            message: (!is_allowed && !message.is_empty()).then_some(message),
            by: by.to_owned(),
            via: via.to_owned(),
            at_ms: now_ms(),
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn form(choice: &str) -> AnswerForm {
        AnswerForm {
            choice: choice.to_owned(),
            rule: "Bash(ls)".to_owned(),
            message: "no".to_owned(),
            ..AnswerForm::default()
        }
    }

    #[test]
    fn only_a_choice_is_an_answer() {
        for wrong in ["", "allow", "ONCE", "deny "] {
            assert!(form(wrong).answer("a", "web").is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rule_belongs_to_what_lasts_and_a_message_to_a_denial() {
        let once = form("once").answer("a", "web").unwrap();
        assert_eq!(
            (once.is_allowed, once.scope, once.rule, once.message),
            (true, AnswerScope::Once, None, None)
        );
        let session = form("session").answer("a", "web").unwrap();
        assert_eq!((session.scope, session.rule.as_deref()), (AnswerScope::Session, Some("Bash(ls)")));
        let denied = form("deny").answer("a", "web").unwrap();
        assert_eq!((denied.is_allowed, denied.rule, denied.message.as_deref()), (false, None, Some("no")));
    }

    #[test]
    fn a_link_lifts_one_call_and_writes_no_rule() {
        let edited = |choice: &str| AnswerForm { edited: "Bash(*)".to_owned(), ..form(choice) };
        for more in ["session", "always"] {
            assert!(edited(more).answer_of_link().is_err(), "{more}");
        }
        for (choice, is_allowed) in [("once", true), ("deny", false)] {
            let given = edited(choice).answer_of_link().unwrap();
            assert_eq!((given.is_allowed, given.scope, given.rule), (is_allowed, AnswerScope::Once, None));
        }
    }

    #[test]
    fn an_edited_rule_counts_before_a_chosen_one() {
        let edited = AnswerForm { edited: " Bash(pwd) ".to_owned(), ..form("always") };
        assert_eq!(edited.answer("a", "web").unwrap().rule.as_deref(), Some("Bash(pwd)"));
    }
}
