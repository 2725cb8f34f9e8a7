//! The hook of every host from bytes to reply: no panic, every answer can be read by the host, and what is not understood
//! blocks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_core::{Case, Context, Decision, Mode, Policy, Verdict};
use portcullis_hosts::{Answer, Event, HookCall, Host, HostReply, Told};

/// What hosts look up in the environment.
fn variable(name: &str) -> Option<String> {
    match name {
        "AGENT_TOOL_NAME" => Some("Bash".to_owned()),
        "AMP_THREAD_ID" => Some("T-1".to_owned()),
        _ => None,
    }
}

fn judge(call: &HookCall) -> Verdict {
    let policy = Policy::default();
    let verdicts = call.calls.iter().map(|one| {
        let context = Context::new(call.mode.unwrap_or(Mode::Default), &call.session.cwd);
        let case = Case::new(one.clone(), context);
        case.decide(&policy).expect("the session was not aborted").into_verdict()
    });
    verdicts.max_by_key(|verdict| verdict.decision).expect("a call of the host amounts to one of ours")
}

fn check(host: Host, reply: &HostReply) {
    if !reply.stdout.is_empty() {
        let _: serde_json::Value = serde_json::from_str(&reply.stdout).expect("the reply is JSON");
    }
    assert!((0..=2).contains(&reply.exit_code), "{}: exit code {}", host.name(), reply.exit_code);
}

fuzz_target!(|bytes: &[u8]| {
    for host in Host::ALL {
        let adapter = host.adapter();
        let told = Told { input: bytes, directory: "/workspace", variable: &variable };
        match (adapter.read)(&told) {
            Ok(Event::Call(call)) => {
                let verdict = judge(&call);
                let answer = Answer::of(&verdict, call.moment.capabilities, None, None);
                let reply = (adapter.write)(call.moment, &answer);
                check(host, &reply);
                let is_allowed = reply.stdout.contains(r#""allow""#);
                assert!(!is_allowed || verdict.decision == Decision::Allow, "{}", host.name());
            }
            Ok(Event::Fact(_) | Event::Other) => {}
            Err(error) => {
                let reply = adapter.fail(adapter.usual, &error.to_string());
                check(host, &reply);
                assert_eq!(reply.exit_code, adapter.usual.blocking.exit_code, "{}", host.name());
                assert!(!reply.stdout.contains(r#""allow""#), "{}", host.name());
            }
        }
    }
});
