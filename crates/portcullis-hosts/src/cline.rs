//! Cline CLI, through an executable file of ours.
//!
//! Cline starts the file of an event's name and reads one field of what it prints: `cancel`. Every exit code, a crash and
//! broken output let the call run, so the file is a script of ours that cancels unless our program answered well.
//!
//! | verdict | printed |
//! |---|---|
//! | allow | `{"cancel":false}`: Cline goes its own way, which is to run what is approved by itself |
//! | ask, deny, every failure | `{"cancel":true,"errorMessage":…}`: the call does not run **and the run ends** |
//!
//! The agent is not told why: the run is over. Cline says nothing of its modes, so the settings decide.

use portcullis_core::{ToolCall, ToolInput, Value};
use serde::Serialize;
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
};
use crate::call_parts::foreign_calls;
use crate::capability::{AskBy, HostDecision, MomentCapabilities};
use crate::claude_family::{self, BLOCKING_EXIT_CODE, BLOCKING_STDERR};
use crate::fields::{HookInputFields, absolute, unknown, wrong_type};
use crate::host::Host;
use crate::observed::CallFate::{NotSeen, RunEnds, Runs};
use crate::observed::ObservedMode;
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{PROMPT, ScriptedRun};
use crate::shell_word::joined;
use crate::tool_names::{ToolTranslation, by_table, not_understood, patch_or_refusal};

/// Cline CLI.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Cline,
    title: "Cline CLI",
    usual: &BEFORE,
    others: &[],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: None,
    shares_session: false,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["cline"],
        oldest: None,
        folder: SettingsFolder { variable: None, base: FolderBase::Home, path: ".cline" },
        refusal: |_| None,
        pieces,
        afterwards: "A call that is denied ends the run of Cline; its agent is not told why",
    },
};

