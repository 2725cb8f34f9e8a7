//! The door: what is refused before any handler runs, and who it is that comes in.

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};

use super::site::only;
use portcullis_gate::daemon_client::Role;

use super::Caller;
use crate::tokens::SecretHash;
use crate::{ApiError, Daemon};
use portcullis_gate::clock::now_ms;
use portcullis_gate::presence::ProcessIdentity;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");
const CSRF: HeaderName = HeaderName::from_static("portcullis-csrf");

/// The word for programs when a page of another site asks.
pub(crate) const CROSS_ORIGIN: &str = "cross_origin";

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The unix socket: a process of this user, or of root; `None` if it is gone already.
    Local(Option<ProcessIdentity>),
    /// A network address.
    Network(IpAddr),
}

impl Peer {
    /// Returns the process at the other end of the unix socket.
    pub(crate) const fn process(self) -> Option<ProcessIdentity> {
        match self {
            Self::Local(process) => process,
            Self::Network(_) => None,
        }
    }

    const fn is_local(self) -> bool {
        matches!(self, Self::Local(_))
    }
}

/// Who comes in, or who tried a token that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Somebody, known or not.
    Known(Caller),
    /// Somebody with a token that does not hold.
    WrongToken,
}

/// Refuses what was sent to a name that is not ours, and what a page of somebody else's sent.
pub(crate) fn refuse_strangers(daemon: &Daemon, peer: Peer, parts: &Parts) -> Result<(), ApiError> {
    let host = match peer {
        Peer::Local(_) => None,
        Peer::Network(_) => {
            let named = daemon.site.named(&parts.headers, parts.uri.authority());
            Some(named.ok_or_else(|| {
                ApiError::new(
                    StatusCode::MISDIRECTED_REQUEST,
                    "wrong_host",
                    "this daemon is not known by the name in the header `Host`",
                )
                .with_hint("use the address it listens at, or start it with --allow-host NAME")
            })?)
        }
    };
    let is_own_fetch = match only(&parts.headers, &FETCH_SITE) {
        Some(None | Some("same-origin" | "none")) => true,
        Some(Some(_)) | None => false,
    };
    if is_own_fetch && daemon.site.is_own_page(&parts.headers, host.as_deref()) {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::FORBIDDEN, CROSS_ORIGIN, "pages of other sites may ask nothing here")
        .with_hint("open the address in a new tab"))
}

/// Says whether somebody followed a link of another site to one of our pages. The browser keeps the cookie back then, so
/// the page is opened anew by a page of ours.
pub(crate) fn is_followed_link(parts: &Parts) -> bool {
    let says = |name: &HeaderName, word: &str| only(&parts.headers, name).flatten() == Some(word);
    parts.method == Method::GET
        && says(&FETCH_MODE, "navigate")
        && says(&FETCH_DESTINATION, "document")
        && !parts.headers.contains_key(ORIGIN)
}

/// Says who asks. A token counts before the session of the web page.
pub(crate) fn admit(daemon: &Daemon, peer: Peer, parts: &Parts) -> Admission {
    let Some(authorization) = only(&parts.headers, &AUTHORIZATION) else { return Admission::WrongToken };
    if let Some(authorization) = authorization {
        let found = bearer(authorization).and_then(|secret| {
            let (name, role) = daemon.tokens.find(secret, now_ms())?;
            Some((name, role, SecretHash::of(secret)))
        });
        let Some((name, role, token)) = found else { return Admission::WrongToken };
        // Only this user's own commands have the token of a person at the unix socket.
        let is_terminal = peer.is_local() && role == Role::Person;
        let via = if is_terminal { "terminal" } else { "api" };
        let (name, token) = (name.to_string(), Some(token));
        return Admission::Known(Caller {
            role: Some(role),
            name,
            via,
            peer,
            proven_at_ms: None,
            csrf: None,
            token,
        });
    }
    let session = cookies(&parts.headers).find_map(|(name, value)| {
        let is_ours = name == daemon.logins.cookie_name();
        is_ours.then(|| daemon.logins.session(value, now_ms())).flatten()
    });
    // A token that was taken back takes its sessions along.
    let session = session.filter(|session| daemon.tokens.holds(session.token, now_ms()));
    if let Some(session) = session {
        let csrf = Some(session.csrf);
        return Admission::Known(Caller {
            role: Some(session.role),
            name: session.name.to_string(),
            via: "web",
            peer,
            proven_at_ms: session.proven_at_ms,
            csrf,
            token: Some(session.token),
        });
    }
    let is_reading = matches!(parts.method, Method::GET | Method::HEAD);
    let role = (peer.is_local() && is_reading).then_some(Role::Read);
    let name = if peer.is_local() { "local" } else { "nobody" };
    Admission::Known(Caller {
        role,
        name: name.to_owned(),
        via: "api",
        peer,
        proven_at_ms: None,
        csrf: None,
        token: None,
    })
}

/// Refuses a change that a page of ours did not ask for: a browser sends the cookie whoever wrote the form.
pub(crate) fn check_csrf(caller: &Caller, parts: &Parts, body: &[u8]) -> Result<(), ApiError> {
    let Some(expected) = &caller.csrf else { return Ok(()) };
    if matches!(parts.method, Method::GET | Method::HEAD) {
        return Ok(());
    }
    let is_expected = |given: &str| SecretHash::of(given) == SecretHash::of(expected);
    let header = only(&parts.headers, &CSRF).flatten();
    let is_form = only(&parts.headers, &CONTENT_TYPE).flatten().is_some_and(|kind| {
        kind.split(';').next().is_some_and(|kind| kind.trim() == "application/x-www-form-urlencoded")
    });
    let is_met = match header {
        Some(given) => is_expected(given),
        None => is_form && field(body, "csrf").is_some_and(|given| is_expected(&given)),
    };
    if is_met {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::FORBIDDEN, "csrf", "this was not sent by a page of the daemon")
        .with_hint("sign in again; a browser without JavaScript can look and change nothing"))
}

fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, secret) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='))
}

/// Finds a field of a form whose value is made of letters that need no escape, as our secrets are.
fn field(body: &[u8], name: &str) -> Option<String> {
    let mut values = std::str::from_utf8(body).ok()?.split('&').filter_map(|field| {
        let (key, value) = field.split_once('=')?;
        (key == name).then(|| value.to_owned())
    });
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_is_the_only_scheme() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc"), Some("abc"));
        for wrong in ["Basic abc", "Bearer", "abc", "", "Bearerabc"] {
            assert_eq!(bearer(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_field_of_a_form_stands_there_once() {
        assert_eq!(field(b"a=1&csrf=x_-9&b=2", "csrf").as_deref(), Some("x_-9"));
        for wrong in [&b"csrf=1&csrf=1"[..], b"xcsrf=1", b"csrf", b"", b"\xff=1&csrf=1"] {
            assert_eq!(field(wrong, "csrf"), None, "{wrong:?}");
        }
    }
}
