//! The queue of approvals over HTTP: asking, waiting, answering.
//!
//! Whoever may have calls judged may ask here, see what waits, and take a question back. Only a person answers.

use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use portcullis_store::{
    AnswerOutcome, AnswerScope, ApprovalAnswer, ApprovalFilter, ApprovalRequest, ApprovalState,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::cut;
use super::received::{Queried, Received};
use crate::access::{Answers, Caller, Decides, Reads, Stakes};
use crate::approval_object::approval_object;
use crate::{ApiError, Shared};
use portcullis_gate::clock::now_ms;
use portcullis_gate::gate::PendingQuestion;
use portcullis_gate::is_id;

/// How long a request waits for an answer at most, in seconds.
const LONGEST_WAIT: u64 = 60;
/// How many approvals are listed unless the request says how many.
const USUAL_LIMIT: u64 = 100;
/// How many approvals are listed at most.
const MOST_LISTED: u64 = 1_000;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/v1/approvals", get(list).post(ask))
        .route("/v1/approvals/{id}", get(show))
        .route("/v1/approvals/{id}/answer", post(answer))
        .route("/v1/approvals/{id}/withdraw", post(withdraw))
}

/// A caller who may see what waits: one who may look, or one who asks.
struct Sees;

impl FromRequestParts<Shared> for Sees {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, daemon: &Shared) -> Result<Self, ApiError> {
        if Decides::from_request_parts(parts, daemon).await.is_ok() {
            return Ok(Self);
        }
        Reads::from_request_parts(parts, daemon).await.map(|_| Self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    state: Option<String>,
    session: Option<String>,
    limit: Option<u64>,
}

async fn list(
    State(daemon): State<Shared>,
    _: Sees,
    Queried(wanted): Queried<Wanted>,
) -> Result<Response, ApiError> {
    let state = match wanted.state.as_deref() {
        None | Some("open") => Some(ApprovalState::Open),
        Some("any") => None,
        Some(name) => {
            let known = ApprovalState::ALL.into_iter().find(|state| state.as_str() == name);
            let wrong = || ApiError::bad_request("`state` must be open, allowed, denied, expired or any");
            Some(known.ok_or_else(wrong)?)
        }
    };
    let most = wanted.limit.unwrap_or(USUAL_LIMIT).clamp(1, MOST_LISTED);
    // One more than is told says whether there are more.
    let filter = ApprovalFilter { state, session: wanted.session, most: most + 1 };
    let approvals = daemon.queue.list(filter).await?;
    let (told, has_more) = cut(&approvals, most);
    let objects: Vec<Value> = told.iter().map(approval_object).collect();
    Ok(Json(json!({"approvals": objects, "hasMore": has_more})).into_response())
}

async fn ask(
    State(daemon): State<Shared>,
    _: Decides,
    Received(body): Received<Value>,
) -> Result<Response, ApiError> {
    let approval = daemon.queue.open_claimed(PendingQuestion::read(body)?).await?;
    Ok((StatusCode::CREATED, Json(approval_object(&approval))).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waits {
    #[serde(rename = "waitSeconds")]
    wait_seconds: Option<u64>,
}

async fn show(
    State(daemon): State<Shared>,
    _: Sees,
    Path(id): Path<String>,
    Queried(waits): Queried<Waits>,
) -> Result<Response, ApiError> {
    check_id(&id)?;
    let approval = match waits.wait_seconds.unwrap_or_default().min(LONGEST_WAIT) {
        0 => daemon.queue.get(&id).await?,
        seconds => tokio::select! {
            found = daemon.queue.wait(&id, Duration::from_secs(seconds)) => found?,
            () = daemon.stopping.wait() => daemon.queue.get(&id).await?,
        },
    };
    approval.map(|approval| Json(approval_object(&approval)).into_response()).ok_or_else(unknown)
}

/// What a person answers, as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerBody {
    decision: Decided,
    #[serde(default)]
    scope: Option<AnswerScope>,
    #[serde(default)]
    rule: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decided {
    Allow,
    Deny,
}

impl AnswerBody {
    /// Makes the answer of a caller, given now.
    fn by(self, caller: &Caller) -> ApprovalAnswer {
        ApprovalAnswer {
            is_allowed: self.decision == Decided::Allow,
            scope: self.scope.unwrap_or(AnswerScope::Once),
            rule: self.rule,
            message: self.message,
            by: caller.name.clone(),
            via: caller.via.to_owned(),
            at_ms: now_ms(),
        }
    }
}

async fn answer(
    State(daemon): State<Shared>,
    Answers(caller): Answers,
    Path(id): Path<String>,
    Received(body): Received<AnswerBody>,
) -> Result<Response, ApiError> {
    check_id(&id)?;
    if body.decision == Decided::Allow {
        let asked = daemon.queue.get(&id).await?;
        let stakes = Stakes::of(asked.as_ref(), body.scope.unwrap_or(AnswerScope::Once));
        caller.require_presence(&daemon, stakes).await?;
    }
    put_answer(&daemon, &id, body.by(&caller)).await
}

/// Nothing has to be said with it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Withdrawn {}

/// Ends a question whose call nobody wants any more. It can only ever deny, so whoever may ask may do it.
async fn withdraw(
    State(daemon): State<Shared>,
    _: Decides,
    Path(id): Path<String>,
    Received(Withdrawn {}): Received<Withdrawn>,
) -> Result<Response, ApiError> {
    let answer = ApprovalAnswer {
        is_allowed: false,
        scope: AnswerScope::Once,
        rule: None,
        message: Some("the agent cancelled the call".to_owned()),
        by: "the agent".to_owned(),
        via: "withdrawn".to_owned(),
        at_ms: now_ms(),
    };
    put_answer(&daemon, &id, answer).await
}

/// Answers a question, and says who was faster if somebody was.
async fn put_answer(daemon: &Shared, id: &str, answer: ApprovalAnswer) -> Result<Response, ApiError> {
    check_id(id)?;
    match daemon.queue.answer(id, answer).await? {
        AnswerOutcome::First(approval) => Ok(Json(approval_object(&approval)).into_response()),
        AnswerOutcome::Late(approval) => {
            let error = json!({
                "code": "late",
                "message": late(&approval),
                "hint": "nothing was changed",
            });
            let body = json!({"error": error, "approval": approval_object(&approval)});
            Ok((StatusCode::CONFLICT, Json(body)).into_response())
        }
        AnswerOutcome::Unknown => Err(unknown()),
    }
}

/// Says who was faster.
pub(crate) fn late(approval: &ApprovalRequest) -> String {
    match &approval.answer {
        Some(answer) => {
            format!("it was {} already, by {} ({})", approval.state.as_str(), answer.by, answer.via)
        }
        None => "its time is over".to_owned(),
    }
}

fn check_id(id: &str) -> Result<(), ApiError> {
    if is_id(id) { Ok(()) } else { Err(unknown()) }
}

fn unknown() -> ApiError {
    ApiError::not_found("there is no such approval")
}
