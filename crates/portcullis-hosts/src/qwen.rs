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
//! Its session file has a form of its own that is not read here.

use portcullis_core::{Mode, ToolCall, ToolInput};

use crate::adapter::{HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput};
use crate::claude_family::{self, FamilyMember, ReplyExtras, SessionFreedom, element, shell_handler};
use crate::host::Host;
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::tool_names::{ToolTranslation, by_table, command_line, foreign, reads};

/// Qwen Code.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Qwen,
    title: "Qwen Code",
    usual: &BEFORE,
    others: &[&REQUEST],
    session_format: None,
    read,
    write,
    registration: Registration {
        programs: &["qwen"],
        folder: SettingsFolder { variable: None, base: FolderBase::Home, path: ".qwen" },
        pieces,
        afterwards: "",
    },
};

static BEFORE: HookMoment = claude_family::BEFORE;

static REQUEST: HookMoment = claude_family::REQUEST;

const EXTRAS: ReplyExtras = ReplyExtras { notice: true, ending: true };

static DIALECT: FamilyMember = FamilyMember {
    before: &BEFORE,
    request: Some(&REQUEST),
    standing: |word| SessionFreedom::of(mode(word.unwrap_or_default())),
    calls: |tool, input| match reads(&input).filter(|_| tool == "read_many_files") {
        Some(calls) => calls,
        None => vec![call(tool, input)],
    },
    session: |session, _| HookSession { transcript: None, ..session },
};

/// Its tools as ours. A shell command and what the table lacks is left to [`call`].
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
        theirs: &["read_file"],
        ours: "Read",
        fields: &[("file_path", &["file_path", "absolute_path"])],
    },
    ToolTranslation {
        theirs: &["glob"],
        ours: "Glob",
        fields: &[("pattern", &["pattern"]), ("path", &["path"])],
    },
    ToolTranslation { theirs: &["list_directory"], ours: "Glob", fields: &[("path", &["path"])] },
    ToolTranslation {
        theirs: &["grep_search", "search_file_content"],
        ours: "Grep",
        fields: &[("pattern", &["pattern"]), ("path", &["path"])],
    },
    // The page is the one that `url` names, whatever addresses the prompt has.
    ToolTranslation {
        theirs: &["web_fetch"],
        ours: "WebFetch",
        fields: &[("url", &["url"]), ("prompt", &["prompt"])],
    },
    ToolTranslation { theirs: &["web_search"], ours: "WebSearch", fields: &[("query", &["query"])] },
    ToolTranslation {
        theirs: &["agent", "task"],
        ours: "Agent",
        fields: &[("prompt", &["prompt"]), ("subagent_type", &["subagent_type"])],
    },
    ToolTranslation { theirs: &["todo_write"], ours: "TodoWrite", fields: &[] },
    ToolTranslation { theirs: &["exit_plan_mode"], ours: "ExitPlanMode", fields: &[] },
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

fn call(tool: &str, input: ToolInput) -> ToolCall {
    match tool {
        "run_shell_command" => command_line(&input, &["command"], &["directory"]),
        _ if tool.starts_with("mcp__") => ToolCall::new(tool, input),
        _ => by_table(TOOLS, tool, &input).unwrap_or_else(|| foreign("qwen", tool, input)),
    }
}

fn write(moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    claude_family::write(moment, answer, EXTRAS)
}

/// Its time-outs are in milliseconds. Before a call everything can be said, so what it would ask later is not needed.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    const FILE: &str = "settings.json";
    vec![
        element(FILE, &["hooks", "PreToolUse"], "*", shell_handler(command, 90_000)),
        element(FILE, &["hooks", "UserPromptSubmit"], "", shell_handler(command, 10_000)),
        element(FILE, &["hooks", "PostToolUse"], "write_file|edit", shell_handler(command, 10_000)),
        element(FILE, &["hooks", "SessionStart"], "", shell_handler(command, 10_000)),
        element(FILE, &["hooks", "SessionEnd"], "", shell_handler(command, 10_000)),
    ]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::json;

    fn shown(tool: &str, input: &str) -> String {
        let call = call(tool, json::parse_input(input.as_bytes()).unwrap());
        let mut text = format!("{} ", call.tool());
        json::write_input(&mut text, call.input());
        text
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
            ("Read", r#"{"file_path":"a"}"#, r#"qwen.Read {"file_path":"a"}"#),
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
        assert_eq!(value["hooks"][0]["command"], "/opt/portcullis hook qwen");
    }
}
