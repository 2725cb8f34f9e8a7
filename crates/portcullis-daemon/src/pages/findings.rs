//! What a finding or an allowance is about.

use axum::extract::Path;
use axum::response::Response;
use portcullis_web::VisibleText;
use portcullis_web::pages::FindingPage;

use super::visitor::Visitor;
use super::{PageError, respond};
use crate::ApiError;
use portcullis_output::finding_page::plain_page;

/// Shows the page of a code.
pub(super) async fn show(visitor: Visitor, Path(code): Path<String>) -> Result<Response, PageError> {
    let (code, text) =
        plain_page(&code).ok_or_else(|| ApiError::not_found("no finding and no allowance has this code"))?;
    let (heading, text) = text.split_once('\n').unwrap_or((&text, ""));
    respond(&FindingPage {
        frame: visitor.frame("", code),
        heading: VisibleText::from(heading),
        text: VisibleText::from(text.trim_matches('\n')),
    })
}
