//! Signing in to the web page: a link that works once, or a token, becomes a session that a cookie stands for.
//!
//! Sessions live in memory and are kept as hashes. A restart signs everybody out.
//!
//! INVARIANT: no response but that to signing in holds what forms carry. A browser sends the cookie to every server of
//! this machine, whatever its port, so whoever runs one may have the cookie; it lets them look, and change nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Query, State};
use axum::http::header::{HeaderName, LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Form, Json, Router};
use serde::Deserialize;
use serde_json::json;

use super::access::{Anyone, Peer, Present, Reads};
use super::pages::{login_page, presence_page};
use super::tokens::SecretHash;
use super::tokens::secret::fresh;
use super::{ApiError, Shared};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;

/// How long a link works, in milliseconds.
const LINK_MS: u64 = 10 * 60 * 1_000;
/// How long a session lasts after it was last used, in milliseconds.
const SESSION_MS: u64 = 12 * 60 * 60 * 1_000;
/// How many sessions and links there are at most; the one that ends first makes room.
const MOST: usize = 256;

/// Somebody who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    /// What they may do.
    pub(crate) role: Role,
    /// The name of the token they signed in with, or of the link.
    pub(crate) name: Arc<str>,
    /// What their forms carry.
    pub(crate) csrf: Arc<str>,
    /// When they last showed that a person is there; `None` if they never did.
    pub(crate) proven_at_ms: Option<u64>,
    /// The token that they signed in with, or that of a person for a link: without it the session does not hold.
    pub(crate) token: SecretHash,
}

#[derive(Debug)]
struct ExpiringSecret<T> {
    hash: SecretHash,
    ends_at_ms: u64,
    value: T,
}

/// The links that still work, and those who are signed in.
#[derive(Debug)]
pub(crate) struct Logins {
    cookie_name: &'static str,
    links: Mutex<Vec<ExpiringSecret<()>>>,
    sessions: Mutex<HashMap<String, ExpiringSecret<Session>>>,
}

impl Logins {
    /// Begins with nobody signed in.
    pub(crate) fn new(is_secure: bool) -> Self {
        let cookie_name = if is_secure { "__Host-portcullis" } else { "portcullis" };
        Self { cookie_name, links: Mutex::default(), sessions: Mutex::default() }
    }

    /// Returns the name of the cookie.
    pub(crate) const fn cookie_name(&self) -> &'static str {
        self.cookie_name
    }

    /// Makes the code of a link that signs a person in, once.
    pub(crate) fn new_code(&self, now_ms: u64) -> Result<String, Failure> {
        let code = fresh()?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| link.ends_at_ms > now_ms);
        if links.len() >= MOST {
            links.remove(0);
        }
        links.push(ExpiringSecret {
            hash: SecretHash::of(&code),
            ends_at_ms: now_ms.saturating_add(LINK_MS),
            value: (),
        });
        Ok(code)
    }

    /// Uses up the code of a link; says whether it was one.
    fn take_code(&self, code: &str, now_ms: u64) -> bool {
        let hash = SecretHash::of(code);
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| link.ends_at_ms > now_ms);
        let before = links.len();
        links.retain(|link| link.hash != hash);
        links.len() < before
    }

    /// Signs somebody in and returns the secret of their session, and what their forms carry.
    fn sign_in(
        &self,
        who: (Arc<str>, Role),
        token: SecretHash,
        now_ms: u64,
    ) -> Result<(String, String), Failure> {
        let (name, role) = who;
        let (secret, csrf) = (fresh()?, fresh()?);
        let hash = SecretHash::of(&secret);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.ends_at_ms > now_ms);
        if sessions.len() >= MOST {
            let first =
                sessions.iter().min_by_key(|(_, session)| session.ends_at_ms).map(|(key, _)| key.clone());
            first.and_then(|key| sessions.remove(&key));
        }
        let value = Session { role, name, csrf: csrf.as_str().into(), proven_at_ms: None, token };
        sessions.insert(
            hash.to_string(),
            ExpiringSecret { hash, ends_at_ms: now_ms.saturating_add(SESSION_MS), value },
        );
        Ok((secret, csrf))
    }

    /// Finds the session a cookie stands for, and lets it last from now on.
    pub(crate) fn session(&self, secret: &str, now_ms: u64) -> Option<Session> {
        let hash = SecretHash::of(secret);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = sessions.get_mut(&hash.to_string())?;
        if kept.hash != hash || kept.ends_at_ms <= now_ms {
            return None;
        }
        kept.ends_at_ms = now_ms.saturating_add(SESSION_MS);
        Some(kept.value.clone())
    }

    /// Notes that whoever has this in their forms showed that a person is there.
    pub(crate) fn prove(&self, csrf: &str, now_ms: u64) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        for session in sessions.values_mut().filter(|session| *session.value.csrf == *csrf) {
            session.value.proven_at_ms = Some(now_ms);
        }
    }

    /// Says whether whoever has this in their forms is signed in.
    pub(crate) fn is_signed_in(&self, csrf: &str, now_ms: u64) -> bool {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.values().any(|session| *session.value.csrf == *csrf && session.ends_at_ms > now_ms)
    }

    /// Signs out whoever has this in their forms.
    fn sign_out(&self, csrf: &str) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| *session.value.csrf != *csrf);
    }
}

