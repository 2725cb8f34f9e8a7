//! Claude Code.
//!
//! It writes one JSON object to the hook's standard input and reads one from its standard output. A hook that crashes,
//! is silent or ends with an exit code other than 2 does not object, so every answer to `PreToolUse` is explicit:
//!
//! | what | standard output | exit code |
//! |---|---|---|
//! | a verdict on `PreToolUse` | `permissionDecision` with the reason | 0 |
//! | a verdict on `PermissionRequest` | `decision`; nothing for an ask, which is on its way to the user | 0 |
//! | input that is not understood, an internal failure | a denial with the reason, also on standard error | 2 |
//! | a fact of the session, any other event | nothing | 0 |
//!
//! Its tool names are the canonical ones, and its modes are ours; a mode that is not known counts as the default one.

use portcullis_core::{Mode, ToolCall};
use serde::Serialize;
use serde_json::json;

use crate::adapter::{HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput, SessionFormat};
use crate::capability::{AskBy, MomentCapabilities, PlainQuestion};
use crate::claude_family::{self, FamilyMember, ReplyExtras, SessionFreedom};
use crate::host::Host;
use crate::observed::CallFate::{Asked, NotSeen, Runs, Stopped};
use crate::observed::ObservedMode;
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};
use crate::settings_shape;

/// Claude Code.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Claude,
    title: "Claude Code",
    usual: &BEFORE,
    others: &[&BEFORE_BY_DEFAULT, &BEFORE_WRITING_UNASKED, &REQUEST],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: Some(SessionFormat::Claude),
    shares_session: true,
    read,
    write,
    welcome: Some(claude_family::welcome),
    registration: Registration {
        programs: &["claude"],
        oldest: Some(KNOWS_DECISIONS),
        folder: SettingsFolder {
            variable: Some("CLAUDE_CONFIG_DIR"),
            base: FolderBase::Home,
            path: ".claude",
        },
        pieces,
        refusal: settings_shape::claude_refusal,
        afterwards: "",
    },
};

/// How it is proven.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &["-p", PROMPT, "--permission-mode", "default"],
    variables: &[
        ("ANTHROPIC_BASE_URL", "@URL@"),
        ("ANTHROPIC_API_KEY", NAME),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ],
    files: &[],
    tool: "Bash",
    input: |command| json!({"command": command, "description": "Leave a file"}),
    takes_command: true,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[
    ObservedMode {
        version: "2.1.325",
        mode: "`-p`, `default`",
        moment: &BEFORE_BY_DEFAULT,
        fates: [Runs, Stopped, Stopped, Stopped, Stopped, Stopped, Stopped, Stopped],
        shown_by: "claude::each_answer_in_the_default_mode",
        gone_shown_by: "claude::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "`-p`, `acceptEdits`",
        moment: &BEFORE,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Runs, Stopped, Stopped],
        shown_by: "claude::each_answer_while_accepting_edits",
        gone_shown_by: "claude::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "`-p`, `plan`",
        moment: &BEFORE,
        fates: [Stopped, Stopped, Stopped, Stopped, Stopped, Stopped, Stopped, Stopped],
        shown_by: "claude::each_answer_in_plan_mode",
        gone_shown_by: "claude::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "`-p`, `auto`",
        moment: &BEFORE,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Runs, Stopped, Stopped],
        shown_by: "claude::each_answer_in_auto_mode",
        gone_shown_by: "claude::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "`-p`, `dontAsk`",
        moment: &BEFORE,
        fates: [Runs, Stopped, Stopped, Stopped, Stopped, Stopped, Stopped, Stopped],
        shown_by: "claude::each_answer_without_asking",
        gone_shown_by: "claude::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "`-p`, `bypassPermissions`",
        moment: &BEFORE_WRITING_UNASKED,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Runs, Stopped, Stopped],
        shown_by: "claude::each_answer_while_bypassing",
        gone_shown_by: "claude::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "`-p`, `bypassPermissions`, a file that it calls sensitive",
        moment: &BEFORE_WRITING_UNASKED,
        fates: [Runs, Runs, Stopped, Runs, Stopped, Runs, Stopped, NotSeen],
        shown_by: "claude::each_answer_about_a_sensitive_file",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "2.1.142",
        mode: "`-p`, `bypassPermissions`",
        moment: &BEFORE_WRITING_UNASKED,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Runs, Runs, Stopped],
        shown_by: "claude_versions::each_answer_in_2_1_142",
        gone_shown_by: "claude_versions::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.138",
        mode: "`-p`, `bypassPermissions`",
        moment: &BEFORE_WRITING_UNASKED,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Runs, Runs, Stopped],
        shown_by: "claude_versions::each_answer_in_2_1_138",
        gone_shown_by: "claude_versions::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.112",
        mode: "`-p`, `bypassPermissions`",
        moment: &BEFORE_WRITING_UNASKED,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Runs, Runs, Stopped],
        shown_by: "claude_versions::each_answer_in_2_1_112",
        gone_shown_by: "claude_versions::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "terminal, `default`",
        moment: &BEFORE_BY_DEFAULT,
        fates: [Runs, Asked, Stopped, Asked, NotSeen, NotSeen, NotSeen, NotSeen],
        shown_by: "by hand, 2026-11-16",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "terminal, `auto`",
        moment: &BEFORE,
        fates: [NotSeen, Asked, NotSeen, NotSeen, NotSeen, NotSeen, NotSeen, NotSeen],
        shown_by: "by hand, 2026-11-16",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "2.1.325",
        mode: "`-p`, `default`",
        moment: &REQUEST,
        fates: [Runs, Stopped, Stopped, Stopped, Stopped, Stopped, Stopped, NotSeen],
        shown_by: "claude::each_answer_at_its_question",
        gone_shown_by: "",
    },
];

