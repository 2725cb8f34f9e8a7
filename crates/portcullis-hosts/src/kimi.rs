//! Kimi Code.
//!
//! It hands over Claude Code's JSON and takes one word of the answer: a denial. Everything else lets the call go its way,
//! an ask too, so a question is a denial that says how to allow the call. A hook that fails lets the call run unless it
//! ends with exit code 2; the registered line ends with it by itself if our program cannot run.
//!
//! It does not say in which mode a session is, so the settings decide. `kimi -p` runs every tool without a question.

use portcullis_core::{ToolCall, ToolInput};
use serde_json::json;

use crate::adapter::{HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput};
use crate::call_parts::foreign_calls;
use crate::capability::{AskBy, MomentCapabilities};
use crate::claude_family::{self, FamilyMember, ReplyExtras, SessionFreedom};
use crate::host::Host;
use crate::observed::CallFate::{Runs, Stopped};
use crate::observed::ObservedMode;
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};
use crate::tool_names::{FieldRenaming, ToolTranslation, by_table, command_line};

/// Kimi Code.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Kimi,
    title: "Kimi Code",
    usual: &BEFORE,
    others: &[],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: None,
    shares_session: true,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["kimi"],
        oldest: None,
        folder: SettingsFolder {
            variable: Some("KIMI_CODE_HOME"),
            base: FolderBase::Home,
            path: ".kimi-code",
        },
        refusal: |_| None,
        pieces,
        afterwards: "",
    },
};

/// How it is proven.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &["-p", PROMPT],
    variables: &[
        ("KIMI_MODEL_NAME", "scripted"),
        ("KIMI_MODEL_PROVIDER_TYPE", "openai"),
        ("KIMI_MODEL_BASE_URL", "@URL@/v1"),
        ("KIMI_MODEL_API_KEY", NAME),
        ("KIMI_MODEL_MAX_CONTEXT_SIZE", "100000"),
        ("KIMI_CODE_NO_AUTO_UPDATE", "1"),
    ],
    files: &[],
    tool: "Bash",
    input: |command| json!({"command": command}),
    takes_command: false,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[ObservedMode {
    version: "2.1.0",
    mode: "`-p`",
    moment: &BEFORE,
    fates: [Runs, Runs, Stopped, Runs, Stopped, Runs, Runs, Stopped],
    shown_by: "kimi::each_answer_before_a_call",
    gone_shown_by: "kimi::a_hook_whose_program_is_gone_stops_the_call",
}];

static BEFORE: HookMoment = HookMoment {
    capabilities: MomentCapabilities {
        allow: false,
        ask: AskBy::Nothing,
        changed_input: false,
        ..claude_family::BEFORE.capabilities
    },
    ..claude_family::BEFORE
};

static DIALECT: FamilyMember = FamilyMember {
    before: |_, _| &BEFORE,
    request: None,
    standing: |_| SessionFreedom { mode: None, person: None },
    calls,
    rewrites: false,
    session: |session, _| HookSession { transcript: None, ..session },
};

const FILE: FieldRenaming<'_> = ("file_path", &["path"]);
const PATTERN: FieldRenaming<'_> = ("pattern", &["pattern"]);
const FOLDER: FieldRenaming<'_> = ("path", &["path"]);

