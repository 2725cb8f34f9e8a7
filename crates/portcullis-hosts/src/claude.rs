//! Claude Code: its `PreToolUse` hook.
//!
//! Claude Code writes one JSON object to the hook's standard input and reads one from its standard output. A hook that
//! crashes, is silent or ends with an exit code other than 2 does not object, so every answer here is explicit:
//!
//! | what | standard output | exit code |
//! |---|---|---|
//! | a verdict | `permissionDecision` with the reason | 0 |
//! | input that is not understood, an internal failure | `deny` with the reason, also on standard error | 2 |
//! | another event than `PreToolUse` | nothing: Portcullis has no opinion on it | 0 |
//!
//! Unknown fields are skipped, so that a newer Claude Code still works; an unknown event is refused, because it could
//! be one that guards a call. Claude Code's tool names are the canonical ones.

use std::collections::BTreeMap;

use portcullis_core::{Mode, ToolCall, Value, Verdict};
use serde::Serialize;

use crate::json;
use crate::reason;
use crate::reply::{HostError, HostReply};

/// The exit code that blocks a call, whatever standard output says.
pub const BLOCKING_EXIT_CODE: i32 = 2;

/// Standard output of the answer that is prepared before anything can fail.
pub const BLOCKING_STDOUT: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"portcullis: the permission check failed or ran out of time; blocked to be safe"}}"#;

/// Standard error of the answer that is prepared before anything can fail.
pub const BLOCKING_STDERR: &str =
    "portcullis: the permission check failed or ran out of time; blocked to be safe\n";

/// The events Portcullis has no opinion on.
const OTHER_EVENTS: [&str; 32] = [
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "UserPromptSubmit",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// What Claude Code wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hook {
    /// May this call run?
    PreToolUse(HookCall),
    /// Something that needs no answer.
    Other,
}

/// A call and what surrounds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// The call.
    pub call: ToolCall,
    /// The session's permission mode; one that is not known counts as the default mode.
    pub mode: Mode,
    /// The absolute directory the call runs in.
    pub cwd: String,
    /// What the session is known by; may be empty.
    pub session: String,
    /// The file the session is written to, if it was named.
    pub transcript: Option<String>,
    /// The id of the call, if it has one.
    pub call_id: Option<String>,
    /// The subagent that makes the call, if one does.
    pub agent: Option<String>,
}

/// Reads what Claude Code wrote to standard input.
pub fn parse(text: &[u8]) -> Result<Hook, HostError> {
    let mut fields = match json::parse(text)? {
        Value::Object(fields) => fields,
        other => return Err(HostError::NotAnObject { found: json::kind(&other) }),
    };
    let event = take_text(&mut fields, "hook_event_name")?;
    match event.as_str() {
        "PreToolUse" => parse_call(fields).map(Hook::PreToolUse),
        other if OTHER_EVENTS.contains(&other) => Ok(Hook::Other),
        other => Err(unknown("hook_event_name", other)),
    }
}

/// Answers a call. The advice, if there is any, is for the agent; Claude Code shows the notice to its user.
pub fn reply(verdict: &Verdict, advice: Option<&str>, notice: Option<&str>) -> HostReply {
    let notice = notice.map(reason::notice);
    let mut reason = reason::reason(verdict);
    if let Some(advice) = advice {
        reason.push_str(". ");
        reason.push_str(advice);
    }
    let ending = verdict.ends_run.then(|| reason.clone());
    let stdout = reply_json(verdict.decision.as_str(), &reason, notice.as_deref(), ending.as_deref());
    HostReply { stdout, stderr: String::new(), exit_code: 0 }
}

/// Answers an event that needs no answer.
pub fn no_opinion() -> HostReply {
    HostReply { stdout: String::new(), stderr: String::new(), exit_code: 0 }
}

/// Blocks a call that could not be decided, and says why.
pub fn failure(message: &str) -> HostReply {
    let reason = reason::failure(message);
    HostReply {
        stdout: reply_json("deny", &reason, None, None),
        stderr: format!("{reason}\n"),
        exit_code: BLOCKING_EXIT_CODE,
    }
}

fn parse_call(mut fields: BTreeMap<String, Value>) -> Result<HookCall, HostError> {
    // What only helps the judge is taken where it is what it should be.
    let mut optional = |field: &str| match fields.remove(field) {
        Some(Value::Text(text)) if !text.is_empty() => Some(text),
        _ => None,
    };
    let session = optional("session_id").unwrap_or_default();
    let (transcript, call_id, agent) =
        (optional("transcript_path"), optional("tool_use_id"), optional("agent_id"));
    let tool = take_text(&mut fields, "tool_name")?;
    if tool.is_empty() {
        return Err(unknown("tool_name", ""));
    }
    let cwd = take_text(&mut fields, "cwd")?;
    if !cwd.starts_with('/') {
        return Err(unknown("cwd", &cwd));
    }
    let mode = match fields.remove("permission_mode") {
        None | Some(Value::Null) => Mode::Default,
        Some(Value::Text(name)) => Mode::find(&name).unwrap_or(Mode::Default),
        Some(other) => return Err(wrong_type("permission_mode", "a string", &other)),
    };
    let input = match fields.remove("tool_input") {
        Some(Value::Object(input)) => input.into_iter().collect(),
        Some(other) => return Err(wrong_type("tool_input", "an object", &other)),
        None => return Err(HostError::Missing { field: "tool_input" }),
    };
    let call = ToolCall::new(&tool, input);
    Ok(HookCall { call, mode, cwd, session, transcript, call_id, agent })
}

