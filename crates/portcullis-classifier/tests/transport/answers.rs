//! What comes back, well-formed and not.

use std::time::Duration;

use portcullis_classifier::provider::TokenUsage;
use portcullis_classifier::transport::{
    CancelFlag, ExchangeLimits, FaultKind, ModelFault, RetryAdvice, next_delay,
};
use pretty_assertions::assert_eq;

use crate::fixture::{Act, Server, deserted, response};
use crate::{LONG, connect, send};

/// Sends to a server of one answer, which must come to nothing.
fn fault_of(answer: impl AsRef<[u8]>) -> ModelFault {
    let server = Server::answering(answer);
    let fault = send(&connect(&server.base())).expect_err("no answer");
    assert_eq!(fault.usage, TokenUsage::default());
    fault
}

#[test]
fn a_request_arrives_whole() {
    let server = Server::answering(response("200 OK", "{\"a\":1}"));
    let answer = send(&connect(&(server.base() + "/gateway/"))).unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"{\"a\":1}".as_slice()));
    assert!(answer.headers.contains(&("content-type".to_owned(), "application/json".to_owned())));
    assert!(answer.elapsed > Duration::ZERO);
    let requests = server.requests();
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<String> = head.lines().map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "POST /gateway/v1/messages HTTP/1.1");
    lines.sort();
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        "accept: application/json".to_owned(),
        "anthropic-version: 2023-06-01".to_owned(),
        format!("content-length: {}", body.len()),
        "content-type: application/json".to_owned(),
        format!("host: 127.0.0.1:{}", server.port()),
        format!("user-agent: portcullis/{version}"),
    ];
    assert_eq!(lines, expected);
    assert_eq!(body, "{\"model\":\"test\",\"messages\":[\"h\u{e9}llo\"]}");
}

#[test]
fn a_status_of_failure_is_a_response() {
    for (status, number) in
        [("400 No", 400), ("401 No", 401), ("429 Wait", 429), ("500 Oh", 500), ("529 Full", 529)]
    {
        let server = Server::answering(response(status, "{\"error\":{}}"));
        let answer = send(&connect(&server.base())).unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (number, b"{\"error\":{}}".as_slice()));
    }
}

#[test]
fn a_body_may_be_chunked_or_end_with_the_connection() {
    for answer in [
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\n{\"a\":1}",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}",
    ] {
        let server = Server::answering(answer);
        let answer = send(&connect(&server.base())).unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (200, b"{\"a\":1}".as_slice()));
    }
}

#[test]
fn nobody_listening_is_a_failed_connection() {
    let fault = send(&connect(&deserted())).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, RetryAdvice::Backoff));
    assert!(fault.message.contains("127.0.0.1") && fault.message.contains("refused"), "{}", fault.message);
}

#[test]
fn a_connection_that_ends_too_early_is_a_failed_connection() {
    for answer in [
        "",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{\"a\":1}",
        "HTTP/1.1 200 OK\r\ncontent-length: 4000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{\"a\":",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n",
    ] {
        let fault = fault_of(answer);
        assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, RetryAdvice::Backoff), "{answer:?}");
    }
}

#[test]
fn a_connection_reset_in_the_middle_is_a_failed_connection() {
    let begun = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\":".to_vec();
    let wait = Act::Pause(Duration::from_millis(100));
    let server = Server::start(vec![vec![Act::LeaveUnread, Act::Send(begun), wait]]);
    let fault = send(&connect(&server.base())).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, RetryAdvice::Backoff));
}

#[test]
fn what_is_not_http_is_malformed() {
    for answer in [
        "SSH-2.0-OpenSSH_9.6\r\n\r\n",
        "220 mail.example ESMTP\r\n\r\n",
        "{\"content\":[{\"type\":\"text\",\"text\":\"<block>no</block>\"}]}\r\n\r\n",
        "\u{0}\u{1}\u{2}\u{3}\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}",
    ] {
        let fault = fault_of(answer);
        assert_eq!((fault.kind, fault.retry), (FaultKind::Malformed, RetryAdvice::No), "{answer:?}");
    }
}

#[test]
fn headers_without_end_are_malformed() {
    let head = b"HTTP/1.1 200 OK\r\n".to_vec();
    let endless = Act::Endless(b"x-more: and more and more and more\r\n".to_vec());
    let server = Server::start(vec![vec![Act::Read, Act::Send(head), endless]]);
    let fault = send(&connect(&server.base())).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Malformed, RetryAdvice::No));
    server.wait_for_closing();
}

