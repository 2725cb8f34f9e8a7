//! What each provider may send back, good and hostile, and what is made of it.

use std::fmt::Write as _;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::{TokenUsage, answer};
use crate::fault::{FaultKind, RetryAdvice};
use crate::model::ModelProvider;

const NOTHING: Headers = &[];

type Headers = &'static [(&'static str, &'static str)];

/// Status, headers, body, and what is made of them.
type Failure = (u16, Headers, &'static str, &'static str);

fn ask(provider: ModelProvider, status: u16, headers: &[(&str, &str)], body: &[u8]) -> super::ModelResult {
    let mut headers: Vec<(String, String)> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    if !headers.iter().any(|(name, _)| name == "content-type") {
        headers.push(("Content-Type".to_owned(), "application/json; charset=utf-8".to_owned()));
    }
    answer(provider, status, &headers, body)
}

/// Writes what came of an answer in one line.
fn outcome(provider: ModelProvider, status: u16, headers: &[(&str, &str)], body: &str) -> String {
    match ask(provider, status, headers, body.as_bytes()) {
        Ok(reply) => {
            let mut line = format!("says {:?}", reply.text);
            if let Some((name, arguments)) = reply.tool {
                write!(line, " calls {name} {arguments}").unwrap();
            }
            line
        }
        Err(fault) => {
            assert!(fault.message.chars().count() <= 200, "{}", fault.message);
            assert!(fault.message.starts_with(provider.as_str()), "{}", fault.message);
            assert!(!fault.message.ends_with('.'), "{}", fault.message);
            match fault.retry {
                RetryAdvice::No => format!("{:?}", fault.kind),
                RetryAdvice::Backoff => format!("{:?}, again", fault.kind),
                RetryAdvice::After(wait) => format!("{:?}, again after {} ms", fault.kind, wait.as_millis()),
            }
        }
    }
}

fn check_bodies(provider: ModelProvider, rows: &[(&str, &str)]) {
    for (body, expected) in rows {
        assert_eq!(outcome(provider, 200, NOTHING, body), *expected, "{body}");
    }
}

fn check_failures(provider: ModelProvider, rows: &[Failure]) {
    for (status, headers, body, expected) in rows {
        assert_eq!(outcome(provider, *status, headers, body), *expected, "{status} {headers:?} {body}");
    }
}

