//! The JSON that Claude Code, Codex, Qwen Code, Droid and VS Code share: how it is read, answered and registered.
//!
//! ```text
//! {"hook_event_name", "cwd", "tool_name", "tool_input", …} ──► Event     what differs is a host's Dialect
//! Answer ──► {"hookSpecificOutput": {…}}                                 what a moment can say is its mask
//! ```
//!
//! Unknown fields are skipped, so that a newer host still works; an unknown event is refused, because it could be one
//! that guards a call.

use portcullis_core::{Mode, Person, ToolCall, ToolInput, Value};
use serde::Serialize;
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAnswer, HostEvent, HostInput, RewritableInput,
    SessionFact, SessionFactKind,
};
use crate::capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
use crate::fields::{HookInputFields, unknown, wrong_type};
use crate::json;
use crate::registration::{HookCommand, RegistrationPiece};
use crate::reply::{HostError, HostReply};

/// What a host of the family says in its own way.
pub(crate) struct FamilyMember {
    /// The moment before a call, by the host's word for its mode and the name of the tool.
    pub(crate) before: fn(Option<&str>, &str) -> &'static HookMoment,
    /// The moment before the host asks its user, if it tells us.
    pub(crate) request: Option<&'static HookMoment>,
    /// What its word for the permission mode means; it may have none.
    pub(crate) standing: fn(Option<&str>) -> SessionFreedom,
    /// The calls that one of its calls amounts to; never none.
    pub(crate) calls: fn(&str, ToolInput) -> Vec<ToolCall>,
    /// Whether it was seen to run the command that an answer before a call puts in the place of its own.
    pub(crate) rewrites: bool,
    /// Completes the session with what only this host says, and takes from it what must not be used.
    pub(crate) session: fn(HookSession, &HostInput<'_>) -> HookSession,
}

/// How freely a session runs, as its host says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionFreedom {
    /// The mode; `None` if the settings decide.
    pub(crate) mode: Option<Mode>,
    /// Whether somebody can be asked; `None` if that is not said.
    pub(crate) person: Option<Person>,
}

impl SessionFreedom {
    /// A mode, with nothing said of a person.
    pub(crate) const fn of(mode: Mode) -> Self {
        Self { mode: Some(mode), person: None }
    }
}

/// The events nothing is kept of.
const OTHER_EVENTS: [&str; 25] = [
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// The events that tell what happened in a session.
const FACT_EVENTS: [&str; 6] =
    ["PermissionDenied", "PostToolUse", "SessionEnd", "SessionStart", "SubagentStop", "UserPromptSubmit"];

/// Reads what a host of the family handed over.
pub(crate) fn read(told: &HostInput<'_>, dialect: &FamilyMember) -> Result<HostEvent, HostError> {
    let mut fields = HookInputFields::read(told.input)?;
    let event = fields.text("hook_event_name")?;
    read_event(&event, fields, told, dialect)
}

/// Reads an event whose name is known.
pub(crate) fn read_event(
    event: &str,
    fields: HookInputFields,
    told: &HostInput<'_>,
    dialect: &FamilyMember,
) -> Result<HostEvent, HostError> {
    match event {
        "PreToolUse" => read_call(None, fields, told, dialect),
        "PermissionRequest" if dialect.request.is_some() => read_call(dialect.request, fields, told, dialect),
        _ if OTHER_EVENTS.contains(&event) => Ok(HostEvent::Other),
        _ if FACT_EVENTS.contains(&event) => {
            Ok(read_fact(event, fields, told, dialect).map_or(HostEvent::Other, HostEvent::Fact))
        }
        _ => Err(unknown("hook_event_name", event)),
    }
}

/// Reads a call; without a moment it is the one before a call.
fn read_call(
    moment: Option<&'static HookMoment>,
    mut fields: HookInputFields,
    told: &HostInput<'_>,
    dialect: &FamilyMember,
) -> Result<HostEvent, HostError> {
    let tool = fields.word("tool_name")?;
    let session = read_session(&mut fields, told, dialect)?;
    let word = read_mode(&mut fields)?;
    let SessionFreedom { mode, person } = (dialect.standing)(word.as_deref());
    let moment = moment.unwrap_or_else(|| (dialect.before)(word.as_deref(), &tool));
    let call_id = fields.optional("tool_use_id");
    let input = fields.input("tool_input")?;
    let calls = (dialect.calls)(&tool, input.clone());
    let may_rewrite = dialect.rewrites && moment.event == BEFORE.event;
    let rewritable = may_rewrite.then(|| RewritableInput::of(input, "command", &calls)).flatten();
    Ok(HostEvent::Call(Box::new(HookCall { moment, calls, mode, person, session, call_id, rewritable })))
}

fn read_session(
    fields: &mut HookInputFields,
    told: &HostInput<'_>,
    dialect: &FamilyMember,
) -> Result<HookSession, HostError> {
    let session = HookSession {
        id: fields.optional("session_id").unwrap_or_default(),
        cwd: fields.directory("cwd")?,
        project: None,
        transcript: fields.optional("transcript_path"),
        agent: fields.optional("agent_id"),
    };
    Ok((dialect.session)(session, told))
}

/// Reads the host's word for its mode.
fn read_mode(fields: &mut HookInputFields) -> Result<Option<String>, HostError> {
    match fields.take("permission_mode") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(word)) => Ok(Some(word)),
        Some(other) => Err(wrong_type("permission_mode", "a string", &other)),
    }
}

