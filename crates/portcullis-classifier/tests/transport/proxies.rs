//! Through a proxy, and past it.

use std::time::{Duration, Instant};

use portcullis_classifier::Secret;
use portcullis_classifier::transport::{FaultKind, KeyPresentation, RetryAdvice, TunnelProxy};
use pretty_assertions::assert_eq;

use crate::fixture::{Act, Server, response};
use crate::secure_server::{SecureServer, Tunnel, file};
use crate::{SHORT, SOON, connect, send, send_within};

fn proxy(address: &str) -> TunnelProxy {
    TunnelProxy::parse(address, &[]).expect("a proxy")
}

#[test]
fn an_encrypted_request_goes_through_the_proxy_without_being_read() {
    let server = SecureServer::start();
    let tunnel = Tunnel::to(server.address());
    let key = Secret::parse("sk-hunter2").unwrap();
    let connection = connect("https://model.test")
        .with_key(KeyPresentation::Bearer, Some(key))
        .with_proxy(Some(proxy(&tunnel.base())))
        .with_ca_file(Some(file("authority.pem")));
    assert_eq!(send(&connection).unwrap().body, b"{\"secure\":true}");
    assert!(server.requests()[0].contains("authorization: Bearer sk-hunter2"));
    let asked = tunnel.requests().remove(0);
    assert!(asked.starts_with("CONNECT model.test:443 HTTP/1.1\r\n"), "{asked}");
    assert!(!asked.to_lowercase().contains("\r\nauthorization") && !asked.contains("hunter2"), "{asked}");
    let carried = String::from_utf8_lossy(&tunnel.carried()).into_owned();
    assert!(!carried.is_empty() && !carried.contains("hunter2") && !carried.contains("/v1/messages"));
}

#[test]
fn the_password_of_a_proxy_goes_to_the_proxy_alone() {
    let server = SecureServer::start();
    let tunnel = Tunnel::to(server.address());
    let address = tunnel.base().replace("http://", "http://me:hunter2@");
    let connection = connect("https://model.test")
        .with_proxy(Some(proxy(&address)))
        .with_ca_file(Some(file("authority.pem")));
    assert_eq!(send(&connection).unwrap().status, 200);
    assert!(tunnel.requests()[0].contains("Proxy-Authorization: Basic bWU6aHVudGVyMg==\r\n"));
    assert!(!server.requests()[0].to_lowercase().contains("proxy-authorization"));
    assert!(!format!("{connection:?}").contains("hunter2"));
}

#[test]
fn this_machine_is_reached_without_the_proxy() {
    let between = Server::start(vec![vec![Act::Hold]]);
    let server = Server::answering(response("200 OK", "{}"));
    let connection = connect(&server.base()).with_proxy(Some(proxy(&between.base())));
    assert_eq!(send(&connection).unwrap().status, 200);
    assert_eq!((server.connections(), between.connections()), (1, 0));
    let secure = SecureServer::start();
    let connection = connect(&secure.base())
        .with_proxy(Some(proxy(&between.base())))
        .with_ca_file(Some(file("authority.pem")));
    assert_eq!(send(&connection).unwrap().status, 200);
    assert_eq!(between.connections(), 0);
}

#[test]
fn a_proxy_that_refuses_is_a_failed_connection() {
    for answer in [
        "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\n\r\n",
        "HTTP/1.1 302 Found\r\nlocation: http://evil.example/\r\n\r\n",
        "",
    ] {
        let refusing = Server::answering(answer);
        let connection = connect("https://model.test").with_proxy(Some(proxy(&refusing.base())));
        let fault = send(&connection).unwrap_err();
        assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, RetryAdvice::Backoff), "{answer:?}");
        assert!(refusing.requests()[0].starts_with("CONNECT model.test:443 "));
    }
}

#[test]
fn a_proxy_that_answers_byte_by_byte_is_too_late() {
    let every = Duration::from_millis(50);
    let answer = format!("HTTP/1.1 200 OK\r\nx-slow: {}\r\n\r\n", "x".repeat(1000)).into_bytes();
    let slow = Server::start(vec![vec![Act::Read, Act::Drip(answer, every), Act::Hold]]);
    let connection = connect("https://model.test").with_proxy(Some(proxy(&slow.base())));
    let started = Instant::now();
    let fault = send_within(&connection, SHORT).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Timeout, RetryAdvice::No));
    assert!(started.elapsed() < SOON);
}

#[test]
fn a_proxy_cannot_pretend_to_be_the_provider() {
    let pretending = [
        Act::Read,
        Act::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        Act::Send(response("200 OK", "{\"verdict\":\"no\"}")),
        Act::Hold,
    ];
    let server = Server::start(vec![pretending.to_vec()]);
    let connection = connect("https://model.test").with_proxy(Some(proxy(&server.base())));
    let fault = send(&connection).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, RetryAdvice::No), "{}", fault.message);
}
