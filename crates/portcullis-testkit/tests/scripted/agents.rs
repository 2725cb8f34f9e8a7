//! The server that plays the model of a whole agent.

use portcullis_testkit::{AgentCall, AgentScript, AgentServer, AgentTurn, AskingAgent, WireProtocol};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::client::{Got, exchange, path, post_bytes, text_of, tools_of};

/// The wires that agents speak.
const WIRES: [WireProtocol; 4] =
    [WireProtocol::Anthropic, WireProtocol::Responses, WireProtocol::Chat, WireProtocol::Gemini];

const MARK: &str = "SUBAGENT";

fn start() -> AgentServer {
    let call = |label| AgentTurn::call(AgentCall::new(label, "shell", json!({"command": label})));
    let script = AgentScript::new(vec![call("first"), call("second"), AgentTurn::say("bye")]);
    AgentServer::start(script.with_subagent(MARK, vec![call("part")])).unwrap()
}

fn ask(server: &AgentServer, path: &str, body: &Value) -> Got {
    Got::of(&exchange(server.address(), &post_bytes(path, body, "close")))
}

/// Makes the request of an agent that was asked something and has had these results.
fn conversation(wire: WireProtocol, asked: &str, results: &[&str]) -> Value {
    let id = |label: &str| format!("scripted_{label}_0");
    let (list, tools) = match wire {
        WireProtocol::Responses => ("input", json!([{"type": "function", "name": "shell"}])),
        WireProtocol::Gemini => ("contents", json!([{"functionDeclarations": [{"name": "shell"}]}])),
        _ => ("messages", json!([{"name": "shell"}])),
    };
    let said = match wire {
        WireProtocol::Gemini => json!({"role": "user", "parts": [{"text": asked}]}),
        _ => json!({"role": "user", "content": [{"type": "text", "text": asked}]}),
    };
    let told = results.iter().map(|label| match wire {
        WireProtocol::Responses => {
            json!({"type": "function_call_output", "call_id": id(label), "output": {"text": "told"}})
        }
        WireProtocol::Gemini => {
            let response = json!({"id": id(label), "name": "shell", "response": {"output": "told"}});
            json!({"role": "user", "parts": [{"functionResponse": response}]})
        }
        WireProtocol::Chat => json!({"role": "tool", "tool_call_id": id(label), "content": "told"}),
        _ => {
            let result =
                json!({"type": "tool_result", "tool_use_id": id(label), "content": [{"text": "told"}]});
            json!({"role": "user", "content": [result]})
        }
    });
    let all: Vec<Value> = std::iter::once(said).chain(told).collect();
    json!({"model": "m", "tools": tools, list: all})
}

fn called(wire: WireProtocol, server: &AgentServer, asked: &str, results: &[&str]) -> Vec<String> {
    let answer = ask(server, path(wire), &conversation(wire, asked, results)).json();
    tools_of(wire, &answer)
        .into_iter()
        .map(|(_, input)| input["command"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn turns_follow_from_the_conversation_and_are_the_same_when_asked_twice() {
    for wire in WIRES {
        let server = start();
        for _ in 0..2 {
            assert_eq!(called(wire, &server, "do it", &[]), ["first"], "{wire:?}");
        }
        assert_eq!(called(wire, &server, "do it", &["first"]), ["second"], "{wire:?}");
        let end = ask(&server, path(wire), &conversation(wire, "do it", &["first", "second"])).json();
        assert_eq!(text_of(wire, &end), "bye", "{wire:?}");
    }
}

#[test]
fn a_subagent_has_turns_of_its_own() {
    for wire in WIRES {
        let server = start();
        assert_eq!(called(wire, &server, MARK, &[]), ["part"], "{wire:?}");
        assert_eq!(called(wire, &server, MARK, &["part"]), Vec::<String>::new(), "{wire:?}");
        let asking: Vec<_> = server.requests().iter().map(|request| server.asking(request)).collect();
        assert_eq!(asking, [Some(AskingAgent::Subagent); 2], "{wire:?}");
    }
}

#[test]
fn what_the_model_was_told_is_kept() {
    for wire in WIRES {
        let server = start();
        called(wire, &server, "do it", &["first"]);
        let told = server.told("first").unwrap_or_default();
        assert!(told.contains("told"), "{wire:?}: {told}");
        assert_eq!(server.told("second"), None, "{wire:?}");
    }
}

#[test]
fn a_request_without_tools_is_beside_the_work() {
    for wire in WIRES {
        let server = start();
        let mut request = conversation(wire, "a title please", &[]);
        request["tools"] = json!([]);
        let answer = ask(&server, path(wire), &request).json();
        assert_eq!((text_of(wire, &answer).as_str(), tools_of(wire, &answer).len()), ("ok", 0), "{wire:?}");
        assert_eq!(server.asking(&server.requests()[0]), Some(AskingAgent::Beside), "{wire:?}");
    }
}

#[test]
fn a_stream_says_the_same_as_the_whole_answer() {
    for wire in WIRES {
        let server = start();
        let mut request = conversation(wire, "do it", &[]);
        request["stream"] = json!(true);
        let path = path(wire).replace(":generateContent", ":streamGenerateContent?alt=sse");
        let got = ask(&server, &path, &request);
        assert!(got.has_header("content-type: text/event-stream"), "{got:?}");
        let text = String::from_utf8(got.body.clone()).unwrap();
        let events: Vec<Value> = text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        let all = json!(events).to_string();
        assert!(all.contains("scripted_first") && all.contains("shell"), "{wire:?}: {all}");
        let expected = match wire {
            WireProtocol::Anthropic => ("message_start", "message_stop"),
            WireProtocol::Responses => ("response.created", "response.completed"),
            _ => ("", ""),
        };
        let kind = |event: Option<&Value>| event.unwrap()["type"].as_str().unwrap_or_default().to_owned();
        assert_eq!((kind(events.first()).as_str(), kind(events.last()).as_str()), expected, "{wire:?}");
        assert_eq!(text.ends_with("data: [DONE]\n\n"), wire == WireProtocol::Chat, "{wire:?}");
    }
}

#[test]
fn what_clients_ask_beside_is_answered() {
    let server = start();
    let tokens = ask(&server, "/v1/messages/count_tokens", &json!({})).json();
    assert_eq!(tokens, json!({"input_tokens": 1}));
    assert_eq!(ask(&server, "/elsewhere", &json!({})).status, 404);
    let probe = b"HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let got = Got::of(&exchange(server.address(), probe));
    assert_eq!((got.status, got.body.len()), (200, 0), "{got:?}");
    let models = b"GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    assert_eq!(Got::of(&exchange(server.address(), models)).json()["data"], json!([]));
}
