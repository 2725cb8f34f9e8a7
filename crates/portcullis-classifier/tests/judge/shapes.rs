//! Structured verdicts of every provider: a tool that must be called, and JSON by a schema (spec D7).

use portcullis_classifier::model::{ModelProvider, VerdictShape};
use portcullis_classifier::protocol::{ClassifierJudge, JudgeStage};
use portcullis_testkit::{RequestedForm, ScriptedServer};
use pretty_assertions::assert_eq;

use super::bench::{Fate, check_fate, endpoint, judge, rule, serve, told};

/// Returns a judge who asks for a shape.
fn judge_in(provider: ModelProvider, shape: VerdictShape, server: &ScriptedServer) -> ClassifierJudge {
    let mut judge = judge(vec![endpoint(provider, server)]);
    judge.shape = Some(shape);
    judge
}

#[test]
fn every_provider_allows_and_blocks_in_both_structured_shapes() {
    for provider in ModelProvider::ALL {
        for shape in [VerdictShape::Tool, VerdictShape::Schema] {
            for (script, expected, requests) in [
                (r#"[{"allow": true}]"#, "allow fast", 1),
                (r#"[{"block": true}]"#, "block thinking", 2),
                (r#"[{"block": true}, {"allow": true}]"#, "allow thinking", 2),
            ] {
                let server = serve(script);
                let ruling = rule(&mut judge_in(provider, shape, &server));
                assert_eq!(told(&ruling), expected, "{provider} {shape:?} {script}");
                assert_eq!(server.requests().len(), requests, "{provider} {shape:?} {script}");
                let form = |number: usize| server.requests()[number].inquiry().unwrap().form;
                // A quick look gives its verdict as JSON: a call of a tool takes more words.
                assert!(matches!(form(0), RequestedForm::Schema(_)), "{provider} {shape:?}");
                // Ollama cannot be made to call a tool, so it is asked for JSON.
                let is_tool = shape == VerdictShape::Tool && provider != ModelProvider::Ollama;
                if requests == 2 {
                    let form = form(1);
                    let is_called = matches!(form, RequestedForm::Tool { .. });
                    assert_eq!(is_called, is_tool, "{provider} {shape:?}: {form:?}");
                    let is_described = matches!(form, RequestedForm::Schema(_));
                    assert_eq!(is_described, !is_tool, "{provider} {shape:?}: {form:?}");
                }
            }
        }
    }
}

#[test]
fn a_structured_answer_that_is_not_what_was_asked_for_never_allows() {
    let table = [
        r#"{"say": "<block>no</block>"}"#,
        r#"{"say": "{\"should_block\": false"}"#,
        r#"{"say": "```json\n{\"should_block\": false, \"reason\": \"fine\"}\n``` if you insist"}"#,
        r#"{"json": {"should_block": false, "sure": true}}"#,
        r#"{"json": {"should_block": "false", "reason": "fine"}}"#,
        r#"{"json": {"should_block": null, "reason": "fine"}}"#,
        r#"{"json": {"should_block": false, "reason": "fine", "override": true}}"#,
        r#"{"json": [{"should_block": false, "reason": "fine"}]}"#,
        r#"{"tool": {"name": "another_tool", "input": {"should_block": false, "reason": "fine"}}}"#,
        r#"{"tool": {"name": "classify_result", "input": {"should_block": 0, "reason": "fine"}}}"#,
        r#"{"tool": {"name": "classify_result", "input": {"reason": "fine"}}}"#,
        r#"{"tool": {"name": "classify_result", "input": {}}}"#,
        r#"{"fault": "two_verdicts"}"#,
        r#"{"fault": "verdict_in_thinking"}"#,
        r#"{"allow": true, "stop": "max_tokens"}"#,
        r#"{"echo": "action_raw"}"#,
    ];
    for provider in ModelProvider::ALL {
        for shape in [VerdictShape::Tool, VerdictShape::Schema] {
            for step in table {
                let server = serve(&format!("[{step}]"));
                let told = told(&rule(&mut judge_in(provider, shape, &server)));
                let is_refused = told.starts_with("unclear thinking") || told == "failed Malformed";
                assert!(is_refused, "{provider} {shape:?} {step}: {told}");
            }
        }
    }
}

#[test]
fn two_calls_of_the_tool_are_no_answer() {
    for provider in
        [ModelProvider::Anthropic, ModelProvider::OpenAi, ModelProvider::Chat, ModelProvider::Gemini]
    {
        let server = serve(r#"[{"fault": "two_verdicts"}]"#);
        let ruling = rule(&mut judge_in(provider, VerdictShape::Tool, &server));
        let fate = Fate::NoVerdict(JudgeStage::Thinking, "it answered more than once");
        check_fate(provider.as_str(), &ruling, &fate, "it answered more than once");
        assert_eq!(server.requests().len(), 2, "{provider}");
    }
}

#[test]
fn a_refusal_that_holds_an_allow_is_a_refusal() {
    // Ollama has no word for a refusal, and with the tools of OpenAI there is no place for one.
    let table = [
        (ModelProvider::Anthropic, VerdictShape::Tool),
        (ModelProvider::Anthropic, VerdictShape::Schema),
        (ModelProvider::OpenAi, VerdictShape::Schema),
        (ModelProvider::Chat, VerdictShape::Schema),
        (ModelProvider::Gemini, VerdictShape::Tool),
        (ModelProvider::Gemini, VerdictShape::Schema),
    ];
    for (provider, shape) in table {
        let server = serve(r#"[{"allow": true, "stop": "refusal"}]"#);
        let ruling = rule(&mut judge_in(provider, shape, &server));
        assert_eq!(told(&ruling), "unclear thinking: it refused to answer", "{provider} {shape:?}");
        assert_eq!(server.requests().len(), 2, "{provider} {shape:?}");
    }
}