/// Its tools as ours. A shell command and what the table lacks are left to [`calls`].
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation { theirs: &["Read", "ReadMediaFile"], ours: "Read", fields: &[FILE] },
    ToolTranslation { theirs: &["Write"], ours: "Write", fields: &[FILE, ("content", &["content"])] },
    ToolTranslation {
        theirs: &["Edit"],
        ours: "Edit",
        fields: &[FILE, ("old_string", &["old_string"]), ("new_string", &["new_string"])],
    },
    ToolTranslation { theirs: &["Glob"], ours: "Glob", fields: &[PATTERN, FOLDER] },
    ToolTranslation { theirs: &["Grep"], ours: "Grep", fields: &[PATTERN, FOLDER, ("glob", &["glob"])] },
    ToolTranslation { theirs: &["FetchURL"], ours: "WebFetch", fields: &[("url", &["url"])] },
    ToolTranslation {
        theirs: &["SearchWeb", "WebSearch"],
        ours: "WebSearch",
        fields: &[("query", &["query"])],
    },
    ToolTranslation {
        theirs: &["Agent"],
        ours: "Agent",
        fields: &[("prompt", &["prompt"]), ("subagent_type", &["subagent_type"])],
    },
    ToolTranslation {
        theirs: &["AgentSwarm"],
        ours: "Agent",
        fields: &[("prompt", &["prompt_template"]), ("subagent_type", &["subagent_type"])],
    },
    ToolTranslation { theirs: &["Skill"], ours: "Skill", fields: &[("skill", &["skill"])] },
    ToolTranslation { theirs: &["CronCreate"], ours: "CronCreate", fields: &[] },
    ToolTranslation { theirs: &["CronDelete"], ours: "CronDelete", fields: &[] },
    ToolTranslation { theirs: &["CronList"], ours: "CronList", fields: &[] },
    ToolTranslation { theirs: &["TaskList"], ours: "TaskList", fields: &[] },
    ToolTranslation { theirs: &["TaskOutput"], ours: "TaskOutput", fields: &[] },
    ToolTranslation { theirs: &["TaskStop"], ours: "TaskStop", fields: &[] },
    ToolTranslation { theirs: &["WaitFor"], ours: "Sleep", fields: &[] },
    ToolTranslation {
        theirs: &["CreateGoal", "GetGoal", "SetGoalBudget", "TodoList", "UpdateGoal"],
        ours: "TodoWrite",
        fields: &[],
    },
    ToolTranslation { theirs: &["AskUserQuestion"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation { theirs: &["EnterPlanMode"], ours: "EnterPlanMode", fields: &[] },
    ToolTranslation { theirs: &["ExitPlanMode"], ours: "ExitPlanMode", fields: &[] },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    claude_family::read(told, &DIALECT)
}

fn calls(tool: &str, input: ToolInput) -> Vec<ToolCall> {
    match tool {
        "Bash" => vec![command_line(&input, &["command"], &["cwd"])],
        _ if tool.starts_with("mcp__") => vec![ToolCall::new(tool, input)],
        _ => match by_table(TOOLS, tool, &input) {
            Some(call) => vec![call],
            None => foreign_calls("kimi", tool, input),
        },
    }
}

fn write(moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    claude_family::write(moment, answer, ReplyExtras { notice: false, ending: false })
}

/// An entry of a list of tables; its time-out is in seconds.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    let hook = |event: &str, line: String, seconds: u32| RegistrationPiece::Element {
        file: "config.toml",
        at: &["hooks"],
        value: json!({"event": event, "command": line, "timeout": seconds}),
        is_first: false,
    };
    vec![
        hook(BEFORE.event, command.guarded_line(), 90),
        hook("SessionStart", command.line(), 10),
        hook("UserPromptSubmit", command.line(), 10),
    ]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::json;
    use crate::shown_calls;

    fn shown(tool: &str, input: &str) -> String {
        shown_calls::shown(&calls(tool, json::parse_input(input.as_bytes()).unwrap()))
    }

    #[test]
    fn tools_become_ours() {
        for (tool, input, expected) in [
            ("Bash", r#"{"command":"ls","cwd":"/a"}"#, r#"Bash {"command":"cd /a\nls"}"#),
            ("Bash", "{}", r#"Bash {"file_path":null}"#),
            ("Read", r#"{"path":"/a","n_lines":3}"#, r#"Read {"file_path":"/a"}"#),
            ("Read", r#"{"file_path":"/a"}"#, r#"Read {"file_path":null}"#),
            (
                "Write",
                r#"{"path":"a","content":"b","mode":"append"}"#,
                r#"Write {"content":"b","file_path":"a"}"#,
            ),
            ("Grep", r#"{"pattern":"x","path":"/a"}"#, r#"Grep {"path":"/a","pattern":"x"}"#),
            ("FetchURL", r#"{"url":"https://a"}"#, r#"WebFetch {"url":"https://a"}"#),
            (
                "AgentSwarm",
                r#"{"prompt_template":"p","items":["a"],"subagent_type":"w"}"#,
                r#"Agent {"prompt":"p","subagent_type":"w"}"#,
            ),
            ("TodoList", r#"{"todos":[]}"#, r#"TodoWrite {"todos":[]}"#),
            ("mcp__a__b", "{}", "mcp__a__b {}"),
            ("Fly", "{}", "Fly {}"),
        ] {
            assert_eq!(shown(tool, input), expected, "{tool} {input}");
        }
    }
}
