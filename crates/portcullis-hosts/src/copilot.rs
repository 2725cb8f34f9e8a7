//! Copilot CLI and the agent of VS Code, which read the same file of hooks.
//!
//! They are told apart by what they write: VS Code names the event in `hook_event_name` and speaks Claude Code's format,
//! Copilot CLI has names in camel case and says the event by its fields alone.
//!
//! | moment | standard output | exit code |
//! |---|---|---|
//! | Copilot CLI, before a call | `permissionDecision` with the reason | 0 |
//! | Copilot CLI, before it asks its user | `behavior`; nothing for an ask | 0 |
//! | VS Code, before a call | Claude Code's | 0 |
//! | input that is not understood, an internal failure | a denial, with the reason also on standard error | 2 |
//!
//! Copilot CLI takes a crash for a denial and lets a call run when time is up; in VS Code both let it run. Neither says in
//! which mode a session is, so the settings decide.

use portcullis_core::{ToolInput, Value};
use serde::Serialize;
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
    SessionFact, SessionFactKind,
};
use crate::capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
use crate::claude_family::{
    self, BLOCKING_EXIT_CODE, BLOCKING_STDERR, FamilyMember, ReplyExtras, SessionFreedom,
};
use crate::copilot_tools::calls;
use crate::fields::{HookInputFields, unknown, wrong_type};
use crate::host::Host;
use crate::json::parse_input;
use crate::observed::CallFate::{Runs, Stopped};
use crate::observed::{ObservedMode, not_run};
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};

/// Copilot CLI and the agent of VS Code.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Copilot,
    title: "Copilot CLI and VS Code",
    usual: &BEFORE,
    others: &[&REQUEST, &CODE_BEFORE],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: None,
    shares_session: false,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["copilot", "code"],
        oldest: None,
        folder: SettingsFolder { variable: Some("COPILOT_HOME"), base: FolderBase::Home, path: ".copilot" },
        pieces,
        refusal: |_| None,
        afterwards: "",
    },
};

/// How it is proven.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &["-p", PROMPT, "--allow-all-tools", "--no-color"],
    variables: &[
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
        ("COPILOT_PROVIDER_BASE_URL", "@URL@/v1"),
        ("COPILOT_PROVIDER_API_KEY", NAME),
        ("COPILOT_MODEL", "scripted"),
    ],
    files: &[],
    tool: "bash",
    input: |command| json!({"command": command, "description": "Leave a file"}),
    takes_command: false,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[
    ObservedMode {
        version: "1.0.102",
        mode: "`-p`, all tools allowed",
        moment: &BEFORE,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Runs, Runs, Stopped],
        shown_by: "copilot::each_answer_before_a_call",
        gone_shown_by: "copilot::a_hook_whose_program_is_gone_stops_the_call",
    },
    not_run(&REQUEST),
    not_run(&CODE_BEFORE),
];

static BEFORE: HookMoment = HookMoment {
    event: "preToolUse",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Saying,
        plain: PlainQuestion::LeftIfHarmless,
        reason: true,
        changed_input: true,
        fails_open: true,
    },
    blocking: BlockingReply {
        stdout: r#"{"permissionDecision":"deny","permissionDecisionReason":"portcullis: the permission check failed or ran out of time; blocked to be safe"}"#,
        stderr: BLOCKING_STDERR,
        exit_code: BLOCKING_EXIT_CODE,
    },
};

static REQUEST: HookMoment = HookMoment {
    event: "permissionRequest",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Silence,
        plain: PlainQuestion::AsAny,
        reason: true,
        changed_input: false,
        fails_open: false,
    },
    blocking: BlockingReply {
        stdout: r#"{"behavior":"deny","message":"portcullis: the permission check failed or ran out of time; blocked to be safe"}"#,
        stderr: BLOCKING_STDERR,
        exit_code: BLOCKING_EXIT_CODE,
    },
};

static CODE_BEFORE: HookMoment = claude_family::BEFORE;

/// VS Code, and Copilot CLI where somebody registered an event by the name VS Code has for it.
static DIALECT: FamilyMember = FamilyMember {
    before: |_, _| &CODE_BEFORE,
    request: Some(&REQUEST),
    standing: |_| SessionFreedom { mode: None, person: None },
    calls,
    rewrites: false,
    session: |session, _| HookSession { transcript: None, ..session },
};

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    let mut fields = HookInputFields::read(told.input)?;
    match fields.take("hook_event_name") {
        Some(Value::Text(event)) => claude_family::read_event(&event, fields, told, &DIALECT),
        Some(other) => Err(wrong_type("hook_event_name", "a string", &other)),
        None => read_cli(fields),
    }
}

