//! The page for signing in. Who may is decided elsewhere.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use portcullis_web::VisibleText;
use portcullis_web::pages::{LoginPage, PresencePage};
use portcullis_web::views::PageFrame;

use super::respond_with;
use crate::Caller;

/// Makes the page: with the code of a link it asks for nothing but a click, so that whoever only looks at links uses none
/// up; without one it asks for a token.
pub(crate) fn login_page(status: StatusCode, code: &str, problem: &str) -> Response {
    let page = LoginPage {
        frame: PageFrame { title: VisibleText::from("Sign in"), ..PageFrame::default() },
        problem: VisibleText::from(problem),
        code: code.to_owned(),
    };
    respond_with(status, &page).unwrap_or_else(IntoResponse::into_response)
}

/// Makes the page on which somebody who is signed in shows that they are there.
pub(crate) fn presence_page(status: StatusCode, caller: &Caller, next: &str, problem: &str) -> Response {
    let page = PresencePage {
        frame: PageFrame {
            title: VisibleText::from("Show that you are there"),
            caller: VisibleText::cut(&caller.name, 40),
            ..PageFrame::default()
        },
        problem: VisibleText::from(problem),
        next: next.to_owned(),
        is_proven: caller.is_proven(),
    };
    respond_with(status, &page).unwrap_or_else(IntoResponse::into_response)
}
