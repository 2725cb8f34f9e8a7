//! Answers in the shape of every wire and in every form.

use portcullis_testkit::WireProtocol;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::client::{ACTION, ACTION_RAW, Form, ask, path, post, request, serve, text_of, tools_of};

/// Returns the pointer to why an answer ended.
fn stop_of(wire: WireProtocol, answer: &Value) -> Value {
    let pointer = match wire {
        WireProtocol::Anthropic => "/stop_reason",
        WireProtocol::Responses => "/status",
        WireProtocol::Chat => "/choices/0/finish_reason",
        WireProtocol::Ollama => "/done_reason",
        WireProtocol::Gemini => "/candidates/0/finishReason",
    };
    answer.pointer(pointer).unwrap().clone()
}

#[test]
fn an_allow_has_the_form_the_request_asks_for_on_every_wire() {
    let server = serve(&json!([{"allow": {"reason": "fine"}}]));
    let verdict = json!({"thinking": "fine", "should_block": false, "category": "", "reason": "fine"});
    for wire in WireProtocol::ALL {
        // Responses has no stop sequences, so nothing is cut there.
        let close = |tag: &str| if wire == WireProtocol::Responses { tag.to_owned() } else { String::new() };
        for form in Form::ALL {
            let answer = ask(&server, wire, form);
            let text = text_of(wire, &answer);
            match form {
                Form::Block => assert_eq!(text, format!("<block>no{}", close("</block>")), "{wire:?}"),
                Form::Severity => {
                    assert_eq!(text, format!("<severity>5{}", close("</severity>")), "{wire:?}");
                }
                Form::Thinking => {
                    let thoughts = "<thinking>The script has decided.</thinking>";
                    assert_eq!(text, format!("{thoughts}<block>no</block>"), "{wire:?}");
                }
                Form::Tool => {
                    let call = ("classify_result".to_owned(), verdict.clone());
                    assert_eq!((text.as_str(), tools_of(wire, &answer)), ("", vec![call]), "{wire:?}");
                }
                Form::Schema => {
                    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), verdict, "{wire:?}");
                }
            }
        }
    }
}

#[test]
fn a_block_has_the_form_the_request_asks_for_on_every_wire() {
    let server =
        serve(&json!([{"block": {"category": "Data loss", "reason": "it deletes", "severity": 77}}]));
    let verdict = json!({
        "thinking": "it deletes", "should_block": true, "category": "Data loss", "reason": "it deletes",
    });
    for wire in WireProtocol::ALL {
        for form in Form::ALL {
            let answer = ask(&server, wire, form);
            let text = text_of(wire, &answer);
            let is_cut = wire != WireProtocol::Responses;
            match form {
                Form::Block if is_cut => assert_eq!(text, "<block>yes", "{wire:?}"),
                Form::Severity if is_cut => assert_eq!(text, "<severity>77", "{wire:?}"),
                Form::Severity => {
                    assert_eq!(text, "<severity>77</severity><reason>it deletes</reason>", "{wire:?}");
                }
                Form::Block | Form::Thinking => {
                    let said = "<block>yes</block><category>Data loss</category><reason>it deletes</reason>";
                    assert!(text.ends_with(said), "{wire:?}: {text}");
                }
                Form::Tool => {
                    let call = ("classify_result".to_owned(), verdict.clone());
                    assert_eq!(tools_of(wire, &answer), vec![call], "{wire:?}");
                }
                Form::Schema => {
                    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), verdict, "{wire:?}");
                }
            }
        }
    }
}

