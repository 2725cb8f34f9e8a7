//! Room for the prompt in every model's window, and what attempts and errands leave behind.

use portcullis_classifier::model::ModelProvider;
use portcullis_classifier::protocol::{
    AuxiliaryAnswer, AuxiliaryRequest, Classification, ExchangeOutcome, ExchangePurpose, JudgeStage,
    ModelEndpoint, StagePlan,
};
use portcullis_classifier::transport::{CancelFlag, FaultKind};
use portcullis_testkit::ScriptedServer;
use pretty_assertions::assert_eq;

use super::bench::{Fate, check_fate, endpoint, endpoint_of, judge, judge_at, prompt, rule, serve, told};

/// A window that takes the question and a short answer, and no long one.
const SMALL: u32 = 4_096;

const ALLOW: &str = r#"[{"allow": true}]"#;
const TOO_LONG: ExchangeOutcome = ExchangeOutcome::Fault(FaultKind::TooLong);

fn small(server: &ScriptedServer) -> ModelEndpoint {
    let mut endpoint = endpoint(ModelProvider::Anthropic, server);
    endpoint.model.context = SMALL;
    endpoint
}

/// Returns whom was asked how often, and what came of it.
fn talks(ruling: &Classification) -> Vec<(usize, u32, ExchangeOutcome)> {
    let talk = ruling.exchanges.iter();
    talk.map(|exchange| (exchange.endpoint, exchange.attempts, exchange.outcome.clone())).collect()
}

