//! A request ends in time, whatever the other side does, and at once when its caller gives up.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_classifier::transport::{CancelFlag, ExchangeLimits, FaultKind, RetryAdvice};
use pretty_assertions::assert_eq;

use crate::fixture::{Act, Server, response};
use crate::{LONG, SHORT, SOON, connect, request, send_within};

/// Sends with a short deadline to a server that is too slow for it.
fn assert_late(script: Vec<Act>) {
    let what = format!("{script:?}");
    let server = Server::start(vec![script]);
    let started = Instant::now();
    let fault = send_within(&connect(&server.base()), SHORT).expect_err("it is too slow");
    assert_eq!((fault.kind, fault.retry), (FaultKind::Timeout, RetryAdvice::No), "{what}");
    assert!(started.elapsed() >= SHORT, "{what}");
    assert!(started.elapsed() < SOON, "{what}");
}

#[test]
fn a_server_that_says_nothing_is_too_late() {
    assert_late(vec![Act::Read, Act::Hold]);
    assert_late(vec![Act::Pause(LONG)]);
}

#[test]
fn a_body_that_does_not_come_is_too_late() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n".to_vec();
    assert_late(vec![Act::Read, Act::Send(head), Act::Hold]);
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{\"a\"".to_vec();
    assert_late(vec![Act::Read, Act::Send(head), Act::Hold]);
}

#[test]
fn an_answer_byte_by_byte_is_too_late() {
    let every = Duration::from_millis(50);
    let whole = response("200 OK", "{\"a\":1}");
    assert_late(vec![Act::Read, Act::Drip(whole, every)]);
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".to_vec();
    assert_late(vec![Act::Read, Act::Send(head), Act::Drip(vec![b' '; 1000], every)]);
    let head = b"HTTP/1.0 200 OK\r\n\r\n".to_vec();
    assert_late(vec![Act::Read, Act::Send(head), Act::Drip(vec![b' '; 1000], every)]);
}

#[test]
fn interim_responses_without_end_are_malformed() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
    let server = Server::start(vec![vec![Act::Read, Act::Endless(interim)]]);
    let fault = send_within(&connect(&server.base()), LONG).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Malformed, RetryAdvice::No));
    server.wait_for_closing();
}

#[test]
fn a_request_too_late_is_not_sent() {
    let server = Server::answering(response("200 OK", "{}"));
    let fault = connect(&server.base()).send(&request(), Instant::now(), &CancelFlag::new()).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Timeout, RetryAdvice::No));
    assert_eq!(server.connections(), 0);
}

#[test]
fn the_connection_is_closed_when_the_time_is_up() {
    let server = Server::start(vec![vec![Act::Read, Act::Hold]]);
    assert_eq!(send_within(&connect(&server.base()), SHORT).unwrap_err().kind, FaultKind::Timeout);
    server.wait_for_closing();
}

#[test]
fn encryption_that_never_starts_is_a_connection_that_failed() {
    let server = Server::start(vec![vec![Act::Hold]]);
    let limits = ExchangeLimits { connect: SHORT, ..ExchangeLimits::default() };
    let connection = connect(&format!("https://127.0.0.1:{}", server.port())).with_limits(limits);
    let started = Instant::now();
    let fault = send_within(&connection, LONG).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, RetryAdvice::Backoff), "{}", fault.message);
    assert!(started.elapsed() < SOON);
}

#[test]
fn a_caller_in_another_thread_can_give_up_at_any_time() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{".to_vec();
    for script in [vec![Act::Read, Act::Hold], vec![Act::Read, Act::Send(head), Act::Hold]] {
        let server = Server::start(vec![script]);
        let connection = connect(&server.base());
        let cancel = CancelFlag::new();
        let (fault, ended, gave_up) = thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let fault = connection.send(&request(), Instant::now() + LONG, &cancel).unwrap_err();
                (fault, Instant::now())
            });
            server.wait_for_request();
            let gave_up = Instant::now();
            cancel.cancel();
            let (fault, ended) = sender.join().unwrap();
            (fault, ended, gave_up)
        });
        assert_eq!((fault.kind, fault.retry), (FaultKind::Aborted, RetryAdvice::No));
        assert!(ended - gave_up < Duration::from_secs(2), "{:?}", ended - gave_up);
        server.wait_for_closing();
    }
}

#[test]
fn what_was_given_up_before_is_not_sent() {
    let server = Server::answering(response("200 OK", "{}"));
    let cancel = CancelFlag::new();
    cancel.cancel();
    let fault = connect(&server.base()).send(&request(), Instant::now() + LONG, &cancel).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Aborted);
    assert_eq!(server.connections(), 0);
}

#[test]
fn giving_up_one_request_does_not_end_another() {
    let answer = Act::Send(response("200 OK", "{\"a\":1}"));
    let first = vec![Act::Read, answer.clone()];
    let patient = vec![Act::Read, Act::Pause(Duration::from_millis(400)), answer];
    let server = Server::start(vec![first, patient, vec![Act::Read, Act::Hold]]);
    let connection = Arc::new(connect(&server.base()));
    // The first request leaves a client behind that both of the others would like to have.
    assert_eq!(send_within(&connection, LONG).unwrap().status, 200);
    server.wait_for_request();
    let other = Arc::clone(&connection);
    let patient = thread::spawn(move || send_within(&other, LONG));
    server.wait_for_request();
    let cancel = CancelFlag::new();
    let (shared, flag) = (Arc::clone(&connection), cancel.clone());
    let impatient = thread::spawn(move || shared.send(&request(), Instant::now() + LONG, &flag));
    server.wait_for_request();
    cancel.cancel();
    assert_eq!(impatient.join().unwrap().unwrap_err().kind, FaultKind::Aborted);
    assert_eq!(patient.join().unwrap().unwrap().body, b"{\"a\":1}");
}

#[test]
fn a_connection_works_again_after_a_request_was_given_up() {
    let second = vec![Act::Read, Act::Send(response("200 OK", "{}"))];
    let server = Server::start(vec![vec![Act::Read, Act::Hold], second]);
    let connection = connect(&server.base());
    assert_eq!(send_within(&connection, SHORT).unwrap_err().kind, FaultKind::Timeout);
    assert_eq!(send_within(&connection, LONG).unwrap().status, 200);
}
