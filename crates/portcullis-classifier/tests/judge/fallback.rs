//! Who stands in when a provider fails, and who does not when it has spoken.

use portcullis_classifier::KeySource;
use portcullis_classifier::model::ModelProvider;
use portcullis_classifier::protocol::Classification;
use portcullis_classifier::transport::FaultKind;
use pretty_assertions::assert_eq;

use super::bench::{DeadPort, Fate, check_fate, endpoint, endpoint_of, for_all, judge, rule, serve, told};

/// Asks Anthropic first and `OpenAI` then; returns the ruling and how often each was asked.
fn ask_both(first: &str, second: &str) -> (Classification, usize, usize) {
    let (first, second) = (serve(first), serve(second));
    let mut judge =
        judge(vec![endpoint(ModelProvider::Anthropic, &first), endpoint(ModelProvider::OpenAi, &second)]);
    let ruling = rule(&mut judge);
    (ruling, first.requests().len(), second.requests().len())
}

#[test]
fn another_provider_is_asked_when_the_first_fails() {
    let table = [
        (r#"[{"status": 400}]"#, 1),
        (r#"[{"status": 401}]"#, 1),
        (r#"[{"status": 402}]"#, 1),
        (r#"[{"status": 403}]"#, 1),
        (r#"[{"status": 404}]"#, 1),
        (r#"[{"status": 429}]"#, 3),
        (r#"[{"status": 500}]"#, 3),
        (r#"[{"status": 529}]"#, 3),
        (r#"[{"fault": "close"}]"#, 3),
        (r#"[{"fault": "truncated_json"}]"#, 1),
        (r#"[{"fault": "wrong_content_type"}]"#, 1),
        (r#"[{"fault": "huge_body"}]"#, 1),
        (r#"[{"fault": "garbage"}]"#, 1),
    ];
    for_all(&table, |(script, requests)| {
        let (ruling, first, second) = ask_both(script, r#"[{"allow": true}]"#);
        assert_eq!((told(&ruling).as_str(), first, second), ("allow fast", *requests, 1), "{script}");
        let providers: Vec<ModelProvider> =
            ruling.exchanges.iter().map(|exchange| exchange.provider).collect();
        assert_eq!(providers, [ModelProvider::Anthropic, ModelProvider::OpenAi], "{script}");
    });
}

#[test]
fn whoever_stands_in_judges_in_both_stages() {
    let block = r#"[{"block": {"category": "Production Deploy", "reason": "it publishes"}}]"#;
    let (ruling, first, second) = ask_both(r#"[{"status": 404}]"#, block);
    assert_eq!((told(&ruling).as_str(), first, second), ("block thinking", 1, 2));
}

#[test]
fn whoever_stands_in_for_a_model_that_would_have_blocked_looks_closely() {
    let call = r#"{"type": "tool_use", "id": "t", "name": "classify_result", "input": {}}"#;
    let twice = format!(r#"{{"blocks": [{call}, {call}]}}"#);
    let steps = [
        r#"{"block": true}"#,
        r#"{"say": "well"}"#,
        r#"{"say": "", "stop": "refusal"}"#,
        r#"{"say": "<block>no", "stop": "max_tokens"}"#,
        r#"{"blocks": []}"#,
        &twice,
    ];
    for step in steps {
        let first = format!(r#"[{step}, {{"status": 404}}]"#);
        let (ruling, asked, instead) = ask_both(&first, r#"[{"allow": true}]"#);
        assert_eq!((told(&ruling).as_str(), asked, instead), ("allow thinking", 2, 1), "{first}");
    }
}

#[test]
fn a_provider_that_hangs_leaves_the_next_its_share_of_the_time() {
    let (first, second) = (serve(r#"[{"fault": "silent"}]"#), serve(r#"[{"allow": true}]"#));
    let endpoints =
        vec![endpoint(ModelProvider::Anthropic, &first), endpoint(ModelProvider::Anthropic, &second)];
    let mut judge = judge(endpoints);
    judge.timeout = std::time::Duration::from_secs(4);
    let ruling = rule(&mut judge);
    assert_eq!(told(&ruling), "allow fast");
    let places: Vec<(usize, bool)> =
        ruling.exchanges.iter().map(|exchange| (exchange.endpoint, exchange.is_outage())).collect();
    assert_eq!(places, [(0, true), (1, false)]);
}

#[test]
fn what_the_first_said_is_not_put_to_another() {
    let table = [
        (r#"[{"block": true}]"#, "block thinking", 2),
        (r#"[{"say": "Sure, go ahead"}]"#, "unclear thinking: it holds no clear verdict", 2),
        (r#"[{"say": "<block>no</block>", "stop": "refusal"}]"#, "unclear thinking: it refused to answer", 2),
        (r#"[{"say": "<block>no", "stop": "max_tokens"}]"#, "unclear thinking: its answer was cut off", 2),
        (r#"[{"blocks": []}]"#, "unclear thinking: it answered nothing", 2),
        (r#"[{"fault": "two_verdicts"}]"#, "unclear thinking: it gives two verdicts", 2),
        (r#"[{"status": 413}]"#, "failed TooLong", 1),
    ];
    for (script, expected, requests) in table {
        let (ruling, first, second) = ask_both(script, r#"[{"allow": true}]"#);
        assert_eq!((told(&ruling).as_str(), first, second), (expected, requests, 0), "{script}");
    }
}

#[test]
fn when_both_fail_nothing_is_allowed_and_the_last_failure_is_told() {
    let (ruling, first, second) = ask_both(r#"[{"status": 401}]"#, r#"[{"status": 404}]"#);
    let says = "model or address not found: openai answered 404";
    check_fate("both", &ruling, &Fate::Failed(FaultKind::NotFound), says);
    assert_eq!((first, second), (1, 1));
    let outcomes: Vec<&str> = ruling.exchanges.iter().map(|exchange| exchange.outcome.as_str()).collect();
    assert_eq!(outcomes, ["key not accepted", "model or address not found"]);
}

#[test]
fn a_provider_nobody_listens_at_and_one_without_a_key_have_a_stand_in_too() {
    let (port, server) = (DeadPort::new(), serve(r#"[{"allow": true}]"#));
    let absent = endpoint_of(ModelProvider::Anthropic, "claude-haiku-5-5", &port.url());
    let ruling = rule(&mut judge(vec![absent, endpoint(ModelProvider::Gemini, &server)]));
    assert_eq!(told(&ruling), "allow fast");

    let first = serve(r#"[{"allow": true}]"#);
    let mut keyless = endpoint(ModelProvider::Anthropic, &first);
    keyless.key = KeySource::Variable { name: "JUDGE_KEY".to_owned(), value: None };
    let ruling = rule(&mut judge(vec![keyless, endpoint(ModelProvider::Gemini, &server)]));
    assert_eq!(told(&ruling), "allow fast");
    assert_eq!((first.requests().len(), server.requests().len()), (0, 2));
}

#[test]
fn a_provider_that_rests_is_not_asked() {
    let server = serve(r#"[{"allow": true}]"#);
    let resting = || {
        let mut endpoint = endpoint(ModelProvider::Anthropic, &server);
        endpoint.is_resting = true;
        endpoint
    };
    let ruling = rule(&mut judge(vec![resting()]));
    check_fate("resting", &ruling, &Fate::Failed(FaultKind::BreakerOpen), "paused after repeated failures");
    assert_eq!((server.requests().len(), ruling.exchanges[0].attempts), (0, 0));
    let other = serve(r#"[{"allow": true}]"#);
    let ruling = rule(&mut judge(vec![resting(), endpoint(ModelProvider::Ollama, &other)]));
    assert_eq!(told(&ruling), "allow fast");
    assert_eq!((server.requests().len(), other.requests().len()), (0, 1));
}

#[test]
fn a_judge_without_a_model_allows_nothing() {
    let ruling = rule(&mut judge(Vec::new()));
    check_fate("none", &ruling, &Fate::Failed(FaultKind::Connection), "no model is configured");
}
