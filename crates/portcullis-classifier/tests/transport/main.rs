//! Sending requests to servers that misbehave in every way we could think of.
#![cfg(test)]

mod answers;
mod deadlines;
mod fixture;
mod keys;
mod proxies;
mod secure;
mod secure_server;

use std::time::{Duration, Instant};

use portcullis_classifier::provider::WireRequest;
use portcullis_classifier::transport::{BaseUrl, CancelFlag, ModelFault, ProviderConnection, RawResponse};
use serde_json::json;

/// Long enough for anything that ends by itself.
const LONG: Duration = Duration::from_mins(1);

/// Far more than a short deadline, far less than a server's patience.
const SOON: Duration = Duration::from_secs(15);

/// A deadline that is meant to pass.
const SHORT: Duration = Duration::from_millis(300);

fn request() -> WireRequest {
    WireRequest {
        path: "/v1/messages".to_owned(),
        headers: vec![("anthropic-version".into(), "2023-06-01".to_owned())],
        body: json!({"model": "test", "messages": ["h\u{e9}llo"]}),
    }
}

fn connect(base: &str) -> ProviderConnection {
    ProviderConnection::new(BaseUrl::parse(base).expect("a base URL"))
}

fn send(connection: &ProviderConnection) -> Result<RawResponse, ModelFault> {
    send_within(connection, LONG)
}

fn send_within(connection: &ProviderConnection, time: Duration) -> Result<RawResponse, ModelFault> {
    connection.send(&request(), Instant::now() + time, &CancelFlag::new())
}