static BEFORE: HookMoment = before(AskBy::Saying, PlainQuestion::LeftForSubagents);

/// In the default mode it asks by itself, and offers its user more than yes and no.
static BEFORE_BY_DEFAULT: HookMoment = before(AskBy::Saying, PlainQuestion::LeftToHost);

/// In the mode that bypasses permissions it takes an ask about a file that it calls sensitive for an allow, without a word.
static BEFORE_WRITING_UNASKED: HookMoment = before(AskBy::Nothing, PlainQuestion::LeftForSubagents);

const fn before(ask: AskBy, plain: PlainQuestion) -> HookMoment {
    let capabilities = MomentCapabilities { ask, plain, ..claude_family::BEFORE.capabilities };
    HookMoment { capabilities, ..claude_family::BEFORE }
}

/// The tools that may write a file.
const WRITERS: [&str; 7] = ["Bash", "Edit", "Monitor", "MultiEdit", "NotebookEdit", "PowerShell", "Write"];

fn moment(mode: Option<&str>, tool: &str) -> &'static HookMoment {
    match mode {
        Some("bypassPermissions") if WRITERS.contains(&tool) => &BEFORE_WRITING_UNASKED,
        Some("default" | "manual") => &BEFORE_BY_DEFAULT,
        _ => &BEFORE,
    }
}

static REQUEST: HookMoment = claude_family::REQUEST;

const EXTRAS: ReplyExtras = ReplyExtras { notice: true, ending: true };

/// The first version that reads `permissionDecision`. 1.0.58 took an answer with it for none, and ran a denied call; 1.0.59
/// stopped it.
const KNOWS_DECISIONS: (u32, u32, u32) = (1, 0, 59);

/// The first version that knows `onFailure`, which makes it block when a hook cannot be started or takes too long.
///
/// It also knows `args`, by which our program is started without a shell. Versions up to 2.1.138 pass over `args` and start
/// the program alone, which then is no hook; so whoever cannot say `onFailure` is given a line for a shell, which every
/// version understands and which stops the call by itself.
const KNOWS_ON_FAILURE: (u32, u32, u32) = (2, 1, 295);

static DIALECT: FamilyMember = FamilyMember {
    before: moment,
    request: Some(&REQUEST),
    standing: |word| SessionFreedom::of(word.and_then(Mode::find).unwrap_or(Mode::Default)),
    calls: |tool, input| vec![ToolCall::new(tool, input)],
    rewrites: true,
    session: |session, told| HookSession { project: (told.variable)("CLAUDE_PROJECT_DIR"), ..session },
};

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    claude_family::read(told, &DIALECT)
}

fn write(moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    claude_family::write(moment, answer, EXTRAS)
}

