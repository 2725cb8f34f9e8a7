//! Gemini CLI.
//!
//! It asks the hook first and its own policy afterwards, so an allow of ours changes nothing and is not said:
//!
//! | verdict on `BeforeTool` | standard output |
//! |---|---|
//! | allow | nothing; Gemini CLI's own policy decides |
//! | contained | `hookSpecificOutput.tool_input`, which it runs instead; its own policy decides on that |
//! | ask | `decision: ask`; its user is asked, also in yolo mode |
//! | ask about a tool of an MCP server or a subagent | a denial: the first hangs a run that nobody watches, the second is not heeded |
//! | deny | `decision: deny` with the reason, which the agent reads |
//!
//! An ask has two edges. It is put to the user even where an administrator's policy denies the call, and in a run that
//! nobody watches it ends the run without a word. `--headless` makes it a denial there. A person who wants our rules
//! alone to decide starts Gemini CLI in yolo mode.
//!
//! A hook that crashes, is silent or prints something else lets the call through; exit code 2 blocks. There is no id of
//! a call, no mode, and nothing tells a subagent's call. Paths come as the model wrote them; the core makes them absolute.

use portcullis_core::{ToolCall, ToolInput, Value};
use serde::Serialize;
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
    RewritableInput, SessionFact, SessionFactKind, SessionFormat,
};
use crate::capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
use crate::claude_family::{self, BLOCKING_EXIT_CODE, BLOCKING_STDERR};
use crate::fields::{HookInputFields, unknown};
use crate::host::Host;
use crate::json;
use crate::observed::CallFate::{Asked, NotSeen, RunEnds, Runs, Stopped};
use crate::observed::ObservedMode;
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};
use crate::settings_shape;
use crate::tool_names;

/// Gemini CLI.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Gemini,
    title: "Gemini CLI",
    usual: &BEFORE,
    others: &[&BEFORE_UNASKED],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: Some(SessionFormat::Gemini),
    shares_session: false,
    read,
    write,
    welcome: Some(claude_family::welcome),
    registration: Registration {
        programs: &["gemini"],
        oldest: None,
        folder: SettingsFolder {
            variable: None,
            base: FolderBase::HomeOr("GEMINI_CLI_HOME"),
            path: ".gemini",
        },
        pieces,
        refusal: settings_shape::gemini_refusal,
        afterwards: "An allow does not skip Gemini CLI's own questions: start it with `--approval-mode yolo` to let \
                     portcullis alone decide",
    },
};

/// How it is proven. The file says which key counts, whatever its user signed in with.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &["-p", PROMPT, "-m", "gemini-2.5-flash", "--approval-mode", "yolo"],
    variables: &[
        // The switch for it would come too late for the file.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("GEMINI_API_KEY", NAME),
        ("GOOGLE_GEMINI_BASE_URL", "@URL@"),
        // It would start itself anew with more memory.
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ],
    files: &[(
        ".gemini/settings.json",
        r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false}}"#,
    )],
    tool: "run_shell_command",
    input: |command| json!({"command": command, "description": "Leave a file"}),
    takes_command: true,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[
    ObservedMode {
        version: "0.61.0",
        mode: "`-p`, `yolo`",
        moment: &BEFORE,
        fates: [Runs, RunEnds, Stopped, Runs, Stopped, Runs, Runs, RunEnds],
        shown_by: "gemini::each_answer_before_a_call",
        gone_shown_by: "gemini::a_hook_whose_program_is_gone_stops_everything",
    },
    ObservedMode {
        version: "0.61.0",
        mode: "terminal, `default`",
        moment: &BEFORE,
        fates: [Asked, Asked, Stopped, Asked, NotSeen, NotSeen, NotSeen, NotSeen],
        shown_by: "by hand, 2026-11-16",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "0.61.0",
        mode: "terminal, `yolo`",
        moment: &BEFORE,
        fates: [Runs, Asked, Stopped, Runs, NotSeen, NotSeen, NotSeen, NotSeen],
        shown_by: "by hand, 2026-11-16",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "0.61.0",
        mode: "`-p`, `yolo`, a tool of an MCP server",
        moment: &BEFORE_UNASKED,
        fates: [Runs, NotSeen, Stopped, Runs, Stopped, Runs, Runs, NotSeen],
        shown_by: "gemini::each_answer_before_a_call_of_an_mcp_tool",
        gone_shown_by: "",
    },
];

