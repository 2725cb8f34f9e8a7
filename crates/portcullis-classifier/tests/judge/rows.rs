//! The failure table: each row with what becomes of it, how often the server is asked, and who is to blame.

use std::time::Duration;

use portcullis_classifier::model::ModelProvider;
use portcullis_classifier::protocol::{JudgeStage, StagePlan};
use portcullis_classifier::transport::FaultKind;
use pretty_assertions::assert_eq;

use super::bench::{
    DeadPort, Fate, LONG, SHORT, check_fate, endpoint, endpoint_of, for_all, judge, judge_at, model_of, rule,
    serve, told,
};

/// What goes wrong, and what becomes of it.
struct Row {
    name: &'static str,
    script: &'static str,
    timeout: Duration,
    fate: Fate,
    says: &'static str,
    requests: usize,
}

fn failed(
    name: &'static str,
    script: &'static str,
    kind: FaultKind,
    says: &'static str,
    requests: usize,
) -> Row {
    Row { name, script, timeout: LONG, fate: Fate::Failed(kind), says, requests }
}

/// A server that never ends its answer.
fn endless(name: &'static str, script: &'static str) -> Row {
    let fate = Fate::Failed(FaultKind::Timeout);
    Row { name, script, timeout: SHORT, fate, says: "timed out: no answer", requests: 1 }
}

/// An answer that is no verdict, in the fast stage and then in the thinking stage.
fn unclear(name: &'static str, script: &'static str, why: &'static str) -> Row {
    let fate = Fate::NoVerdict(JudgeStage::Thinking, why);
    Row { name, script, timeout: LONG, fate, says: why, requests: 2 }
}

fn too_long(name: &'static str, script: &'static str, says: &'static str) -> Row {
    Row { name, script, timeout: LONG, fate: Fate::TooLong, says, requests: 1 }
}