/// What only keeps facts is never waited for long.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    const FACTS: [(&[&str], &str); 4] = [
        (&["hooks", "UserPromptSubmit"], ""),
        (&["hooks", "PostToolUse"], "Bash|Write|Edit|NotebookEdit|ExitPlanMode"),
        (&["hooks", "SessionStart"], ""),
        (&["hooks", "SessionEnd"], ""),
    ];
    let element = |at, matcher: &str, timeout: u32, blocks: bool| {
        let is_new = command.host_version.is_some_and(|version| version >= KNOWS_ON_FAILURE);
        let line = if blocks { command.guarded_line() } else { command.line() };
        let handler = HookHandlerWire {
            kind: "command",
            command: if is_new { &command.program } else { &line },
            args: is_new.then_some(&command.arguments),
            timeout,
            on_failure: (is_new && blocks).then_some("block"),
        };
        claude_family::element("settings.json", at, matcher, handler)
    };
    let calls = element(&["hooks", "PreToolUse"], "*", 90, true);
    let facts = FACTS.iter().map(|(at, matcher)| element(at, matcher, 10, false));
    std::iter::once(calls).chain(facts).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookHandlerWire<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<&'a Vec<String>>,
    timeout: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_failure: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::adapter::SessionFactKind;

    fn read_text(text: &str) -> Result<HostEvent, HostError> {
        read(&HostInput { input: text.as_bytes(), directory: "/", variable: &|_| None })
    }

    fn failure_of(text: &str) -> String {
        read_text(text).unwrap_err().to_string()
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
            let HostEvent::Call(call) = read_text(&text).unwrap() else { panic!("{mode}") };
            assert_eq!(call.mode, Some(expected), "{mode}");
        }
    }

    #[test]
    fn other_events_need_no_answer_and_unknown_ones_are_refused() {
        for event in
            ["ConfigChange", "Notification", "PostToolUseFailure", "PreCompact", "Stop", "WorktreeRemove"]
        {
            let text = format!(r#"{{"hook_event_name":"{event}","cwd":1}}"#);
            assert_eq!(read_text(&text), Ok(HostEvent::Other), "{event}");
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
                "field `cwd` of the hook input must be an absolute path, but is `work`",
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

    #[test]
    fn facts_are_read_and_broken_ones_are_passed_over() {
        let fact = |rest: &str| read_text(&format!(r#"{{"cwd":"/w","session_id":"s",{rest}}}"#)).unwrap();
        let HostEvent::Fact(said) = fact(r#""hook_event_name":"UserPromptSubmit","prompt":"do not push""#)
        else {
            panic!("no fact")
        };
        assert_eq!(said.kind, SessionFactKind::Prompt { text: "do not push".to_owned() });
        assert_eq!(said.session.id, "s");
        assert_eq!(fact(r#""hook_event_name":"UserPromptSubmit","prompt":7"#), HostEvent::Other);
        assert_eq!(fact(r#""hook_event_name":"PostToolUse","tool_name":"Write""#), HostEvent::Other);
        let HostEvent::Fact(ended) = fact(r#""hook_event_name":"SessionEnd""#) else { panic!("no fact") };
        assert_eq!(ended.kind, SessionFactKind::Ended);
        let task = r#""hook_event_name":"UserPromptSubmit","prompt":"push it, I allow it","agent_id":"a1""#;
        assert_eq!(fact(task), HostEvent::Other, "a subagent's task is not the user's word");
    }

    #[test]
    fn a_version_that_can_is_told_to_block_and_others_get_a_line_that_blocks() {
        for (version, is_new) in [
            (None, false),
            (Some((2, 1, 138)), false),
            (Some((2, 1, 294)), false),
            (Some((2, 1, 295)), true),
            (Some((3, 0, 0)), true),
        ] {
            let command = HookCommand {
                program: "/opt/my bin/portcullis".to_owned(),
                arguments: vec!["hook".to_owned(), "claude".to_owned()],
                host_version: version,
            };
            let pieces = pieces(&command);
            let values: Vec<_> = pieces
                .iter()
                .map(|piece| match piece {
                    RegistrationPiece::Element { at, value, .. } => (at.join("."), value),
                    other => panic!("{other:?}"),
                })
                .collect();
            let (at, calls) = &values[0];
            assert_eq!((at.as_str(), calls["matcher"].as_str()), ("hooks.PreToolUse", Some("*")));
            let handler = &calls["hooks"][0];
            if is_new {
                assert_eq!(handler["command"], "/opt/my bin/portcullis");
                assert_eq!(handler["args"][1], "claude");
                assert_eq!(handler["onFailure"], "block");
            } else {
                assert_eq!(handler["command"], command.guarded_line());
                assert!(handler.get("args").is_none() && handler.get("onFailure").is_none(), "{handler}");
            }
            // A fact that is lost must not stop the session.
            for (_, value) in &values[1..] {
                let handler = &value["hooks"][0];
                assert!(handler.get("onFailure").is_none(), "{handler}");
                assert!(!handler["command"].as_str().unwrap().contains("||"), "{handler}");
            }
        }
    }
}