#[test]
fn a_body_without_end_is_malformed_and_not_kept() {
    let chunk = [b"1000\r\n".as_slice(), &[b'x'; 0x1000], b"\r\n"].concat();
    for (head, more) in [
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunk),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", vec![b'x'; 4096]),
        ("HTTP/1.0 200 OK\r\n\r\n", vec![b'x'; 4096]),
    ] {
        let script = vec![Act::Read, Act::Send(head.as_bytes().to_vec()), Act::Endless(more)];
        let server = Server::start(vec![script]);
        let fault = send(&connect(&server.base())).unwrap_err();
        assert_eq!((fault.kind, fault.retry), (FaultKind::Malformed, RetryAdvice::No), "{head}");
        assert!(fault.message.contains("larger than 4194304 bytes"), "{}", fault.message);
        server.wait_for_closing();
    }
}

#[test]
fn a_body_of_just_the_limit_is_kept() {
    let limits = ExchangeLimits { body: 7, ..ExchangeLimits::default() };
    let server = Server::answering(response("200 OK", "{\"a\":1}"));
    let answer = send(&connect(&server.base()).with_limits(limits)).unwrap();
    assert_eq!(answer.body.len(), 7);
    let server = Server::answering("HTTP/1.0 200 OK\r\n\r\n{\"a\":11}");
    let fault = send(&connect(&server.base()).with_limits(limits)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Malformed);
}

#[test]
fn a_redirect_is_not_followed() {
    for status in ["301 Moved", "302 Found", "303 Other", "304 Same", "307 Temporary", "308 Permanent"] {
        let aim = Server::answering(response("200 OK", "{}"));
        let head = format!("HTTP/1.1 {status}\r\nlocation: {}/x\r\ncontent-length: 0\r\n\r\n", aim.base());
        let fault = fault_of(head);
        assert_eq!((fault.kind, fault.retry), (FaultKind::Malformed, RetryAdvice::No), "{status}");
        assert!(fault.message.contains("redirect"), "{}", fault.message);
        assert_eq!(aim.connections(), 0, "{status}");
    }
}

#[test]
fn a_second_response_nobody_asked_for_answers_nothing() {
    let both = [response("200 OK", "{\"n\":1}"), response("200 OK", "{\"n\":\"unasked\"}")].concat();
    let second = vec![Act::Read, Act::Send(response("200 OK", "{\"n\":2}"))];
    let server = Server::start(vec![vec![Act::Read, Act::Send(both), Act::Hold], second]);
    let connection = connect(&server.base());
    assert_eq!(send(&connection).unwrap().body, b"{\"n\":1}");
    assert_eq!(send(&connection).unwrap().body, b"{\"n\":2}");
}

#[test]
fn an_unasked_response_that_comes_late_answers_nothing_either() {
    let late = [
        Act::Read,
        Act::Send(response("200 OK", "{\"n\":1}")),
        Act::Pause(Duration::from_millis(50)),
        Act::Send(response("200 OK", "{\"n\":\"unasked\"}")),
        Act::Hold,
    ];
    let second = vec![Act::Read, Act::Send(response("200 OK", "{\"n\":2}"))];
    let server = Server::start(vec![late.to_vec(), second]);
    let connection = connect(&server.base());
    assert_eq!(send(&connection).unwrap().body, b"{\"n\":1}");
    assert!(CancelFlag::new().sleep(Duration::from_millis(500)));
    assert_eq!(send(&connection).unwrap().body, b"{\"n\":2}");
}

#[test]
fn a_connection_is_used_again() {
    let answer = Act::Send(response("200 OK", "{}"));
    let server = Server::start(vec![vec![Act::Read, answer.clone(), Act::Read, answer]]);
    let connection = connect(&server.base());
    for _ in 0..2 {
        assert_eq!(send(&connection).unwrap().status, 200);
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 2));
}

#[test]
fn the_time_to_wait_that_a_server_names_is_waited() {
    let limited = b"HTTP/1.1 429 Wait\r\nretry-after-ms: 40\r\ncontent-length: 2\r\n\r\n{}".to_vec();
    let script = vec![Act::Read, Act::Send(limited), Act::Read, Act::Send(response("200 OK", "{}"))];
    let server = Server::start(vec![script]);
    let connection = connect(&server.base());
    let first = send(&connection).unwrap();
    let named = first.headers.iter().find(|(name, _)| name == "retry-after-ms").unwrap();
    let after = Duration::from_millis(named.1.parse().unwrap());
    let fault = ModelFault::new(FaultKind::RateLimited, "wait", RetryAdvice::After(after));
    let delay = next_delay(&fault, 0, LONG, 0.5).unwrap();
    assert_eq!(delay, Duration::from_millis(40));
    assert!(CancelFlag::new().sleep(delay));
    assert_eq!(send(&connection).unwrap().status, 200);
}