const ANTHROPIC_ANSWERS: &[(&str, &str)] = &[
    (
        r#"{"type":"message","content":[{"type":"text","text":"<block>no"}],"stop_reason":"stop_sequence","stop_sequence":"</block>"}"#,
        r#"says "<block>no""#,
    ),
    (
        r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"end_turn"}"#,
        r#"says "<block>no</block>""#,
    ),
    (
        r#"{"content":[{"type":"thinking","thinking":""},{"type":"text","text":"a"},{"type":"text","text":" "}],"stop_reason":"end_turn"}"#,
        r#"says "a""#,
    ),
    (
        r#"{"content":[{"type":"text","text":"<block>n"},{"type":"text","text":"o</block>"}],"stop_reason":"end_turn"}"#,
        r#"says "<block>n\no</block>""#,
    ),
    (
        r#"{"content":[{"type":"text","text":"<block>no</block>"},{"type":"text","text":"<block>yes</block>"}],"stop_reason":"end_turn"}"#,
        r#"says "<block>no</block>\n<block>yes</block>""#,
    ),
    (
        r#"{"content":[{"type":"tool_use","id":"t","name":"classify_result","input":{"should_block":false}}],"stop_reason":"tool_use"}"#,
        r#"says "" calls classify_result {"should_block":false}"#,
    ),
    (
        r#"{"content":[{"type":"tool_use","name":"other","input":{}}],"stop_reason":"tool_use"}"#,
        r#"says "" calls other {}"#,
    ),
    // A verdict among the thoughts alone is none.
    (
        r#"{"content":[{"type":"thinking","thinking":"<block>no</block>","text":"<block>no</block>"}],"stop_reason":"end_turn"}"#,
        "Empty",
    ),
    (r#"{"content":[{"type":"redacted_thinking","data":"x"}],"stop_reason":"end_turn"}"#, "Empty"),
    (r#"{"content":[],"stop_reason":"end_turn"}"#, "Empty"),
    (r#"{"content":[{"type":"text","text":"  \n"}],"stop_reason":"end_turn"}"#, "Empty"),
    (r#"{"content":null,"stop_reason":"end_turn"}"#, "Malformed"),
    (r#"{"content":"<block>no</block>","stop_reason":"end_turn"}"#, "Malformed"),
    (r#"{"content":[{"text":"<block>no</block>"}],"stop_reason":"end_turn"}"#, "Malformed"),
    (r#"{"content":["<block>no</block>"],"stop_reason":"end_turn"}"#, "Malformed"),
    (r#"{"content":[{"type":"text","text":["<block>no</block>"]}],"stop_reason":"end_turn"}"#, "Malformed"),
    (r#"{"type":"completion","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#, "Malformed"),
    (
        r#"{"content":[{"type":"tool_use","name":"c","input":{}},{"type":"tool_use","name":"c","input":{}}],"stop_reason":"tool_use"}"#,
        "Ambiguous",
    ),
    (
        r#"{"content":[{"type":"tool_use","name":"c","input":"{\"should_block\":false}"}],"stop_reason":"tool_use"}"#,
        "Malformed",
    ),
    (r#"{"content":[{"type":"tool_use","name":"c"}],"stop_reason":"tool_use"}"#, "Malformed"),
    (r#"{"content":[{"type":"tool_use","input":{}}],"stop_reason":"tool_use"}"#, "Malformed"),
    (
        r#"{"content":[{"type":"tool_use","name":"c","input":{"should_block":true,"should_block":false}}],"stop_reason":"tool_use"}"#,
        "Malformed",
    ),
    (
        r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"refusal","stop_reason":"end_turn"}"#,
        "Malformed",
    ),
    (
        r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"refusal","stop_details":{"category":"cyber"}}"#,
        "Refused",
    ),
    (r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"max_tokens"}"#, "Truncated"),
    (
        r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"model_context_window_exceeded"}"#,
        "TooLong",
    ),
    (r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"pause_turn"}"#, "Malformed"),
    (r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":null}"#, "Malformed"),
    (
        r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"end_turn","usage":{"input_tokens":1e999}}"#,
        "Malformed",
    ),
    (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Overloaded, again"),
    (
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
        "TooLong",
    ),
    (r#"{"type":"error"}"#, "Server, again"),
    (r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"end_turn"} {}"#, "Malformed"),
    (r#"{"content":[{"type":"text","text":"<block>no</block>"}],"#, "Malformed"),
    (r#""<block>no</block>""#, "Malformed"),
    ("<block>no</block>", "Malformed"),
    ("", "Malformed"),
];

#[test]
fn answers_of_anthropic() {
    check_bodies(ModelProvider::Anthropic, ANTHROPIC_ANSWERS);
}

const LIMITED: &str = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Too many"}}"#;

const ANTHROPIC_FAILURES: &[Failure] = &[
    (
        400,
        NOTHING,
        r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        "TooLong",
    ),
    (400, NOTHING, r#"{"message":"Input is too long for requested model."}"#, "TooLong"),
    (400, NOTHING, r#"{"error":{"message":"capability_rejected: prompt_too_long"}}"#, "TooLong"),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"You have reached your specified API usage limits."}}"#,
        "SpendLimit",
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"Your credit balance is too low to access the API."}}"#,
        "SpendLimit",
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"\"thinking.type.disabled\" is not supported for this model"}}"#,
        r#"Unsupported("thinking.type.disabled")"#,
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"`temperature` is deprecated for this model."}}"#,
        r#"Unsupported("temperature")"#,
    ),
    (400, NOTHING, r#"{"error":{"message":"messages: at least one message is required"}}"#, "BadRequest"),
    (
        401,
        NOTHING,
        r#"{"error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
        "Unauthorized",
    ),
    (402, NOTHING, r#"{"error":{"type":"billing_error","message":"pay"}}"#, "SpendLimit"),
    (403, NOTHING, r#"{"error":{"type":"permission_error","message":"no"}}"#, "Forbidden"),
    (404, NOTHING, r#"{"error":{"type":"not_found_error","message":"model: x"}}"#, "NotFound"),
    (409, NOTHING, r#"{"error":{"type":"conflict_error","message":"x"}}"#, "Server, again"),
    (413, NOTHING, "<html>too large</html>", "TooLong"),
    (429, &[("retry-after", "7")], LIMITED, "RateLimited, again after 7000 ms"),
    (429, &[("retry-after", "900")], LIMITED, "RateLimited, again after 60000 ms"),
    (429, NOTHING, LIMITED, "RateLimited, again"),
    (429, &[("x-should-retry", "false")], LIMITED, "RateLimited"),
    (
        429,
        NOTHING,
        r#"{"error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
        "SpendLimit",
    ),
    (
        429,
        &[("retry-after", "7"), ("x-should-retry", "true")],
        r#"{"error":{"details":{"error_code":"enforced_spend_limit_reached"}}}"#,
        "SpendLimit",
    ),
    (500, NOTHING, r#"{"error":{"type":"api_error","message":"x"}}"#, "Server, again"),
    (502, NOTHING, "<html>", "Server, again"),
    (529, NOTHING, r#"{"error":{"type":"overloaded_error"}}"#, "Overloaded, again"),
    (
        200,
        &[("content-type", "text/html")],
        r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"end_turn"}"#,
        "Malformed",
    ),
    (200, &[("content-type", "text/event-stream")], "data: {}", "Malformed"),
    (
        201,
        NOTHING,
        r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"end_turn"}"#,
        "Malformed",
    ),
    (
        302,
        NOTHING,
        r#"{"content":[{"type":"text","text":"<block>no</block>"}],"stop_reason":"end_turn"}"#,
        "Malformed",
    ),
];

#[test]
fn failures_of_anthropic() {
    check_failures(ModelProvider::Anthropic, ANTHROPIC_FAILURES);
}

#[test]
fn answers_of_responses() {
    let output = |items: &str| format!(r#"{{"status":"completed","error":null,"output":[{items}]}}"#);
    let message = |text: &str| {
        json!({"type": "message", "status": "completed", "content": [{"type": "output_text", "text": text}]})
            .to_string()
    };
    let call = |arguments: &str| {
        json!({"type": "function_call", "name": "c", "arguments": arguments, "status": "completed"})
            .to_string()
    };
    let no = message("<block>no</block>");
    for (items, expected) in [
        (message("{}"), r#"says "{}""#),
        (format!(r#"{{"type":"reasoning","summary":[]}},{no}"#), r#"says "<block>no</block>""#),
        (format!("{},{no}", message("<block>yes</block>")), r#"says "<block>yes</block>\n<block>no</block>""#),
        (call(r#"{"should_block":false}"#), r#"says "" calls c {"should_block":false}"#),
        (r#"{"type":"reasoning","content":[{"type":"output_text","text":"<block>no</block>"}]}"#.to_owned(), "Empty"),
        (r#"{"type":"custom","text":"<block>no</block>"}"#.to_owned(), "Empty"),
        (String::new(), "Empty"),
        (message(" "), "Empty"),
        (call(r#"{"should_block":true,"should_block":false}"#), "Malformed"),
        (call("[false]"), "Malformed"),
        (call("{\"should_block\":fal"), "Malformed"),
        (call(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))), "Malformed"),
        (format!("{},{}", call("{}"), call("{}")), "Ambiguous"),
        (r#"{"type":"function_call","name":"c","arguments":{"should_block":false}}"#.to_owned(), "Malformed"),
        (r#"{"type":"function_call","arguments":"{}"}"#.to_owned(), "Malformed"),
        (r#"{"type":"function_call","name":"c","arguments":"{}","status":"incomplete"}"#.to_owned(), "Truncated"),
        (r#"{"type":"message","status":"in_progress","content":[{"type":"output_text","text":"a"}]}"#.to_owned(), "Truncated"),
        (r#"{"type":"message","content":[{"type":"output_text","text":"<block>no</block>"},{"type":"refusal","refusal":"x"}]}"#.to_owned(), "Refused"),
        (r#"{"type":"message","content":[{"type":"output_text","text":7}]}"#.to_owned(), "Malformed"),
        (r#"{"type":"message","content":[{"text":"<block>no</block>"}]}"#.to_owned(), "Malformed"),
        (r#"{"type":"message","content":"<block>no</block>"}"#.to_owned(), "Malformed"),
        (r#"{"type":"message","content":null}"#.to_owned(), "Empty"),
        (r#"{"content":[{"type":"output_text","text":"a"}]}"#.to_owned(), "Malformed"),
        ("null".to_owned(), "Malformed"),
    ] {
        let body = output(&items);
        assert_eq!(outcome(ModelProvider::OpenAi, 200, NOTHING, &body), expected, "{body:.300}");
    }
    for (head, expected) in [
        (r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#, "Truncated"),
        (r#""status":"incomplete","incomplete_details":{"reason":"content_filter"}"#, "Refused"),
        (r#""status":"incomplete""#, "Truncated"),
        (r#""status":"failed","error":{"code":"server_error","message":"x"}"#, "Server, again"),
        (r#""status":"failed","error":{"code":"rate_limit_exceeded","message":"x"}"#, "RateLimited, again"),
        (r#""status":"completed","error":{"code":"context_length_exceeded","message":"x"}"#, "TooLong"),
        (r#""status":"completed","error":"overloaded""#, "Server, again"),
        (r#""status":"failed""#, "Server"),
        (r#""status":"cancelled""#, "Server"),
        (r#""status":"queued""#, "Malformed"),
        (r#""status":7"#, "Malformed"),
        (r#""error":null"#, "Malformed"),
        (r#""status":"incomplete","status":"completed""#, "Malformed"),
    ] {
        let body = format!(r#"{{{head},"output":[{no}]}}"#);
        assert_eq!(outcome(ModelProvider::OpenAi, 200, NOTHING, &body), expected, "{body}");
    }
    check_bodies(ModelProvider::OpenAi, &[(r#"{"status":"completed"}"#, "Malformed"), ("[]", "Malformed")]);
}

const TOO_MANY: &str =
    r#"{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#;

const RESPONSES_FAILURES: &[Failure] = &[
    (
        400,
        NOTHING,
        r#"{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
        "TooLong",
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","param":"temperature","code":"unsupported_parameter"}}"#,
        r#"Unsupported("temperature")"#,
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"x","param":"reasoning.effort","code":"unsupported_value"}}"#,
        r#"Unsupported("reasoning.effort")"#,
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"x","param":"reasoning.effort","code":"unsupported_parameter"}}"#,
        r#"Unsupported("reasoning")"#,
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"Unknown parameter: 'prompt_cache_key'.","param":"prompt_cache_key","code":"unknown_parameter"}}"#,
        r#"Unsupported("prompt_cache_key")"#,
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"Invalid schema","param":"text.format.schema","code":"invalid_json_schema"}}"#,
        "BadRequest",
    ),
    (
        401,
        NOTHING,
        r#"{"error":{"message":"Incorrect API key provided: sk-proj-abc","code":"invalid_api_key"}}"#,
        "Unauthorized",
    ),
    (
        403,
        NOTHING,
        r#"{"error":{"message":"Country not supported","code":"unsupported_country"}}"#,
        "Forbidden",
    ),
    (404, NOTHING, r#"{"error":{"message":"no such model","code":"model_not_found"}}"#, "NotFound"),
    (
        429,
        NOTHING,
        r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        "SpendLimit",
    ),
    (429, &[("retry-after-ms", "1250")], TOO_MANY, "RateLimited, again after 1250 ms"),
    (429, &[("retry-after", "Sun, 15 Nov 2026 08:00:00 GMT")], TOO_MANY, "RateLimited, again"),
    (500, NOTHING, "", "Server, again"),
    (503, NOTHING, r#"{"error":{"message":"busy"}}"#, "Overloaded, again"),
    (500, &[("x-should-retry", "false")], "{}", "Server"),
];

#[test]
fn failures_of_responses() {
    check_failures(ModelProvider::OpenAi, RESPONSES_FAILURES);
}

const CHAT_ANSWERS: &[(&str, &str)] = &[
    (r#"{"choices":[]}"#, "Empty"),
    (r#"{"choices":null}"#, "Malformed"),
    (r#"{"choices":[{"message":{"content":"a"},"finish_reason":"length"}]}"#, "Truncated"),
    (r#"{"choices":[{"message":{"content":"a"},"finish_reason":"content_filter"}]}"#, "Refused"),
    (r#"{"choices":[{"message":{"content":"a"},"finish_reason":null}]}"#, "Malformed"),
    (r#"{"choices":[{"text":"<block>no</block>","finish_reason":"stop"}]}"#, "Malformed"),
    (
        r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"},{"message":{"content":"b"},"finish_reason":"stop"}]}"#,
        "Malformed",
    ),
    (
        r#"{"error":{"message":"down","code":503},"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#,
        "Overloaded, again",
    ),
];

const CHAT_FAILURES: &[Failure] = &[
    (
        400,
        NOTHING,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}"#,
        "TooLong",
    ),
    (
        400,
        NOTHING,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}"#,
        "TooLong",
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#,
        r#"Unsupported("max_tokens")"#,
    ),
    (402, NOTHING, r#"{"error":{"message":"Insufficient credits","code":402}}"#, "SpendLimit"),
    (404, NOTHING, r#"{"error":"model not found"}"#, "NotFound"),
    (422, NOTHING, r#"{"detail":[{"loc":["body"]}]}"#, "BadRequest"),
];

#[test]
fn answers_of_chat_servers() {
    let stop = |message: &str| format!(r#"{{"choices":[{{"message":{message},"finish_reason":"stop"}}]}}"#);
    for (message, expected) in [
        (r#"{"content":"{}","refusal":null}"#, r#"says "{}""#),
        (r#"{"content":"<think>hm</think>\n<block>no</block>"}"#, r#"says "\n<block>no</block>""#),
        (r#"{"content":[{"type":"text","text":"a"},{"type":"image_url"}]}"#, r#"says "a""#),
        (
            r#"{"content":null,"tool_calls":[{"function":{"name":"c","arguments":"{\"a\":1}"}}]}"#,
            r#"says "" calls c {"a":1}"#,
        ),
        (r#"{"content":null,"reasoning_content":"<block>no</block>"}"#, "Empty"),
        (r#"{"content":"<think><block>no</block>"}"#, "Empty"),
        (r#"{"content":"","tool_calls":[]}"#, "Empty"),
        (r#"{"content":null,"tool_calls":null}"#, "Empty"),
        (r#"{"content":"<block>no</block>","refusal":"I cannot"}"#, "Refused"),
        (r#"{"content":{"should_block":false}}"#, "Malformed"),
        (r#"{"content":false}"#, "Malformed"),
        (r#"{"content":["a"]}"#, "Malformed"),
        (r#"{"tool_calls":[{"function":{"name":"c","arguments":"[]"}}]}"#, "Malformed"),
        (r#"{"tool_calls":[{"function":{"name":"c","arguments":{"a":1}}}]}"#, "Malformed"),
        (r#"{"tool_calls":[{"function":{"name":"c","arguments":"{\"a\":1,\"a\":2}"}}]}"#, "Malformed"),
        (
            r#"{"tool_calls":[{"function":{"name":"c","arguments":"{}"}},{"function":{"name":"d","arguments":"{}"}}]}"#,
            "Ambiguous",
        ),
        (r#"{"content":"<block>no</block>","tool_calls":{"function":{}}}"#, "Malformed"),
        ("null", "Malformed"),
    ] {
        assert_eq!(outcome(ModelProvider::Chat, 200, NOTHING, &stop(message)), expected, "{message}");
    }
    check_bodies(ModelProvider::Chat, CHAT_ANSWERS);
    check_failures(ModelProvider::Chat, CHAT_FAILURES);
}

const OLLAMA_ANSWERS: &[(&str, &str)] = &[
    (
        r#"{"message":{"role":"assistant","content":"{\"a\":1}"},"done":true,"done_reason":"stop"}"#,
        r#"says "{\"a\":1}""#,
    ),
    (r#"{"message":{"content":"a"},"done":true}"#, r#"says "a""#),
    (
        r#"{"message":{"content":"","tool_calls":[{"function":{"name":"c","arguments":{"a":1}}}]},"done":true,"done_reason":"stop"}"#,
        r#"says "" calls c {"a":1}"#,
    ),
    (
        r#"{"message":{"content":"","thinking":"<block>no</block>"},"done":true,"done_reason":"stop"}"#,
        "Empty",
    ),
    (
        r#"{"message":{"content":"<think><block>no</block></think>"},"done":true,"done_reason":"stop"}"#,
        "Empty",
    ),
    (r#"{"message":{"content":"a"},"done":true,"done_reason":"length"}"#, "Truncated"),
    (r#"{"message":{"content":""},"done":true,"done_reason":"load"}"#, "Empty"),
    (r#"{"message":{"content":"a"},"done":true,"done_reason":null}"#, "Malformed"),
    (r#"{"message":{"content":"a"},"done":false}"#, "Malformed"),
    (r#"{"message":{"content":"a"}}"#, "Malformed"),
    (r#"{"message":"<block>no</block>","done":true}"#, "Malformed"),
    (r#"{"message":{"content":{"should_block":false}},"done":true}"#, "Malformed"),
    (r#"{"message":{"tool_calls":[{"function":{"name":"c","arguments":"{}"}}]},"done":true}"#, "Malformed"),
    (r#"{"message":{"tool_calls":[{"function":{"arguments":{}}}]},"done":true}"#, "Malformed"),
    (
        r#"{"message":{"tool_calls":[{"function":{"name":"c","arguments":{}}},{"function":{"name":"c","arguments":{}}}]},"done":true}"#,
        "Ambiguous",
    ),
    (
        "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"content\":\"b\"},\"done\":true}",
        "Malformed",
    ),
    (r#"{"error":"something broke"}"#, "Server, again"),
];

const OLLAMA_FAILURES: &[Failure] = &[
    (400, NOTHING, r#"{"error":"\"gemma3\" does not support thinking"}"#, r#"Unsupported("thinking")"#),
    (400, NOTHING, r#"{"error":"the input length exceeds the context length"}"#, "TooLong"),
    (404, NOTHING, r#"{"error":"model 'x' not found"}"#, "NotFound"),
    (500, NOTHING, r#"{"error":"llama runner process has terminated"}"#, "Server, again"),
    (503, NOTHING, r#"{"error":"server busy, please try again"}"#, "Overloaded, again"),
];

#[test]
fn answers_of_ollama() {
    check_bodies(ModelProvider::Ollama, OLLAMA_ANSWERS);
    check_failures(ModelProvider::Ollama, OLLAMA_FAILURES);
}

const GEMINI_ANSWERS: &[(&str, &str)] = &[
    (r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#, "Refused"),
    (r#"{"candidates":[]}"#, "Empty"),
    ("{}", "Empty"),
    (r#"{"candidates":[{},{}]}"#, "Malformed"),
    (r#"{"candidates":{}}"#, "Malformed"),
    (r#"{"candidates":[{"finishReason":"STOP"}]}"#, "Empty"),
    (r#"[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]"#, "Overloaded, again"),
];

const GEMINI_FAILURES: &[Failure] = &[
    (
        400,
        NOTHING,
        r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
        "Unauthorized",
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
        "TooLong",
    ),
    (
        400,
        NOTHING,
        r#"{"error":{"code":400,"message":"Thinking level MINIMAL is not supported for this model.","status":"INVALID_ARGUMENT"}}"#,
        r#"Unsupported("thinkingLevel")"#,
    ),
    (
        429,
        NOTHING,
        r#"{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34.5s"}]}}"#,
        "RateLimited, again after 34500 ms",
    ),
    (
        429,
        NOTHING,
        r#"{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"RequestsPerDayPerProject"}]}]}}"#,
        "RateLimited",
    ),
    (
        429,
        NOTHING,
        r#"{"error":{"code":429,"message":"Your project has exceeded its monthly spending cap.","status":"RESOURCE_EXHAUSTED"}}"#,
        "SpendLimit",
    ),
    (
        429,
        NOTHING,
        r#"{"error":{"details":[{"retryDelay":"-1s"},{"retryDelay":"infs"}]}}"#,
        "RateLimited, again",
    ),
];

#[test]
fn answers_of_gemini() {
    let stop = |parts: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":{parts}}},"finishReason":"STOP"}}]}}"#
        )
    };
    for (parts, expected) in [
        (r#"[{"text":"{}"}]"#, r#"says "{}""#),
        (
            r#"[{"text":"<block>no</block>","thought":true},{"text":"<block>yes</block>"}]"#,
            r#"says "<block>yes</block>""#,
        ),
        (
            r#"[{"functionCall":{"name":"c","args":{"a":1}},"thoughtSignature":"x"}]"#,
            r#"says "" calls c {"a":1}"#,
        ),
        (r#"[{"text":"<block>no</block>","thought":true}]"#, "Empty"),
        (r#"[{"text":"<block>no</block>","thought":"yes"}]"#, "Empty"),
        ("[]", "Empty"),
        ("null", "Empty"),
        (r#""<block>no</block>""#, "Malformed"),
        (r#"[{"text":null}]"#, "Malformed"),
        (r#"[{"functionCall":{"name":"c","args":"{}"}}]"#, "Malformed"),
        (r#"[{"functionCall":{"name":"c"}}]"#, "Malformed"),
        (r#"[{"functionCall":{"args":{}}}]"#, "Malformed"),
        (r#"[{"functionCall":{"name":"c","args":{}}},{"functionCall":{"name":"c","args":{}}}]"#, "Ambiguous"),
    ] {
        assert_eq!(outcome(ModelProvider::Gemini, 200, NOTHING, &stop(parts)), expected, "{parts}");
    }
    let text = r#""content":{"parts":[{"text":"<block>no</block>"}]}"#;
    for (head, expected) in [
        (r#""finishReason":"MAX_TOKENS""#, "Truncated"),
        (r#""finishReason":"SAFETY""#, "Refused"),
        (r#""finishReason":"OTHER""#, "Refused"),
        (r#""finishReason":"MALFORMED_FUNCTION_CALL""#, "Malformed"),
        (r#""index":0"#, "Malformed"),
    ] {
        let body = format!(r#"{{"candidates":[{{{text},{head}}}]}}"#);
        assert_eq!(outcome(ModelProvider::Gemini, 200, NOTHING, &body), expected, "{body}");
    }
    check_bodies(ModelProvider::Gemini, GEMINI_ANSWERS);
    check_failures(ModelProvider::Gemini, GEMINI_FAILURES);
}

#[test]
fn tokens_are_counted_alike_whatever_a_provider_includes() {
    let expected = TokenUsage { input: 70, cache_read: 20, cache_write: 10, output: 9 };
    for (provider, body, expected) in [
        (
            ModelProvider::Anthropic,
            json!({"content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn", "usage": {"input_tokens": 70, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 10, "output_tokens": 9}}),
            expected,
        ),
        (
            ModelProvider::OpenAi,
            json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}], "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 10}, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4}}}),
            expected,
        ),
        (
            ModelProvider::Chat,
            json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 10}, "completion_tokens": 9}}),
            expected,
        ),
        (
            ModelProvider::Ollama,
            json!({"message": {"content": "a"}, "done": true, "prompt_eval_count": 100, "eval_count": 9}),
            TokenUsage { input: 100, output: 9, ..TokenUsage::default() },
        ),
        (
            ModelProvider::Gemini,
            json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 90, "cachedContentTokenCount": 20, "candidatesTokenCount": 4, "thoughtsTokenCount": 5}}),
            TokenUsage { cache_write: 0, ..expected },
        ),
    ] {
        let reply = ask(provider, 200, NOTHING, body.to_string().as_bytes()).unwrap();
        assert_eq!(reply.usage, expected, "{provider}");
    }
}

#[test]
fn a_fault_still_tells_what_the_answer_cost() {
    for (provider, status, body) in [
        (
            ModelProvider::Anthropic,
            200,
            json!({"content": [], "stop_reason": "refusal", "usage": {"input_tokens": 5, "output_tokens": 1}}),
        ),
        (
            ModelProvider::Anthropic,
            200,
            json!({"type": "error", "error": {"type": "api_error"}, "usage": {"input_tokens": 5, "output_tokens": 1}}),
        ),
        (
            ModelProvider::OpenAi,
            200,
            json!({"status": "failed", "error": {"code": "server_error"}, "usage": {"input_tokens": 5, "output_tokens": 1}}),
        ),
        (
            ModelProvider::OpenAi,
            500,
            json!({"error": {"code": "server_error"}, "usage": {"input_tokens": 5, "output_tokens": 1}}),
        ),
        (
            ModelProvider::Chat,
            200,
            json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}),
        ),
        (
            ModelProvider::Ollama,
            200,
            json!({"message": {"content": ""}, "done": true, "prompt_eval_count": 5, "eval_count": 1}),
        ),
        (
            ModelProvider::Gemini,
            200,
            json!({"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1}}),
        ),
    ] {
        let fault = ask(provider, status, NOTHING, body.to_string().as_bytes()).unwrap_err();
        assert_eq!(
            fault.usage,
            TokenUsage { input: 5, output: 1, ..TokenUsage::default() },
            "{provider} {body}"
        );
    }
}

#[test]
fn absurd_counts_and_depths_do_no_harm() {
    let usage = json!({"input_tokens": 5, "input_tokens_details": {"cached_tokens": u64::MAX, "cache_write_tokens": u64::MAX}, "output_tokens": -3});
    let body = json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}], "usage": usage});
    let reply = ask(ModelProvider::OpenAi, 200, NOTHING, body.to_string().as_bytes()).unwrap();
    assert_eq!(reply.usage, TokenUsage { input: 0, cache_read: u64::MAX, cache_write: u64::MAX, output: 0 });
    for provider in ModelProvider::ALL {
        for status in [200, 400, 500] {
            let deep = format!("{}{}", "{\"error\":".repeat(100_000), "}".repeat(100_000));
            let fault = ask(provider, status, NOTHING, deep.as_bytes()).unwrap_err();
            assert_ne!(fault.kind, FaultKind::TooLong, "{provider}");
            for body in [&b"\xff\xfe"[..], b"{\"a\":\"\xff\"}", b"\xef\xbb\xbf{}", b"\0", b"null", b"0"] {
                assert!(ask(provider, status, NOTHING, body).is_err(), "{provider} {body:?}");
            }
        }
    }
}

#[test]
fn an_answer_without_a_content_type_is_read_for_what_it_is() {
    let body = br#"{"message":{"content":"a"},"done":true}"#;
    assert_eq!(answer(ModelProvider::Ollama, 200, &[], body).unwrap().text, "a");
    assert_eq!(answer(ModelProvider::Ollama, 200, &[], b"<html>").unwrap_err().kind, FaultKind::Malformed);
}

#[test]
fn no_part_of_an_answer_is_an_answer() {
    for (provider, body) in [
        (
            ModelProvider::Anthropic,
            json!({"content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn"}),
        ),
        (
            ModelProvider::OpenAi,
            json!({"status": "completed", "output": [{"type": "function_call", "name": "c", "arguments": "{}"}]}),
        ),
        (ModelProvider::Chat, json!({"choices": [{"finish_reason": "stop", "message": {"content": "a"}}]})),
        (ModelProvider::Ollama, json!({"done": true, "done_reason": "stop", "message": {"content": "a"}})),
        (
            ModelProvider::Gemini,
            json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "a"}]}}]}),
        ),
    ] {
        let body = body.to_string().into_bytes();
        assert!(ask(provider, 200, NOTHING, &body).is_ok(), "{provider}");
        for length in 0..body.len() {
            let fault = ask(provider, 200, NOTHING, &body[..length]).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Malformed, "{provider} {length}");
        }
        // Another provider's answer is none either, whatever it says.
        for other in ModelProvider::ALL.into_iter().filter(|other| *other != provider) {
            assert!(ask(other, 200, NOTHING, &body).is_err(), "{provider} read as {other}");
        }
    }
}
