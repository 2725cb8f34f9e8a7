//! `PermissionRequest` hooks of our own settings, asked when a call needs a person and nobody is there (spec A11).
//!
//! Each is given what Claude Code gives its own: one JSON object with the call. It answers with Claude Code's `decision`,
//! or says nothing. One that denies settles it, whoever allows; if none allows, nobody has, and the call is denied. A hook
//! that cannot be started, takes too long, fails or says something else has not answered.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_core::{Context, PendingAnswer, ToolCall, Verdict};
use portcullis_guard::unguarded;
use portcullis_hosts::json::write_input;
use portcullis_settings::{HookHandler, PermissionHook};
use serde_json::{Value, json};

use crate::posting::post;
use crate::process;

/// The exit code that denies, with the reason on standard error.
const DENYING: i32 = 2;

/// What a hook is asked about.
pub(crate) struct Question<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) context: &'a Context,
    pub(crate) verdict: &'a Verdict,
    pub(crate) session: &'a str,
    pub(crate) transcript: Option<&'a str>,
}

/// What a hook said.
enum Said {
    Allow,
    Deny(String),
    Nothing,
}

/// Returns how long asking may take.
pub(crate) fn longest(hooks: &[PermissionHook], tool: &str) -> Duration {
    let asked = hooks.iter().filter(|hook| hook.tools.matches(tool));
    asked.map(|hook| Duration::from_secs(hook.timeout_seconds.into())).max().unwrap_or_default()
}

