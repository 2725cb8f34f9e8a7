//! Pi, through an extension of ours.
//!
//! Pi runs no programs as hooks and never asks by itself; it loads extensions. `portcullis init` writes one, which asks
//! this adapter and lets a call run only if the answer is a well-formed allow or silence. So a crash, a time-out or broken
//! output stops the call.
//!
//! | event | when | what can be said |
//! |---|---|---|
//! | `tool_call` | before every call | runs, or does not run with the reason for the agent; where Pi has a screen, ask |
//! | `before_agent_start` | the user said something | nothing |
//!
//! Pi has no modes, so the settings decide. An extension that is loaded after ours can change the input once more, and an
//! extension runs code of its own anyway: a repository that brings extensions is trusted as far as Pi trusts it.

use portcullis_core::{ToolCall, ToolInput, Value};
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
    SessionFact, SessionFactKind,
};
use crate::call_parts::{foreign_calls, listing, one_by_one};
use crate::capability::{AskBy, HostDecision, MomentCapabilities};
use crate::claude_family::{self, BLOCKING_EXIT_CODE, BLOCKING_STDERR};
use crate::fields::{HookInputFields, unknown};
use crate::generic::{BLOCKING, own_reply};
use crate::host::Host;
use crate::observed::CallFate::{Runs, Stopped};
use crate::observed::{ObservedMode, not_run};
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};
use crate::tool_names::{FieldRenaming, ToolTranslation, by_table};

/// Pi.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Pi,
    title: "Pi",
    usual: &UNASKED,
    others: &[&ASKED],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: None,
    shares_session: false,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["pi"],
        oldest: Some(LOADS_EXTENSIONS),
        folder: SettingsFolder {
            variable: Some("PI_CODING_AGENT_DIR"),
            base: FolderBase::Home,
            path: ".pi/agent",
        },
        refusal: |_| None,
        pieces,
        afterwards: "",
    },
};

/// How it is proven. An extension of the folder brings the model along; those of its user are loaded all the same.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &[
        "-e",
        "@FOLDER@/provider.ts",
        "--provider",
        NAME,
        "--model",
        "scripted",
        "--no-session",
        "-p",
        PROMPT,
    ],
    variables: &[("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")],
    files: &[(
        "provider.ts",
        r#"export default function (pi: any) {
  pi.registerProvider("portcullis-trial", {
    baseUrl: "@URL@/v1", api: "openai-completions", apiKey: "portcullis-trial",
    models: [{
      id: "scripted", name: "scripted", reasoning: false, input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 4000,
    }],
  })
}
"#,
    )],
    tool: "bash",
    input: |command| json!({"command": command}),
    takes_command: false,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[
    ObservedMode {
        version: "0.73.1",
        mode: "`-p`",
        moment: &UNASKED,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Stopped, Stopped, Stopped],
        shown_by: "pi::each_answer_before_a_call",
        gone_shown_by: "pi::an_extension_whose_program_is_gone_stops_the_call",
    },
    not_run(&ASKED),
];

/// A call of a run that has no screen.
static UNASKED: HookMoment = moment(AskBy::Nothing);

/// A call of a run whose user the extension can ask.
static ASKED: HookMoment = moment(AskBy::Saying);

const fn moment(ask: AskBy) -> HookMoment {
    HookMoment {
        event: "tool_call",
        capabilities: MomentCapabilities { ask, fails_open: false, ..claude_family::BEFORE.capabilities },
        blocking: BlockingReply { stdout: BLOCKING, stderr: BLOCKING_STDERR, exit_code: BLOCKING_EXIT_CODE },
    }
}

/// The first version that loads extensions from their folder; an earlier one passes over ours without a word.
const LOADS_EXTENSIONS: (u32, u32, u32) = (0, 35, 0);

const FILE: FieldRenaming<'_> = ("file_path", &["path"]);

/// Pi's tools, but for folders and edits.
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation { theirs: &["bash"], ours: "Bash", fields: &[("command", &["command"])] },
    ToolTranslation { theirs: &["read"], ours: "Read", fields: &[FILE] },
    ToolTranslation { theirs: &["write"], ours: "Write", fields: &[FILE, ("content", &["content"])] },
    ToolTranslation {
        theirs: &["edit"],
        ours: "Edit",
        fields: &[FILE, ("old_string", &["oldText"]), ("new_string", &["newText"])],
    },
    ToolTranslation {
        theirs: &["grep"],
        ours: "Grep",
        fields: &[("pattern", &["pattern"]), ("path", &["path"]), ("glob", &["glob"])],
    },
    ToolTranslation {
        theirs: &["find"],
        ours: "Glob",
        fields: &[("pattern", &["pattern"]), ("path", &["path"])],
    },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    let mut fields = HookInputFields::read(told.input)?;
    let event = fields.text("event")?;
    let id = fields.optional("sessionID").unwrap_or_default();
    let session = HookSession { id, cwd: fields.directory("directory")?, ..HookSession::default() };
    match event.as_str() {
        "tool_call" => {
            let name = fields.word("tool")?;
            let call_id = fields.optional("callID");
            let moment = if fields.take("hasUI") == Some(Value::Bool(true)) { &ASKED } else { &UNASKED };
            let calls = calls(&name, &fields.input("args")?);
            let call =
                HookCall { moment, calls, mode: None, person: None, session, call_id, rewritable: None };
            Ok(HostEvent::Call(Box::new(call)))
        }
        "before_agent_start" => {
            let fact = |text| SessionFact { session, mode: None, kind: SessionFactKind::Prompt { text } };
            Ok(fields.optional("text").map_or(HostEvent::Other, |text| HostEvent::Fact(fact(text))))
        }
        "session_start" => {
            let fact =
                |source| SessionFact { session, mode: None, kind: SessionFactKind::Started { source } };
            Ok(fields.optional("reason").map_or(HostEvent::Other, |reason| HostEvent::Fact(fact(reason))))
        }
        other => Err(unknown("event", other)),
    }
}

