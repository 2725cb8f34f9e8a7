//! What the script of the page asks of passkeys.

use axum::extract::State;
use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, post};
use axum::{Extension, Json, Router};
use serde_json::{Value, json};

use super::webauthn::{AskedSite, PasskeyResponse};
use crate::access::{Anyone, Caller, Peer, Present};
use crate::api::blocking;
use crate::login::{SignedIn, sign_in_by_passkey};
use crate::{ApiError, Shared};
use portcullis_gate::clock::now_ms;

/// Makes the routes.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/passkeys/challenge", post(challenge))
        .route("/passkeys/register", post(register))
        .route("/passkeys/use", post(use_key))
        .route("/passkeys", delete(forget))
}

/// Returns the site that a browser sees, which is ours: requests of other origins were refused before.
fn asked_site(headers: &HeaderMap) -> Result<AskedSite, ApiError> {
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let host = origin.and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let name = host.and_then(|host| host.split(':').next()).filter(|name| !is_address(name));
    match (origin, name) {
        (Some(origin), Some(name)) => Ok(AskedSite { name: name.to_owned(), origin: origin.to_owned() }),
        _ => Err(ApiError::bad_request("passkeys need a name, and this page has an address alone")
            .with_hint("open the page by the name `localhost`, or by one of --allow-host")),
    }
}

fn is_address(name: &str) -> bool {
    name.is_empty() || name.starts_with('[') || name.parse::<std::net::IpAddr>().is_ok()
}

async fn challenge(
    State(daemon): State<Shared>,
    Anyone(caller): Anyone,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let site = asked_site(&headers)?;
    let (challenge, ids) = daemon.passkeys.challenge(caller.csrf(), &site, now_ms())?;
    Ok(Json(json!({"challenge": challenge, "site": site.name, "ids": ids})))
}

async fn register(
    State(daemon): State<Shared>,
    Present(caller): Present,
    headers: HeaderMap,
    Json(response): Json<PasskeyResponse>,
) -> Result<Json<Value>, ApiError> {
    let site = asked_site(&headers)?;
    if !caller.is_signed_in() {
        return Err(ApiError::bad_request("a passkey is registered on the page"));
    }
    let is_new = blocking(move || Ok(daemon.passkeys.register(&response, caller.csrf(), &site, now_ms())?));
    if is_new.await? { Ok(Json(json!({}))) } else { Err(refused()) }
}

/// Signs somebody in by a passkey, or shows that whoever is signed in is there.
async fn use_key(
    State(daemon): State<Shared>,
    Anyone(caller): Anyone,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    Json(response): Json<PasskeyResponse>,
) -> Result<Response, ApiError> {
    let site = asked_site(&headers)?;
    if !is_used(&daemon, &caller, response, site).await? {
        daemon.attempts.slow_down(peer).await;
        return Err(refused());
    }
    if caller.is_signed_in() {
        daemon.logins.prove(caller.csrf(), now_ms());
        return Ok(Json(json!({})).into_response());
    }
    let SignedIn { csrf, cookie } = sign_in_by_passkey(&daemon, now_ms())?;
    Ok((cookie, Json(json!({"csrf": csrf}))).into_response())
}

async fn is_used(
    daemon: &Shared,
    caller: &Caller,
    response: PasskeyResponse,
    site: AskedSite,
) -> Result<bool, ApiError> {
    let (daemon, owner) = (Shared::clone(daemon), caller.csrf().to_owned());
    blocking(move || Ok(daemon.passkeys.is_used(&response, &owner, &site, now_ms())?)).await
}

async fn forget(State(daemon): State<Shared>, _: Present) -> Result<Json<Value>, ApiError> {
    let many = blocking(move || Ok(daemon.passkeys.forget()?)).await?;
    Ok(Json(json!({"forgotten": many})))
}

fn refused() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "presence",
        "this passkey is not known here, or did not answer in time",
    )
    .with_hint("type the code that `portcullis tokens link` prints in a terminal of yours")
}