/// Reads a fact. One without a session is nobody's, and one that lacks what it is about says nothing.
fn read_fact(
    event: &str,
    mut fields: HookInputFields,
    told: &HostInput<'_>,
    dialect: &FamilyMember,
) -> Option<SessionFact> {
    let session = read_session(&mut fields, told, dialect).ok()?;
    // A host that does not say its mode here may be in any.
    let word = read_mode(&mut fields).ok().flatten();
    let mode = word.and_then(|word| (dialect.standing)(Some(&word)).mode);
    let mut calls = || -> Option<Vec<ToolCall>> {
        let tool = fields.word("tool_name").ok()?;
        Some((dialect.calls)(&tool, fields.input("tool_input").ok()?))
    };
    let kind = match event {
        "PermissionDenied" => {
            SessionFactKind::Denied { calls: calls()?, reason: fields.optional("reason").unwrap_or_default() }
        }
        "PostToolUse" => SessionFactKind::Done { calls: calls()?, call_id: fields.optional("tool_use_id") },
        "SessionStart" => SessionFactKind::Started { source: fields.optional("source").unwrap_or_default() },
        "SessionEnd" => SessionFactKind::Ended,
        "SubagentStop" => SessionFactKind::SubagentEnded,
        // What a subagent is told was written by an agent: it is nobody's word.
        _ if session.agent.is_some() => return None,
        _ => SessionFactKind::Prompt { text: fields.optional("prompt")? },
    };
    Some(SessionFact { session, mode, kind })
}

/// The exit code that blocks a call, whatever standard output says.
pub(crate) const BLOCKING_EXIT_CODE: i32 = 2;

/// Standard error of every prepared answer.
pub(crate) const BLOCKING_STDERR: &str =
    "portcullis: the permission check failed or ran out of time; blocked to be safe\n";

/// Standard output of the prepared answer to a call that is about to run.
const BLOCKING_BEFORE: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"portcullis: the permission check failed or ran out of time; blocked to be safe"}}"#;

/// Standard output of the prepared answer to a question that the host would put to its user.
const BLOCKING_REQUEST: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"portcullis: the permission check failed or ran out of time; blocked to be safe"}}}"#;

/// Which of the fields beside the decision a host takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplyExtras {
    /// `systemMessage`, which the user sees.
    pub(crate) notice: bool,
    /// `continue` and `stopReason`, which end the run.
    pub(crate) ending: bool,
}

/// The moment before every call, with all that the format can say there.
pub(crate) const BEFORE: HookMoment = HookMoment {
    event: "PreToolUse",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Saying,
        plain: PlainQuestion::LeftIfHarmless,
        reason: true,
        changed_input: true,
        fails_open: true,
    },
    blocking: BlockingReply {
        stdout: BLOCKING_BEFORE,
        stderr: BLOCKING_STDERR,
        exit_code: BLOCKING_EXIT_CODE,
    },
};

/// The moment before the host asks its user, with all that the format can say there. Whatever fails, the user is asked.
pub(crate) const REQUEST: HookMoment = HookMoment {
    event: "PermissionRequest",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Silence,
        plain: PlainQuestion::AsAny,
        reason: true,
        changed_input: true,
        fails_open: false,
    },
    blocking: BlockingReply {
        stdout: BLOCKING_REQUEST,
        stderr: BLOCKING_STDERR,
        exit_code: BLOCKING_EXIT_CODE,
    },
};

