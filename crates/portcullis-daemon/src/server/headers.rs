//! What every response says to a browser: run nothing of others, tell nobody, keep nothing.

use axum::http::HeaderMap;
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Adds what protects the pages. A browser is told to insist on encryption only where that holds for nobody else. Only what says itself how long it may be kept is kept.
pub(super) fn protect(headers: &mut HeaderMap, insists_on_tls: bool) {
    headers.reserve(8);
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // With `no-referrer` a browser sends `Origin: null` with our own forms, like a page that hides where it comes from.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(OPENER_POLICY, SAME_ORIGIN);
    headers.insert(RESOURCE_POLICY, SAME_ORIGIN);
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if insists_on_tls {
        headers.insert(STRICT_TRANSPORT_SECURITY, YEAR);
    }
}

/// Ends the connection after this response.
pub(super) fn close(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
}
