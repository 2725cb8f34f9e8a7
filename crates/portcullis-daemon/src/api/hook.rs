//! `POST /v1/hook/{host}`: an agent's own hook over HTTP. What the agent would write to `portcullis hook HOST` is the body,
//! and what it would read there is the body of the answer.
//!
//! The exit code and standard error, which a program would have, are in the headers `portcullis-exit-code` and
//! `portcullis-stderr`, the latter with `%` escapes. The status is 200 even for a denial: most agents take anything else
//! for a hook that failed, and run the call.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use portcullis_core::Person;
use portcullis_hosts::{HookCall, Host, HostAdapter, HostEvent, HostInput, HostReply};

use crate::access::{Decides, Peer};
use crate::judging::{SubmittedCall, decide_call};
use crate::telemetry::TraceParent;
use crate::{ApiError, Shared};
use portcullis_gate::daemon_client::header_of;
use portcullis_gate::mode_in_force;
use portcullis_gate::session_facts::{self, FactSource};

/// Says that nobody can be asked, like the flag of the same name.
const HEADLESS: HeaderName = HeaderName::from_static("portcullis-headless");
/// The directory the agent would have started the program in.
const DIRECTORY: HeaderName = HeaderName::from_static("portcullis-directory");
/// How many seconds a person may take.
const WAIT: HeaderName = HeaderName::from_static("portcullis-wait");

/// The longest that a hook waits for a person. Agents wait 90 seconds for it, and most of them run the call afterwards.
const LONGEST_WAIT: Duration = Duration::from_secs(75);

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/hook/{host}", post(hook))
}

async fn hook(
    State(daemon): State<Shared>,
    _: Decides,
    Extension(peer): Extension<Peer>,
    Path(host): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let host = Host::find(&host).ok_or_else(|| ApiError::not_found("there is no such agent"))?;
    let adapter = host.adapter();
    Ok(respond(&answer(&daemon, adapter, peer, &headers, &body).await))
}

async fn answer(
    daemon: &Shared,
    adapter: &'static HostAdapter,
    peer: Peer,
    headers: &HeaderMap,
    body: &[u8],
) -> HostReply {
    if let Some(name) = headers.keys().find(|name| is_ours(name) && text(headers, name.as_str()).is_none()) {
        return adapter.fail(adapter.usual, &format!("the header `{name}` cannot be read"));
    }
    // A variable of the daemon's own says nothing of the agent.
    let variable = |name: &str| text(headers, header_of(name)?).map(str::to_owned);
    let event = {
        let directory = text(headers, DIRECTORY.as_str()).unwrap_or_default();
        (adapter.read)(&HostInput { input: body, directory, variable: &variable })
    };
    match event {
        Ok(HostEvent::Call(mut call)) => {
            if headers.contains_key(&HEADLESS) {
                call.person = Some(Person::Absent);
            }
            let wait = text(headers, WAIT.as_str()).and_then(|seconds| seconds.parse().ok());
            let wait = wait.map(|seconds| Duration::from_secs(seconds).min(LONGEST_WAIT));
            let parent = TraceParent::of(headers);
            answer_call(daemon, adapter, *call, wait, parent).await
        }
        Ok(HostEvent::Fact(fact)) => {
            let (store, daemon) = (daemon.store.clone(), Shared::clone(daemon));
            let code = session_facts::failing_code(&fact.kind);
            let kept = tokio::task::spawn_blocking(move || {
                if mode_in_force::is_welcome(adapter, &fact)
                    && let Ok(session) = daemon.settings.open(&daemon.arguments, &fact.session, &store)
                {
                    return mode_in_force::welcome(adapter, &session, &fact);
                }
                // A token says that a hook speaks; only its process says whose.
                let source = peer.process().map_or(FactSource::Anybody, |process| {
                    FactSource::of(store.root(), process.pid, &fact.session.id)
                });
                session_facts::keep_there(&store, &fact, source)
            })
            .await;
            kept.unwrap_or_else(|_| HostReply { exit_code: code, ..HostReply::silence() })
        }
        Ok(HostEvent::Other) => HostReply::silence(),
        Err(error) => adapter.fail(adapter.usual, &error.to_string()),
    }
}

fn is_ours(name: &HeaderName) -> bool {
    name.as_str().starts_with("portcullis-")
}

/// Returns the text of a header that stands there once. A path may have any letters in it.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let only = values.next().filter(|_| values.next().is_none())?;
    std::str::from_utf8(only.as_bytes()).ok()
}

async fn answer_call(
    daemon: &Shared,
    adapter: &'static HostAdapter,
    asked: HookCall,
    wait: Option<Duration>,
    parent: Option<TraceParent>,
) -> HostReply {
    let moment = asked.moment;
    let submitted =
        SubmittedCall { asked, host: adapter.host.name(), format: adapter.session_format, wait, parent };
    match decide_call(daemon, submitted).await {
        Ok(settled) => (adapter.write)(moment, &settled.answer),
        Err(failure) => adapter.fail(moment, &failure.message),
    }
}

/// Returns the agent's own no, for a request that was refused before it was judged: a status alone would let the call run.
pub(crate) fn refusal(host: &str, why: &str) -> Option<Response> {
    let adapter = Host::find(host)?.adapter();
    Some(respond(&adapter.fail(adapter.usual, why)))
}

fn respond(reply: &HostReply) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json".to_owned()),
        (HeaderName::from_static("portcullis-exit-code"), reply.exit_code.to_string()),
        (HeaderName::from_static("portcullis-stderr"), escaped(&reply.stderr)),
    ];
    (headers, reply.stdout.clone()).into_response()
}

/// Writes a text so that it may stand in a header.
fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' || byte == b' ' {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_whole_or_not_at_all() {
        let mut headers = HeaderMap::new();
        let value = |bytes: &[u8]| axum::http::HeaderValue::from_bytes(bytes).unwrap();
        headers.insert("portcullis-project", value("/home/jörg/app".as_bytes()));
        assert_eq!(text(&headers, "portcullis-project"), Some("/home/jörg/app"));
        headers.append("portcullis-project", value(b"/tmp"));
        assert_eq!(text(&headers, "portcullis-project"), None);
        headers.insert("portcullis-directory", value(b"/tmp/\xff"));
        assert_eq!(text(&headers, "portcullis-directory"), None);
        assert_eq!(text(&headers, "portcullis-wait"), None);
    }

    #[test]
    fn what_stands_in_a_header_cannot_end_it() {
        assert_eq!(escaped("portcullis: no\r\nx: 100%ä\n"), "portcullis: no%0D%0Ax: 100%25%C3%A4%0A");
    }
}
