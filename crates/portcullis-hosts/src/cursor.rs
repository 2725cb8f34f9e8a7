//! Cursor.
//!
//! It asks at up to two moments about one call, and what can be said differs:
//!
//! | event | asks about | allow | ask | deny |
//! |---|---|---|---|---|
//! | `beforeShellExecution`, `beforeMCPExecution` | a command, a tool of an MCP server | yes | yes | yes |
//! | `beforeReadFile` | a file | yes | no: denied | yes |
//! | `preToolUse`, commands and tools of MCP servers | the same call, earlier | yes | passed on | yes |
//! | `preToolUse`, all other tools | files, subagents, … | yes | no: denied | yes |
//!
//! A call is judged at every moment, so that a rule holds even where the other event is missing. What `preToolUse` cannot
//! ask is passed on with an answer that decides nothing: the event of its own then asks, and if nobody registered it,
//! Cursor goes its own way. A refusal comes at the first of the two.
//!
//! Silence is a refusal for a hook that fails closed, so every answer is an object. Cursor does not name the server of an
//! MCP tool: such a tool is `mcp__cursor__TOOL` here, and a rule for a server by name does not see it. The directory of
//! a command is the model's choice and so part of the command; the session is in the first folder of the workspace.

use portcullis_core::{ToolCall, ToolInput, Value};
use serde::Serialize;
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
    SessionFact, SessionFactKind,
};
use crate::capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
use crate::claude_family::{BLOCKING_EXIT_CODE, BLOCKING_STDERR};
use crate::fields::{HookInputFields, absolute, unknown, wrong_type};
use crate::host::Host;
use crate::json;
use crate::observed::{ObservedMode, not_run};
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::tool_names::{self, FieldRenaming, ToolTranslation};

/// Cursor.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Cursor,
    title: "Cursor",
    usual: &TOOL,
    others: &[&TOOL_WITH_EVENT, &SHELL, &MCP, &READ],
    observed: OBSERVED,
    scripted_run: None,
    session_format: None,
    shares_session: false,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["cursor", "cursor-agent"],
        oldest: None,
        folder: SettingsFolder { variable: None, base: FolderBase::Home, path: ".cursor" },
        pieces,
        refusal: |_| None,
        afterwards: "Restart Cursor, and look under Settings, Hooks, whether all five are listed",
    },
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] =
    &[not_run(&TOOL), not_run(&TOOL_WITH_EVENT), not_run(&SHELL), not_run(&MCP), not_run(&READ)];

static TOOL: HookMoment = moment("preToolUse", AskBy::Nothing);
static TOOL_WITH_EVENT: HookMoment = moment("preToolUse", AskBy::Silence);
static SHELL: HookMoment = moment("beforeShellExecution", AskBy::Saying);
static MCP: HookMoment = moment("beforeMCPExecution", AskBy::Saying);
static READ: HookMoment = moment("beforeReadFile", AskBy::Nothing);

/// It fails open unless the registration says otherwise, which ours does; somebody else's may not.
const fn moment(event: &'static str, ask: AskBy) -> HookMoment {
    HookMoment {
        event,
        capabilities: MomentCapabilities {
            allow: true,
            ask,
            plain: PlainQuestion::AsAny,
            reason: true,
            changed_input: false,
            fails_open: true,
        },
        blocking: BlockingReply { stdout: BLOCKING, stderr: BLOCKING_STDERR, exit_code: BLOCKING_EXIT_CODE },
    }
}

const BLOCKING: &str = r#"{"permission":"deny","user_message":"portcullis: the permission check failed or ran out of time; blocked to be safe","agent_message":"portcullis: the permission check failed or ran out of time; blocked to be safe"}"#;

/// The events nothing is kept of.
const OTHER_EVENTS: [&str; 8] = [
    "afterAgentResponse",
    "afterAgentThought",
    "afterFileEdit",
    "afterMCPExecution",
    "afterShellExecution",
    "postToolUse",
    "preCompact",
    "stop",
];

const FILE: FieldRenaming<'_> = ("file_path", &["file_path", "path"]);
const FOLDER: FieldRenaming<'_> = ("path", &["path"]);