/// Asks all of them at once, each for its own time and none longer than `time`. Returns the answer and what went wrong.
pub(crate) fn ask(
    hooks: &[PermissionHook],
    question: &Question<'_>,
    time: Duration,
) -> (PendingAnswer, Vec<String>) {
    let input = input(question).to_string();
    let asked: Vec<&PermissionHook> =
        hooks.iter().filter(|hook| hook.tools.matches(question.call.tool())).collect();
    let answers: Vec<Result<Said, String>> = thread::scope(|scope| {
        let running: Vec<_> = asked.iter().map(|hook| scope.spawn(|| ask_one(hook, &input, time))).collect();
        let lost = || Err("failed".to_owned());
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    let mut problems = Vec::new();
    let mut allowed = None;
    for (hook, answer) in asked.iter().zip(answers) {
        let by = name(hook);
        match answer {
            Ok(Said::Deny(sentence)) => {
                return (PendingAnswer::Deny { by, category: None, sentence }, problems);
            }
            Ok(Said::Allow) => allowed = allowed.or(Some(by)),
            Ok(Said::Nothing) => {}
            Err(what) => problems.push(format!("the PermissionRequest hook `{by}` {what}")),
        }
    }
    (allowed.map_or(PendingAnswer::None, |by| PendingAnswer::Allow { by }), problems)
}

/// Names a hook by where it stands; what it runs may be secret.
fn name(hook: &PermissionHook) -> String {
    hook.origin.to_string()
}

fn input(question: &Question<'_>) -> Value {
    let Question { call, context, verdict, session, transcript } = question;
    let mut text = String::new();
    write_input(&mut text, call.input());
    // It was written a line above, so it can be read.
    let input: Value = serde_json::from_str(&text).unwrap_or_default();
    let suggestions: Vec<Value> = verdict
        .suggestions
        .iter()
        .map(|one| json!({"behavior": one.behavior.to_string(), "rule": one.rule}))
        .collect();
    json!({
        "session_id": session,
        "transcript_path": transcript,
        "cwd": context.cwd,
        "permission_mode": context.mode.as_str(),
        "hook_event_name": "PermissionRequest",
        "tool_name": call.tool(),
        "tool_input": input,
        "reason": verdict.reason.message(),
        "suggested_rules": suggestions,
    })
}

fn ask_one(hook: &PermissionHook, input: &str, time: Duration) -> Result<Said, String> {
    let time = time.min(Duration::from_secs(hook.timeout_seconds.into()));
    match &hook.handler {
        HookHandler::Command { words } => {
            let (program, arguments) = words.split_first().ok_or("names no program")?;
            let mut command = Command::new(program);
            command.args(arguments);
            run(command, input, time)
        }
        HookHandler::ShellCommand { line } => {
            let mut command = Command::new("sh");
            command.args(["-c", line]);
            run(command, input, time)
        }
        HookHandler::Http { url, headers, variables } => {
            let body = serde_json::from_str(input).map_err(|error| error.to_string())?;
            answer(&post((url, headers, variables), body, Instant::now() + time)?)
        }
    }
}

/// Starts a program and reads its answer.
fn run(mut command: Command, input: &str, time: Duration) -> Result<Said, String> {
    unguarded(&mut command);
    let finished = process::run(command, input, time)?;
    match finished.code {
        Some(0) => answer(finished.stdout.as_bytes()),
        Some(DENYING) => Ok(Said::Deny(finished.stderr.trim().to_owned())),
        Some(code) => Err(format!("ended with exit code {code}")),
        None => Err("was killed".to_owned()),
    }
}

/// Reads what a hook said: Claude Code's decision, or nothing.
fn answer(output: &[u8]) -> Result<Said, String> {
    let text = String::from_utf8_lossy(output);
    if text.trim().is_empty() {
        return Ok(Said::Nothing);
    }
    let value =
        serde_json::from_str::<Value>(&text).map_err(|_| "said something that is not JSON".to_owned())?;
    let Some(decision) = value.pointer("/hookSpecificOutput/decision") else { return Ok(Said::Nothing) };
    let message = decision.get("message").and_then(Value::as_str).unwrap_or_default();
    match decision.get("behavior").and_then(Value::as_str) {
        Some("deny") => Ok(Said::Deny(message.to_owned())),
        // A changed call is another call, which nobody has judged.
        Some("allow") if decision.get("updatedInput").is_some() => {
            Err("changed the call, which is not supported".to_owned())
        }
        Some("allow") => Ok(Said::Allow),
        Some(_) | None => Err("said something that is no decision".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::{Origin, Source};
    use portcullis_settings::ToolMatcher;

    use super::*;

    #[test]
    fn only_a_plain_allow_allows() {
        let said = |decision: &str| {
            let text = format!(r#"{{"hookSpecificOutput":{{"decision":{decision}}}}}"#);
            match answer(text.as_bytes()) {
                Ok(Said::Allow) => "allow".to_owned(),
                Ok(Said::Deny(why)) => format!("deny {why}"),
                Ok(Said::Nothing) => "nothing".to_owned(),
                Err(what) => what,
            }
        };
        assert_eq!(said(r#"{"behavior":"allow"}"#), "allow");
        assert_eq!(said(r#"{"behavior":"deny","message":"not today"}"#), "deny not today");
        assert_eq!(
            said(r#"{"behavior":"allow","updatedInput":{}}"#),
            "changed the call, which is not supported"
        );
        for wrong in [r#"{"behavior":"ALLOW"}"#, r#"{"behavior":true}"#, "{}", "\"allow\""] {
            assert_eq!(said(wrong), "said something that is no decision", "{wrong}");
        }
        assert!(matches!(answer(b" \n"), Ok(Said::Nothing)));
        assert!(matches!(answer(br#"{"decision":"allow"}"#), Ok(Said::Nothing)));
        assert!(answer(b"allow").is_err());
    }

    #[test]
    fn no_hook_is_waited_for_longer_than_there_is_time() {
        let hook = PermissionHook {
            tools: ToolMatcher::All,
            handler: HookHandler::ShellCommand { line: "exec sleep 600".to_owned() },
            timeout_seconds: 600,
            origin: Origin::bare(Source::User),
        };
        for time in [Duration::ZERO, Duration::from_millis(20)] {
            // It is waited for after it was killed, so that none is left behind.
            assert_eq!(ask_one(&hook, "{}", time).err().as_deref(), Some("took longer than 0 s"));
        }
    }
}
