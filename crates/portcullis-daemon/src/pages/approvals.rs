//! The questions that wait for a person, and one of them.

use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::response::Response;
use portcullis_store::{AnswerScope, ApprovalFilter, ApprovalRequest, ApprovalState};
use portcullis_web::VisibleText;
use portcullis_web::pages::{ApprovalPage, ApprovalsPage};
use portcullis_web::views::{ExplanationView, FormChoice, PageFrame, PageNotice, Tone, VerdictView};
use serde::Deserialize;

use super::visitor::Visitor;
use super::words::{answered, approval_row, choice};
use super::{PageError, decisions, held_runs, respond, verdict};
use crate::api::cut;
use crate::{ApiError, Shared};
use portcullis_gate::is_id;
use portcullis_output::shorten::shorten;

/// How many questions that wait are listed, and how many that are over.
const MOST_OPEN: u64 = 500;
const MOST_DONE: u64 = 30;

/// Lists the questions.
pub(super) async fn list(
    State(daemon): State<Shared>,
    visitor: Visitor,
    Query(query): Query<ListQuery>,
) -> Result<Response, PageError> {
    let listed = |state, most| ApprovalFilter { state, session: None, most };
    let open = daemon.queue.list(listed(Some(ApprovalState::Open), MOST_OPEN + 1)).await?;
    let (open, has_more) = cut(&open, MOST_OPEN);
    let mut done = Vec::new();
    for state in [ApprovalState::Allowed, ApprovalState::Denied, ApprovalState::Expired] {
        done.extend(daemon.queue.list(listed(Some(state), MOST_DONE)).await?);
    }
    done.sort_by_key(|approval| std::cmp::Reverse(approval.created_at_ms));
    done.truncate(usize::try_from(MOST_DONE).unwrap_or(usize::MAX));
    let mut frame = visitor.frame("approvals", "Approvals");
    if is_id(&query.answered)
        && let Some(approval) = daemon.queue.get(&query.answered).await?
    {
        frame.notice = Some(said(&approval));
    }
    respond(&ApprovalsPage {
        frame,
        held: held_runs::rows(&daemon).await?,
        open: open.iter().map(approval_row).collect(),
        cut_at: has_more.then_some(MOST_OPEN),
        done: done.iter().map(approval_row).collect(),
    })
}

/// Which question was just answered.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListQuery {
    answered: String,
}

/// Says what came of an answer that was just given.
fn said(approval: &ApprovalRequest) -> PageNotice {
    let summary = shorten(&approval.question.summary, 120);
    let text = VisibleText::from(format!("{}: {summary}", answered(approval)));
    PageNotice { is_good: true, text, hint: VisibleText::default() }
}

/// The key of a link that was sent to a person, and whether they were too late.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ShowQuery {
    key: String,
    late: String,
}

/// Whoever looks at one question: a visitor, or somebody with a link to it.
#[derive(Debug)]
pub(super) struct Guest {
    id: String,
    key: String,
    is_late: bool,
    visitor: Option<Visitor>,
}

impl FromRequestParts<Shared> for Guest {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, daemon: &Shared) -> Result<Self, PageError> {
        let named = Path::<String>::from_request_parts(parts, daemon).await;
        let Ok(Path(id)) = named else { return Err(unknown().into()) };
        let given = Query::<ShowQuery>::from_request_parts(parts, daemon).await;
        let ShowQuery { key, late } = given.map(|Query(given)| given).unwrap_or_default();
        let is_late = !late.is_empty();
        let is_key = is_id(&id) && !key.is_empty() && daemon.queue.is_key(&id, &key);
        match Visitor::from_request_parts(parts, daemon).await {
            Ok(visitor) => Ok(Self { id, key: String::new(), is_late, visitor: Some(visitor) }),
            Err(_) if is_key => Ok(Self { id, key, is_late, visitor: None }),
            Err(error) => Err(error),
        }
    }
}

impl Guest {
    fn frame(&self) -> PageFrame {
        let title = VisibleText::from("May this run?");
        match &self.visitor {
            Some(visitor) => visitor.frame("approvals", title),
            None => PageFrame { title, section: "approvals", ..PageFrame::default() },
        }
    }

    fn may_answer(&self) -> bool {
        !self.key.is_empty() || self.visitor.as_ref().is_some_and(Visitor::is_person)
    }
}

/// Shows one question.
pub(super) async fn show(State(daemon): State<Shared>, guest: Guest) -> Result<Response, PageError> {
    if !is_id(&guest.id) {
        return Err(unknown().into());
    }
    let approval = daemon.queue.get(&guest.id).await?.ok_or_else(unknown)?;
    // What was denied because nobody was there is a question here.
    let verdict = VerdictView { tone: Tone::Ask, ..verdict::of_entry(&approval.question) };
    let answer = approval.answer.as_ref();
    let mut frame = guest.frame();
    if guest.is_late && approval.state != ApprovalState::Open {
        let text =
            VisibleText::from("Somebody was faster, or its time is over: your answer changes nothing.");
        frame.notice = Some(PageNotice { is_good: false, text, hint: VisibleText::default() });
    }
    respond(&ApprovalPage {
        frame,
        row: approval_row(&approval),
        is_answerable: guest.may_answer(),
        key: guest.key.clone(),
        verdict,
        explanation: approval.explanation.as_ref().map(|told| ExplanationView {
            explanation: VisibleText::from(told.explanation.as_str()),
            reasoning: VisibleText::from(told.reasoning.as_str()),
            risk: VisibleText::from(told.risk.as_str()),
        }),
        rules: rules(&approval),
        message: VisibleText::from(answer.and_then(|answer| answer.message.as_deref()).unwrap_or_default()),
        rule: answer.map(rule_words).unwrap_or_default(),
        properties: decisions::call_properties(&approval.question),
    })
}

/// Lists the rules a person may choose: those that would allow such calls.
fn rules(approval: &ApprovalRequest) -> Vec<FormChoice> {
    let allowing = approval.question.suggestions.iter().filter(|one| one.behavior == "allow");
    allowing.map(|one| choice(&one.rule, one.rule.as_str(), "")).collect()
}

fn rule_words(answer: &portcullis_store::ApprovalAnswer) -> VisibleText {
    let Some(rule) = &answer.rule else { return VisibleText::default() };
    let how_long = match answer.scope {
        AnswerScope::Once => return VisibleText::default(),
        AnswerScope::Session => "until the session ends",
        AnswerScope::Always => "from now on",
    };
    VisibleText::from(format!("{rule} ({how_long})"))
}

/// Makes the refusal of an id that is none.
pub(super) fn unknown() -> ApiError {
    ApiError::not_found("there is no such question")
        .with_hint("it may have been removed since it was answered")
}