/// The tools of `preToolUse`, but for commands, removals and MCP servers.
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation { theirs: &["Read"], ours: "Read", fields: &[FILE] },
    ToolTranslation {
        theirs: &["Write"],
        ours: "Write",
        fields: &[FILE, ("content", &["content", "contents"])],
    },
    ToolTranslation { theirs: &["Grep"], ours: "Grep", fields: &[("pattern", &["pattern"]), FOLDER] },
    ToolTranslation { theirs: &["Task"], ours: "Agent", fields: &[("prompt", &["prompt"])] },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    let mut fields = HookInputFields::read(told.input)?;
    let event = fields.text("hook_event_name")?;
    let event = event.as_str();
    if OTHER_EVENTS.contains(&event) {
        return Ok(HostEvent::Other);
    }
    if !["preToolUse", SHELL.event, MCP.event, READ.event].contains(&event) {
        return Ok(fact(event, fields)?.map_or(HostEvent::Other, HostEvent::Fact));
    }
    let session = session(&mut fields)?;
    let call_id = fields.optional("tool_use_id");
    let (moment, call) = match event {
        "beforeShellExecution" => (&SHELL, command(&mut fields, &session.cwd)?),
        "beforeMCPExecution" => (&MCP, mcp_call(&mut fields)?),
        "beforeReadFile" => {
            let file = fields.word("file_path")?;
            (&READ, ToolCall::new("Read", ToolInput::of_text("file_path", &file)))
        }
        _ => tool(&mut fields)?,
    };
    let call =
        HookCall { moment, calls: vec![call], mode: None, person: None, session, call_id, rewritable: None };
    Ok(HostEvent::Call(Box::new(call)))
}

/// A session is in the first folder of the workspace. One without a folder is nowhere, and nothing can be judged there.
fn session(fields: &mut HookInputFields) -> Result<HookSession, HostError> {
    let root = match fields.take("workspace_roots") {
        Some(Value::List(roots)) => roots.first().and_then(Value::as_text).map(str::to_owned),
        _ => None,
    };
    let root = root.ok_or(HostError::Missing { field: "workspace_roots" })?;
    let cwd = absolute("workspace_roots", root)?;
    let id = fields.optional("conversation_id").unwrap_or_default();
    Ok(HookSession { id, cwd, project: None, transcript: None, agent: None })
}

fn command(fields: &mut HookInputFields, root: &str) -> Result<ToolCall, HostError> {
    let command = fields.text("command")?;
    let directory = match fields.take("cwd") {
        None | Some(Value::Null) => String::new(),
        Some(Value::Text(directory)) => directory,
        Some(other) => return Err(wrong_type("cwd", "a string", &other)),
    };
    Ok(match directory.as_str() {
        "" => ToolCall::bash(&command),
        directory if directory == root => ToolCall::bash(&command),
        directory => ToolCall::bash(&tool_names::in_directory(directory, &command)),
    })
}

/// The input of an MCP tool is JSON inside a string.
fn mcp_call(fields: &mut HookInputFields) -> Result<ToolCall, HostError> {
    let name = fields.word("tool_name")?;
    let input = match fields.take("tool_input") {
        Some(Value::Text(text)) if text.trim().is_empty() => ToolInput::default(),
        Some(Value::Text(text)) => json::parse_input(text.as_bytes())?,
        Some(Value::Object(input)) => input.into_iter().collect(),
        Some(other) => return Err(wrong_type("tool_input", "a string", &other)),
        None => return Err(HostError::Missing { field: "tool_input" }),
    };
    Ok(ToolCall::new(&tool_names::mcp("cursor", &name), input))
}

fn tool(fields: &mut HookInputFields) -> Result<(&'static HookMoment, ToolCall), HostError> {
    let name = fields.word("tool_name")?;
    let input = fields.input("tool_input")?;
    if let Some(tool) = name.strip_prefix("MCP:") {
        return Ok((&TOOL_WITH_EVENT, ToolCall::new(&tool_names::mcp("cursor", tool.trim()), input)));
    }
    Ok(match name.as_str() {
        "Shell" => {
            let directory = ["working_directory", "cwd"];
            (&TOOL_WITH_EVENT, tool_names::command_line(&input, &["command"], &directory))
        }
        "MCP" => (&TOOL_WITH_EVENT, ToolCall::new("MCP", input)),
        "Delete" => (&TOOL, tool_names::removal(&input, &["file_path", "path"])),
        _ => {
            let call = tool_names::by_table(TOOLS, &name, &input);
            (&TOOL, call.unwrap_or_else(|| tool_names::foreign("cursor", &name, input)))
        }
    })
}

/// Reads a fact. One that lacks what it is about says nothing; an event that nobody knows is refused.
fn fact(event: &str, mut fields: HookInputFields) -> Result<Option<SessionFact>, HostError> {
    const KNOWN: [&str; 3] = ["beforeSubmitPrompt", "sessionEnd", "sessionStart"];
    if !KNOWN.contains(&event) {
        return Err(unknown("hook_event_name", event));
    }
    let Ok(session) = session(&mut fields) else { return Ok(None) };
    let kind = match event {
        "sessionStart" => Some(SessionFactKind::Started { source: "startup".to_owned() }),
        "sessionEnd" => Some(SessionFactKind::Ended),
        _ => fields.optional("prompt").map(|text| SessionFactKind::Prompt { text }),
    };
    Ok(kind.map(|kind| SessionFact { session, mode: None, kind }))
}

