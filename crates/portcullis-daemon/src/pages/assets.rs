//! The files that pages need. They hold nothing of anybody, so whoever asks gets them.

use axum::extract::{Path, RawQuery};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use portcullis_web::assets::{Asset, ICON, find};

use crate::ApiError;

/// Under the address that names its content a file never changes.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const ASK_AGAIN: &str = "public, no-cache";

/// Serves a file.
pub(super) async fn serve(
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    match find(&name) {
        Some(asset) => send(&asset, query.as_deref(), &headers),
        None => ApiError::not_found("there is no such file").into_response(),
    }
}

/// Serves the icon where browsers look for it by themselves.
pub(super) async fn icon(headers: HeaderMap) -> Response {
    send(&ICON, None, &headers)
}

fn send(asset: &Asset, query: Option<&str>, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", asset.tag());
    let is_named = query == Some(format!("v={}", asset.tag()).as_str());
    let keep = if is_named { FOR_EVER } else { ASK_AGAIN };
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let head = [(CACHE_CONTROL, keep.to_owned()), (ETAG, tag), (CONTENT_TYPE, asset.media_type.to_owned())];
    if is_known {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    (head, asset.bytes).into_response()
}