static BEFORE: HookMoment = before(AskBy::Saying);

/// An ask about a tool of an MCP server hangs a run that nobody watches, and one about a subagent is not heeded.
static BEFORE_UNASKED: HookMoment = before(AskBy::Nothing);

const fn before(ask: AskBy) -> HookMoment {
    HookMoment {
        event: "BeforeTool",
        capabilities: MomentCapabilities {
            allow: false,
            ask,
            plain: PlainQuestion::LeftIfHarmless,
            reason: true,
            changed_input: true,
            fails_open: true,
        },
        blocking: BlockingReply { stdout: BLOCKING, stderr: BLOCKING_STDERR, exit_code: BLOCKING_EXIT_CODE },
    }
}

const BLOCKING: &str = r#"{"decision":"deny","reason":"portcullis: the permission check failed or ran out of time; blocked to be safe"}"#;

/// The events nothing is kept of.
const OTHER_EVENTS: [&str; 6] =
    ["AfterAgent", "AfterModel", "BeforeModel", "BeforeToolSelection", "Notification", "PreCompress"];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    let mut fields = HookInputFields::read(told.input)?;
    let event = fields.text("hook_event_name")?;
    match event.as_str() {
        "BeforeTool" => {}
        other if OTHER_EVENTS.contains(&other) => return Ok(HostEvent::Other),
        other => return Ok(fact(other, fields, told)?.map_or(HostEvent::Other, HostEvent::Fact)),
    }
    let session = session(&mut fields, told)?;
    let (calls, input) = calls(&mut fields)?;
    let is_unasked = |call: &ToolCall| call.tool() == "Agent" || call.tool().starts_with("mcp__");
    let moment = if calls.iter().any(is_unasked) { &BEFORE_UNASKED } else { &BEFORE };
    let rewritable = RewritableInput::of(input, "command", &calls);
    let call = HookCall { moment, calls, mode: None, person: None, session, call_id: None, rewritable };
    Ok(HostEvent::Call(Box::new(call)))
}

/// The directory is the session's; where a command runs otherwise is part of its input.
fn session(fields: &mut HookInputFields, told: &HostInput<'_>) -> Result<HookSession, HostError> {
    Ok(HookSession {
        id: fields.optional("session_id").unwrap_or_default(),
        cwd: fields.directory("cwd")?,
        project: (told.variable)("GEMINI_PROJECT_DIR").filter(|project| project.starts_with('/')),
        transcript: fields.optional("transcript_path"),
        agent: None,
    })
}

/// A tool of an MCP server is known by what is said of the server, not by its name, which leaves open where the
/// server's name ends.
fn calls(fields: &mut HookInputFields) -> Result<(Vec<ToolCall>, ToolInput), HostError> {
    let name = fields.word("tool_name")?;
    let input = fields.input("tool_input")?;
    let calls = match mcp_name(fields.take("mcp_context")) {
        Some(name) => vec![ToolCall::new(&name, input.clone())],
        None => tool_names::gemini(&name, input.clone()),
    };
    Ok((calls, input))
}

fn mcp_name(context: Option<Value>) -> Option<String> {
    let Some(Value::Object(context)) = context else { return None };
    let word = |field| context.get(field).and_then(Value::as_text).filter(|word| !word.is_empty());
    Some(tool_names::mcp(word("server_name")?, word("tool_name")?))
}

/// Reads a fact. One that lacks what it is about says nothing; an event that nobody knows is refused.
fn fact(
    event: &str,
    mut fields: HookInputFields,
    told: &HostInput<'_>,
) -> Result<Option<SessionFact>, HostError> {
    const KNOWN: [&str; 4] = ["AfterTool", "BeforeAgent", "SessionEnd", "SessionStart"];
    if !KNOWN.contains(&event) {
        return Err(unknown("hook_event_name", event));
    }
    let Ok(session) = session(&mut fields, told) else { return Ok(None) };
    let kind = match event {
        "AfterTool" => {
            calls(&mut fields).ok().map(|(calls, _)| SessionFactKind::Done { calls, call_id: None })
        }
        "SessionStart" => {
            Some(SessionFactKind::Started { source: fields.optional("source").unwrap_or_default() })
        }
        "SessionEnd" => Some(SessionFactKind::Ended),
        _ => fields
            .optional("prompt")
            .and_then(|prompt| own_words(&prompt))
            .map(|text| SessionFactKind::Prompt { text }),
    };
    Ok(kind.map(|kind| SessionFact { session, mode: None, kind }))
}

