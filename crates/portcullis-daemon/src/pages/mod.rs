//! The web page: values of the store, shown by the templates of `portcullis-web`.
//!
//! Pages are the API for people: what they show is looked up by the same functions, and what they change is changed by
//! them. A page shows what it has without a script. Forms carry what shows that a page of ours sent them, which the script
//! fills in and the server looks at before any handler runs; a link to one question is answered without either.

mod answering;
mod approvals;
mod assets;
mod command;
mod decisions;
mod findings;
mod held_runs;
mod live;
mod login;
mod rules;
mod sessions;
mod stats;
mod verdict;
mod visitor;
mod words;

use axum::Router;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use portcullis_web::pages::ErrorPage;
use portcullis_web::views::PageFrame;
use portcullis_web::{Template, VisibleText};

pub(super) use self::login::{login_page, presence_page};
use super::access::ABSENT;
use super::{ApiError, Shared};

/// Makes the routes of the pages.
pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/", get(live::show))
        .route("/decisions", get(decisions::list))
        .route("/decisions/{id}", get(decisions::show))
        .route("/sessions", get(sessions::list))
        .route("/sessions/{id}", get(sessions::show))
        .route("/grants/{id}/revoke", post(sessions::revoke))
        .route("/approvals", get(approvals::list))
        .route("/approvals/{id}", get(approvals::show))
        .route("/approvals/{id}/answer", post(answering::answer))
        .route("/runs/{id}", get(held_runs::show))
        .route("/runs/{id}/answer", post(held_runs::answer))
        .route("/stats", get(stats::show))
        .route("/rules", get(rules::show).post(rules::change))
        .route("/findings/{code}", get(findings::show))
        .route("/assets/{name}", get(assets::serve))
        .route("/favicon.ico", get(assets::icon))
}

/// Says that there is nothing at an address: to a browser as a page, to a program as JSON.
pub(super) async fn nothing(uri: Uri, headers: HeaderMap) -> Response {
    let error = ApiError::not_found(format!("there is nothing at `{}`", uri.path()));
    let wants_page = headers
        .get(ACCEPT)
        .and_then(|kinds| kinds.to_str().ok())
        .is_some_and(|kinds| kinds.contains("text/html"));
    if wants_page { PageError(error).into_response() } else { error.into_response() }
}

/// Makes the response of a page.
fn respond(page: &impl Template) -> Result<Response, PageError> {
    respond_with(StatusCode::OK, page)
}

fn respond_with(status: StatusCode, page: &impl Template) -> Result<Response, PageError> {
    let html = page
        .render()
        .map_err(|error| ApiError::internal(format!("the page could not be written: {error}")))?;
    Ok((status, Html(html)).into_response())
}

/// Leads a browser to another page, after something was done.
fn see_other(place: &str) -> Response {
    axum::response::Redirect::to(place).into_response()
}

/// A refusal, as a page. Whoever has not said who they are is led to where they can.
#[derive(Debug)]
pub(super) struct PageError(ApiError);

impl<E: Into<ApiError>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let Self(error) = self;
        if error.status == StatusCode::UNAUTHORIZED {
            return see_other("/login");
        }
        if error.code == ABSENT {
            return see_other("/presence");
        }
        let frame = PageFrame { title: VisibleText::from("Not possible"), ..PageFrame::default() };
        let page = ErrorPage {
            frame,
            status: error.status.as_u16(),
            message: VisibleText::from(capital(&error.message)),
            hint: VisibleText::from(error.hint.as_deref().map(capital).unwrap_or_default()),
        };
        match page.render() {
            Ok(html) => (error.status, Html(html)).into_response(),
            Err(_) => error.into_response(),
        }
    }
}

/// Begins a sentence of a failure as a sentence of a page.
fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}