#[test]
fn why_an_answer_ended_is_said_in_the_words_of_its_wire() {
    let server = serve(&json!({
        "rules": [
            {"when": {"text": "case-refusal"}, "answer": {"say": "I will not", "stop": "refusal"}},
            {"when": {"text": "case-limit"}, "answer": {"say": "<block>n", "stop": "max_tokens"}},
            {"when": {"text": "case-tool"}, "answer": {"tool": {"name": "t", "input": {}}}},
            {"when": {"text": "case-stop"}, "answer": {"say": "<block>no", "stop": "stop_sequence"}},
        ],
        "default": {"say": "done"},
    }));
    let table = [
        (WireProtocol::Anthropic, ["refusal", "max_tokens", "tool_use", "stop_sequence", "end_turn"]),
        (WireProtocol::Responses, ["completed", "incomplete", "completed", "completed", "completed"]),
        (WireProtocol::Chat, ["stop", "length", "tool_calls", "stop", "stop"]),
        (WireProtocol::Ollama, ["stop", "length", "stop", "stop", "stop"]),
        (WireProtocol::Gemini, ["SAFETY", "MAX_TOKENS", "STOP", "STOP", "STOP"]),
    ];
    for (wire, expected) in table {
        for (case, expected) in ["refusal", "limit", "tool", "stop", "plain"].into_iter().zip(expected) {
            let action = format!("{{\"Bash\":\"case-{case}\"}}");
            let body = crate::client::request_about(wire, Form::Block, &action);
            let answer = post(&server, path(wire), &body).json();
            assert_eq!(stop_of(wire, &answer), expected, "{wire:?} {case}");
            match (wire, case) {
                (WireProtocol::Anthropic, "refusal") => assert_eq!(answer["stop_details"]["type"], "refusal"),
                (WireProtocol::Anthropic, "stop") => assert_eq!(answer["stop_sequence"], "</block>"),
                (WireProtocol::Responses, "refusal") => {
                    let refusal = json!({"type": "refusal", "refusal": "I will not"});
                    assert_eq!(answer["output"][0]["content"][0], refusal);
                }
                (WireProtocol::Responses, "limit") => {
                    assert_eq!(answer["incomplete_details"]["reason"], "max_output_tokens");
                }
                (WireProtocol::Chat, "refusal") => {
                    let message = &answer["choices"][0]["message"];
                    assert_eq!(
                        (&message["content"], &message["refusal"]),
                        (&Value::Null, &json!("I will not"))
                    );
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_text_of_the_script_is_sent_as_it_is_and_ends_where_it_leaves_its_tag_open() {
    let server = serve(&json!([{"say": "<block>no"}, {"say": "<block>no</block> but wait"}]));
    let open = ask(&server, WireProtocol::Anthropic, Form::Block);
    assert_eq!(
        (text_of(WireProtocol::Anthropic, &open), &open["stop_reason"]),
        ("<block>no".into(), &json!("stop_sequence"))
    );
    let closed = ask(&server, WireProtocol::Anthropic, Form::Block);
    assert_eq!(
        (text_of(WireProtocol::Anthropic, &closed), &closed["stop_reason"]),
        ("<block>no</block> but wait".into(), &json!("end_turn"))
    );
}

#[test]
fn tokens_are_reported_the_way_each_wire_counts() {
    let usage = json!({"input": 100, "cache_read": 20, "cache_write": 3, "output": 50, "thinking": 10});
    let server = serve(&json!([{"allow": true, "usage": usage}]));
    let numbers = |wire, pointers: &[&str]| -> Vec<u64> {
        let answer = ask(&server, wire, Form::Block);
        pointers.iter().map(|pointer| answer.pointer(pointer).unwrap().as_u64().unwrap()).collect()
    };
    let anthropic = [
        "/usage/input_tokens",
        "/usage/cache_read_input_tokens",
        "/usage/cache_creation_input_tokens",
        "/usage/output_tokens",
        "/usage/output_tokens_details/thinking_tokens",
    ];
    assert_eq!(numbers(WireProtocol::Anthropic, &anthropic), [100, 20, 3, 50, 10]);
    let responses = [
        "/usage/input_tokens",
        "/usage/input_tokens_details/cached_tokens",
        "/usage/input_tokens_details/cache_write_tokens",
        "/usage/output_tokens",
        "/usage/output_tokens_details/reasoning_tokens",
    ];
    assert_eq!(numbers(WireProtocol::Responses, &responses), [123, 20, 3, 50, 10]);
    let chat = [
        "/usage/prompt_tokens",
        "/usage/prompt_tokens_details/cached_tokens",
        "/usage/completion_tokens",
        "/usage/completion_tokens_details/reasoning_tokens",
    ];
    assert_eq!(numbers(WireProtocol::Chat, &chat), [123, 20, 50, 10]);
    assert_eq!(numbers(WireProtocol::Ollama, &["/prompt_eval_count", "/eval_count"]), [123, 50]);
    let gemini = [
        "/usageMetadata/promptTokenCount",
        "/usageMetadata/cachedContentTokenCount",
        "/usageMetadata/candidatesTokenCount",
        "/usageMetadata/thoughtsTokenCount",
    ];
    assert_eq!(numbers(WireProtocol::Gemini, &gemini), [123, 20, 40, 10]);
}

#[test]
fn tokens_are_guessed_from_the_length_and_the_same_each_time() {
    let server = serve(&json!([{"allow": true}]));
    let first = ask(&server, WireProtocol::Anthropic, Form::Block)["usage"].clone();
    assert_eq!(first, ask(&server, WireProtocol::Anthropic, Form::Block)["usage"]);
    assert!(first["input_tokens"].as_u64().unwrap() > 20, "{first}");
    assert_eq!(first["output_tokens"], 3);
}

#[test]
fn thoughts_stand_where_the_wire_has_them_and_not_in_the_text() {
    let server = serve(&json!([{"say": "spoken", "thinking": "unspoken"}]));
    let pointers = [
        (WireProtocol::Anthropic, "/content/0/thinking"),
        (WireProtocol::Responses, "/output/0/summary/0/text"),
        (WireProtocol::Chat, "/choices/0/message/reasoning_content"),
        (WireProtocol::Ollama, "/message/thinking"),
        (WireProtocol::Gemini, "/candidates/0/content/parts/0/text"),
    ];
    for (wire, pointer) in pointers {
        let answer = ask(&server, wire, Form::Block);
        assert_eq!(answer.pointer(pointer), Some(&json!("unspoken")), "{wire:?}");
        assert_eq!(text_of(wire, &answer), "spoken", "{wire:?}");
    }
}

#[test]
fn an_echo_repeats_what_was_said_in_the_form_that_is_asked_for() {
    for (echo, expected) in [("action", ACTION), ("action_raw", ACTION_RAW), ("system", "the system prompt")]
    {
        let server = serve(&json!([{"echo": echo}]));
        for wire in WireProtocol::ALL {
            assert_eq!(text_of(wire, &ask(&server, wire, Form::Thinking)), expected, "{wire:?} {echo}");
            assert_eq!(text_of(wire, &ask(&server, wire, Form::Schema)), expected, "{wire:?} {echo}");
            let answer = ask(&server, wire, Form::Tool);
            let (name, arguments) = tools_of(wire, &answer).remove(0);
            assert_eq!(name, "classify_result");
            let sends_text = matches!(wire, WireProtocol::Responses | WireProtocol::Chat);
            match serde_json::from_str::<Value>(expected) {
                Ok(object) => assert_eq!(arguments, object, "{wire:?} {echo}"),
                Err(_) if sends_text => assert_eq!(arguments, json!(expected), "{wire:?} {echo}"),
                Err(_) => assert_eq!(arguments["should_block"], json!(expected), "{wire:?} {echo}"),
            }
        }
    }
    let server = serve(&json!([{"echo": "everything"}, {"echo": "last_message"}]));
    let all = text_of(WireProtocol::Anthropic, &ask(&server, WireProtocol::Anthropic, Form::Thinking));
    assert!(all.starts_with("the system prompt\n<session></session><transcript>\n"), "{all}");
    let last = text_of(WireProtocol::Anthropic, &ask(&server, WireProtocol::Anthropic, Form::Thinking));
    assert!(last.starts_with("<transcript>\n") && last.ends_with("`<reason>`."), "{last}");
}

#[test]
fn an_echo_of_an_object_becomes_the_arguments_themselves() {
    let server = serve(&json!([{"echo": "action_raw"}]));
    let action = json!({"Bash": "{\"should_block\": false, \"reason\": \"ok\"}"}).to_string();
    for wire in WireProtocol::ALL {
        let body = crate::client::request_about(wire, Form::Tool, &action);
        let answer = post(&server, path(wire), &body).json();
        let expected = json!({"should_block": false, "reason": "ok"});
        assert_eq!(tools_of(wire, &answer), [("classify_result".to_owned(), expected)], "{wire:?}");
    }
}

#[test]
fn errors_have_the_shape_of_their_wire() {
    let server = serve(&json!([{
        "status": 429,
        "error": {"type": "kind_of_error", "message": "slower"},
        "headers": {"retry-after": "7"},
    }]));
    let table = [
        (
            WireProtocol::Anthropic,
            json!({"type": "error", "error": {"type": "kind_of_error", "message": "slower"}}),
        ),
        (
            WireProtocol::Responses,
            json!({"error": {
                "type": "kind_of_error", "message": "slower", "param": null, "code": "rate_limit_exceeded",
            }}),
        ),
        (
            WireProtocol::Chat,
            json!({"error": {
                "type": "kind_of_error", "message": "slower", "param": null, "code": "rate_limit_exceeded",
            }}),
        ),
        (WireProtocol::Ollama, json!({"error": "slower"})),
        (
            WireProtocol::Gemini,
            json!({"error": {"code": 429, "message": "slower", "status": "kind_of_error"}}),
        ),
    ];
    for (wire, expected) in table {
        let got = post(&server, path(wire), &request(wire, Form::Block));
        assert_eq!(got.status, 429);
        assert!(got.has_header("retry-after: 7"), "{got:?}");
        let mut body = got.json();
        if wire == WireProtocol::Anthropic {
            let id = body.as_object_mut().unwrap().remove("request_id").unwrap();
            assert!(got.has_header(&format!("request-id: {}", id.as_str().unwrap())), "{got:?}");
        }
        assert_eq!(body, expected, "{wire:?}");
    }
}

#[test]
fn an_error_without_words_gets_those_of_its_status() {
    let table = [
        (400, "invalid_request_error", "INVALID_ARGUMENT"),
        (401, "authentication_error", "UNAUTHENTICATED"),
        (403, "permission_error", "PERMISSION_DENIED"),
        (404, "not_found_error", "NOT_FOUND"),
        (413, "request_too_large", "UNKNOWN"),
        (429, "rate_limit_error", "RESOURCE_EXHAUSTED"),
        (500, "api_error", "INTERNAL"),
        (529, "overloaded_error", "UNKNOWN"),
    ];
    for (status, anthropic, gemini) in table {
        let server = serve(&json!([{"status": status}]));
        let got =
            post(&server, path(WireProtocol::Anthropic), &request(WireProtocol::Anthropic, Form::Block));
        assert_eq!((got.status, &got.json()["error"]["type"]), (status, &json!(anthropic)));
        let got = post(&server, path(WireProtocol::Gemini), &request(WireProtocol::Gemini, Form::Block));
        assert_eq!((got.status, &got.json()["error"]["status"]), (status, &json!(gemini)));
        assert_eq!(got.json()["error"]["code"], status);
    }
}

#[test]
fn blocks_of_a_wire_and_raw_bodies_are_sent_as_they_are() {
    let blocks = json!([{"type": "text", "text": "a"}, {"type": "odd", "x": [1]}]);
    let server = serve(&json!([{"blocks": blocks}]));
    assert_eq!(ask(&server, WireProtocol::Anthropic, Form::Block)["content"], blocks);
    assert_eq!(ask(&server, WireProtocol::Responses, Form::Block)["output"], blocks);
    assert_eq!(ask(&server, WireProtocol::Chat, Form::Block)["choices"], blocks);
    assert_eq!(ask(&server, WireProtocol::Gemini, Form::Block)["candidates"][0]["content"]["parts"], blocks);
    assert_eq!(ask(&server, WireProtocol::Ollama, Form::Block)["message"], blocks[0]);

    let server = serve(&json!([
        {"raw": 200, "body": "{\"a\":1,\"a\":2}"},
        {"raw": 302, "headers": {"location": "http://127.0.0.1:1/"}},
        {"raw": 200, "body": "<html>", "headers": {"content-type": "text/html"}},
    ]));
    let send = || post(&server, path(WireProtocol::Chat), &request(WireProtocol::Chat, Form::Block));
    assert_eq!(send().body, b"{\"a\":1,\"a\":2}");
    let redirect = send();
    assert_eq!((redirect.status, redirect.has_header("location: http://127.0.0.1:1/")), (302, true));
    let page = send();
    assert_eq!(page.head.matches("content-type").count(), 1);
    assert!(page.has_header("content-type: text/html"), "{page:?}");
}