/// Makes the routes of signing in and out.
pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/login", get(show).post(sign_in))
        .route("/logout", post(sign_out))
        .route("/presence", get(show_presence).post(prove))
        .route("/v1/login-links", post(make_link))
}

#[derive(Debug, Deserialize)]
struct Link {
    #[serde(default)]
    code: String,
}

async fn show(Anyone(caller): Anyone, Query(link): Query<Link>) -> Response {
    if caller.is_signed_in() && link.code.is_empty() {
        return see_other("/", None);
    }
    login_page(StatusCode::OK, &link.code, "")
}

/// What the form sends: the code of a link, or a token; and the code of a terminal, if somebody typed one.
#[derive(Debug, Deserialize)]
struct Credentials {
    #[serde(default)]
    presence: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    token: String,
}

async fn sign_in(
    State(daemon): State<Shared>,
    Extension(peer): Extension<Peer>,
    Form(given): Form<Credentials>,
) -> Result<Response, ApiError> {
    let now = now_ms();
    let token = given.token.trim();
    let is_proven = daemon.is_good_code(&given.presence, peer).await;
    if is_proven == Some(false) {
        return Ok(login_page(StatusCode::UNAUTHORIZED, &given.code, WRONG_CODE));
    }
    let known = if daemon.logins.take_code(&given.code, now) {
        daemon.tokens.person().map(|person| (("link".into(), Role::Person), person))
    } else {
        daemon.tokens.find(token, now).map(|who| (who, SecretHash::of(token)))
    };
    let Some((who, token)) = known else {
        daemon.attempts.slow_down(peer).await;
        let why = if given.code.is_empty() {
            "Wrong or expired token."
        } else {
            "This link was used or is too old."
        };
        return Ok(login_page(StatusCode::UNAUTHORIZED, "", why));
    };
    let (secret, csrf) = daemon.logins.sign_in(who, token, now)?;
    if is_proven == Some(true) {
        daemon.logins.prove(&csrf, now);
    }
    // What follows the `#` stays in the browser, at this very port.
    Ok(see_other(&format!("/#csrf={csrf}"), Some(&cookie(&daemon, &secret, SESSION_MS / 1_000))))
}

/// What a browser gets that signed in.
pub(crate) struct SignedIn {
    /// What its forms carry.
    pub(crate) csrf: String,
    /// The header with the cookie.
    pub(crate) cookie: [(HeaderName, String); 1],
}

/// Signs a person in who is there, as a passkey showed.
pub(crate) fn sign_in_by_passkey(daemon: &Shared, now_ms: u64) -> Result<SignedIn, ApiError> {
    let person = daemon.tokens.person().ok_or_else(ApiError::unauthenticated)?;
    let (secret, csrf) = daemon.logins.sign_in(("passkey".into(), Role::Person), person, now_ms)?;
    daemon.logins.prove(&csrf, now_ms);
    Ok(SignedIn { csrf, cookie: [(SET_COOKIE, cookie(daemon, &secret, SESSION_MS / 1_000))] })
}

/// What is said of a code that is none.
const WRONG_CODE: &str = "This code is wrong, was used, or is too old.";

#[derive(Debug, Deserialize)]
struct TypedCode {
    #[serde(default)]
    presence: String,
    #[serde(default)]
    next: String,
}

async fn show_presence(Reads(caller): Reads, Query(proof): Query<TypedCode>) -> Response {
    presence_page(StatusCode::OK, &caller, &proof.next, "")
}

/// Takes the code of a terminal: from here on a person is there in this browser.
async fn prove(
    State(daemon): State<Shared>,
    Reads(caller): Reads,
    Extension(peer): Extension<Peer>,
    Form(proof): Form<TypedCode>,
) -> Response {
    if !caller.is_signed_in() || daemon.is_good_code(&proof.presence, peer).await != Some(true) {
        return presence_page(StatusCode::BAD_REQUEST, &caller, &proof.next, WRONG_CODE);
    }
    daemon.logins.prove(caller.csrf(), now_ms());
    see_other(own_page(&proof.next), None)
}

/// Returns where somebody goes on, if it is a page of ours.
fn own_page(next: &str) -> &str {
    let is_plain = next.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_?=.".contains(&byte));
    if is_plain && next.starts_with('/') && !next.starts_with("//") { next } else { "/approvals" }
}

impl super::Daemon {
    /// Uses up a code that somebody typed; `None` if they typed none. Wrong ones wait.
    async fn is_good_code(&self, typed: &str, peer: Peer) -> Option<bool> {
        if typed.trim().is_empty() {
            return None;
        }
        let is_good = self.codes.take(typed, now_ms());
        if !is_good {
            self.attempts.slow_down(peer).await;
        }
        Some(is_good)
    }
}

