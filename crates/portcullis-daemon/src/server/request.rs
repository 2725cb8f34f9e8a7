//! One request on its way: who asks, what they send, the handler, what is said to the browser.

use std::pin::Pin;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::DefaultBodyLimit;
use axum::http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::request::Parts;
use axum::http::uri::{Authority, PathAndQuery};
use axum::http::{Request, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use hyper::body::{Body as _, Incoming};
use tower_service::Service as _;

use super::guarded::guarded;
use super::headers::{close, protect};
use super::limits::{Limits, largest_body};
use crate::access::{
    Admission, CROSS_ORIGIN, ConnectionOwner, Peer, admit, check_csrf, is_followed_link, is_loopback_name,
    refuse_strangers,
};
use crate::api::hook::refusal;
use crate::{ApiError, Caller, Shared};

/// What answers requests, shared by every connection.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) daemon: Shared,
    pub(super) router: Router,
    pub(super) limits: Limits,
}

/// A refusal, after which the connection may be of no more use.
struct Refused {
    response: Response,
    is_last: bool,
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self { response: error.into_response(), is_last: false }
    }
}

impl ServerState {
    /// Answers a request.
    pub(super) async fn answer(
        &self,
        peer: Peer,
        owner: &ConnectionOwner,
        request: Request<Incoming>,
    ) -> Response {
        let (parts, body) = request.into_parts();
        let is_remote = !is_loopback(&parts);
        // Two readings of where a request ends are told apart by nobody: the connection ends with it.
        let mut is_last = parts.headers.contains_key(TRANSFER_ENCODING);
        let hook = parts.uri.path().strip_prefix("/v1/hook/").map(str::to_owned);
        let mut response = match self.admitted(peer, owner, parts, body).await {
            Ok(request) => match guarded(self.route(request)).await {
                Some(response) => response,
                None => ApiError::internal("the request could not be handled").into_response(),
            },
            Err(refused) => {
                is_last |= refused.is_last;
                refused.response
            }
        };
        if let Some(host) = hook.filter(|_| !response.status().is_success()) {
            let why = format!("the daemon did not judge this call: {}", response.status());
            response = refusal(&host, &why).unwrap_or(response);
        }
        protect(response.headers_mut(), self.daemon.site.is_secure() && is_remote);
        if is_last {
            close(response.headers_mut());
        }
        response
    }

    async fn route(&self, request: Request<Body>) -> Response {
        #[cfg(debug_assertions)]
        crate::fault::fail_in_request();
        match self.router.clone().call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// Lets a request in, with its whole body and who asks.
    async fn admitted(
        &self,
        peer: Peer,
        owner: &ConnectionOwner,
        parts: Parts,
        body: Incoming,
    ) -> Result<Request<Body>, Refused> {
        let refused = |error: ApiError| Refused { is_last: !body.is_end_stream(), ..error.into() };
        if let Err(error) = refuse_strangers(&self.daemon, peer, &parts) {
            let is_link = error.code == CROSS_ORIGIN && is_followed_link(&parts);
            let opened_anew = if is_link { open_anew(parts.uri.path_and_query()) } else { None };
            let refusal = refused(error);
            return Err(Refused { response: opened_anew.unwrap_or(refusal.response), ..refusal });
        }
        let caller = match admit(&self.daemon, peer, &parts) {
            Admission::Known(caller) => caller,
            Admission::WrongToken => {
                self.daemon.attempts.slow_down(peer).await;
                return Err(refused(wrong_token()));
            }
        };
        let most = self.limits.connections_of_token;
        if caller.token().is_some_and(|token| !owner.belong_to(&self.daemon.usage, token, most)) {
            return Err(too_many(most));
        }
        let body = self.read(&parts, &caller, body).await?;
        check_csrf(&caller, &parts, &body)?;
        let mut request = Request::from_parts(parts, Body::from(body));
        // The body is here already, and no larger than it may be.
        DefaultBodyLimit::disable().apply(&mut request);
        request.extensions_mut().insert(caller);
        request.extensions_mut().insert(peer);
        Ok(request)
    }

    async fn read(&self, parts: &Parts, caller: &Caller, body: Incoming) -> Result<Bytes, Refused> {
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        let most = largest_body(parts.uri.path(), caller.role.is_some());
        let declared =
            parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if declared.is_some_and(|length| length > most) {
            return Err(too_large(most));
        }
        match tokio::time::timeout(self.limits.body, collect(body, most)).await {
            Ok(read) => read,
            Err(_) => {
                Err(last(StatusCode::REQUEST_TIMEOUT, "timeout", "the body of the request took too long"))
            }
        }
    }
}

/// Reads a body of at most so many bytes.
async fn collect(mut body: Incoming, most: usize) -> Result<Bytes, Refused> {
    let broken = || last(StatusCode::BAD_REQUEST, "bad_request", "the body of the request could not be read");
    let mut first = Bytes::new();
    let mut all: Vec<u8> = Vec::new();
    let mut size = 0_usize;
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        // Trailers are nothing to us.
        let Ok(data) = frame.map_err(|_| broken())?.into_data() else { continue };
        size = size.saturating_add(data.len());
        if size > most {
            return Err(too_large(most));
        }
        // Most bodies come in one piece, which is not copied.
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { Bytes::from(all) })
}

fn last(status: StatusCode, code: &'static str, message: impl Into<String>) -> Refused {
    Refused { is_last: true, ..ApiError::new(status, code, message).into() }
}

/// Makes a page that opens the one that was wanted: a page of ours asks for it then.
fn open_anew(wanted: Option<&PathAndQuery>) -> Option<Response> {
    let wanted = wanted?.as_str();
    // Two slashes would lead to another site.
    if !wanted.starts_with('/') || wanted.starts_with("//") || wanted.starts_with("/\\") {
        return None;
    }
    let wanted =
        wanted.replace('&', "&amp;").replace('"', "&quot;").replace('\'', "&#39;").replace('<', "&lt;");
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Portcullis</title>\
         <meta http-equiv=\"refresh\" content=\"0;url={wanted}\"><a href=\"{wanted}\">Go on</a></html>"
    );
    Some((StatusCode::FORBIDDEN, Html(page)).into_response())
}

/// Says whether a request was sent to a name of this very machine.
fn is_loopback(parts: &Parts) -> bool {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    host.or_else(|| parts.uri.authority().map(Authority::as_str)).is_none_or(is_loopback_name)
}

fn too_many(most: usize) -> Refused {
    let message = format!("this token has {most} connections already");
    last(StatusCode::TOO_MANY_REQUESTS, "too_many_connections", message)
}

fn too_large(most: usize) -> Refused {
    let message = format!("the body of the request is larger than {most} bytes");
    last(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
}

fn wrong_token() -> ApiError {
    ApiError { message: "wrong or expired token".to_owned(), ..ApiError::unauthenticated() }
}
