//! Each fault, as a client sees it on the socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use portcullis_testkit::{ScriptedServer, WireProtocol};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::client::{
    Form, Got, ask, connect, exchange, path, post, post_bytes, read_for, request, serve, text_of, tools_of,
};

const WHILE: Duration = Duration::from_millis(300);

fn bytes() -> Vec<u8> {
    post_bytes(path(WireProtocol::Anthropic), &request(WireProtocol::Anthropic, Form::Block), "close")
}

fn faulty(fault: &str) -> ScriptedServer {
    serve(&json!([{"fault": fault}]))
}

fn sent(server: &ScriptedServer) -> TcpStream {
    let mut stream = connect(server.address());
    stream.write_all(&bytes()).unwrap();
    stream
}

#[test]
fn close_ends_the_connection_without_a_byte() {
    let server = faulty("close");
    assert_eq!(exchange(server.address(), &bytes()), b"");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn reset_breaks_the_connection() {
    let server = faulty("reset");
    let error = sent(&server).read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn silent_keeps_the_connection_and_says_nothing() {
    let server = faulty("silent");
    let mut stream = sent(&server);
    assert!(server.wait_for_requests(1));
    assert_eq!(read_for(&mut stream, WHILE), (Vec::new(), true));
}

#[test]
fn a_server_ends_although_connections_are_silent() {
    let server = faulty("silent");
    let streams = [0; 5].map(|_| sent(&server));
    assert!(server.wait_for_requests(5));
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_mins(1));
    for mut stream in streams {
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
    }
}

#[test]
fn headers_then_silent_promises_a_body_that_never_comes() {
    let server = faulty("headers_then_silent");
    let mut stream = sent(&server);
    let (head, _) = read_head(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-length: "), "{head}");
    assert_eq!(read_for(&mut stream, WHILE), (Vec::new(), true));
}

#[test]
fn slow_drip_sends_the_body_byte_by_byte() {
    let server = serve(&json!([{"fault": "slow_drip", "ms": 20}]));
    let mut stream = sent(&server);
    let start = Instant::now();
    let (_, length) = read_head(&mut stream);
    assert!(length > 100);
    let mut first = [0; 5];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"{\"id\"");
    assert!(start.elapsed() >= Duration::from_millis(60));
    let whole = serve(&json!([{"fault": "slow_drip", "ms": 1}]));
    let got = Got::of(&exchange(whole.address(), &bytes()));
    assert_eq!(text_of(WireProtocol::Anthropic, &got.json()), "<block>no");
}

/// Reads a head and returns it with the length it promises.
fn read_head(stream: &mut TcpStream) -> (String, usize) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend_from_slice(&byte);
    }
    let head = String::from_utf8(head).unwrap();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    (head, length)
}

#[test]
fn truncated_json_is_half_an_allow_with_a_length_that_fits() {
    let got =
        post(&faulty("truncated_json"), path(WireProtocol::Chat), &request(WireProtocol::Chat, Form::Block));
    assert_eq!(got.status, 200);
    assert!(got.has_header(&format!("content-length: {}", got.body.len())), "{got:?}");
    assert!(got.body.starts_with(b"{") && serde_json::from_slice::<Value>(&got.body).is_err());
}

#[test]
fn wrong_content_type_is_a_good_allow_called_a_page() {
    let got = post(
        &faulty("wrong_content_type"),
        path(WireProtocol::Chat),
        &request(WireProtocol::Chat, Form::Block),
    );
    assert!(got.has_header("content-type: text/html; charset=utf-8"), "{got:?}");
    assert_eq!(text_of(WireProtocol::Chat, &got.json()), "<block>no");
}

#[test]
fn a_huge_body_of_a_size_is_an_allow_with_white_space_behind() {
    let server = serve(&json!([{"fault": "huge_body", "bytes": 5_000_000}]));
    let got = Got::of(&exchange(server.address(), &bytes()));
    assert_eq!(got.body.len(), 5_000_000);
    assert_eq!(text_of(WireProtocol::Anthropic, &got.json()), "<block>no");
}

#[test]
fn a_huge_body_without_a_size_does_not_end_until_the_client_leaves() {
    let server = faulty("huge_body");
    let mut stream = sent(&server);
    let mut taken = vec![0; 20_000_000];
    stream.read_exact(&mut taken).unwrap();
    let head = String::from_utf8_lossy(&taken[..400]).into_owned();
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    drop(stream);
    // The server serves others meanwhile and ends when it is told to.
    let mut other = sent(&server);
    other.read_exact(&mut taken).unwrap();
    drop(server);
}

#[test]
fn garbage_is_not_http() {
    let answer = exchange(faulty("garbage").address(), &bytes());
    assert!(!answer.starts_with(b"HTTP/") && !answer.is_empty());
}

#[test]
fn an_empty_body_has_no_bytes_and_says_so() {
    let got =
        post(&faulty("empty_body"), path(WireProtocol::Chat), &request(WireProtocol::Chat, Form::Block));
    assert_eq!((got.status, got.body.len()), (200, 0));
    assert!(got.has_header("content-length: 0"), "{got:?}");
}

#[test]
fn two_verdicts_allow_and_block_in_one_answer() {
    let server = faulty("two_verdicts");
    for wire in WireProtocol::ALL {
        let text = text_of(wire, &ask(&server, wire, Form::Block));
        assert!(text.starts_with("<block>no</block><block>yes</block>"), "{wire:?}: {text}");
        let calls = tools_of(wire, &ask(&server, wire, Form::Tool));
        let verdicts: Vec<&Value> = calls.iter().map(|(_, arguments)| &arguments["should_block"]).collect();
        assert_eq!(verdicts, [&json!(false), &json!(true)], "{wire:?}");
        let text = text_of(wire, &ask(&server, wire, Form::Schema));
        assert_eq!(text.matches("should_block").count(), 2, "{wire:?}: {text}");
        assert!(serde_json::from_str::<Value>(&text).is_err(), "{wire:?}: {text}");
    }
}

#[test]
fn a_verdict_in_thoughts_stands_nowhere_else() {
    let server = faulty("verdict_in_thinking");
    for wire in WireProtocol::ALL {
        for (form, verdict) in [(Form::Block, "<block>no"), (Form::Tool, "should_block")] {
            let answer = ask(&server, wire, form);
            assert!(answer.to_string().contains(verdict), "{wire:?}: {answer}");
            assert_eq!(text_of(wire, &answer), "That is my verdict.", "{wire:?}");
            assert_eq!(tools_of(wire, &answer), [], "{wire:?}");
        }
    }
}

#[test]
fn a_fault_is_one_step_and_the_next_request_is_answered() {
    let server = serve(&json!([{"fault": "reset"}, {"fault": "close"}, {"allow": true}]));
    assert!(sent(&server).read(&mut [0]).is_err());
    assert_eq!(sent(&server).read(&mut [0]).unwrap(), 0);
    assert_eq!(
        text_of(WireProtocol::Anthropic, &ask(&server, WireProtocol::Anthropic, Form::Block)),
        "<block>no"
    );
}
