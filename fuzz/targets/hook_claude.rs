//! The hook of Claude Code from bytes to reply: no panic, and every answer is JSON that the host understands.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_core::{Context, Facts, Policy, Request, decide};
use portcullis_hosts::HostReply;
use portcullis_hosts::claude::{self, Hook};

fn answer(bytes: &[u8]) -> HostReply {
    match claude::parse(bytes) {
        Ok(Hook::Other) => claude::no_opinion(),
        Ok(Hook::PreToolUse(hook)) => {
            let policy = Policy::default();
            let request = Request::new(&policy, hook.call, Context::new(hook.mode, &hook.cwd));
            let outcome = decide(&policy, &request, &Facts::default()).expect("the session was not aborted");
            claude::reply(&outcome.into_verdict(), None, None)
        }
        Err(error) => claude::failure(&error.to_string()),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let reply = answer(bytes);
    match reply.exit_code {
        0 if reply.stdout.is_empty() => {}
        0 | claude::BLOCKING_EXIT_CODE => {
            let json: serde_json::Value = serde_json::from_str(&reply.stdout).expect("the reply is JSON");
            let decision =
                json.pointer("/hookSpecificOutput/permissionDecision").and_then(|value| value.as_str());
            assert!(matches!(decision, Some("allow" | "ask" | "deny")), "{decision:?}");
            assert!(reply.exit_code == 0 || decision == Some("deny"));
        }
        other => panic!("exit code {other}"),
    }
});
