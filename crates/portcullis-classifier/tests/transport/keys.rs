//! The key goes where it belongs and nowhere else.

use std::process::Command;
use std::time::Instant;

use portcullis_classifier::transport::{CancelFlag, FaultKind, KeyPresentation, RetryAdvice};
use portcullis_classifier::{KeySource, Secret, fetch_key};
use pretty_assertions::assert_eq;

use crate::fixture::{Act, Server, deserted, response};
use crate::{LONG, SHORT, connect, request, send, send_within};

const KEY: &str = "sk-test-hunter2";

fn secret() -> Secret {
    Secret::parse(KEY).expect("a key")
}

#[test]
fn a_key_is_presented_the_way_the_provider_wants_it() {
    for (auth, line) in [
        (KeyPresentation::Header("x-api-key"), format!("\r\nx-api-key: {KEY}\r\n")),
        (KeyPresentation::Header("x-goog-api-key"), format!("\r\nx-goog-api-key: {KEY}\r\n")),
        (KeyPresentation::Bearer, format!("\r\nauthorization: Bearer {KEY}\r\n")),
    ] {
        let server = Server::answering(response("200 OK", "{}"));
        send(&connect(&server.base()).with_key(auth, Some(secret()))).unwrap();
        let sent = server.requests().remove(0);
        assert!(sent.contains(&line), "{sent}");
        assert_eq!(sent.matches(KEY).count(), 1, "{sent}");
    }
}

#[test]
fn a_key_that_is_not_asked_for_is_not_sent() {
    let server = Server::answering(response("200 OK", "{}"));
    send(&connect(&server.base()).with_key(KeyPresentation::None, Some(secret()))).unwrap();
    assert!(!server.requests()[0].contains(KEY));
}

#[test]
fn without_the_key_that_is_due_nothing_is_sent() {
    for auth in [KeyPresentation::Header("x-api-key"), KeyPresentation::Bearer] {
        let server = Server::answering(response("200 OK", "{}"));
        let fault = send(&connect(&server.base()).with_key(auth, None)).unwrap_err();
        assert_eq!((fault.kind, fault.retry), (FaultKind::NoKey, RetryAdvice::No));
        assert_eq!(server.connections(), 0);
    }
}

#[test]
fn a_key_fetched_from_a_command_is_sent() {
    let source = KeySource::Command(vec!["printf".to_owned(), "sk-from-command\\nmore".to_owned()]);
    let secret = fetch_key(&source, Instant::now() + LONG).unwrap();
    let server = Server::answering(response("200 OK", "{}"));
    send(&connect(&server.base()).with_key(KeyPresentation::Bearer, secret)).unwrap();
    assert!(server.requests()[0].contains("authorization: Bearer sk-from-command\r\n"));
}

#[test]
fn a_key_cannot_bring_another_header_along() {
    for text in ["a\r\nx-evil: 1", "a\nx-evil: 1", "a\rx-evil: 1", "a\0", "a\u{85}b", "\u{2028}"] {
        assert!(Secret::parse(text).is_err(), "{text:?}");
        let source = KeySource::Variable { name: "KEY".to_owned(), value: Some(text.to_owned()) };
        assert_eq!(fetch_key(&source, Instant::now() + LONG).unwrap_err().kind, FaultKind::NoKey, "{text:?}");
    }
}

#[test]
fn neither_can_a_header_or_a_path_of_the_request() {
    let server = Server::answering(response("200 OK", "{}"));
    let connection = connect(&server.base());
    let mut requests = vec![request(), request(), request(), request()];
    requests[0].headers.push(("x-note".into(), "a\r\nx-evil: 1".to_owned()));
    requests[1].path = "/v1/messages HTTP/1.1\r\nx-evil: 1\r\n".to_owned();
    requests[2].path = "@evil.example/v1/messages".to_owned();
    requests[3].headers.push(("not a name".into(), "1".to_owned()));
    for request in requests {
        let fault = connection.send(&request, Instant::now() + LONG, &CancelFlag::new()).unwrap_err();
        assert_eq!((fault.kind, fault.retry), (FaultKind::BadRequest, RetryAdvice::No));
        assert!(!fault.message.contains("evil"), "{}", fault.message);
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn no_fault_and_no_debugging_shows_the_key() {
    let garbage = format!("{KEY} {KEY}\r\n\r\n");
    let redirect = format!("HTTP/1.1 302 Found\r\nlocation: /{KEY}\r\n\r\n");
    let silent = Server::start(vec![vec![Act::Read, Act::Hold]]);
    let servers = [Server::answering(garbage), Server::answering(redirect)];
    let bases = [servers[0].base(), servers[1].base(), silent.base(), deserted()];
    for base in bases {
        let connection = connect(&base).with_key(KeyPresentation::Bearer, Some(secret()));
        let fault = send_within(&connection, SHORT * 3).unwrap_err();
        let shown = format!("{fault} {fault:?} {connection:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

/// The client library reads proxies from the environment unless told otherwise. A test cannot change its own, so it runs
/// another one in a process whose environment names a proxy nobody listens at.
#[test]
fn a_proxy_of_the_environment_is_not_taken() {
    let proxy = deserted();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "answers::a_request_arrives_whole"]);
    for name in ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"] {
        again.env(name, &proxy);
    }
    let output = again.env_remove("NO_PROXY").env_remove("no_proxy").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