/// How it is proven. Without its hub nothing of it outlives the run.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &["--json", "-t", "60", PROMPT],
    variables: &[
        ("CLINE_PROVIDER_SETTINGS_PATH", "@FOLDER@/providers.json"),
        ("CLINE_SESSION_BACKEND_MODE", "local"),
    ],
    files: &[(
        "providers.json",
        r#"{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":
{"settings":{"provider":"openai-compatible","apiKey":"portcullis-trial","model":"scripted","baseUrl":"@URL@/v1"},
"updatedAt":"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}"#,
    )],
    tool: "run_commands",
    input: |command| json!({"commands": [command]}),
    takes_command: false,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[ObservedMode {
    version: "3.0.65",
    mode: "headless",
    moment: &BEFORE,
    fates: [Runs, RunEnds, RunEnds, Runs, RunEnds, RunEnds, NotSeen, RunEnds],
    shown_by: "cline::each_answer_before_a_call",
    gone_shown_by: "cline::a_hook_whose_program_is_gone_stops_the_call",
}];

static BEFORE: HookMoment = HookMoment {
    event: "tool_call",
    capabilities: MomentCapabilities {
        allow: false,
        ask: AskBy::Nothing,
        reason: false,
        changed_input: false,
        fails_open: false,
        ..claude_family::BEFORE.capabilities
    },
    blocking: BlockingReply { stdout: BLOCKING, stderr: BLOCKING_STDERR, exit_code: BLOCKING_EXIT_CODE },
};

const BLOCKING: &str = r#"{"cancel":true,"errorMessage":"portcullis: the permission check failed or ran out of time; blocked to be safe"}"#;

/// Cline's tools, but for commands, files and pages, which come in many forms.
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation {
        theirs: &["editor"],
        ours: "Edit",
        fields: &[("file_path", &["path"]), ("old_string", &["old_text"]), ("new_string", &["new_text"])],
    },
    ToolTranslation {
        theirs: &["spawn_agent"],
        ours: "Agent",
        fields: &[("prompt", &["task"]), ("description", &["systemPrompt"])],
    },
    ToolTranslation { theirs: &["skills"], ours: "Skill", fields: &[("skill", &["skill", "name"])] },
    ToolTranslation { theirs: &["ask_question"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation {
        theirs: &["team_spawn_teammate"],
        ours: "Agent",
        fields: &[("prompt", &["rolePrompt"]), ("description", &["agentId"])],
    },
    ToolTranslation {
        theirs: &["team_run_task"],
        ours: "Agent",
        fields: &[("prompt", &["task"]), ("description", &["agentId"])],
    },
    ToolTranslation {
        theirs: &["team_broadcast", "team_send_message"],
        ours: "SendMessage",
        fields: &[("message", &["body"]), ("to", &["toAgentId"])],
    },
    ToolTranslation {
        theirs: &["team_list_outcomes", "team_list_runs", "team_read_mailbox", "team_status"],
        ours: "TaskList",
        fields: &[],
    },
    ToolTranslation {
        theirs: &["team_await_all_runs", "team_await_run", "team_await_runs"],
        ours: "TaskOutput",
        fields: &[],
    },
    ToolTranslation {
        theirs: &["team_cancel_run", "team_cleanup", "team_shutdown_teammate"],
        ours: "TaskStop",
        fields: &[],
    },
    // They keep the lists and notes of a team; the first says that the work is done.
    ToolTranslation {
        theirs: &[
            "submit_and_exit",
            "team_attach_outcome_fragment",
            "team_create_outcome",
            "team_finalize_outcome",
            "team_mission_log",
            "team_review_outcome_fragment",
            "team_task",
        ],
        ours: "TodoWrite",
        fields: &[],
    },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    const CALL: &str = "tool_call";
    let mut fields = HookInputFields::read(told.input)?;
    let event = fields.text("hookName")?;
    if event != BEFORE.event {
        return Err(unknown("hookName", &event));
    }
    let session = session(&mut fields)?;
    let (name, input, call_id) = match fields.take(CALL) {
        Some(Value::Object(mut call)) => {
            let text = |value: Option<Value>| value.as_ref().and_then(Value::as_text).map(str::to_owned);
            (text(call.remove("name")), call.remove("input"), text(call.remove("id")))
        }
        Some(other) => return Err(wrong_type(CALL, "an object", &other)),
        None => return Err(HostError::Missing { field: CALL }),
    };
    let name = name.filter(|name| !name.is_empty()).ok_or(HostError::Missing { field: "name" })?;
    let calls = calls(&name, &input.unwrap_or(Value::Null));
    let call =
        HookCall { moment: &BEFORE, calls, mode: None, person: None, session, call_id, rewritable: None };
    Ok(HostEvent::Call(Box::new(call)))
}

/// A session is in the first folder of the workspace; a subagent belongs to the session at the root.
fn session(fields: &mut HookInputFields) -> Result<HookSession, HostError> {
    const ROOTS: &str = "workspaceRoots";
    let root = match fields.take(ROOTS) {
        Some(Value::List(roots)) => roots.first().and_then(Value::as_text).map(str::to_owned),
        _ => None,
    };
    let cwd = absolute(ROOTS, root.ok_or(HostError::Missing { field: ROOTS })?)?;
    let root_session = match fields.take("sessionContext") {
        Some(Value::Object(context)) => {
            context.get("rootSessionId").and_then(Value::as_text).map(str::to_owned)
        }
        _ => None,
    };
    let id = root_session.or_else(|| fields.optional("taskId")).unwrap_or_default();
    let agent = fields.optional("agent_id").filter(|_| fields.optional("parent_agent_id").is_some());
    Ok(HookSession { id, cwd, agent, ..HookSession::default() })
}

fn calls(name: &str, input: &Value) -> Vec<ToolCall> {
    let parts = |keys: &[&str], one: &str| parts(input, keys, one);
    match name {
        "run_commands" => commands(input),
        "read_files" => {
            let file = |file: Option<String>| call("Read", "file_path", file);
            parts(&["file_paths", "files", "paths"], "path").into_iter().map(file).collect()
        }
        // It goes over the files of the workspace.
        "search_codebase" => {
            let query = |query: Option<String>| call("Grep", "pattern", query);
            parts(&["queries"], "query").into_iter().map(query).collect()
        }
        "fetch_web_content" => {
            let page = |page: Option<String>| call("WebFetch", "url", page);
            parts(&["requests"], "url").into_iter().map(page).collect()
        }
        "apply_patch" => {
            let patch = parts(&[], "input");
            patch_or_refusal(patch.first().and_then(Option::as_deref).filter(|_| patch.len() == 1))
        }
        _ => {
            let input: ToolInput = match input {
                Value::Object(fields) => fields.clone().into_iter().collect(),
                other => std::iter::once(("input".to_owned(), other.clone())).collect(),
            };
            match by_table(TOOLS, name, &input) {
                Some(call) => vec![call],
                None if name.starts_with("mcp__") => vec![ToolCall::new(name, input)],
                None => foreign_calls("cline", name, input),
            }
        }
    }
}

fn call(tool: &str, field: &str, text: Option<String>) -> ToolCall {
    let input = text.map_or_else(not_understood, |text| ToolInput::of_text(field, &text));
    ToolCall::new(tool, input)
}

/// Returns the texts that an input names. Cline takes a text, a list, an object with a list under one of several names,
/// or an object for one of them; what is none of these is `None`. Never empty.
fn parts(input: &Value, lists: &[&str], one: &str) -> Vec<Option<String>> {
    let found: Vec<Option<String>> = match input {
        Value::Text(text) => vec![Some(text.clone())],
        Value::List(elements) => elements.iter().flat_map(|element| parts(element, lists, one)).collect(),
        Value::Object(fields) => {
            let inner = lists.iter().filter_map(|name| fields.get(*name));
            let inner = inner.flat_map(|value| parts(value, lists, one));
            let own = fields.get(one).map(|value| value.as_text().map(str::to_owned));
            inner.chain(own).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    };
    if found.is_empty() { vec![None] } else { found }
}

/// Makes a Bash call of each command: a text, or an object of a program and its arguments.
fn commands(input: &Value) -> Vec<ToolCall> {
    let refusal = || vec![ToolCall::new("Bash", not_understood())];
    let found: Vec<ToolCall> = match input {
        Value::Text(line) => vec![ToolCall::bash(line)],
        Value::List(elements) => elements.iter().flat_map(commands).collect(),
        Value::Object(fields) => {
            let program = ["command", "cmd"].iter().filter_map(|name| fields.get(*name));
            let own = program.map(|line| match (line.as_text(), fields.get("args")) {
                (Some(line), None | Some(Value::Null)) => ToolCall::bash(line),
                (Some(program), Some(Value::List(words))) => {
                    let words: Option<Vec<&str>> = words.iter().map(Value::as_text).collect();
                    words.map_or_else(
                        || ToolCall::new("Bash", not_understood()),
                        |words| ToolCall::bash(&joined(std::iter::once(program).chain(words))),
                    )
                }
                _ => ToolCall::new("Bash", not_understood()),
            });
            fields.get("commands").map(commands).unwrap_or_default().into_iter().chain(own).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    };
    if found.is_empty() { refusal() } else { found }
}

fn write(_moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    let is_denied = !matches!(answer.said, HostDecision::Allow | HostDecision::Silence);
    let wire =
        ClineReplyWire { cancel: is_denied, error_message: is_denied.then_some(answer.reason.as_str()) };
    HostReply::json(&wire, BLOCKING)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClineReplyWire<'a> {
    cancel: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'a str>,
}

/// The script, and where the command is put into it.
const SCRIPT: &str = include_str!("../data/cline-hook.sh");
const COMMAND: &str = "@COMMAND@";

fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    let text = SCRIPT.replacen(COMMAND, &command.line(), 1);
    vec![RegistrationPiece::File { file: "hooks/PreToolUse", text }]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::json;
    use crate::shown_calls;

    fn shown(tool: &str, input: &str) -> String {
        shown_calls::shown(&calls(tool, &json::parse(input.as_bytes()).unwrap()))
    }

    #[test]
    fn tools_become_ours_in_every_form_that_cline_takes() {
        for (tool, input, expected) in [
            (
                "run_commands",
                r#"{"commands":["ls",{"command":"rm","args":["a b"]}]}"#,
                "Bash {\"command\":\"ls\"}\nBash {\"command\":\"rm 'a b'\"}",
            ),
            ("run_commands", r#"{"commands":"ls"}"#, r#"Bash {"command":"ls"}"#),
            ("run_commands", r#"{"cmd":"ls"}"#, r#"Bash {"command":"ls"}"#),
            ("run_commands", r#"["ls"]"#, r#"Bash {"command":"ls"}"#),
            ("run_commands", r#""ls""#, r#"Bash {"command":"ls"}"#),
            ("run_commands", "{}", r#"Bash {"file_path":null}"#),
            ("run_commands", r#"{"commands":[7]}"#, r#"Bash {"file_path":null}"#),
            (
                "run_commands",
                r#"{"commands":["ls"],"command":"rm a"}"#,
                "Bash {\"command\":\"ls\"}\nBash {\"command\":\"rm a\"}",
            ),
            (
                "read_files",
                r#"{"files":[{"path":"/a","start_line":1},"/b"]}"#,
                "Read {\"file_path\":\"/a\"}\nRead {\"file_path\":\"/b\"}",
            ),
            ("read_files", r#"{"paths":"/a"}"#, r#"Read {"file_path":"/a"}"#),
            ("read_files", r#"{"file_paths":["/a"]}"#, r#"Read {"file_path":"/a"}"#),
            ("read_files", r#"{"files":[{}]}"#, r#"Read {"file_path":null}"#),
            ("search_codebase", r#"{"queries":["x"]}"#, r#"Grep {"pattern":"x"}"#),
            (
                "fetch_web_content",
                r#"{"requests":[{"url":"https://a","prompt":"p"}]}"#,
                r#"WebFetch {"url":"https://a"}"#,
            ),
            (
                "editor",
                r#"{"path":"a","old_text":null,"new_text":"b"}"#,
                r#"Edit {"file_path":"a","new_string":"b"}"#,
            ),
            (
                "apply_patch",
                r#"{"input":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}"#,
                r#"Bash {"command":"rm -- a"}"#,
            ),
            (
                "spawn_agent",
                r#"{"systemPrompt":"s","task":"t"}"#,
                r#"Agent {"description":"s","prompt":"t"}"#,
            ),
            (
                "team_run_task",
                r#"{"agentId":"a","task":"t","taskId":"1"}"#,
                r#"Agent {"description":"a","prompt":"t"}"#,
            ),
            (
                "team_send_message",
                r#"{"toAgentId":"a","body":"b","subject":"c"}"#,
                r#"SendMessage {"message":"b","to":"a"}"#,
            ),
            ("team_log", r#"{"text":"a"}"#, r#"team_log {"text":"a"}"#),
        ] {
            assert_eq!(shown(tool, input), expected, "{tool} {input}");
        }
    }

    #[test]
    fn every_answer_says_whether_the_call_is_cancelled() {
        let answer = |said| {
            write(
                &BEFORE,
                &HostAnswer {
                    said,
                    reason: "why".to_owned(),
                    notice: None,
                    ends_run: false,
                    changed_input: None,
                },
            )
            .stdout
        };
        assert_eq!(answer(HostDecision::Allow), r#"{"cancel":false}"#);
        assert_eq!(answer(HostDecision::Silence), r#"{"cancel":false}"#);
        assert_eq!(answer(HostDecision::Ask), r#"{"cancel":true,"errorMessage":"why"}"#);
        assert_eq!(answer(HostDecision::Deny), r#"{"cancel":true,"errorMessage":"why"}"#);
    }
}
