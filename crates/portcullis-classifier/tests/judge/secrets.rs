//! A server that repeats the key, however it spells it: it shows nowhere.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use portcullis_classifier::KeySource;
use portcullis_classifier::model::{ModelProvider, VerdictShape};
use portcullis_classifier::protocol::{Classification, ClassifierVerdict, ModelEndpoint, StagePlan};
use portcullis_core::FailureAction;
use serde_json::Value;

use super::bench::{endpoint_of, judge, model_of, rule, told};

/// A provider's key, and one as gateways make them.
const KEYS: [&str; 2] = ["sk-ant-api03-Zm9vYmFyYmF6cXV4cXV1eA-AA", "gw7Qm2xL9tVb4KpR"];

/// Serves every request with the same bytes, one connection each.
fn serve_bytes(status: u16, body: &[u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let answer = [head.as_bytes(), body].concat();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            read_request(&mut stream);
            stream.write_all(&answer).unwrap();
        }
    });
    format!("http://{address}")
}

fn read_request(stream: &mut TcpStream) {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).unwrap();
        bytes.extend(&buffer[..length]);
        let text = String::from_utf8_lossy(&bytes);
        let body = text.find("\r\n\r\n").map(|at| at + 4);
        let lower = text.to_ascii_lowercase();
        let declared = lower.split("content-length:").nth(1).and_then(|rest| rest.lines().next());
        let declared = declared.map_or(0, |text| text.trim().parse::<usize>().unwrap());
        if length == 0 || body.is_some_and(|body| bytes.len() >= body + declared) {
            return;
        }
    }
}

/// Spells every letter of a key as an escape of JSON.
fn escaped(key: &str) -> String {
    key.chars().fold(String::new(), |mut out, letter| {
        write!(out, "\\u{:04x}", u32::from(letter)).unwrap();
        out
    })
}

/// Spells a key as it stands in JSON that stands in a string of JSON.
fn escaped_twice(key: &str) -> String {
    escaped(key).replace('\\', "\\\\")
}

fn ask(provider: ModelProvider, key: &str, status: u16, body: &[u8], shape: VerdictShape) -> Classification {
    let endpoint = endpoint_of(provider, model_of(provider), &serve_bytes(status, body));
    let key = KeySource::Variable { name: "JUDGE_KEY".to_owned(), value: Some(key.to_owned()) };
    let mut judge = judge(vec![ModelEndpoint { key, ..endpoint }]);
    (judge.shape, judge.stages) = (Some(shape), StagePlan::Thinking);
    rule(&mut judge)
}

/// Checks that a ruling holds a key in no spelling, and a mark in its place.
fn check_hidden(ruling: &Classification, key: &str, place: &str) {
    let last = ruling.exchanges.last().unwrap();
    let decoded = serde_json::from_str::<Value>(&last.response).map(|value| value.to_string());
    let texts = [
        format!("{ruling:?}"),
        last.response.clone(),
        decoded.unwrap_or_default(),
        format!("{:?}", ruling.answer(FailureAction::Deny)),
        format!("{:?}", ruling.learned),
    ];
    let half = key.get(..key.len() / 2).unwrap();
    for text in &texts {
        for spelling in [half.to_owned(), escaped(half), escaped_twice(half)] {
            assert!(!text.contains(&spelling), "{place}: {spelling} in {text}");
        }
    }
    assert!(last.response.contains("[key]"), "{place}: {}", last.response);
}

#[test]
fn a_key_in_a_complaint_shows_in_no_spelling() {
    for key in KEYS {
        for spelled in [key.to_owned(), escaped(key), escaped_twice(key)] {
            let body = format!(r#"{{"error": {{"message": "not yours: {spelled} it is"}}}}"#);
            let ruling = ask(ModelProvider::Anthropic, key, 400, body.as_bytes(), VerdictShape::Block);
            check_hidden(&ruling, key, &spelled);
            let ClassifierVerdict::Failed(fault) = &ruling.outcome else { panic!("{}", told(&ruling)) };
            assert!(fault.message.ends_with("not yours: [key] it is"), "{}", fault.message);
        }
    }
}

#[test]
fn a_key_that_a_long_complaint_would_cut_leaves_no_part_of_itself() {
    for key in KEYS {
        let filling = "x".repeat(170);
        let body = format!(r#"{{"error": {{"message": "{filling} {}"}}}}"#, escaped(key));
        let ruling = ask(ModelProvider::Anthropic, key, 400, body.as_bytes(), VerdictShape::Block);
        check_hidden(&ruling, key, &body);
        assert!(!format!("{ruling:?}").contains(key.get(..4).unwrap()), "{ruling:?}");
    }
}

#[test]
fn a_key_beside_bytes_that_are_no_text_does_not_show() {
    for key in KEYS {
        for spelled in [key.to_owned(), escaped(key)] {
            let mut body = format!(r#"{{"error": {{"message": "{spelled}"#).into_bytes();
            body.push(0xff);
            body.extend(br#""}}"#);
            for status in [200, 400, 401] {
                let ruling = ask(ModelProvider::Anthropic, key, status, &body, VerdictShape::Block);
                check_hidden(&ruling, key, &spelled);
                assert!(told(&ruling).starts_with("failed"), "{}", told(&ruling));
            }
        }
    }
}

#[test]
fn a_key_in_the_reason_of_a_block_shows_in_no_spelling() {
    for key in KEYS {
        for spelled in [key.to_owned(), escaped(key)] {
            let text = format!("<block>yes</block><reason>it sends {spelled} away</reason>");
            let body = format!(
                r#"{{"type": "message", "stop_reason": "end_turn", "content": [{{"type": "text", "text": "{text}"}}]}}"#
            );
            let ruling = ask(ModelProvider::Anthropic, key, 200, body.as_bytes(), VerdictShape::Block);
            check_hidden(&ruling, key, &spelled);
            let ClassifierVerdict::Block { reason, .. } = &ruling.outcome else {
                panic!("{}", told(&ruling))
            };
            assert_eq!(reason, "it sends [key] away");
        }
    }
}

#[test]
fn a_key_in_json_within_json_shows_in_no_spelling() {
    for key in KEYS {
        for spelled in [key.to_owned(), escaped(key), escaped_twice(key)] {
            let fields = [
                r#"\"thinking\": \"t\", \"should_block\": true, \"category\": \"\""#,
                &format!(r#"\"reason\": \"it sends {spelled} away\""#),
            ];
            let body = format!(
                r#"{{"status": "completed", "output": [{{"type": "message", "content":
                    [{{"type": "output_text", "text": "{{{}}}"}}]}}]}}"#,
                fields.join(", ")
            );
            let ruling = ask(ModelProvider::OpenAi, key, 200, body.as_bytes(), VerdictShape::Schema);
            check_hidden(&ruling, key, &spelled);
            let ClassifierVerdict::Block { reason, .. } = &ruling.outcome else {
                panic!("{}", told(&ruling))
            };
            assert_eq!(reason, "it sends [key] away");
        }
    }
}

#[test]
fn a_parameter_called_like_the_key_is_not_remembered() {
    for key in KEYS {
        let body = format!(
            r#"{{"error": {{"message": "not supported: {0}", "param": "{0}", "code": "unsupported_parameter"}}}}"#,
            escaped(key)
        );
        let ruling = ask(ModelProvider::Chat, key, 400, body.as_bytes(), VerdictShape::Block);
        check_hidden(&ruling, key, &body);
        assert_eq!(ruling.learned, []);
    }
}
