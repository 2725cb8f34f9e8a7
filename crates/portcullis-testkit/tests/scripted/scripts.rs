//! Which answer a request gets, and what is kept of it.

use std::collections::BTreeSet;
use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_testkit::{
    ModelScript, RequestMatch, RequestedStage, ScriptedAnswer, ScriptedServer, ScriptedVerdict, WireProtocol,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::client::{
    ACTION, Form, ask, connect, path, post, post_bytes, request, request_about, serve, text_of,
};

fn say(server: &ScriptedServer, wire: WireProtocol, form: Form, action: &str) -> String {
    text_of(wire, &post(server, path(wire), &request_about(wire, form, action)).json())
}

#[test]
fn steps_are_used_in_order_and_then_the_last_repeats() {
    let server = serve(&json!([{"say": "1"}, {"say": "2"}]));
    let said = [0; 4].map(|_| text_of(WireProtocol::Chat, &ask(&server, WireProtocol::Chat, Form::Block)));
    assert_eq!(said, ["1", "2", "2", "2"]);
}

#[test]
fn rules_come_first_and_use_up_no_step() {
    let server = serve(&json!({
        "rules": [
            {"when": {"action": "<block>"}, "answer": {"say": "decoded"}},
            {"when": {"action": "{\"Bash\":\"quoted"}, "answer": {"say": "quoted"}},
            {"when": {"stage": "thinking"}, "answer": {"say": "second look"}},
            {"when": {"wire": "ollama", "path": "/api/", "model": "some"}, "answer": {"say": "wire"}},
            {"when": {"wire": "gemini", "model": "another"}, "answer": {"say": "not this"}},
            {"when": {"header": {"X-Api-Key": "secret"}, "text": "in a system prompt"}, "answer": {"say": "not this"}},
            {"when": {"header": {"X-Api-Key": "secret"}, "wire": "gemini", "text": "system prompt"}, "answer": {"say": "header"}},
        ],
        "steps": [{"say": "step 1"}, {"say": "step 2"}],
        "default": {"say": "default"},
    }));
    assert_eq!(say(&server, WireProtocol::Chat, Form::Block, ACTION), "decoded");
    assert_eq!(say(&server, WireProtocol::Chat, Form::Block, "{\"Bash\":\"quoted\"}"), "quoted");
    let other = "{\"Bash\":\"ls\"}";
    assert_eq!(say(&server, WireProtocol::Chat, Form::Thinking, other), "second look");
    assert_eq!(say(&server, WireProtocol::Chat, Form::Block, other), "step 1");
    assert_eq!(say(&server, WireProtocol::Ollama, Form::Block, other), "wire");
    assert_eq!(say(&server, WireProtocol::Gemini, Form::Block, other), "header");
    assert_eq!(say(&server, WireProtocol::Chat, Form::Block, other), "step 2");
    assert_eq!(say(&server, WireProtocol::Chat, Form::Block, other), "default");
}

#[test]
fn a_request_no_rule_fits_is_refused_in_the_shape_of_its_wire() {
    let script = ModelScript::default().with_rule(
        RequestMatch { stage: Some(RequestedStage::Thinking), ..RequestMatch::default() },
        ScriptedAnswer::Verdict(ScriptedVerdict::allow()),
    );
    let server = ScriptedServer::start(script);
    let got = post(&server, path(WireProtocol::Anthropic), &request(WireProtocol::Anthropic, Form::Block));
    assert_eq!((got.status, &got.json()["type"]), (400, &json!("error")));
}

#[test]
fn a_judge_by_words_looks_at_the_action_and_nothing_else() {
    let server = serve(&json!([{"judge": {"block_if": ["RM -rf", "--force"], "category": "Words"}}]));
    let text = |action: &str| say(&server, WireProtocol::Anthropic, Form::Thinking, action);
    let blocked = text(ACTION);
    assert!(
        blocked.ends_with(
            "<block>yes</block><category>Words</category><reason>the action contains `RM -rf`</reason>"
        ),
        "{blocked}"
    );
    assert!(text("{\"Bash\":\"git push --force\"}").contains("<block>yes</block>"));
    assert!(text("{\"Bash\":\"git push\"}").ends_with("<block>no</block>"));
    let early = "{\"Bash\":\"rm -rf x\"}\n{\"Bash\":\"ls\"}";
    assert!(text(early).ends_with("<block>no</block>"));
}

#[test]
fn requests_are_kept_with_everything_in_the_order_they_came() {
    let server = serve(&json!([{"allow": true}]));
    let body = request(WireProtocol::Anthropic, Form::Tool);
    post(&server, "/prefix/v1/messages?beta=true", &body);
    post(&server, "/nowhere", &json!("text"));
    let requests = server.requests();
    let [first, second] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((first.number, first.method.as_str()), (0, "POST"));
    assert_eq!(first.path, "/prefix/v1/messages?beta=true");
    assert_eq!(first.header("X-API-Key"), Some("secret-key"));
    assert_eq!(first.body, body.to_string().into_bytes());
    assert_eq!(first.json, Some(body));
    let inquiry = first.inquiry().unwrap();
    assert_eq!((inquiry.action(), inquiry.model.as_str()), (ACTION, "some-model"));
    assert_eq!((second.number, second.wire()), (1, None));
}

#[test]
fn a_request_counts_before_it_is_answered() {
    let server = serve(&json!([{"allow": true, "delay_ms": 600_000}]));
    let mut stream = connect(server.address());
    let bytes = post_bytes(path(WireProtocol::Chat), &request(WireProtocol::Chat, Form::Block), "close");
    std::io::Write::write_all(&mut stream, &bytes).unwrap();
    assert!(server.wait_for_requests(1));
    // Dropping the server ends the wait, and the client sees the end.
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_mins(1));
    let mut rest = Vec::new();
    assert_eq!(stream.read_to_end(&mut rest).unwrap_or(0), 0);
}

#[test]
fn a_delay_comes_before_the_answer() {
    let server = serve(&json!([{"allow": true, "delay_ms": 150}]));
    let start = Instant::now();
    ask(&server, WireProtocol::Chat, Form::Block);
    assert!(start.elapsed() >= Duration::from_millis(150));
}

#[test]
fn twenty_clients_at_once_each_get_a_step_of_their_own() {
    let steps: Vec<Value> = (0..200).map(|number| json!({"say": format!("answer {number}")})).collect();
    let server = serve(&json!(steps));
    let said: Vec<String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..20)
            .map(|client| {
                let server = &server;
                scope.spawn(move || {
                    let action = format!("{{\"Bash\":\"client {client}\"}}");
                    (0..10)
                        .map(|_| say(server, WireProtocol::Anthropic, Form::Block, &action))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(said.iter().collect::<BTreeSet<_>>().len(), 200);
    let requests = server.requests();
    assert_eq!(requests.len(), 200);
    assert!(requests.iter().enumerate().all(|(index, request)| request.number == index));
    for client in 0..20 {
        let own = format!("client {client}\\\"");
        let count = requests.iter().filter(|request| String::from_utf8_lossy(&request.body).contains(&own));
        assert_eq!(count.count(), 10);
    }
}