/// Answers at one of the two moments.
pub(crate) fn write(moment: &HookMoment, answer: &HostAnswer, extras: ReplyExtras) -> HostReply {
    if moment.event == REQUEST.event { request(answer, extras) } else { before(answer, extras) }
}

/// Answers a call that is about to run.
fn before(answer: &HostAnswer, extras: ReplyExtras) -> HostReply {
    // A call that is contained runs as the answer says or not at all.
    let updated_input = answer.changed_input.as_ref().map(json::to_wire);
    let decision = match answer.said {
        HostDecision::Allow => Some("allow"),
        HostDecision::Contained if updated_input.is_some() => Some("allow"),
        HostDecision::Ask => Some("ask"),
        HostDecision::Contained | HostDecision::Deny => Some("deny"),
        HostDecision::Silence => None,
    };
    let updated_input = updated_input.filter(|_| answer.said == HostDecision::Contained);
    let output = decision.map(|decision| HookOutputWire::Before {
        hook_event_name: "PreToolUse",
        permission_decision: decision,
        permission_decision_reason: &answer.reason,
        updated_input,
    });
    reply(output, answer, extras, BLOCKING_BEFORE)
}

/// Answers a question that the host would put to its user.
fn request(answer: &HostAnswer, extras: ReplyExtras) -> HostReply {
    let decision = match answer.said {
        HostDecision::Allow => Some(BehaviorWire { behavior: "allow", message: None }),
        HostDecision::Contained | HostDecision::Deny => {
            Some(BehaviorWire { behavior: "deny", message: Some(&answer.reason) })
        }
        HostDecision::Ask | HostDecision::Silence => None,
    };
    let output =
        decision.map(|decision| HookOutputWire::Request { hook_event_name: "PermissionRequest", decision });
    reply(output, answer, extras, BLOCKING_REQUEST)
}

fn reply(
    output: Option<HookOutputWire<'_>>,
    answer: &HostAnswer,
    extras: ReplyExtras,
    blocking: &'static str,
) -> HostReply {
    let notice = answer.notice.as_deref().filter(|_| extras.notice);
    let ends = answer.ends_run && extras.ending;
    if output.is_none() && notice.is_none() && !ends {
        return HostReply::silence();
    }
    let wire = ClaudeReplyWire {
        hook_specific_output: output,
        system_message: notice,
        goes_on: ends.then_some(false),
        stop_reason: ends.then_some(answer.reason.as_str()),
    };
    HostReply::json(&wire, blocking)
}

/// Shows the user a sentence at the beginning of a session.
pub(crate) fn welcome(text: &str) -> HostReply {
    HostReply::json(&json!({ "systemMessage": text }), "")
}

/// Registers a handler for an event: an element of the list of its hooks. An empty matcher is left out.
pub(crate) fn element(
    file: &'static str,
    at: &'static [&'static str],
    matcher: &str,
    handler: impl Serialize,
) -> RegistrationPiece {
    let hooks = json!([handler]);
    let value = match matcher {
        "" => json!({ "hooks": hooks }),
        _ => json!({ "matcher": matcher, "hooks": hooks }),
    };
    RegistrationPiece::Element { file, at, value, is_first: false }
}

/// A handler of a host that hands commands to a shell; the time-out is in the host's own unit.
pub(crate) fn shell_handler(command: &HookCommand, timeout: u32) -> impl Serialize {
    json!({ "type": "command", "command": command.line(), "timeout": timeout })
}

/// A handler of such a host that lets a call run if its hook fails: the line blocks by itself.
pub(crate) fn guarded_handler(command: &HookCommand, timeout: u32) -> impl Serialize {
    json!({ "type": "command", "command": command.guarded_line(), "timeout": timeout })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeReplyWire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<HookOutputWire<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    /// Present and false when the run is to end.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    goes_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum HookOutputWire<'a> {
    Before {
        hook_event_name: &'a str,
        permission_decision: &'a str,
        permission_decision_reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<serde_json::Value>,
    },
    Request {
        hook_event_name: &'a str,
        decision: BehaviorWire<'a>,
    },
}

#[derive(Serialize)]
struct BehaviorWire<'a> {
    behavior: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}