async fn sign_out(State(daemon): State<Shared>, Anyone(caller): Anyone) -> Response {
    if caller.is_signed_in() {
        daemon.logins.sign_out(caller.csrf());
    }
    see_other("/login", Some(&cookie(&daemon, "", 0)))
}

async fn make_link(State(daemon): State<Shared>, _: Present) -> Result<Response, ApiError> {
    let now = now_ms();
    let SignIn { url, code } = sign_in_link(&daemon, now)?.ok_or_else(|| {
        ApiError::bad_request(
            "the daemon listens at its unix socket alone, so there is no page to sign in to",
        )
        .with_hint("start it without --no-tcp")
    })?;
    Ok(Json(json!({"url": url, "code": code, "expiresAtMs": now.saturating_add(LINK_MS)})).into_response())
}

/// What a person needs to sign in to the page and to answer there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    /// The link that signs in, once.
    pub url: String,
    /// The code by which they show that they are there, once.
    pub code: String,
}

/// Makes a link that signs a person in, once, with a code for the same time; `None` if there are no pages.
pub(crate) fn sign_in_link(daemon: &super::Daemon, now_ms: u64) -> Result<Option<SignIn>, Failure> {
    let Some(url) = daemon.site.url() else { return Ok(None) };
    let url = format!("{url}/login?code={}", daemon.logins.new_code(now_ms)?);
    Ok(Some(SignIn { url, code: daemon.codes.make(now_ms.saturating_add(LINK_MS))? }))
}

fn cookie(daemon: &super::Daemon, value: &str, seconds: u64) -> String {
    let secure = if daemon.site.is_secure() { "; Secure" } else { "" };
    let name = daemon.logins.cookie_name();
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
}

fn see_other(place: &str, cookie: Option<&str>) -> Response {
    let mut response = (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response();
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(cookie).ok()) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_760_000_000_000;

    #[test]
    fn a_link_works_once_and_for_a_while() {
        let logins = Logins::new(false);
        let code = logins.new_code(NOW).unwrap();
        assert!(!logins.take_code("", NOW) && !logins.take_code("other", NOW));
        assert!(logins.take_code(&code, NOW));
        assert!(!logins.take_code(&code, NOW));
        let late = logins.new_code(NOW).unwrap();
        assert!(!logins.take_code(&late, NOW + LINK_MS));
    }

    #[test]
    fn a_session_lasts_while_it_is_used() {
        let logins = Logins::new(false);
        let (secret, _) = logins.sign_in(("link".into(), Role::Person), SecretHash::of("t"), NOW).unwrap();
        let session = logins.session(&secret, NOW + SESSION_MS - 1).unwrap();
        assert_eq!(session.role, Role::Person);
        assert!(logins.session(&secret, NOW + SESSION_MS + 1).is_some());
        assert!(logins.session("other", NOW).is_none());
        assert!(logins.session(&secret, NOW + 3 * SESSION_MS).is_none());
    }

    #[test]
    fn a_proof_is_of_one_session_alone() {
        let logins = Logins::new(false);
        let (one, csrf) = logins.sign_in(("a".into(), Role::Person), SecretHash::of("t"), NOW).unwrap();
        let (other, _) = logins.sign_in(("a".into(), Role::Person), SecretHash::of("t"), NOW).unwrap();
        logins.prove(&csrf, NOW + 1);
        logins.prove("", NOW + 1);
        assert_eq!(logins.session(&one, NOW + 2).unwrap().proven_at_ms, Some(NOW + 1));
        assert_eq!(logins.session(&other, NOW + 2).unwrap().proven_at_ms, None);
    }

    #[test]
    fn nobody_is_led_elsewhere() {
        assert_eq!(own_page("/approvals/0a?x=1"), "/approvals/0a?x=1");
        for wrong in ["", "//evil.example", "https://evil.example", "/\\evil", "/a b", "evil"] {
            assert_eq!(own_page(wrong), "/approvals", "{wrong}");
        }
    }

    #[test]
    fn whoever_signs_out_is_out() {
        let logins = Logins::new(true);
        let (one, csrf) = logins.sign_in(("a".into(), Role::Read), SecretHash::of("t"), NOW).unwrap();
        let (other, _) = logins.sign_in(("b".into(), Role::Read), SecretHash::of("t"), NOW).unwrap();
        logins.sign_out(&csrf);
        assert!(logins.session(&one, NOW).is_none());
        assert!(logins.session(&other, NOW).is_some());
    }

    #[test]
    fn memory_is_bounded_however_many_sign_in() {
        let logins = Logins::new(false);
        for at in 0..2 * MOST {
            let at = NOW + u64::try_from(at).unwrap();
            logins.new_code(at).unwrap();
            logins.sign_in(("a".into(), Role::Read), SecretHash::of("t"), at).unwrap();
        }
        assert_eq!(logins.links.lock().unwrap().len(), MOST);
        assert_eq!(logins.sessions.lock().unwrap().len(), MOST);
    }
}
