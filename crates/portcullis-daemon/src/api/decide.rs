//! `POST /v1/decide`: one call in, the verdict of `portcullis check --json` out, recorded; or a list of calls and a list of
//! verdicts, for a harness that has several at once.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use portcullis_core::{Mode, Person, ToolCall, Value};
use portcullis_hosts::json::{kind, parse, write_text};
use portcullis_hosts::{
    AskBy, BlockingReply, HookCall, HookMoment, HookSession, MomentCapabilities, PlainQuestion,
};

use crate::access::Decides;
use crate::judging::{RecordedDecision, SubmittedCall, decide_call, decide_calls};
use crate::telemetry::TraceParent;
use crate::{ApiError, Shared};
use portcullis_output::judged;

/// What the audit trail calls whoever asks here.
const HOST: &str = "api";

/// How many calls one request may bring.
const MOST_CALLS: usize = 256;

/// The longest that a call waits for a person.
const LONGEST_WAIT_SECONDS: i64 = 3_600;

/// Every answer can be given here: the harness asks its user itself where somebody is there.
static MOMENT: HookMoment = HookMoment {
    event: "decide",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Saying,
        plain: PlainQuestion::AsAny,
        reason: true,
        changed_input: false,
        fails_open: false,
    },
    blocking: BlockingReply { stdout: "", stderr: "", exit_code: 2 },
};

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/decide", post(decide))
}

async fn decide(
    State(daemon): State<Shared>,
    _: Decides,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let parent = TraceParent::of(&headers);
    let value = parse(&body)
        .map_err(|error| ApiError::bad_request(format!("the body is not valid JSON: {error}")))?;
    let mut out = String::with_capacity(1024);
    if let Value::List(calls) = value {
        let all = read_all(calls, parent).map_err(ApiError::bad_request)?;
        let decisions = decide_calls(&daemon, all).await?;
        for (index, one) in decisions.iter().enumerate() {
            out.push(if index == 0 { '[' } else { ',' });
            write(&mut out, one);
        }
        out.push(']');
    } else {
        let submitted = read(value).map_err(ApiError::bad_request)?;
        write(&mut out, &decide_call(&daemon, SubmittedCall { parent, ..submitted }).await?);
    }
    Ok(([(CONTENT_TYPE, "application/json")], out).into_response())
}

/// Writes the object of `check --json`, and after it what is known here alone.
fn write(out: &mut String, decision: &RecordedDecision) {
    out.push('{');
    judged::write_fields(out, &decision.judgement.judged, decision.elapsed.as_micros(), None);
    out.push_str(",\"said\":");
    write_text(out, decision.answer.said.as_str());
    for (name, id) in [(",\"record\":", &decision.record), (",\"approval\":", &decision.approval)] {
        out.push_str(name);
        match id {
            Some(id) => write_text(out, id),
            None => out.push_str("null"),
        }
    }
    out.push('}');
}

/// Reads several calls, which are judged in this order and recorded together. Nobody waits for a person among them.
fn read_all(calls: Vec<Value>, parent: Option<TraceParent>) -> Result<Vec<SubmittedCall>, String> {
    if calls.is_empty() || calls.len() > MOST_CALLS {
        return Err(format!("a list must have 1 to {MOST_CALLS} calls"));
    }
    let mut all = Vec::with_capacity(calls.len());
    for (index, call) in calls.into_iter().enumerate() {
        let submitted = read(call).map_err(|wrong| format!("call {index}: {wrong}"))?;
        if submitted.wait.is_some() {
            return Err(format!("call {index}: `waitSeconds` is for a call of its own"));
        }
        all.push(SubmittedCall { parent, ..submitted });
    }
    Ok(all)
}

/// Reads a call. Nothing is guessed: a field or a word that is not known is an error and not a default.
fn read(call: Value) -> Result<SubmittedCall, String> {
    let mut fields = match call {
        Value::Object(fields) => Fields(fields),
        other => return Err(format!("a call must be an object, but is {}", kind(&other))),
    };
    let tool = fields.text("tool")?.filter(|tool| !tool.is_empty()).ok_or("field `tool` is missing")?;
    let input = match fields.0.remove("input") {
        Some(Value::Object(input)) => input.into_iter().collect(),
        Some(other) => return Err(format!("field `input` must be an object, but is {}", kind(&other))),
        None => return Err("field `input` is missing".to_owned()),
    };
    let cwd = fields.path("cwd")?.ok_or("field `cwd` is missing")?;
    let mode = match fields.text("mode")? {
        Some(name) => Some(Mode::find(&name).ok_or_else(|| format!("the mode `{name}` is not known"))?),
        None => None,
    };
    let person = match fields.text("person")?.as_deref() {
        None => None,
        Some("present") => Some(Person::Present),
        Some("absent") => Some(Person::Absent),
        Some(_) => return Err("field `person` must be `present` or `absent`".to_owned()),
    };
    let session = HookSession {
        id: fields.text("session")?.unwrap_or_default(),
        cwd,
        project: fields.path("project")?,
        transcript: fields.path("transcript")?,
        agent: fields.text("agent")?,
    };
    let call_id = fields.text("callId")?;
    let wait = fields.seconds("waitSeconds")?;
    if let Some(name) = fields.0.keys().next() {
        return Err(format!("field `{name}` is not known"));
    }
    let calls = vec![ToolCall::new(&tool, input)];
    let asked = HookCall { moment: &MOMENT, calls, mode, person, session, call_id, rewritable: None };
    Ok(SubmittedCall { asked, host: HOST, format: None, wait, parent: None })
}

struct Fields(BTreeMap<String, Value>);

impl Fields {
    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(format!("field `{name}` must be a string, but is {}", kind(&other))),
        }
    }

    fn path(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.text(name)? {
            Some(path) if !path.starts_with('/') => Err(format!("field `{name}` must be an absolute path")),
            other => Ok(other),
        }
    }

    fn seconds(&mut self, name: &str) -> Result<Option<Duration>, String> {
        let wrong = || format!("field `{name}` must be a whole number from 0 to {LONGEST_WAIT_SECONDS}");
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => {
                let seconds = number.parse::<i64>().map_err(|_| wrong())?;
                let seconds = u64::try_from(seconds).ok().filter(|_| seconds <= LONGEST_WAIT_SECONDS);
                seconds.map(|seconds| Some(Duration::from_secs(seconds))).ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }
}