fn calls(name: &str, input: &ToolInput) -> Vec<ToolCall> {
    let input = with_plain_path(input);
    match name {
        "ls" => vec![listing(&input, &["path"])],
        "edit" => {
            one_by_one(&input, "edits").iter().filter_map(|one| by_table(TOOLS, name, &flat(one))).collect()
        }
        _ => match by_table(TOOLS, name, &input) {
            Some(call) => vec![call],
            None => foreign_calls("pi", name, input),
        },
    }
}

/// Pi takes an `@` off the beginning of a path and reads every kind of blank in it as a plain one.
fn with_plain_path(input: &ToolInput) -> ToolInput {
    let is_blank = |letter: char| {
        matches!(letter, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
    };
    let plain = |path: &str| path.strip_prefix('@').unwrap_or(path).replace(is_blank, " ");
    let fields = input.fields().map(|(name, value)| match (name, value) {
        ("path", Value::Text(path)) => (name.to_owned(), Value::Text(plain(path))),
        _ => (name.to_owned(), value.clone()),
    });
    fields.collect()
}

/// Puts the fields of one edit beside the file's.
fn flat(input: &ToolInput) -> ToolInput {
    let Some(Value::Object(edit)) = input.field("edits") else { return input.clone() };
    let path = input.fields().filter(|(name, _)| *name == "path");
    let path = path.map(|(name, value)| (name.to_owned(), value.clone()));
    edit.clone().into_iter().filter(|(name, _)| name != "path").chain(path).collect()
}

/// Silence is said aloud here: the extension takes nothing for an answer but words.
fn write(_moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    own_reply(answer.said.as_str(), answer, answer.ends_run && answer.said == HostDecision::Deny)
}

/// The extension, and where the command is put into it.
const EXTENSION: &str = include_str!("../data/pi-extension.ts");
const COMMAND: &str = r#"["@COMMAND@"]"#;

fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    let words: Vec<&String> = std::iter::once(&command.program).chain(&command.arguments).collect();
    // A list of strings is the same in JSON and in TypeScript.
    let list = serde_json::to_string(&words).unwrap_or_else(|_| "[]".to_owned());
    let text = EXTENSION.replacen(COMMAND, &list, 1);
    vec![RegistrationPiece::File { file: "extensions/portcullis.ts", text }]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::json;
    use crate::shown_calls;

    fn shown(tool: &str, input: &str) -> String {
        shown_calls::shown(&calls(tool, &json::parse_input(input.as_bytes()).unwrap()))
    }

    #[test]
    fn tools_become_ours() {
        for (tool, input, expected) in [
            ("bash", r#"{"command":"ls","timeout":3}"#, r#"Bash {"command":"ls"}"#),
            ("bash", "{}", r#"Bash {"file_path":null}"#),
            ("read", r#"{"path":"@/etc/shadow"}"#, r#"Read {"file_path":"/etc/shadow"}"#),
            ("read", "{\"path\":\"/a\u{a0}b\"}", r#"Read {"file_path":"/a b"}"#),
            (
                "edit",
                r#"{"path":"a","edits":[{"oldText":"b","newText":"c"},{"oldText":"d","newText":"e","path":"/f"}]}"#,
                "Edit {\"file_path\":\"a\",\"new_string\":\"c\",\"old_string\":\"b\"}\n\
                 Edit {\"file_path\":\"a\",\"new_string\":\"e\",\"old_string\":\"d\"}",
            ),
            ("edit", r#"{"path":"a"}"#, r#"Edit {"file_path":"a"}"#),
            ("write", r#"{"path":"a","content":"b"}"#, r#"Write {"content":"b","file_path":"a"}"#),
            ("find", r#"{"pattern":"*","path":"/a"}"#, r#"Glob {"path":"/a","pattern":"*"}"#),
            ("ls", "{}", r#"Glob {"path":"."}"#),
            ("Read", "{}", "pi.Read {}"),
            ("deploy", r#"{"command":"ls"}"#, "deploy {\"command\":\"ls\"}\nBash {\"command\":\"ls\"}"),
        ] {
            assert_eq!(shown(tool, input), expected, "{tool} {input}");
        }
    }

    #[test]
    fn a_question_is_put_only_where_there_is_a_screen() {
        let asked = |more: &str| {
            let text = format!(
                r#"{{"event":"tool_call","directory":"/w","tool":"bash","args":{{"command":"ls"}}{more}}}"#
            );
            match read(&HostInput { input: text.as_bytes(), directory: "/", variable: &|_| None }).unwrap() {
                HostEvent::Call(call) => call.moment.capabilities.ask,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(asked(r#","hasUI":true"#), AskBy::Saying);
        assert_eq!(asked(r#","hasUI":false"#), AskBy::Nothing);
        assert_eq!(asked(""), AskBy::Nothing);
    }
}