#[test]
fn a_stand_in_without_room_is_never_asked_and_never_allows() {
    let (first, second) = (serve(r#"[{"status": 404}]"#), serve(ALLOW));
    let ruling = rule(&mut judge(vec![endpoint(ModelProvider::Anthropic, &first), small(&second)]));
    check_fate("small", &ruling, &Fate::Failed(FaultKind::NotFound), "anthropic answered 404");
    let missing = ExchangeOutcome::Fault(FaultKind::NotFound);
    assert_eq!(talks(&ruling), [(0, 1, missing), (1, 0, TOO_LONG)]);
    assert_eq!((first.requests().len(), second.requests().len()), (1, 0));
}

#[test]
fn a_first_model_without_room_is_passed_over_for_a_larger_one() {
    let (first, second) = (serve(ALLOW), serve(ALLOW));
    let ruling = rule(&mut judge(vec![small(&first), endpoint(ModelProvider::OpenAi, &second)]));
    assert_eq!(told(&ruling), "allow fast");
    assert_eq!(talks(&ruling), [(0, 0, TOO_LONG), (1, 1, ExchangeOutcome::Allow)]);
    assert_eq!((first.requests().len(), second.requests().len()), (0, 1));
}

#[test]
fn where_nobody_has_room_the_prompt_is_too_long_and_nothing_is_sent() {
    let server = serve(ALLOW);
    let ruling = rule(&mut judge(vec![small(&server), small(&server)]));
    let says = "too long for the classifier (the prompt is longer than the model takes)";
    check_fate("all small", &ruling, &Fate::TooLong, says);
    assert_eq!(talks(&ruling), [(0, 0, TOO_LONG), (1, 0, TOO_LONG)]);
    assert_eq!((server.requests().len(), ruling.exchanges[0].is_outage()), (0, false));
}

#[test]
fn room_counts_for_every_stage_there_is() {
    for (stages, expected) in [
        (StagePlan::Both, "failed TooLong"),
        (StagePlan::Thinking, "failed TooLong"),
        (StagePlan::Fast, "allow fast"),
    ] {
        let server = serve(ALLOW);
        let mut judge = judge(vec![small(&server)]);
        judge.stages = stages;
        assert_eq!(told(&rule(&mut judge)), expected, "{stages:?}");
        assert_eq!(server.requests().len(), usize::from(stages == StagePlan::Fast), "{stages:?}");
    }
}

#[test]
fn every_part_of_a_prompt_takes_room() {
    let long = "ab ".repeat(8_192);
    for part in 0..6 {
        let server = serve(ALLOW);
        let mut judge = judge_at(&server);
        judge.endpoints[0].model.context = 8_192;
        let mut prompt = prompt();
        assert_eq!(told(&judge.judge(&prompt, &CancelFlag::new())), "allow fast", "{part}");
        let place = match part {
            0 => &mut prompt.system,
            1 => &mut prompt.session,
            2 => &mut prompt.history[0],
            3 => &mut prompt.history[1],
            4 => &mut prompt.action,
            _ => &mut prompt.facts,
        };
        place.push_str(&long);
        assert_eq!(told(&judge.judge(&prompt, &CancelFlag::new())), "failed TooLong", "{part}");
        assert_eq!(server.requests().len(), 1, "{part}");
    }
}

fn run(endpoints: Vec<ModelEndpoint>, suffix: &str) -> AuxiliaryAnswer {
    let prompt = prompt();
    let errand = AuxiliaryRequest {
        talk: ExchangePurpose::Critique,
        prompt: &prompt,
        suffix,
        max_tokens: 100,
        spec: None,
    };
    judge(endpoints).run_errand(errand, &CancelFlag::new())
}

#[test]
fn an_errand_says_what_was_learned_on_it() {
    let script = r#"[{"status": 400, "error": {"message": "`temperature` is not supported by this model"}},
        {"say": "fine"}]"#;
    let server = serve(script);
    let result = run(vec![endpoint_of(ModelProvider::Anthropic, "claude-haiku-4-5", &server.url())], "go");
    assert_eq!(result.answered.unwrap().text, "fine");
    assert_eq!(result.exchanges[0].outcome, ExchangeOutcome::Answer);
    let name = format!("anthropic claude-haiku-4-5 {}", server.url());
    assert_eq!(result.learned, [(name, "temperature".to_owned())]);
}

#[test]
fn an_errand_passes_over_models_without_room() {
    let (first, second) = (serve(r#"[{"say": "first"}]"#), serve(r#"[{"say": "second"}]"#));
    let long = "ab ".repeat(8_192);
    let result = run(vec![small(&first), endpoint(ModelProvider::Chat, &second)], &long);
    assert_eq!(result.answered.unwrap().text, "second");
    let result = run(vec![small(&first)], &long);
    assert_eq!(result.answered.unwrap_err().kind, FaultKind::TooLong);
    assert_eq!((first.requests().len(), second.requests().len()), (0, 1));
}

#[test]
fn what_is_known_of_one_gateway_is_not_known_of_another() {
    let [one, other] =
        [serve(ALLOW), serve(ALLOW)].map(|server| endpoint(ModelProvider::Anthropic, &server).name());
    assert_ne!(one, other);
    assert!(one.starts_with("anthropic claude-haiku-5-5 http://127.0.0.1:"), "{one}");
}

#[test]
fn every_attempt_is_priced_on_its_own() {
    let usage = r#""usage": {"input_tokens": 60000, "output_tokens": 0}"#;
    let failure = format!(
        r#"{{"raw": 529, "body": {{"type": "error", "error": {{"type": "overloaded_error", "message": "later"}}, {usage}}}}}"#
    );
    let server =
        serve(&format!(r#"[{failure}, {{"allow": true, "usage": {{"input": 60000, "output": 0}}}}]"#));
    let ruling = rule(&mut judge_at(&server));
    assert_eq!(told(&ruling), "allow fast");
    let exchange = &ruling.exchanges[0];
    assert_eq!((exchange.attempts, exchange.usage.input), (2, 120_000));
    assert_eq!(exchange.talk, ExchangePurpose::Stage(JudgeStage::Fast));
    // Above 100,000 tokens in one call everything costs five times as much.
    let cost = exchange.cost.unwrap();
    assert!((cost - 2.0 * 0.006).abs() < 1e-9, "{cost}");
}
