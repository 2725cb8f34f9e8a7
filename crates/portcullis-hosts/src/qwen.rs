//! Qwen Code.
//!
//! It speaks Claude Code's format and takes every answer of it; in a run without a user it turns an ask into a denial by
//! itself. A hook that crashes, is silent or takes too long does not object, so every answer is explicit.
//!
//! | `permission_mode` | mode |
//! |---|---|
//! | `plan` | plan |
//! | `default` | default |
//! | `auto-edit` | `acceptEdits` |
//! | `auto` | auto |
//! | `yolo` | `bypassPermissions`: the user chose it, and what no mode lifts still asks |
//! | none, any other | default |
//!
//! Where it asks its user, it does so *before* it tells of a call. So it also tells of that question: what needs none is
//! allowed there, what is denied is denied there, and everything else is left to its user. Never is a question answered
//! there on the word of an answer that comes later. In the default mode a call that no rule speaks of is not asked about
//! a second time; one that a rule or a finding speaks against is, because only then its user reads why
//! ([the page of hosts](../../../docs/reference/hosts.md#why-qwen-code-asks-twice) says why it cannot be one question). Where nobody can
//! be asked, the question is never raised. A program that drives Qwen Code hears only the first of two questions about
//! one call, which then waits.
//!
//! Its session file has a form of its own that is not read here.

use portcullis_core::{Mode, ToolCall, ToolInput, Value};
use serde_json::json;

use crate::adapter::{HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput};
use crate::call_parts::{files_read, foreign_calls, javascript, listing};
use crate::capability::{MomentCapabilities, PlainQuestion};
use crate::claude_family::{
    self, FamilyMember, ReplyExtras, SessionFreedom, element, guarded_handler, shell_handler,
};
use crate::host::Host;
use crate::json;
use crate::observed::CallFate::{Asked, NotSeen, Runs, Stopped};
use crate::observed::ObservedMode;
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};
use crate::settings_shape;
use crate::tool_names::{ToolTranslation, by_table, command_line, not_understood, reads};

/// Qwen Code.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Qwen,
    title: "Qwen Code",
    usual: &BEFORE,
    others: &[&BEFORE_BY_DEFAULT, &REQUEST],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: None,
    shares_session: true,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["qwen"],
        oldest: None,
        folder: SettingsFolder { variable: Some("QWEN_HOME"), base: FolderBase::Home, path: ".qwen" },
        pieces,
        refusal: settings_shape::gemini_refusal,
        afterwards: "",
    },
};

/// How it is proven.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &["-p", PROMPT, "--approval-mode", "yolo", "--auth-type", "openai"],
    variables: &[("OPENAI_BASE_URL", "@URL@/v1"), ("OPENAI_API_KEY", NAME), ("OPENAI_MODEL", "scripted")],
    files: &[],
    tool: "run_shell_command",
    input: |command| json!({"command": command, "description": "Leave a file", "is_background": false}),
    takes_command: false,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[
    ObservedMode {
        version: "0.24.4",
        mode: "`-p`, `yolo`",
        moment: &BEFORE,
        fates: [Runs, Stopped, Stopped, Runs, Stopped, Runs, Runs, Stopped],
        shown_by: "qwen::each_answer_before_a_call",
        gone_shown_by: "qwen::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "0.24.4",
        mode: "`default`, a user who accepts",
        moment: &BEFORE_BY_DEFAULT,
        fates: [Asked, NotSeen, Stopped, Asked, Stopped, Asked, Asked, NotSeen],
        shown_by: "qwen::each_answer_before_a_call_in_the_default_mode",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "0.24.4",
        mode: "`default`, a user who accepts",
        moment: &REQUEST,
        fates: [Runs, NotSeen, Stopped, Asked, Asked, Asked, Asked, NotSeen],
        shown_by: "qwen::each_answer_at_its_question",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "0.24.4",
        mode: "terminal, `default`; asks a second time",
        moment: &BEFORE_BY_DEFAULT,
        fates: [NotSeen, Asked, NotSeen, NotSeen, NotSeen, NotSeen, NotSeen, NotSeen],
        shown_by: "by hand, 2026-11-16",
        gone_shown_by: "",
    },
];

static BEFORE: HookMoment = claude_family::BEFORE;

/// In the default mode it has asked its user already, unless the call only looks.
static BEFORE_BY_DEFAULT: HookMoment = HookMoment {
    capabilities: MomentCapabilities {
        plain: PlainQuestion::LeftToHost,
        ..claude_family::BEFORE.capabilities
    },
    ..claude_family::BEFORE
};

