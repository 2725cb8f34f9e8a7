//! What ends a judgement from our own side: a caller gives up, a key is not there, a parameter is refused.

use std::thread;
use std::time::Duration;

use portcullis_classifier::KeySource;
use portcullis_classifier::model::ModelProvider;
use portcullis_classifier::transport::{CancelFlag, FaultKind};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::bench::{
    Fate, LONG, SHORT, check_fate, endpoint, endpoint_of, judge, judge_at, prompt, rule, serve, told,
};

#[test]
fn a_caller_who_gives_up_ends_the_wait_and_nobody_else_is_asked() {
    let table = [
        ("waiting for an answer", r#"[{"fault": "silent"}]"#),
        ("reading an answer", r#"[{"fault": "slow_drip", "ms": 1000}]"#),
        ("waiting to try again", r#"[{"status": 429, "headers": {"retry-after": "50"}}]"#),
    ];
    for (name, script) in table {
        let (server, other) = (serve(script), serve(r#"[{"allow": true}]"#));
        let mut judge =
            judge(vec![endpoint(ModelProvider::Anthropic, &server), endpoint(ModelProvider::OpenAi, &other)]);
        judge.timeout = Duration::from_mins(10);
        let cancel = CancelFlag::new();
        let ruling = thread::scope(|scope| {
            let judged = scope.spawn(|| judge.judge(&prompt(), &cancel));
            assert!(server.wait_for_requests(1), "{name}");
            cancel.cancel();
            judged.join().unwrap()
        });
        check_fate(name, &ruling, &Fate::Failed(FaultKind::Aborted), "the classifier was interrupted");
        assert_eq!((server.requests().len(), other.requests().len()), (1, 0), "{name}");
    }
}

#[test]
fn a_caller_who_gave_up_before_sends_nothing() {
    let server = serve(r#"[{"allow": true}]"#);
    let cancel = CancelFlag::new();
    cancel.cancel();
    let ruling = judge_at(&server).judge(&prompt(), &cancel);
    check_fate("before", &ruling, &Fate::Failed(FaultKind::Aborted), "interrupted");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn without_a_key_nothing_is_sent() {
    let variable = |value: Option<&str>| KeySource::Variable {
        name: "JUDGE_KEY".to_owned(),
        value: value.map(str::to_owned),
    };
    let command = |words: &[&str]| KeySource::Command(words.iter().map(|word| (*word).to_owned()).collect());
    let table = [
        (variable(None), "no key: the variable JUDGE_KEY is not set", LONG),
        (variable(Some("  ")), "no key: the variable JUDGE_KEY is not set", LONG),
        (variable(Some("a b")), "the key in the variable JUDGE_KEY holds a space", LONG),
        (command(&["false"]), "the key command false failed with exit code 1", LONG),
        (command(&["true"]), "the key command true prints a first line that is empty", LONG),
        (command(&["no-such-program-at-all"]), "the key command no-such-program-at-all cannot be run", LONG),
        (command(&["sleep", "60"]), "the key command sleep took too long", SHORT),
    ];
    for (key, says, timeout) in table {
        let server = serve(r#"[{"allow": true}]"#);
        let mut judge = judge_at(&server);
        judge.timeout = timeout;
        judge.endpoints[0].key = key;
        let ruling = rule(&mut judge);
        check_fate(says, &ruling, &Fate::Failed(FaultKind::NoKey), says);
        assert_eq!(server.requests().len(), 0, "{says}");
        assert_eq!(ruling.exchanges[0].attempts, 0, "{says}");
    }
}

#[test]
fn a_parameter_that_is_refused_is_left_out_at_once_and_reported() {
    let script = r#"[{"status": 400, "error": {"message": "`temperature` is not supported by this model"}},
        {"allow": true}]"#;
    let server = serve(script);
    let mut judge = judge(vec![endpoint_of(ModelProvider::Anthropic, "claude-haiku-4-5", &server.url())]);
    let ruling = rule(&mut judge);
    assert_eq!(told(&ruling), "allow fast");
    assert_eq!(
        ruling.learned,
        [(format!("anthropic claude-haiku-4-5 {}", server.url()), "temperature".to_owned())]
    );
    let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.json.unwrap()).collect();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0]["temperature"], 0);
    assert_eq!(bodies[1].get("temperature"), None);
    let mut first = bodies[0].clone();
    first.as_object_mut().unwrap().remove("temperature");
    assert_eq!(first, bodies[1], "nothing else changes");
    assert_eq!(told(&rule(&mut judge)), "allow fast");
    assert_eq!(server.requests().len(), 3, "the judge remembers");
}

#[test]
fn a_parameter_that_is_refused_though_it_was_left_out_is_a_failure() {
    let server = serve(r#"[{"status": 400, "error": {"message": "`temperature` is not supported"}}]"#);
    let mut judge = judge(vec![endpoint_of(ModelProvider::Anthropic, "claude-haiku-4-5", &server.url())]);
    let ruling = rule(&mut judge);
    let fate = Fate::Failed(FaultKind::Unsupported("temperature".to_owned()));
    check_fate("again", &ruling, &fate, "parameter not supported: anthropic answered 400");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_server_that_refuses_one_parameter_after_the_other_is_not_followed_for_ever() {
    let refuse =
        |name: &str| format!(r#"{{"status": 400, "error": {{"message": "'{name}' is not supported"}}}}"#);
    let names =
        ["temperature", "stop", "response_format", "max_tokens", "max_completion_tokens", "max_tokens"];
    let script: Vec<String> = names.iter().map(|name| refuse(name)).collect();
    let server = serve(&format!("[{}]", script.join(",")));
    let ruling = rule(&mut judge(vec![endpoint(ModelProvider::Chat, &server)]));
    let fate = Fate::Failed(FaultKind::Unsupported("max_completion_tokens".to_owned()));
    check_fate("one after the other", &ruling, &fate, "parameter not supported");
    assert_eq!((server.requests().len(), ruling.learned.len()), (5, 4));
}

#[test]
fn what_carries_the_question_is_never_left_out() {
    for name in ["messages", "system", "model"] {
        let script = format!(
            r#"[{{"status": 400, "error": {{"message": "not supported: '{name}'", "param": "{name}",
                "code": "unsupported_parameter"}}}}, {{"allow": true}}]"#
        );
        let server = serve(&script);
        let ruling = rule(&mut judge(vec![endpoint(ModelProvider::Chat, &server)]));
        check_fate(name, &ruling, &Fate::Failed(FaultKind::Unsupported(name.to_owned())), "not supported");
        assert_eq!(server.requests().len(), 1, "{name}");
        assert_eq!(ruling.learned, [], "{name}");
    }
}