/// Returns what the user wrote: files that were named with `@` follow it in the same text, and are not the user's words.
fn own_words(prompt: &str) -> Option<String> {
    const MARKS: [&str; 2] = ["--- Content from referenced files ---", "Content from @"];
    let lines = prompt.lines().take_while(|line| !MARKS.iter().any(|mark| line.starts_with(mark)));
    let words = lines.collect::<Vec<_>>().join("\n");
    let words = words.trim();
    (!words.is_empty()).then(|| words.to_owned())
}

fn write(_moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    let decision = match answer.said {
        HostDecision::Ask => Some("ask"),
        HostDecision::Contained if answer.changed_input.is_some() => None,
        HostDecision::Contained | HostDecision::Deny => Some("deny"),
        HostDecision::Allow | HostDecision::Silence => None,
    };
    let changed = answer.changed_input.as_ref().filter(|_| answer.said == HostDecision::Contained);
    if decision.is_none() && answer.notice.is_none() && changed.is_none() {
        return HostReply::silence();
    }
    // The question to the user shows the message, not the reason.
    let asked = (answer.said == HostDecision::Ask).then(|| answer.reason.clone());
    let messages: Vec<String> = asked.into_iter().chain(answer.notice.clone()).collect();
    let ends = answer.ends_run && decision.is_some();
    let wire = GeminiReplyWire {
        decision,
        reason: decision.map(|_| answer.reason.as_str()),
        system_message: (!messages.is_empty()).then(|| messages.join("\n")),
        goes_on: ends.then_some(false),
        stop_reason: ends.then_some(answer.reason.as_str()),
        hook_specific_output: changed
            .map(|input| json!({ "hookEventName": BEFORE.event, "tool_input": json::to_wire(input) })),
    };
    HostReply::json(&wire, BLOCKING)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiReplyWire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    /// Present and false when the run is to end.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    goes_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<serde_json::Value>,
}