fn take_text(fields: &mut BTreeMap<String, Value>, field: &'static str) -> Result<String, HostError> {
    match fields.remove(field) {
        Some(Value::Text(text)) => Ok(text),
        Some(other) => Err(wrong_type(field, "a string", &other)),
        None => Err(HostError::Missing { field }),
    }
}

fn wrong_type(field: &'static str, expected: &'static str, found: &Value) -> HostError {
    HostError::WrongType { field, expected, found: json::kind(found) }
}

fn unknown(field: &'static str, value: &str) -> HostError {
    HostError::UnknownValue { field, value: value.escape_debug().to_string() }
}

fn reply_json(decision: &str, reason: &str, notice: Option<&str>, ending: Option<&str>) -> String {
    let reply = ReplyWire {
        hook_specific_output: DecisionWire {
            hook_event_name: "PreToolUse",
            permission_decision: decision,
            permission_decision_reason: reason,
        },
        system_message: notice,
        goes_on: ending.map(|_| false),
        stop_reason: ending,
    };
    // Serializing strings cannot fail; if it does, the prepared answer still blocks.
    serde_json::to_string(&reply).unwrap_or_else(|_| BLOCKING_STDOUT.to_owned())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplyWire<'a> {
    hook_specific_output: DecisionWire<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    /// Present and false when the run is to end.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    goes_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DecisionWire<'a> {
    hook_event_name: &'a str,
    permission_decision: &'a str,
    permission_decision_reason: &'a str,
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn failure_of(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn the_prepared_answer_is_what_a_failure_would_say() {
        let reply = failure("the permission check failed or ran out of time");
        assert_eq!(reply.stdout, BLOCKING_STDOUT);
        assert_eq!(reply.stderr, BLOCKING_STDERR);
        assert_eq!(reply.exit_code, BLOCKING_EXIT_CODE);
    }

    #[test]
    fn every_mode_is_read_and_an_unknown_one_counts_as_default() {
        let table = [
            ("\"default\"", Mode::Default),
            ("\"manual\"", Mode::Default),
            ("\"plan\"", Mode::Plan),
            ("\"acceptEdits\"", Mode::AcceptEdits),
            ("\"auto\"", Mode::Auto),
            ("\"dontAsk\"", Mode::DontAsk),
            ("\"bypassPermissions\"", Mode::BypassPermissions),
            ("\"yolo\"", Mode::Default),
            ("\"\"", Mode::Default),
            ("null", Mode::Default),
        ];
        for (mode, expected) in table {
            let text = format!(
                r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{}},"cwd":"/w","permission_mode":{mode}}}"#
            );
            let Hook::PreToolUse(call) = parse(text.as_bytes()).unwrap() else { panic!("{mode}") };
            assert_eq!(call.mode, expected, "{mode}");
        }
    }

    #[test]
    fn other_events_need_no_answer_and_unknown_ones_are_refused() {
        for event in OTHER_EVENTS {
            let text = format!(r#"{{"hook_event_name":"{event}","cwd":1}}"#);
            assert_eq!(parse(text.as_bytes()), Ok(Hook::Other), "{event}");
        }
        let message = failure_of(r#"{"hook_event_name":"pretooluse\u001b"}"#);
        assert_eq!(
            message,
            r"field `hook_event_name` of the hook input has the unknown value `pretooluse\u{1b}`"
        );
    }

    #[test]
    fn input_that_is_not_understood_says_what_is_wrong() {
        let table = [
            ("", "the hook input is not valid JSON: EOF while parsing a value at line 1 column 0"),
            ("[]", "the hook input must be an object, but is a list"),
            ("{}", "the hook input has no field `hook_event_name`"),
            (
                r#"{"hook_event_name":7}"#,
                "field `hook_event_name` of the hook input must be a string, but is a number",
            ),
            (r#"{"hook_event_name":"PreToolUse"}"#, "the hook input has no field `tool_name`"),
            (
                r#"{"hook_event_name":"PreToolUse","tool_name":""}"#,
                "field `tool_name` of the hook input has the unknown value ``",
            ),
            (
                r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"work"}"#,
                "field `cwd` of the hook input has the unknown value `work`",
            ),
            (
                r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"/w"}"#,
                "the hook input has no field `tool_input`",
            ),
            (
                r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"/w","tool_input":"ls"}"#,
                "field `tool_input` of the hook input must be an object, but is a string",
            ),
            (
                r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"/w","tool_input":{},"permission_mode":1}"#,
                "field `permission_mode` of the hook input must be a string, but is a number",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(failure_of(text), expected, "{text}");
        }
    }
}