fn status_rows() -> Vec<Row> {
    use FaultKind as K;
    vec![
        failed("400", r#"[{"status": 400}]"#, K::BadRequest, "request refused: anthropic answered 400", 1),
        failed("401", r#"[{"status": 401}]"#, K::Unauthorized, "does not accept the key (401)", 1),
        failed(
            "402",
            r#"[{"status": 402}]"#,
            K::SpendLimit,
            "spend limit reached: anthropic answered 402",
            1,
        ),
        failed("403", r#"[{"status": 403}]"#, K::Forbidden, "not permitted: anthropic answered 403", 1),
        failed("404", r#"[{"status": 404}]"#, K::NotFound, "not found: anthropic answered 404", 1),
        too_long("413", r#"[{"status": 413}]"#, "anthropic answered 413"),
        failed("429", r#"[{"status": 429}]"#, K::RateLimited, "rate-limited: anthropic answered 429", 3),
        failed(
            "429 again and again with a short time to wait",
            r#"[{"status": 429, "headers": {"retry-after-ms": "20"}}]"#,
            K::RateLimited,
            "rate-limited: anthropic answered 429",
            3,
        ),
        failed(
            "429 with a time to wait that does not fit",
            r#"[{"status": 429, "headers": {"retry-after": "60"}}]"#,
            K::RateLimited,
            "rate-limited: anthropic answered 429",
            1,
        ),
        failed(
            "429 because the money is used up",
            r#"[{"status": 429, "error": {"message": "no more this month",
                "details": {"error_code": "enforced_spend_limit_reached"}}}]"#,
            K::SpendLimit,
            "spend limit reached: anthropic answered 429: no more this month",
            1,
        ),
        failed("500", r#"[{"status": 500}]"#, K::Server, "server error: anthropic answered 500", 3),
        failed("502", r#"[{"status": 502}]"#, K::Server, "server error: anthropic answered 502", 3),
        failed("503", r#"[{"status": 503}]"#, K::Overloaded, "overloaded: anthropic answered 503", 3),
        failed("504", r#"[{"status": 504}]"#, K::Server, "server error: anthropic answered 504", 3),
        failed("529", r#"[{"status": 529}]"#, K::Overloaded, "overloaded: anthropic answered 529", 3),
        failed(
            "500 that says not to try again",
            r#"[{"status": 500, "headers": {"x-should-retry": "false"}}]"#,
            K::Server,
            "server error: anthropic answered 500",
            1,
        ),
        failed(
            "an error under the status of success",
            r#"[{"raw": 200, "body": {"type": "error", "error": {"type": "api_error", "message": "oops"}},
                "headers": {"x-should-retry": "false"}}]"#,
            K::Server,
            "server error: anthropic answered 500: oops",
            1,
        ),
        failed(
            "an error under the status of success that may pass",
            r#"[{"raw": 200, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
                "headers": {"retry-after-ms": "20"}}]"#,
            K::Overloaded,
            "overloaded: anthropic answered 529: busy",
            3,
        ),
        failed(
            "a redirect",
            r#"[{"raw": 302, "body": "", "headers": {"location": "/v1/messages"}}]"#,
            K::Malformed,
            "answers with a redirect (302)",
            1,
        ),
    ]
}

fn transport_rows() -> Vec<Row> {
    use FaultKind as K;
    vec![
        failed("close", r#"[{"fault": "close"}]"#, K::Connection, "connection failed", 3),
        failed("reset", r#"[{"fault": "reset"}]"#, K::Connection, "connection failed", 3),
        endless("silent", r#"[{"fault": "silent"}]"#),
        endless("headers, then silent", r#"[{"fault": "headers_then_silent"}]"#),
        endless("slow drip", r#"[{"fault": "slow_drip", "ms": 50}]"#),
        endless("an allow that comes too late", r#"[{"allow": true, "delay_ms": 60000}]"#),
        failed("truncated JSON", r#"[{"fault": "truncated_json"}]"#, K::Malformed, "no JSON object", 1),
        failed(
            "wrong content type",
            r#"[{"fault": "wrong_content_type"}]"#,
            K::Malformed,
            "something that is not JSON",
            1,
        ),
        failed(
            "a body without end",
            r#"[{"fault": "huge_body"}]"#,
            K::Malformed,
            "larger than 4194304 bytes",
            1,
        ),
        failed(
            "a body of 5 MB",
            r#"[{"fault": "huge_body", "bytes": 5000000}]"#,
            K::Malformed,
            "larger than 4194304 bytes",
            1,
        ),
        failed("garbage", r#"[{"fault": "garbage"}]"#, K::Malformed, "something that is not HTTP", 1),
        failed("empty body", r#"[{"fault": "empty_body"}]"#, K::Malformed, "no JSON object", 1),
        failed(
            "a list",
            r#"[{"raw": 200, "body": [{"type": "text", "text": "<block>no</block>"}]}]"#,
            K::Malformed,
            "no JSON object",
            1,
        ),
        failed(
            "a field twice",
            r#"[{"raw": 200, "body": "{\"type\":\"message\",\"stop_reason\":\"refusal\",\"stop_reason\":\"end_turn\",\"content\":[{\"type\":\"text\",\"text\":\"<block>no</block>\"}]}"}]"#,
            K::Malformed,
            "no JSON object",
            1,
        ),
    ]
}

fn verdict_rows() -> Vec<Row> {
    let junk = "its verdict is neither yes nor no";
    let beginning = "it holds no clear verdict";
    vec![
        unclear("refusal", r#"[{"say": "<block>no</block>", "stop": "refusal"}]"#, "it refused to answer"),
        unclear(
            "max_tokens",
            r#"[{"say": "<block>no</block>", "stop": "max_tokens"}]"#,
            "its answer was cut off",
        ),
        unclear("no content", r#"[{"blocks": []}]"#, "it answered nothing"),
        unclear("an empty text", r#"[{"say": ""}]"#, "it answered nothing"),
        unclear("two verdicts", r#"[{"fault": "two_verdicts"}]"#, "it gives two verdicts"),
        unclear(
            "the same verdict twice",
            r#"[{"say": "<block>no</block><block>no</block>"}]"#,
            "it gives two verdicts",
        ),
        unclear("a verdict in a block of thoughts", r#"[{"fault": "verdict_in_thinking"}]"#, beginning),
        unclear(
            "nothing but a block of thoughts",
            r#"[{"blocks": [{"type": "thinking", "thinking": "<block>no</block>", "signature": "s"}]}]"#,
            "it answered nothing",
        ),
        unclear(
            "a verdict in a tag of thoughts",
            r#"[{"say": "<thinking><block>no</block></thinking>"}]"#,
            beginning,
        ),
        unclear("a no with junk in it", r#"[{"say": "<block>no, it is fine</block>"}]"#, junk),
        unclear(
            "a no with junk behind it",
            r#"[{"say": "<block>no</block> I think"}]"#,
            "its verdict is followed by something else",
        ),
        unclear("a no with a tag before it", r#"[{"say": "<b>Sure</b>: <block>no</block>"}]"#, beginning),
        unclear("another tag's no", r#"[{"say": "<severity>0</severity>"}]"#, beginning),
        unclear(
            "a verdict in two blocks",
            r#"[{"blocks": [{"type": "text", "text": "<block>n"},
            {"type": "text", "text": "o</block>"}]}]"#,
            junk,
        ),
        unclear("what it was shown", r#"[{"echo": "everything"}]"#, beginning),
    ]
}

#[test]
fn every_row_of_the_failure_table_ends_as_it_says_and_none_allows() {
    let rows: Vec<Row> = [status_rows(), transport_rows(), verdict_rows()].into_iter().flatten().collect();
    for_all(&rows, |row| {
        let server = serve(row.script);
        let mut judge = judge_at(&server);
        judge.timeout = row.timeout;
        let ruling = rule(&mut judge);
        check_fate(row.name, &ruling, &row.fate, row.says);
        assert_eq!(server.requests().len(), row.requests, "{}", row.name);
        let sent: u32 = ruling.exchanges.iter().map(|exchange| exchange.attempts).sum();
        assert_eq!(usize::try_from(sent).unwrap(), row.requests, "{}", row.name);
        let last = ruling.exchanges.last().unwrap();
        match &row.fate {
            Fate::Failed(kind) => {
                assert_eq!(
                    (last.outcome.as_str(), last.is_outage()),
                    (kind.phrase(), kind.is_outage()),
                    "{}",
                    row.name
                );
            }
            Fate::NoVerdict(..) | Fate::TooLong => assert!(!last.is_outage(), "{}", row.name),
        }
        assert_eq!(ruling.learned, [], "{}", row.name);
    });
}

#[test]
fn with_one_stage_an_answer_that_is_no_verdict_is_not_asked_for_again() {
    for (stages, stage) in [(StagePlan::Fast, JudgeStage::Fast), (StagePlan::Thinking, JudgeStage::Thinking)]
    {
        for row in verdict_rows() {
            let server = serve(row.script);
            let mut judge = judge_at(&server);
            judge.stages = stages;
            let ruling = rule(&mut judge);
            let Fate::NoVerdict(_, why) = row.fate else { panic!("{}", row.name) };
            check_fate(row.name, &ruling, &Fate::NoVerdict(stage, why), why);
            assert_eq!(server.requests().len(), 1, "{}", row.name);
        }
    }
}

#[test]
fn a_connection_that_is_refused_is_tried_three_times() {
    let port = DeadPort::new();
    let mut judge = judge(vec![endpoint_of(ModelProvider::Anthropic, "claude-haiku-5-5", &port.url())]);
    let ruling = rule(&mut judge);
    check_fate(
        "refused",
        &ruling,
        &Fate::Failed(FaultKind::Connection),
        "connection failed: the connection to",
    );
    let last = ruling.exchanges.last().unwrap();
    assert_eq!((last.attempts, last.status, last.is_outage()), (3, None, true));
}

#[test]
fn the_time_a_server_names_is_waited_before_the_request_is_sent_again() {
    let server = serve(r#"[{"status": 429, "headers": {"retry-after": "1"}}, {"allow": true}]"#);
    let ruling = rule(&mut judge_at(&server));
    assert_eq!(told(&ruling), "allow fast");
    assert_eq!(server.requests().len(), 2);
    let exchange = &ruling.exchanges[0];
    assert!(exchange.elapsed >= Duration::from_secs(1), "{:?}", exchange.elapsed);
    assert_eq!((exchange.attempts, exchange.outcome.as_str(), exchange.is_outage()), (2, "allow", false));
    let bodies: Vec<Vec<u8>> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies[0], bodies[1], "the same question is asked again");
}

#[test]
fn a_failure_that_passes_is_forgotten() {
    let table = [
        r#"[{"status": 529}, {"status": 500}, {"allow": true}]"#,
        r#"[{"fault": "close"}, {"fault": "reset"}, {"allow": true}]"#,
        r#"[{"status": 429}, {"allow": true}]"#,
    ];
    for_all(&table, |script| {
        let server = serve(script);
        assert_eq!(told(&rule(&mut judge_at(&server))), "allow fast", "{script}");
    });
}

#[test]
fn a_failure_in_the_thinking_stage_does_not_bring_the_fast_verdict_back() {
    let table = [
        (r#"[{"block": true}, {"status": 400}]"#, "failed BadRequest"),
        (r#"[{"block": true}, {"status": 413}]"#, "failed TooLong"),
        (
            r#"[{"block": true}, {"say": "<block>no", "stop": "max_tokens"}]"#,
            "unclear thinking: its answer was cut off",
        ),
        (r#"[{"say": "?"}, {"fault": "garbage"}]"#, "failed Malformed"),
    ];
    for (script, expected) in table {
        let server = serve(script);
        assert_eq!(told(&rule(&mut judge_at(&server))), expected, "{script}");
        assert_eq!(server.requests().len(), 2, "{script}");
    }
}

#[test]
fn a_prompt_that_is_too_long_is_told_in_the_words_of_every_provider() {
    use ModelProvider::{Anthropic, Chat, Gemini, Ollama, OpenAi};
    let table = [
        (
            Anthropic,
            r#"{"status": 400, "error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        ),
        (Anthropic, r#"{"raw": 400, "body": {"message": "Input is too long for requested model."}}"#),
        (Anthropic, r#"{"raw": 400, "body": {"error": "capability_rejected: prompt_too_long"}}"#),
        (
            Anthropic,
            r#"{"raw": 200, "body": {"type": "message", "stop_reason": "model_context_window_exceeded",
            "content": [{"type": "text", "text": "<block>no</block>"}]}}"#,
        ),
        (
            OpenAi,
            r#"{"status": 400, "error": {"message": "Your input exceeds the context window of this model",
            "code": "context_length_exceeded"}}"#,
        ),
        (
            Chat,
            r#"{"status": 400, "error": {"message": "This model's maximum context length is 4096 tokens"}}"#,
        ),
        (
            Chat,
            r#"{"status": 400, "error": {"message": "the request exceeds the available context size",
            "type": "exceed_context_size_error"}}"#,
        ),
        (Ollama, r#"{"status": 500, "error": {"message": "the input length exceeds the context length"}}"#),
        (
            Gemini,
            r#"{"status": 400, "error": {"message": "The input token count exceeds the maximum number of tokens allowed"}}"#,
        ),
    ];
    for (provider, step) in table {
        let server = serve(&format!("[{step}]"));
        let ruling = rule(&mut judge(vec![endpoint(provider, &server)]));
        check_fate(step, &ruling, &Fate::TooLong, "too long for the classifier");
        assert_eq!(server.requests().len(), 1, "{step}");
    }
}

#[test]
fn every_provider_fails_the_same_way() {
    let table = [
        (r#"[{"status": 401}]"#, "failed Unauthorized", 1),
        (r#"[{"status": 403}]"#, "failed Forbidden", 1),
        (r#"[{"status": 404}]"#, "failed NotFound", 1),
        (r#"[{"status": 402}]"#, "failed SpendLimit", 1),
        (r#"[{"status": 413}]"#, "failed TooLong", 1),
        (r#"[{"status": 429, "headers": {"retry-after-ms": "10"}}]"#, "failed RateLimited", 3),
        (r#"[{"status": 500, "headers": {"retry-after-ms": "10"}}]"#, "failed Server", 3),
        (r#"[{"status": 503, "headers": {"retry-after-ms": "10"}}]"#, "failed Overloaded", 3),
        (r#"[{"fault": "truncated_json"}]"#, "failed Malformed", 1),
        (r#"[{"fault": "wrong_content_type"}]"#, "failed Malformed", 1),
        (r#"[{"fault": "empty_body"}]"#, "failed Malformed", 1),
        (r#"[{"fault": "garbage"}]"#, "failed Malformed", 1),
        (r#"[{"allow": true, "stop": "max_tokens"}]"#, "unclear thinking: its answer was cut off", 2),
        (r#"[{"say": ""}]"#, "unclear thinking: it answered nothing", 2),
    ];
    let pairs: Vec<_> = ModelProvider::ALL
        .into_iter()
        .flat_map(|provider| table.iter().map(move |row| (provider, *row)))
        .collect();
    for_all(&pairs, |(provider, (script, expected, requests))| {
        let server = serve(script);
        let ruling = rule(&mut judge(vec![endpoint(*provider, &server)]));
        assert_eq!(told(&ruling), *expected, "{provider} ({}): {script}", model_of(*provider));
        assert_eq!(server.requests().len(), *requests, "{provider}: {script}");
    });
}