static REQUEST: HookMoment = claude_family::REQUEST;

const EXTRAS: ReplyExtras = ReplyExtras { notice: true, ending: true };

static DIALECT: FamilyMember = FamilyMember {
    before: |word, _| if word == Some("default") { &BEFORE_BY_DEFAULT } else { &BEFORE },
    request: Some(&REQUEST),
    standing: |word| SessionFreedom::of(mode(word.unwrap_or_default())),
    calls,
    rewrites: false,
    session: |session, _| HookSession { transcript: None, ..session },
};

/// Its tools as ours. Commands, wrapped calls, folders and what the table lacks are left to [`calls`].
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation {
        theirs: &["write_file"],
        ours: "Write",
        fields: &[("file_path", &["file_path"]), ("content", &["content"])],
    },
    ToolTranslation {
        theirs: &["edit"],
        ours: "Edit",
        fields: &[
            ("file_path", &["file_path"]),
            ("old_string", &["old_string"]),
            ("new_string", &["new_string"]),
        ],
    },
    ToolTranslation {
        theirs: &["notebook_edit"],
        ours: "NotebookEdit",
        fields: &[("notebook_path", &["notebook_path"]), ("new_source", &["new_source"])],
    },
    ToolTranslation {
        theirs: &["read_file", "zoom_image", "display_image"],
        ours: "Read",
        fields: &[("file_path", &["file_path", "absolute_path"])],
    },
    ToolTranslation {
        theirs: &["glob"],
        ours: "Glob",
        fields: &[("pattern", &["pattern"]), ("path", &["path"])],
    },
    ToolTranslation {
        theirs: &["grep_search", "search_file_content"],
        ours: "Grep",
        fields: &[("pattern", &["pattern"]), ("path", &["path"]), ("glob", &["glob"])],
    },
    // The page is the one that `url` names, whatever addresses the prompt has.
    ToolTranslation {
        theirs: &["web_fetch"],
        ours: "WebFetch",
        fields: &[("url", &["url"]), ("prompt", &["prompt"])],
    },
    ToolTranslation { theirs: &["web_search"], ours: "WebSearch", fields: &[("query", &["query"])] },
    ToolTranslation {
        theirs: &["agent", "create_sub_session", "task"],
        ours: "Agent",
        fields: &[("prompt", &["prompt"]), ("subagent_type", &["subagent_type"])],
    },
    ToolTranslation { theirs: &["skill"], ours: "Skill", fields: &[("skill", &["skill"])] },
    ToolTranslation {
        theirs: &["send_message"],
        ours: "SendMessage",
        fields: &[("message", &["message"]), ("to", &["to", "task_id"])],
    },
    // They keep lists for the agent itself, and wake it.
    ToolTranslation {
        theirs: &[
            "get_goal",
            "propose_goal",
            "report_findings",
            "structured_output",
            "todo_write",
            "update_goal",
        ],
        ours: "TodoWrite",
        fields: &[],
    },
    ToolTranslation { theirs: &["loop_wakeup"], ours: "Sleep", fields: &[] },
    ToolTranslation { theirs: &["ask_user_question"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation { theirs: &["enter_plan_mode"], ours: "EnterPlanMode", fields: &[] },
    ToolTranslation { theirs: &["exit_plan_mode"], ours: "ExitPlanMode", fields: &[] },
    ToolTranslation { theirs: &["task_create"], ours: "TaskCreate", fields: &[] },
    ToolTranslation { theirs: &["task_update"], ours: "TaskUpdate", fields: &[] },
    ToolTranslation { theirs: &["list_agents", "task_list"], ours: "TaskList", fields: &[] },
    ToolTranslation { theirs: &["task_stop"], ours: "TaskStop", fields: &[] },
    ToolTranslation { theirs: &["team_create"], ours: "TeamCreate", fields: &[] },
    ToolTranslation { theirs: &["team_delete"], ours: "TeamDelete", fields: &[] },
    ToolTranslation { theirs: &["cron_create"], ours: "CronCreate", fields: &[] },
    ToolTranslation { theirs: &["cron_list"], ours: "CronList", fields: &[] },
    ToolTranslation { theirs: &["cron_delete"], ours: "CronDelete", fields: &[] },
    ToolTranslation { theirs: &["enter_worktree"], ours: "EnterWorktree", fields: &[] },
    ToolTranslation { theirs: &["exit_worktree"], ours: "ExitWorktree", fields: &[] },
    ToolTranslation { theirs: &["tool_search"], ours: "ToolSearch", fields: &[] },
    ToolTranslation { theirs: &["read_mcp_resource"], ours: "ReadMcpResourceTool", fields: &[] },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    claude_family::read(told, &DIALECT)
}

fn mode(word: &str) -> Mode {
    match word {
        "plan" => Mode::Plan,
        "auto-edit" | "auto_edit" => Mode::AcceptEdits,
        "auto" => Mode::Auto,
        "yolo" => Mode::BypassPermissions,
        _ => Mode::Default,
    }
}

fn calls(tool: &str, input: ToolInput) -> Vec<ToolCall> {
    match tool {
        "run_shell_command" | "monitor" => vec![command_line(&input, &["command"], &["directory"])],
        "tool_call" => wrapped(&input),
        "read_many_files" => reads(&input).unwrap_or_else(|| foreign_calls("qwen", tool, input)),
        "list_directory" => vec![listing(&input, &["path"])],
        // A search for a name goes over the whole project.
        "lsp" if input.field("filePath").is_none_or(|file| *file == Value::Null) => {
            vec![listing(&input, &[])]
        }
        "lsp" => {
            let read = files_read(&input, "filePath").into_iter();
            read.map(|call| ToolCall::new("LSP", call.input().clone())).collect()
        }
        // They run code of the model beside the tools that it may call.
        "exec" | "workflow" => {
            let code = ["code", "script"].iter().filter_map(|field| javascript(&input, field));
            let code: Vec<ToolCall> = code.collect();
            foreign_calls("qwen", tool, input).into_iter().chain(code).collect()
        }
        _ if tool.starts_with("mcp__") => vec![ToolCall::new(tool, input)],
        _ => match by_table(TOOLS, tool, &input) {
            Some(call) => vec![call],
            None => foreign_calls("qwen", tool, input),
        },
    }
}

/// A tool that is not in the model's list is called by its name and the object, or the text, of its input.
fn wrapped(input: &ToolInput) -> Vec<ToolCall> {
    let arguments: Option<ToolInput> = match input.field("arguments") {
        None | Some(Value::Null) => Some(ToolInput::default()),
        Some(Value::Object(fields)) => Some(fields.clone().into_iter().collect()),
        Some(Value::Text(text)) => json::parse_input(text.as_bytes()).ok(),
        Some(_) => None,
    };
    match (input.text("name"), arguments) {
        (Some(name), Some(arguments)) if name != "tool_call" => calls(name, arguments),
        _ => vec![ToolCall::new("Bash", not_understood())],
    }
}

fn write(moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    claude_family::write(moment, answer, EXTRAS)
}

/// Its time-outs are in milliseconds.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    const FILE: &str = "settings.json";
    vec![
        element(FILE, &["hooks", "PreToolUse"], "*", guarded_handler(command, 90_000)),
        element(FILE, &["hooks", "PermissionRequest"], "*", shell_handler(command, 90_000)),
        element(FILE, &["hooks", "UserPromptSubmit"], "", shell_handler(command, 10_000)),
        element(
            FILE,
            &["hooks", "PostToolUse"],
            "write_file|edit|notebook_edit",
            shell_handler(command, 10_000),
        ),
        element(FILE, &["hooks", "SessionStart"], "", shell_handler(command, 10_000)),
        element(FILE, &["hooks", "SessionEnd"], "", shell_handler(command, 10_000)),
    ]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::capability::HostDecision;
    use crate::shown_calls;

    fn shown(tool: &str, input: &str) -> String {
        shown_calls::shown(&calls(tool, json::parse_input(input.as_bytes()).unwrap()))
    }

    #[test]
    fn modes_become_ours_and_an_unknown_one_counts_as_default() {
        for (word, expected) in [
            ("plan", Mode::Plan),
            ("default", Mode::Default),
            ("auto-edit", Mode::AcceptEdits),
            ("auto_edit", Mode::AcceptEdits),
            ("auto", Mode::Auto),
            ("yolo", Mode::BypassPermissions),
            ("YOLO", Mode::Default),
            ("", Mode::Default),
        ] {
            assert_eq!(mode(word), expected, "{word}");
        }
    }

    #[test]
    fn no_question_of_its_own_is_answered_by_silence() {
        let silence = HostAnswer {
            said: HostDecision::Silence,
            reason: String::new(),
            notice: None,
            ends_run: false,
            changed_input: None,
        };
        for moment in ADAPTER.moments() {
            assert_eq!(write(moment, &silence), HostReply::silence(), "{}", moment.event);
        }
    }

    #[test]
    fn only_the_default_mode_has_asked_before() {
        for word in [None, Some("plan"), Some("auto-edit"), Some("auto"), Some("yolo"), Some("turbo")] {
            assert_eq!((DIALECT.before)(word, "edit"), &BEFORE, "{word:?}");
        }
        assert_eq!((DIALECT.before)(Some("default"), "edit"), &BEFORE_BY_DEFAULT);
    }

    #[test]
    fn tools_become_ours() {
        for (tool, input, expected) in [
            (
                "run_shell_command",
                r#"{"command":"ls","directory":"/a","cwd":"/b"}"#,
                r#"Bash {"command":"cd /a\nls"}"#,
            ),
            ("run_shell_command", r#"{"command":["ls"]}"#, r#"Bash {"file_path":null}"#),
            (
                "edit",
                r#"{"file_path":"a","old_string":"b","new_string":"c"}"#,
                r#"Edit {"file_path":"a","new_string":"c","old_string":"b"}"#,
            ),
            ("edit", r#"{"path":"a"}"#, r#"Edit {"file_path":null}"#),
            ("read_file", r#"{"absolute_path":"/a"}"#, r#"Read {"file_path":"/a"}"#),
            ("read_file", r#"{"absolute_path":"/a","file_path":"/b"}"#, r#"Read {"file_path":null}"#),
            (
                "web_fetch",
                r#"{"url":"https://evil.example","prompt":"see https://docs.rs"}"#,
                r#"WebFetch {"prompt":"see https://docs.rs","url":"https://evil.example"}"#,
            ),
            ("list_directory", r#"{"path":7}"#, r#"Glob {"file_path":null}"#),
            ("mcp__a__b", "{}", "mcp__a__b {}"),
            ("save_memory", r#"{"fact":"f"}"#, r#"save_memory {"fact":"f"}"#),
            ("monitor", r#"{"command":"touch a","description":"d"}"#, r#"Bash {"command":"touch a"}"#),
            ("monitor", r#"{"command":"ls","directory":"/a"}"#, r#"Bash {"command":"cd /a\nls"}"#),
            ("monitor", "{}", r#"Bash {"file_path":null}"#),
            (
                "tool_call",
                r#"{"name":"monitor","arguments":{"command":"touch a"}}"#,
                r#"Bash {"command":"touch a"}"#,
            ),
            (
                "tool_call",
                r#"{"name":"read_file","arguments":"{\"file_path\":\"/a\"}"}"#,
                r#"Read {"file_path":"/a"}"#,
            ),
            ("tool_call", r#"{"name":"tool_call","arguments":{}}"#, r#"Bash {"file_path":null}"#),
            ("tool_call", r#"{"name":"monitor","arguments":7}"#, r#"Bash {"file_path":null}"#),
            ("zoom_image", r#"{"file_path":"/a.png"}"#, r#"Read {"file_path":"/a.png"}"#),
            ("lsp", r#"{"operation":"hover","filePath":"/a"}"#, r#"LSP {"file_path":"/a"}"#),
            ("lsp", r#"{"operation":"workspaceSymbol","query":"a"}"#, r#"Glob {"path":"."}"#),
            (
                "workflow",
                r#"{"script":"1","scriptPath":"/a"}"#,
                "workflow {\"script\":\"1\",\"scriptPath\":\"/a\"}\nRead {\"file_path\":\"/a\"}\n\
                 Edit {\"file_path\":\"/a\"}\nBash {\"command\":\"node -e 1\"}",
            ),
            ("task_stop", r#"{"task_id":"1"}"#, r#"TaskStop {"task_id":"1"}"#),
            ("get_goal", "{}", "TodoWrite {}"),
            (
                "Read",
                r#"{"file_path":"a"}"#,
                "qwen.Read {\"file_path\":\"a\"}\nRead {\"file_path\":\"a\"}\nEdit {\"file_path\":\"a\"}",
            ),
        ] {
            assert_eq!(shown(tool, input), expected, "{tool} {input}");
        }
    }

    #[test]
    fn time_is_told_in_milliseconds() {
        let command = HookCommand {
            program: "/opt/portcullis".to_owned(),
            arguments: vec!["hook".to_owned(), "qwen".to_owned()],
            host_version: None,
        };
        let pieces = pieces(&command);
        let Some(RegistrationPiece::Element {
            file: "settings.json",
            at: ["hooks", "PreToolUse"],
            value,
            ..
        }) = pieces.first()
        else {
            panic!("{pieces:?}")
        };
        assert_eq!(value["hooks"][0]["timeout"], 90_000);
        assert_eq!(value["hooks"][0]["command"], command.guarded_line());
    }
}