fn write(_moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    let permission = match answer.said {
        HostDecision::Allow => Some("allow"),
        HostDecision::Ask => Some("ask"),
        HostDecision::Contained | HostDecision::Deny => Some("deny"),
        HostDecision::Silence => None,
    };
    let reason = Some(answer.reason.as_str())
        .filter(|_| matches!(answer.said, HostDecision::Ask | HostDecision::Deny));
    let messages: Vec<&str> = reason.into_iter().chain(answer.notice.as_deref()).collect();
    let wire = CursorReplyWire {
        permission,
        user_message: (!messages.is_empty()).then(|| messages.join("\n")),
        agent_message: reason,
    };
    HostReply::json(&wire, BLOCKING)
}

#[derive(Serialize)]
struct CursorReplyWire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    permission: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_message: Option<&'a str>,
}

/// The command goes through a shell. A prompt is only kept, so nothing is blocked when that fails.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    const FILE: &str = "hooks.json";
    const CALLS: [&[&str]; 4] = [
        &["hooks", "preToolUse"],
        &["hooks", "beforeShellExecution"],
        &["hooks", "beforeMCPExecution"],
        &["hooks", "beforeReadFile"],
    ];
    let line = command.line();
    let element = |at, value| RegistrationPiece::Element { file: FILE, at, value, is_first: false };
    let version = RegistrationPiece::Field { file: FILE, at: &["version"], value: json!(1) };
    let calls =
        CALLS.iter().map(|at| element(at, json!({"command": line, "timeout": 90, "failClosed": true})));
    let prompt = element(&["hooks", "beforeSubmitPrompt"], json!({"command": line, "timeout": 10}));
    std::iter::once(version).chain(calls).chain([prompt]).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::shown_calls;

    fn read_text(text: &str) -> Result<HostEvent, HostError> {
        read(&HostInput { input: text.as_bytes(), directory: "/home/ada/.cursor", variable: &|_| None })
    }

    fn call_of(event: &str, rest: &str) -> HookCall {
        let text = format!(
            r#"{{"hook_event_name":"{event}","conversation_id":"c","workspace_roots":["/w","/v"],{rest}}}"#
        );
        match read_text(&text).unwrap() {
            HostEvent::Call(call) => *call,
            other => panic!("{other:?}"),
        }
    }

    /// Writes the call as `Tool {input}`.
    fn shown(event: &str, rest: &str) -> String {
        shown_calls::shown(&call_of(event, rest).calls)
    }

    #[test]
    fn the_directory_of_a_command_is_part_of_it() {
        for (rest, expected) in [
            (r#""command":"ls","cwd":"""#, r#"Bash {"command":"ls"}"#),
            (r#""command":"ls","cwd":"/w""#, r#"Bash {"command":"ls"}"#),
            (r#""command":"ls""#, r#"Bash {"command":"ls"}"#),
            (r#""command":"ls","cwd":"/etc""#, r#"Bash {"command":"cd /etc\nls"}"#),
        ] {
            assert_eq!(shown("beforeShellExecution", rest), expected, "{rest}");
            assert_eq!(call_of("beforeShellExecution", rest).session.cwd, "/w");
        }
    }

    #[test]
    fn tools_become_ours() {
        for (name, input, expected) in [
            ("Shell", r#"{"command":"ls","working_directory":"/x"}"#, r#"Bash {"command":"cd /x\nls"}"#),
            (
                "Shell",
                r#"{"command":"ls","working_directory":"/x","cwd":"/y"}"#,
                r#"Bash {"file_path":null}"#,
            ),
            ("Read", r#"{"file_path":"a"}"#, r#"Read {"file_path":"a"}"#),
            ("Read", r#"{"file_path":"a","path":"/etc/shadow"}"#, r#"Read {"file_path":null}"#),
            ("Write", r#"{"path":"a","contents":"b"}"#, r#"Write {"content":"b","file_path":"a"}"#),
            ("Delete", r#"{"path":"a b"}"#, r#"Bash {"command":"rm -- 'a b'"}"#),
            ("Delete", "{}", r#"Bash {"file_path":null}"#),
            ("Task", r#"{"prompt":"go"}"#, r#"Agent {"prompt":"go"}"#),
            ("MCP:close", r#"{"id":1}"#, r#"mcp__cursor__close {"id":1}"#),
            ("Bash", r#"{"command":"ls"}"#, r#"cursor.Bash {"command":"ls"}"#),
            ("TodoWrite", "{}", "cursor.TodoWrite {}"),
            ("SemanticSearch", "{}", "SemanticSearch {}"),
        ] {
            let rest = format!(r#""tool_name":"{name}","tool_input":{input}"#);
            assert_eq!(shown("preToolUse", &rest), expected, "{name} {input}");
        }
    }

    #[test]
    fn the_input_of_a_servers_tool_is_read_out_of_its_string() {
        let rest = r#""tool_name":"close","tool_input":"{\"id\":4}","command":"npx tracker""#;
        assert_eq!(shown("beforeMCPExecution", rest), r#"mcp__cursor__close {"id":4}"#);
        assert_eq!(
            shown("beforeMCPExecution", r#""tool_name":"list","tool_input":"""#),
            "mcp__cursor__list {}"
        );
    }

    #[test]
    fn a_question_is_passed_on_only_where_an_event_of_its_own_follows() {
        let moment = |name: &str| {
            call_of("preToolUse", &format!(r#""tool_name":"{name}","tool_input":{{}}"#))
                .moment
                .capabilities
                .ask
        };
        assert_eq!(moment("Shell"), AskBy::Silence);
        assert_eq!(moment("MCP:x"), AskBy::Silence);
        assert_eq!(moment("Read"), AskBy::Nothing);
        assert_eq!(moment("Write"), AskBy::Nothing);
        assert_eq!(moment("Anything"), AskBy::Nothing);
    }

    #[test]
    fn input_that_is_not_understood_is_refused() {
        for text in [
            "",
            "{}",
            r#"{"hook_event_name":"beforeTabFileRead","workspace_roots":["/w"]}"#,
            r#"{"hook_event_name":"beforeShellExecution","command":"ls","cwd":"/w"}"#,
            r#"{"hook_event_name":"beforeShellExecution","command":"ls","workspace_roots":[]}"#,
            r#"{"hook_event_name":"beforeShellExecution","command":"ls","workspace_roots":["w"]}"#,
            r#"{"hook_event_name":"beforeShellExecution","command":["ls"],"workspace_roots":["/w"]}"#,
            r#"{"hook_event_name":"beforeShellExecution","command":"ls","cwd":7,"workspace_roots":["/w"]}"#,
            r#"{"hook_event_name":"beforeMCPExecution","tool_name":"x","tool_input":"[","workspace_roots":["/w"]}"#,
            r#"{"hook_event_name":"beforeMCPExecution","tool_name":"x","workspace_roots":["/w"]}"#,
            r#"{"hook_event_name":"beforeReadFile","workspace_roots":["/w"]}"#,
            r#"{"hook_event_name":"preToolUse","tool_name":"Shell","workspace_roots":["/w"]}"#,
        ] {
            assert!(read_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_answer_is_an_object() {
        let answer = |said, notice: Option<&str>| {
            let notice = notice.map(str::to_owned);
            write(
                &SHELL,
                &HostAnswer { said, reason: "why".to_owned(), notice, ends_run: false, changed_input: None },
            )
            .stdout
        };
        assert_eq!(answer(HostDecision::Silence, None), "{}");
        assert_eq!(
            answer(HostDecision::Allow, Some("note")),
            r#"{"permission":"allow","user_message":"note"}"#
        );
        assert_eq!(
            answer(HostDecision::Ask, None),
            r#"{"permission":"ask","user_message":"why","agent_message":"why"}"#
        );
        assert_eq!(
            answer(HostDecision::Deny, Some("note")),
            r#"{"permission":"deny","user_message":"why\nnote","agent_message":"why"}"#
        );
    }

    #[test]
    fn every_moment_is_registered_and_fails_closed() {
        let command = HookCommand {
            program: "/opt/portcullis".to_owned(),
            arguments: vec!["hook".to_owned(), "cursor".to_owned()],
            host_version: None,
        };
        let pieces = pieces(&command);
        assert_eq!(
            pieces.first(),
            Some(&RegistrationPiece::Field { file: "hooks.json", at: &["version"], value: json!(1) })
        );
        for moment in ADAPTER.moments() {
            let registered = pieces.iter().any(|piece| match piece {
                RegistrationPiece::Element { at, value, .. } => {
                    at.last() == Some(&moment.event)
                        && *value
                            == json!({"command": "/opt/portcullis hook cursor", "timeout": 90, "failClosed": true})
                }
                _ => false,
            });
            assert!(registered, "{}", moment.event);
        }
    }
}