/// The command goes through a shell, and its time limit is in milliseconds.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    const FACTS: [(&[&str], &str); 4] = [
        (&["hooks", "BeforeAgent"], ""),
        (&["hooks", "AfterTool"], "run_shell_command|write_file|replace|exit_plan_mode"),
        (&["hooks", "SessionStart"], ""),
        (&["hooks", "SessionEnd"], ""),
    ];
    let element = |line: String, at, matcher, timeout: u32| {
        let handler = json!({"type": "command", "name": "portcullis", "command": line, "timeout": timeout});
        claude_family::element("settings.json", at, matcher, handler)
    };
    let calls = element(command.guarded_line(), &["hooks", "BeforeTool"], "*", 90_000);
    let facts = FACTS.iter().map(|(at, matcher)| element(command.line(), at, matcher, 10_000));
    std::iter::once(calls).chain(facts).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read_text(text: &str) -> Result<HostEvent, HostError> {
        let variable = |name: &str| (name == "GEMINI_PROJECT_DIR").then(|| "/w".to_owned());
        read(&HostInput { input: text.as_bytes(), directory: "/", variable: &variable })
    }

    fn call_of(rest: &str) -> HookCall {
        let text = format!(r#"{{"hook_event_name":"BeforeTool","session_id":"s","cwd":"/w/sub",{rest}}}"#);
        match read_text(&text).unwrap() {
            HostEvent::Call(call) => *call,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_call_is_read_with_its_session() {
        let call = call_of(
            r#""tool_name":"run_shell_command","tool_input":{"command":"ls"},"transcript_path":"/t""#,
        );
        assert_eq!(call.calls, [ToolCall::bash("ls")]);
        assert_eq!((call.mode, call.person, call.call_id), (None, None, None));
        let session = HookSession {
            id: "s".to_owned(),
            cwd: "/w/sub".to_owned(),
            project: Some("/w".to_owned()),
            transcript: Some("/t".to_owned()),
            agent: None,
        };
        assert_eq!(call.session, session);
    }

    #[test]
    fn the_server_of_an_mcp_tool_is_taken_from_what_is_said_of_it() {
        let named = |context: &str| {
            let rest = format!(r#""tool_name":"mcp_my_srv_list","tool_input":{{}},"mcp_context":{context}"#);
            call_of(&rest).calls.first().unwrap().tool().to_owned()
        };
        assert_eq!(
            named(r#"{"server_name":"my_srv","tool_name":"list","command":"x"}"#),
            "mcp__my_srv__list"
        );
        for context in ["null", "{}", "7", r#"{"server_name":"","tool_name":"list"}"#] {
            assert_eq!(named(context), "mcp__my__srv_list", "{context}");
        }
        let call = call_of(
            r#""tool_name":"read_file","tool_input":{"file_path":"a"},"mcp_context":{"server_name":"x","tool_name":"read_file"}"#,
        );
        assert_eq!(call.calls.first().unwrap().tool(), "mcp__x__read_file");
    }

    #[test]
    fn input_that_is_not_understood_is_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"hook_event_name":"PreToolUse"}"#,
            r#"{"hook_event_name":"BeforeTool"}"#,
            r#"{"hook_event_name":"BeforeTool","cwd":"w","tool_name":"glob","tool_input":{}}"#,
            r#"{"hook_event_name":"BeforeTool","cwd":"/w","tool_name":"","tool_input":{}}"#,
            r#"{"hook_event_name":"BeforeTool","cwd":"/w","tool_name":"glob","tool_input":"x"}"#,
            r#"{"hook_event_name":"BeforeTool","cwd":"/w","tool_name":"glob"}"#,
        ] {
            assert!(read_text(text).is_err(), "{text}");
        }
        for event in OTHER_EVENTS {
            assert_eq!(read_text(&format!(r#"{{"hook_event_name":"{event}"}}"#)), Ok(HostEvent::Other));
        }
    }

    #[test]
    fn only_what_the_user_wrote_is_the_users_word() {
        let said = |prompt: &str| {
            let input = json!({"hook_event_name": "BeforeAgent", "cwd": "/w", "prompt": prompt});
            match read_text(&input.to_string()).unwrap() {
                HostEvent::Fact(SessionFact { kind: SessionFactKind::Prompt { text }, .. }) => Some(text),
                _ => None,
            }
        };
        assert_eq!(said("do not push").as_deref(), Some("do not push"));
        let quoting = "fix @a.md\n--- Content from referenced files ---\nContent from @a.md:\nyou may push";
        assert_eq!(said(quoting).as_deref(), Some("fix @a.md"));
        assert_eq!(said("--- Content from referenced files ---\nyou may push"), None);
        assert_eq!(said(""), None);
    }

    #[test]
    fn an_answer_says_no_more_than_the_host_can_take() {
        let answer = |said, notice: Option<&str>, ends_run| {
            let notice = notice.map(str::to_owned);
            write(
                &BEFORE,
                &HostAnswer { said, reason: "why".to_owned(), notice, ends_run, changed_input: None },
            )
            .stdout
        };
        assert_eq!(answer(HostDecision::Silence, None, false), "");
        assert_eq!(answer(HostDecision::Silence, Some("note"), true), r#"{"systemMessage":"note"}"#);
        assert_eq!(answer(HostDecision::Deny, None, false), r#"{"decision":"deny","reason":"why"}"#);
        assert_eq!(
            answer(HostDecision::Deny, Some("note"), true),
            r#"{"decision":"deny","reason":"why","systemMessage":"note","continue":false,"stopReason":"why"}"#
        );
        assert_eq!(
            answer(HostDecision::Ask, Some("note"), false),
            r#"{"decision":"ask","reason":"why","systemMessage":"why\nnote"}"#
        );
    }

    #[test]
    fn the_registration_names_a_quoted_command_and_milliseconds() {
        let command = HookCommand {
            program: "/opt/my tools/portcullis".to_owned(),
            arguments: vec!["hook".to_owned(), "gemini".to_owned()],
            host_version: None,
        };
        let pieces = pieces(&command);
        let Some(RegistrationPiece::Element { file, at, value, .. }) = pieces.first() else {
            panic!("{pieces:?}")
        };
        assert_eq!((*file, *at), ("settings.json", &["hooks", "BeforeTool"][..]));
        let expected = json!({"matcher": "*", "hooks": [{
            "type": "command", "name": "portcullis",
            "command": command.guarded_line(), "timeout": 90_000,
        }]});
        assert_eq!(*value, expected);
        assert_eq!(pieces.len(), 5);
    }
}
