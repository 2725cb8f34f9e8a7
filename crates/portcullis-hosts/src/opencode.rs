//! opencode, through a plugin of ours.
//!
//! opencode runs no programs as hooks; it loads plugins. `portcullis init` writes one, which asks this adapter and lets a
//! call run only if the answer is a well-formed allow or silence. So a crash, a time-out or broken output stops the call.
//!
//! | event | when | what can be said |
//! |---|---|---|
//! | `tool.execute.before` | before every call | runs, runs with other arguments, or does not run with the reason for the agent |
//! | `permission.asked` | opencode's own rules ask about a call that was let through | yes, no, or left to the user |
//! | `chat.message`, `tool.execute.after`, `session.*` | facts of the session | nothing |
//!
//! Before a call there is no way to ask the user, so an ask is a denial that says how the user can allow it. The tools
//! that are themselves questions to the user are let through when only a person can answer them.
//!
//! The name of an MCP server's tool is `server_tool`, which does not say where the server's name ends. The plugin
//! therefore sends the names of all servers, and a tool that could be two servers' must be allowed for both.
//!
//! A plugin that is loaded after ours can change the input once more, and a plugin runs code of its own anyway: a
//! repository that brings plugins or tools for opencode is trusted as far as opencode trusts it.

use portcullis_core::{ToolCall, ToolInput, Value};
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
    RewritableInput, SessionFact, SessionFactKind,
};
use crate::capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
use crate::claude_family::{BLOCKING_EXIT_CODE, BLOCKING_STDERR};
use crate::fields::{HookInputFields, unknown};
use crate::generic::{BLOCKING, own_reply};
use crate::host::Host;
use crate::observed::CallFate::{NotSeen, Runs, Stopped};
use crate::observed::{ObservedMode, not_run};
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};
use crate::tool_names::{self, ToolTranslation};

/// opencode.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Opencode,
    title: "opencode",
    usual: &BEFORE,
    others: &[&QUESTION, &REQUEST],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: None,
    shares_session: true,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["opencode"],
        oldest: None,
        folder: SettingsFolder { variable: None, base: FolderBase::Config, path: "opencode" },
        pieces,
        refusal: |_| None,
        afterwards: "",
    },
};

/// How it is proven. What it would refuse by itself would prove nothing.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &["run", "--format", "json", "--title", NAME, "-m", "portcullis-trial/scripted", PROMPT],
    variables: &[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
    ],
    files: &[(
        "opencode.json",
        r#"{"small_model":"portcullis-trial/scripted","permission":{"bash":"allow"},"snapshot":false,
"provider":{"portcullis-trial":{"npm":"@ai-sdk/openai-compatible","name":"scripted",
"options":{"baseURL":"@URL@/v1","apiKey":"portcullis-trial"},
"models":{"scripted":{"name":"scripted","tool_call":true,"limit":{"context":100000,"output":8000}}}}}}"#,
    )],
    tool: "bash",
    input: |command| json!({"command": command, "description": "Leave a file"}),
    takes_command: true,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[
    ObservedMode {
        version: "1.18.33",
        mode: "`run`",
        moment: &BEFORE,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Stopped, Stopped, Stopped],
        shown_by: "opencode::each_answer_before_a_call",
        gone_shown_by: "opencode::a_plugin_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "1.18.33",
        mode: "terminal",
        moment: &BEFORE,
        fates: [Runs, NotSeen, Stopped, NotSeen, NotSeen, NotSeen, NotSeen, NotSeen],
        shown_by: "by hand, 2026-11-16",
        gone_shown_by: "",
    },
    not_run(&QUESTION),
    not_run(&REQUEST),
];

static BEFORE: HookMoment = HookMoment {
    event: "tool.execute.before",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Nothing,
        plain: PlainQuestion::LeftIfHarmless,
        reason: true,
        changed_input: true,
        fails_open: false,
    },
    blocking: BLOCKED,
};

/// A call of a tool that is a question to the user: whoever must be asked is about to be.
static QUESTION: HookMoment = HookMoment {
    event: "tool.execute.before",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Silence,
        plain: PlainQuestion::AsAny,
        reason: true,
        changed_input: true,
        fails_open: false,
    },
    blocking: BLOCKED,
};

