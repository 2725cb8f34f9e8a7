//! HTTP itself: bodies in pieces, connections that stay, requests that are wrong.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};

use portcullis_testkit::{ModelScript, ScriptedServer, WireProtocol};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::client::{Form, Got, connect, exchange, path, post, post_bytes, request, serve, text_of};

fn allowing() -> ScriptedServer {
    serve(&json!([{"allow": true}]))
}

/// Reads one response of a connection that stays open.
fn read_one(stream: &mut impl Read) -> Got {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        bytes.extend_from_slice(&byte);
    }
    let mut got = Got::of(&bytes);
    let length = got.head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).unwrap();
    got.body = body;
    got
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let server = allowing();
    let mut stream = connect(server.address());
    let bytes = post_bytes(path(WireProtocol::Chat), &request(WireProtocol::Chat, Form::Block), "keep-alive");
    for _ in 0..3 {
        stream.write_all(&bytes).unwrap();
        let got = read_one(&mut stream);
        assert!(got.has_header("connection: keep-alive"), "{got:?}");
        assert_eq!(text_of(WireProtocol::Chat, &got.json()), "<block>no");
    }
    // Two at once are answered in order.
    stream.write_all(&[bytes.as_slice(), bytes.as_slice()].concat()).unwrap();
    assert_eq!([read_one(&mut stream).status, read_one(&mut stream).status], [200, 200]);
    assert_eq!(server.requests().len(), 5);
}

#[test]
fn a_body_in_chunks_is_put_together() {
    let server = allowing();
    let body = request(WireProtocol::Ollama, Form::Block).to_string();
    let (first, rest) = body.split_at(10);
    let mut stream = connect(server.address());
    let mut send = |bytes: &str| stream.write_all(bytes.as_bytes()).unwrap();
    send("POST /api/chat HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n");
    send(&format!("{:x};extension=1\r\n{first}\r\n", first.len()));
    send(&format!("{:X}\r\n{rest}\r\n0\r\ntrailer: x\r\n\r\n", rest.len()));
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(text_of(WireProtocol::Ollama, &Got::of(&answer).json()), "<block>no");
    assert_eq!(server.requests()[0].body, body.into_bytes());
}

#[test]
fn a_client_that_waits_for_leave_to_send_gets_it() {
    let server = allowing();
    let body = request(WireProtocol::Chat, Form::Block).to_string();
    let mut stream = connect(server.address());
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut leave = [0; 25];
    stream.read_exact(&mut leave).unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).unwrap();
    assert_eq!(read_one(&mut stream).status, 200);
}

#[test]
fn a_request_that_comes_byte_by_byte_is_read() {
    let server = allowing();
    let mut stream = connect(server.address());
    stream.set_nodelay(true).unwrap();
    for byte in post_bytes(path(WireProtocol::Chat), &request(WireProtocol::Chat, Form::Block), "close") {
        stream.write_all(&[byte]).unwrap();
    }
    assert_eq!(read_one(&mut stream).status, 200);
}

#[test]
fn a_malformed_request_is_refused_and_the_connection_closed() {
    let server = allowing();
    let table = [
        ("nonsense\r\n\r\n", 400),
        ("POST /v1/messages\r\n\r\n", 400),
        ("POST /v1/messages HTTP/2.0\r\nhost: x\r\n\r\n", 400),
        ("post /v1/messages HTTP/1.1\r\nhost: x\r\n\r\n", 400),
        ("POST v1/messages HTTP/1.1\r\nhost: x\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nhost x\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\n a: b\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", 400),
        (
            "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\na",
            400,
        ),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n", 501),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n", 413),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\ncontent-length: 1\r\n\r\na", 417),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n", 413),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 33554433\r\n\r\nmore to come", 413),
    ];
    for (bytes, status) in table {
        let got = read_until_close(server.address(), bytes.as_bytes());
        assert_eq!(got.status, status, "{bytes:?}");
        assert!(got.has_header("connection: close"), "{got:?}");
    }
    assert_eq!(server.requests(), []);
}

fn read_until_close(address: SocketAddr, bytes: &[u8]) -> Got {
    let mut stream = connect(address);
    stream.write_all(bytes).unwrap();
    let got = read_one(&mut stream);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    got
}

#[test]
fn a_head_without_end_is_refused() {
    let server = allowing();
    let head = format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\na: {}\r\n\r\n", "b".repeat(100_000));
    assert_eq!(read_until_close(server.address(), head.as_bytes()).status, 431);
    let lines = format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\n{}\r\n", "a: b\r\n".repeat(20_000));
    assert_eq!(read_until_close(server.address(), lines.as_bytes()).status, 431);
}

#[test]
fn a_client_that_leaves_in_the_middle_leaves_no_trace() {
    let server = allowing();
    for bytes in ["", "POST /v1/mess", "POST /api/chat HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"] {
        let mut stream = connect(server.address());
        stream.write_all(bytes.as_bytes()).unwrap();
        drop(stream);
    }
    assert_eq!(
        post(&server, path(WireProtocol::Chat), &request(WireProtocol::Chat, Form::Block)).status,
        200
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn what_no_model_is_asked_uses_up_no_step() {
    let server = serve(&json!([{"say": "first"}]));
    assert_eq!(post(&server, "/v1/embeddings", &json!({})).status, 404);
    let get =
        exchange(server.address(), b"GET /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert_eq!(Got::of(&get).status, 405);
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{]";
    let got = Got::of(&exchange(server.address(), head.as_bytes()));
    assert_eq!((got.status, &got.json()["error"]["type"]), (400, &json!("invalid_request_error")));
    let mut streamed = request(WireProtocol::Chat, Form::Block);
    streamed["stream"] = json!(true);
    let got = post(&server, path(WireProtocol::Chat), &streamed);
    assert_eq!(got.status, 400);
    assert!(got.json()["error"]["message"].as_str().unwrap().contains("does not stream"));
    let answer = post(&server, path(WireProtocol::Chat), &request(WireProtocol::Chat, Form::Block)).json();
    assert_eq!((text_of(WireProtocol::Chat, &answer), server.requests().len()), ("first".into(), 5));
}

#[test]
fn an_old_client_is_answered_and_let_go() {
    let server = allowing();
    let body = request(WireProtocol::Chat, Form::Block).to_string();
    let bytes = format!("POST /v1/chat/completions HTTP/1.0\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    assert_eq!(Got::of(&exchange(server.address(), bytes.as_bytes())).status, 200);
}

#[test]
fn addresses_other_machines_could_reach_are_refused() {
    let script = || ModelScript::from_value(&json!([{"allow": true}])).unwrap();
    for address in [SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)), "[::]:0".parse().unwrap()] {
        let error = ScriptedServer::start_on(address, script()).unwrap_err();
        assert!(error.to_string().contains("is not an address of loopback"), "{error}");
    }
    let server = ScriptedServer::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), script()).unwrap();
    assert_eq!(server.url(), format!("http://127.0.0.1:{}", server.address().port()));
}