/// Reads what Copilot CLI wrote. Only what it says beside the call tells the event; a call that is about to run is told
/// from one that ran by the result.
fn read_cli(mut fields: HookInputFields) -> Result<HostEvent, HostError> {
    let tool = fields.take("toolName");
    let Some(tool) = tool else { return read_cli_fact(fields) };
    let Value::Text(tool) = tool else { return Err(wrong_type("toolName", "a string", &tool)) };
    if tool.is_empty() {
        return Err(unknown("toolName", ""));
    }
    let session = cli_session(&mut fields)?;
    let calls = calls(&tool, tool_arguments(&mut fields)?);
    if fields.take("toolResult").is_some_and(|result| result != Value::Null) {
        let kind = SessionFactKind::Done { calls, call_id: None };
        return Ok(HostEvent::Fact(SessionFact { session, mode: None, kind }));
    }
    let is_request = fields.optional("hookName").as_deref() == Some(REQUEST.event);
    let moment = if is_request { &REQUEST } else { &BEFORE };
    Ok(HostEvent::Call(Box::new(HookCall {
        moment,
        calls,
        mode: None,
        person: None,
        session,
        call_id: None,
        rewritable: None,
    })))
}

fn read_cli_fact(mut fields: HookInputFields) -> Result<HostEvent, HostError> {
    let kind = if let Some(text) = fields.optional("prompt") {
        SessionFactKind::Prompt { text }
    } else if let Some(source) = fields.optional("source") {
        SessionFactKind::Started { source }
    } else if fields.optional("reason").is_some() {
        SessionFactKind::Ended
    } else {
        return Err(HostError::Missing { field: "toolName" });
    };
    let session = cli_session(&mut fields);
    Ok(session.map_or(HostEvent::Other, |session| HostEvent::Fact(SessionFact { session, mode: None, kind })))
}

fn cli_session(fields: &mut HookInputFields) -> Result<HookSession, HostError> {
    let id = fields.optional("sessionId").unwrap_or_default();
    Ok(HookSession { id, cwd: fields.directory("cwd")?, ..HookSession::default() })
}

/// Takes the input of a tool, which is an object or the text of one.
fn tool_arguments(fields: &mut HookInputFields) -> Result<ToolInput, HostError> {
    const FIELD: &str = "toolArgs";
    match fields.take(FIELD) {
        Some(Value::Object(input)) => Ok(input.into_iter().collect()),
        Some(Value::Text(text)) => Ok(parse_input(text.as_bytes())?),
        Some(other) => Err(wrong_type(FIELD, "an object or the text of one", &other)),
        None => Err(HostError::Missing { field: FIELD }),
    }
}

fn write(moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    if *moment == CODE_BEFORE {
        return claude_family::write(moment, answer, ReplyExtras { notice: true, ending: true });
    }
    let reason = answer.reason.as_str();
    let wire = match answer.said {
        said if *moment == REQUEST => match said {
            HostDecision::Allow => CopilotReplyWire::Request { behavior: "allow", message: None },
            HostDecision::Contained | HostDecision::Deny => {
                CopilotReplyWire::Request { behavior: "deny", message: Some(reason) }
            }
            HostDecision::Ask | HostDecision::Silence => return HostReply::silence(),
        },
        HostDecision::Silence => return HostReply::silence(),
        HostDecision::Contained => {
            CopilotReplyWire::Before { permission_decision: "deny", permission_decision_reason: reason }
        }
        said => CopilotReplyWire::Before {
            permission_decision: said.as_str(),
            permission_decision_reason: reason,
        },
    };
    // Serializing strings cannot fail; if it does, the prepared answer still blocks.
    let stdout = serde_json::to_string(&wire).unwrap_or_else(|_| moment.blocking.stdout.to_owned());
    HostReply { stdout, stderr: String::new(), exit_code: 0 }
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum CopilotReplyWire<'a> {
    Before {
        permission_decision: &'a str,
        permission_decision_reason: &'a str,
    },
    Request {
        behavior: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
    },
}