static REQUEST: HookMoment = HookMoment {
    event: "permission.asked",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Silence,
        plain: PlainQuestion::AsAny,
        reason: true,
        changed_input: false,
        fails_open: false,
    },
    blocking: BLOCKED,
};

const BLOCKED: BlockingReply =
    BlockingReply { stdout: BLOCKING, stderr: BLOCKING_STDERR, exit_code: BLOCKING_EXIT_CODE };

/// The tools that put a question to the user, or ask whether a plan is to be carried out.
const QUESTIONS: [&str; 3] = ["plan_enter", "plan_exit", "question"];

const FILE: tool_names::FieldRenaming<'_> = ("file_path", &["filePath"]);
const PATTERN: tool_names::FieldRenaming<'_> = ("pattern", &["pattern"]);
const FOLDER: tool_names::FieldRenaming<'_> = ("path", &["path"]);

/// opencode's own tools, but for the shell and patches.
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation { theirs: &["read"], ours: "Read", fields: &[FILE] },
    ToolTranslation { theirs: &["write"], ours: "Write", fields: &[FILE, ("content", &["content"])] },
    ToolTranslation {
        theirs: &["edit"],
        ours: "Edit",
        fields: &[FILE, ("old_string", &["oldString"]), ("new_string", &["newString"])],
    },
    ToolTranslation { theirs: &["glob"], ours: "Glob", fields: &[PATTERN, FOLDER] },
    ToolTranslation { theirs: &["grep"], ours: "Grep", fields: &[PATTERN, FOLDER] },
    ToolTranslation { theirs: &["lsp"], ours: "LSP", fields: &[FILE, ("operation", &["operation"])] },
    ToolTranslation { theirs: &["webfetch"], ours: "WebFetch", fields: &[("url", &["url"])] },
    ToolTranslation { theirs: &["websearch"], ours: "WebSearch", fields: &[("query", &["query"])] },
    ToolTranslation {
        theirs: &["task"],
        ours: "Agent",
        fields: &[
            ("prompt", &["prompt"]),
            ("description", &["description"]),
            ("subagent_type", &["subagent_type"]),
        ],
    },
    ToolTranslation { theirs: &["skill"], ours: "Skill", fields: &[("skill", &["name"])] },
    ToolTranslation { theirs: &["todowrite"], ours: "TodoWrite", fields: &[] },
    ToolTranslation { theirs: &["question"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation { theirs: &["plan_enter"], ours: "EnterPlanMode", fields: &[] },
    ToolTranslation { theirs: &["plan_exit"], ours: "ExitPlanMode", fields: &[] },
    ToolTranslation {
        theirs: &["list_mcp_resources", "list_mcp_resource_templates"],
        ours: "ListMcpResourcesTool",
        fields: &[],
    },
    ToolTranslation { theirs: &["read_mcp_resource"], ours: "ReadMcpResourceTool", fields: &[] },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    let mut fields = HookInputFields::read(told.input)?;
    let event = fields.text("event")?;
    let is_request = match event.as_str() {
        "tool.execute.before" => false,
        "permission.asked" => true,
        other => return Ok(fact(other, fields)?.map_or(HostEvent::Other, HostEvent::Fact)),
    };
    let session = session(&mut fields)?;
    let name = fields.word("tool")?;
    let call_id = fields.optional("callID");
    let input = fields.input("args")?;
    let calls = calls(&name, &input, &mut fields);
    let moment = match calls.as_slice() {
        _ if is_request => &REQUEST,
        // What may be a server's tool as well is more than a question.
        [_] if QUESTIONS.contains(&name.as_str()) => &QUESTION,
        _ => &BEFORE,
    };
    let is_own = name == "bash" && *moment == BEFORE;
    let rewritable = is_own.then(|| RewritableInput::of(input, "command", &calls)).flatten();
    let call = HookCall { moment, calls, mode: None, person: None, session, call_id, rewritable };
    Ok(HostEvent::Call(Box::new(call)))
}

/// A subagent has a session of its own, which belongs to the user's.
fn session(fields: &mut HookInputFields) -> Result<HookSession, HostError> {
    let own = fields.optional("sessionID").unwrap_or_default();
    let root = fields.optional("rootID").filter(|root| *root != own);
    let cwd = fields.directory("directory")?;
    let (id, agent) = match root {
        Some(root) => (root, Some(own)),
        None => (own, None),
    };
    Ok(HookSession { id, cwd, project: None, transcript: None, agent })
}

/// Returns what a call amounts to. A name that is opencode's own tool and could be a server's as well counts as both.
fn calls(name: &str, input: &ToolInput, fields: &mut HookInputFields) -> Vec<ToolCall> {
    let servers = match fields.take("servers") {
        Some(Value::List(servers)) => servers,
        _ => Vec::new(),
    };
    let mut calls = own_calls(name, input);
    let names = servers.iter().filter_map(Value::as_text).filter_map(|server| mcp_name(name, server));
    calls.extend(names.map(|name| ToolCall::new(&name, input.clone())));
    if calls.is_empty() {
        calls.push(tool_names::foreign("opencode", name, input.clone()));
    }
    calls
}

/// Returns what a call of one of opencode's own tools amounts to; none if it has no such tool.
fn own_calls(name: &str, input: &ToolInput) -> Vec<ToolCall> {
    match name {
        "bash" => vec![tool_names::command_line(input, &["command"], &["workdir"])],
        "apply_patch" => tool_names::patch_or_refusal(input.text("patchText")),
        "batch" => batch(input),
        _ => tool_names::by_table(TOOLS, name, input).into_iter().collect(),
    }
}

/// A batch runs calls about which nobody is asked again, so it counts as itself and as each of them.
fn batch(input: &ToolInput) -> Vec<ToolCall> {
    let inner = match input.field("tool_calls") {
        Some(Value::List(calls)) => calls.as_slice(),
        _ => &[],
    };
    let one = |call: &Value| -> Vec<ToolCall> {
        let Value::Object(call) = call else { return Vec::new() };
        match (call.get("tool").and_then(Value::as_text), call.get("parameters")) {
            (Some(tool), Some(Value::Object(input))) if tool != "batch" => {
                own_calls(tool, &input.clone().into_iter().collect())
            }
            _ => Vec::new(),
        }
    };
    std::iter::once(ToolCall::new("batch", input.clone())).chain(inner.iter().flat_map(one)).collect()
}

/// Returns our name of a tool if it may be one of this server. opencode puts `_` for what a name may not have.
fn mcp_name(name: &str, server: &str) -> Option<String> {
    let is_kept = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let server: String =
        server.chars().map(|character| if is_kept(character) { character } else { '_' }).collect();
    let tool = name.strip_prefix(&server)?.strip_prefix('_')?;
    (!server.is_empty() && !tool.is_empty()).then(|| tool_names::mcp(&server, tool))
}

/// Reads a fact. One that lacks what it is about says nothing; an event that nobody knows is refused.
fn fact(event: &str, mut fields: HookInputFields) -> Result<Option<SessionFact>, HostError> {
    const KNOWN: [&str; 5] =
        ["chat.message", "session.compacted", "session.created", "session.deleted", "tool.execute.after"];
    if !KNOWN.contains(&event) {
        return Err(unknown("event", event));
    }
    let Ok(session) = session(&mut fields) else { return Ok(None) };
    let started = |source: &str| Some(SessionFactKind::Started { source: source.to_owned() });
    let kind = match event {
        // In a subagent's session it is the agent who speaks.
        "chat.message" if session.agent.is_some() => None,
        "chat.message" => fields.optional("text").map(|text| SessionFactKind::Prompt { text }),
        "session.created" => started("startup"),
        "session.compacted" => started("compact"),
        "session.deleted" => Some(SessionFactKind::Ended),
        _ => done(&mut fields),
    };
    Ok(kind.map(|kind| SessionFact { session, mode: None, kind }))
}

fn done(fields: &mut HookInputFields) -> Option<SessionFactKind> {
    let name = fields.word("tool").ok()?;
    let call_id = fields.optional("callID");
    let input = fields.input("args").ok()?;
    Some(SessionFactKind::Done { calls: calls(&name, &input, fields), call_id })
}

/// Silence is said aloud here: the plugin takes nothing for an answer but words.
fn write(_moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    let is_lost = answer.said == HostDecision::Contained && answer.changed_input.is_none();
    let said = if is_lost { HostDecision::Deny } else { answer.said };
    own_reply(said.as_str(), answer, answer.ends_run && answer.said == HostDecision::Deny)
}

/// The plugin, and where the command is put into it.
const PLUGIN: &str = include_str!("../data/opencode-plugin.js");
const COMMAND: &str = r#"["@COMMAND@"]"#;

fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    let words: Vec<&String> = std::iter::once(&command.program).chain(&command.arguments).collect();
    // A list of strings is the same in JSON and in JavaScript.
    let list = serde_json::to_string(&words).unwrap_or_else(|_| "[]".to_owned());
    vec![RegistrationPiece::File { file: "plugin/portcullis.js", text: PLUGIN.replacen(COMMAND, &list, 1) }]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::shown_calls;

    fn read_text(text: &str) -> Result<HostEvent, HostError> {
        read(&HostInput { input: text.as_bytes(), directory: "/", variable: &|_| None })
    }

    fn call_of(rest: &str) -> HookCall {
        let text =
            format!(r#"{{"event":"tool.execute.before","sessionID":"ses_1","directory":"/w",{rest}}}"#);
        match read_text(&text).unwrap() {
            HostEvent::Call(call) => *call,
            other => panic!("{other:?}"),
        }
    }

    /// Writes calls as `Tool {input}`, one a line.
    fn shown(rest: &str) -> String {
        shown_calls::shown(&call_of(rest).calls)
    }

    #[test]
    fn tools_become_ours() {
        for (name, args, expected) in [
            ("bash", r#"{"command":"ls","description":"x"}"#, r#"Bash {"command":"ls"}"#),
            ("bash", r#"{"command":"ls","workdir":"a b"}"#, r#"Bash {"command":"cd 'a b'\nls"}"#),
            ("bash", r#"{"command":"rm -rf .","cwd":"/tmp/x"}"#, r#"Bash {"command":"rm -rf ."}"#),
            ("bash", r#"{"command":"ls","workdir":7}"#, r#"Bash {"file_path":null}"#),
            ("read", r#"{"filePath":"a","limit":3}"#, r#"Read {"file_path":"a"}"#),
            ("read", r#"{"file_path":"a"}"#, r#"Read {"file_path":null}"#),
            ("write", r#"{"filePath":"a","content":"b"}"#, r#"Write {"content":"b","file_path":"a"}"#),
            (
                "edit",
                r#"{"filePath":"a","oldString":"b","newString":"c"}"#,
                r#"Edit {"file_path":"a","new_string":"c","old_string":"b"}"#,
            ),
            (
                "apply_patch",
                r#"{"patchText":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}"#,
                r#"Bash {"command":"rm -- a"}"#,
            ),
            ("apply_patch", r#"{"patchText":"rm"}"#, r#"Edit {"file_path":null}"#),
            ("webfetch", r#"{"url":"https://a","format":"text"}"#, r#"WebFetch {"url":"https://a"}"#),
            ("task", r#"{"prompt":"p","subagent_type":"g"}"#, r#"Agent {"prompt":"p","subagent_type":"g"}"#),
            ("todowrite", r#"{"todos":[]}"#, r#"TodoWrite {"todos":[]}"#),
            ("TodoWrite", "{}", "opencode.TodoWrite {}"),
            ("mcp__a__b", "{}", "opencode.mcp__a__b {}"),
            ("invalid", "{}", "invalid {}"),
            ("batch", r#"{"tool_calls":7}"#, r#"batch {"tool_calls":7}"#),
            (
                "batch",
                r#"{"tool_calls":[{"tool":"bash","parameters":{"command":"ls"}},{"tool":"x"},7]}"#,
                "batch {\"tool_calls\":[{\"parameters\":{\"command\":\"ls\"},\"tool\":\"bash\"},{\"tool\":\"x\"},7]}\n\
                 Bash {\"command\":\"ls\"}",
            ),
        ] {
            assert_eq!(shown(&format!(r#""tool":"{name}","args":{args}"#)), expected, "{name} {args}");
        }
    }

    #[test]
    fn a_servers_tool_is_known_by_the_servers_and_counts_for_each_that_it_may_belong_to() {
        for (name, servers, expected) in [
            ("tracker_close", r#"["tracker","other"]"#, "mcp__tracker__close {}"),
            ("my_srv_do_it", r#"["my.srv"]"#, "mcp__my_srv__do_it {}"),
            ("a_b_c", r#"["a","a_b"]"#, "mcp__a__b_c {}\nmcp__a_b__c {}"),
            ("tracker_close", "[]", "tracker_close {}"),
            ("tracker_close", "null", "tracker_close {}"),
            ("tracker_close", r#"[7,"","tracker_close"]"#, "tracker_close {}"),
            ("plan_exit", r#"["plan"]"#, "ExitPlanMode {}\nmcp__plan__exit {}"),
        ] {
            let rest = format!(r#""tool":"{name}","args":{{}},"servers":{servers}"#);
            assert_eq!(shown(&rest), expected, "{name} {servers}");
        }
    }

    #[test]
    fn a_subagents_call_belongs_to_the_session_of_the_user() {
        let call = call_of(r#""tool":"bash","args":{},"callID":"c","rootID":"ses_0""#);
        assert_eq!((call.session.id.as_str(), call.session.agent.as_deref()), ("ses_0", Some("ses_1")));
        assert_eq!(call.call_id.as_deref(), Some("c"));
        let call = call_of(r#""tool":"bash","args":{},"rootID":"ses_1""#);
        assert_eq!((call.session.id.as_str(), call.session.agent.as_deref()), ("ses_1", None));
    }

    #[test]
    fn a_tool_that_is_a_question_reaches_the_user_and_nothing_else_does() {
        for name in QUESTIONS {
            assert_eq!(call_of(&format!(r#""tool":"{name}","args":{{}}"#)).moment, &QUESTION);
        }
        assert_eq!(call_of(r#""tool":"bash","args":{}"#).moment, &BEFORE);
        assert_eq!(call_of(r#""tool":"plan_exit","args":{},"servers":["plan"]"#).moment, &BEFORE);
        let request = r#"{"event":"permission.asked","directory":"/w","tool":"question","args":{}}"#;
        let HostEvent::Call(call) = read_text(request).unwrap() else { panic!("no call") };
        assert_eq!(call.moment, &REQUEST);
    }

    #[test]
    fn input_that_is_not_understood_is_refused() {
        for text in [
            "",
            "{}",
            r#"{"event":"tool.execute.BEFORE"}"#,
            r#"{"event":"tool.execute.before"}"#,
            r#"{"event":"tool.execute.before","directory":"w","tool":"bash","args":{}}"#,
            r#"{"event":"tool.execute.before","directory":"/w","tool":"","args":{}}"#,
            r#"{"event":"tool.execute.before","directory":"/w","tool":"bash"}"#,
            r#"{"event":"permission.asked","directory":"/w","tool":"bash","args":[]}"#,
        ] {
            assert!(read_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_user_speaks_for_the_user() {
        let said = |root: &str| {
            let text = format!(
                r#"{{"event":"chat.message","directory":"/w","sessionID":"s","rootID":"{root}","text":"push it"}}"#
            );
            read_text(&text).unwrap()
        };
        let HostEvent::Fact(fact) = said("s") else { panic!("no fact") };
        assert_eq!(fact.kind, SessionFactKind::Prompt { text: "push it".to_owned() });
        assert_eq!(said("r"), HostEvent::Other);
    }

    #[test]
    fn every_answer_is_spoken() {
        for said in [HostDecision::Allow, HostDecision::Deny, HostDecision::Silence] {
            let answer = HostAnswer {
                said,
                reason: "why".to_owned(),
                notice: None,
                ends_run: true,
                changed_input: None,
            };
            let value: serde_json::Value = serde_json::from_str(&write(&BEFORE, &answer).stdout).unwrap();
            assert_eq!(value["decision"], said.as_str());
            assert_eq!(value["reason"], "why");
            assert_eq!(value.get("end_run"), (said == HostDecision::Deny).then_some(&json!(true)));
        }
    }

    #[test]
    fn the_program_is_quoted_into_the_plugin() {
        let command = HookCommand {
            program: "/opt/\"a\" ${b}\\/portcullis".to_owned(),
            arguments: vec!["hook".to_owned(), "opencode".to_owned()],
            host_version: None,
        };
        let pieces = pieces(&command);
        let [RegistrationPiece::File { file, text }] = pieces.as_slice() else { panic!("{pieces:?}") };
        assert_eq!(*file, "plugin/portcullis.js");
        let line = r#"const COMMAND = ["/opt/\"a\" ${b}\\/portcullis","hook","opencode"]"#;
        assert!(text.lines().any(|found| found == line), "{text}");
        assert!(!text.contains("@COMMAND@"));
    }
}