/// One file that is all ours, for both of them. Before a call everything can be said; a session that is known from its
/// start needs fewer questions.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    let handler =
        |seconds: u32| json!([{ "type": "command", "bash": command.line(), "timeoutSec": seconds }]);
    let hooks = json!({
        "preToolUse": handler(90), "sessionStart": handler(10), "userPromptSubmitted": handler(10),
    });
    let text = format!("{:#}\n", json!({ "version": 1, "hooks": hooks }));
    vec![RegistrationPiece::File { file: "hooks/portcullis.json", text }]
}

#[cfg(test)]
mod tests {
    use portcullis_core::ToolCall;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::shown_calls::shown;

    fn asked(text: &str) -> HookCall {
        match read(&HostInput { input: text.as_bytes(), directory: "/w", variable: &|_| None }) {
            Ok(HostEvent::Call(call)) => *call,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Writes calls as `Tool {input}`, one a line.
    fn cli(tool: &str, arguments: &str) -> HookCall {
        asked(&format!(
            r#"{{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"{tool}","toolArgs":{arguments}}}"#
        ))
    }

    fn code(tool: &str, input: &str) -> HookCall {
        asked(&format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"{tool}","tool_input":{input}}}"#
        ))
    }

    #[test]
    fn the_two_are_told_apart_by_their_fields() {
        assert_eq!(cli("bash", r#"{"command":"ls"}"#).moment, &BEFORE);
        assert_eq!(code("run_in_terminal", r#"{"command":"ls"}"#).moment, &CODE_BEFORE);
        let request =
            r#"{"hookName":"permissionRequest","cwd":"/w","toolName":"bash","toolArgs":{"command":"ls"}}"#;
        assert_eq!(asked(request).moment, &REQUEST);
        let request = r#"{"hook_event_name":"PermissionRequest","cwd":"/w","tool_name":"bash","tool_input":{"command":"ls"}}"#;
        assert_eq!(asked(request).moment, &REQUEST);
    }

    #[test]
    fn arguments_are_an_object_or_the_text_of_one() {
        let expected = r#"Bash {"command":"git push"}"#;
        assert_eq!(shown(&cli("bash", r#"{"command":"git push"}"#).calls), expected);
        assert_eq!(shown(&cli("bash", r#""{\"command\":\"git push\"}""#).calls), expected);
        for arguments in ["7", "null", "[]", "\"ls\"", "\"[]\"", r#""{\"command\":\"a\",\"command\":\"b\"}""#]
        {
            let text = format!(r#"{{"cwd":"/w","toolName":"bash","toolArgs":{arguments}}}"#);
            let told = HostInput { input: text.as_bytes(), directory: "/w", variable: &|_| None };
            assert!(read(&told).is_err(), "{arguments}");
        }
    }

    #[test]
    fn what_happened_is_a_fact_and_what_is_not_known_is_refused() {
        let read_text =
            |text: &str| read(&HostInput { input: text.as_bytes(), directory: "/w", variable: &|_| None });
        let kind = |text: &str| match read_text(text) {
            Ok(HostEvent::Fact(fact)) => fact.kind,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(
            kind(r#"{"cwd":"/w","prompt":"do not push"}"#),
            SessionFactKind::Prompt { text: "do not push".to_owned() }
        );
        assert_eq!(
            kind(r#"{"cwd":"/w","source":"new"}"#),
            SessionFactKind::Started { source: "new".to_owned() }
        );
        let done = kind(
            r#"{"cwd":"/w","toolName":"bash","toolArgs":{"command":"ls"},"toolResult":{"resultType":"success"}}"#,
        );
        assert_eq!(done, SessionFactKind::Done { calls: vec![ToolCall::bash("ls")], call_id: None });
        for text in
            ["{}", r#"{"cwd":"/w"}"#, r#"{"toolName":""}"#, r#"{"toolName":7}"#, r#"{"hook_event_name":7}"#]
        {
            assert!(read_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_file_registers_both() {
        let command = HookCommand {
            program: "/opt/portcullis".to_owned(),
            arguments: vec!["hook".to_owned(), "copilot".to_owned()],
            host_version: None,
        };
        let pieces = pieces(&command);
        let [RegistrationPiece::File { file: "hooks/portcullis.json", text }] = pieces.as_slice() else {
            panic!("{pieces:?}")
        };
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let hook = |seconds: u32| json!([{ "type": "command", "bash": "/opt/portcullis hook copilot", "timeoutSec": seconds }]);
        let hooks = json!({
            "preToolUse": hook(90), "sessionStart": hook(10), "userPromptSubmitted": hook(10),
        });
        assert_eq!(value, json!({ "version": 1, "hooks": hooks }));
    }
}
