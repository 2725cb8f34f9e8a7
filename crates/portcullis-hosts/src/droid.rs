//! Droid.
//!
//! It speaks Claude Code's format, with the events at the top of its file of hooks. A hook that crashes, is silent or
//! takes too long does not object, so every answer is explicit. An ask lets the call run where nobody is there
//! (`droid exec`), and what it does elsewhere was not seen, so a question is a denial that says how to allow the call.
//!
//! | `permission_mode` | mode |
//! |---|---|
//! | `off` | default |
//! | `spec` | plan |
//! | `auto-low` | `acceptEdits` |
//! | `auto-medium`, `auto-high` | the settings decide: these levels go by a risk that the agent itself states |
//! | none | the settings decide |
//! | any other | default |
//!
//! Its session file has a form of its own that is not read here.

use portcullis_core::{Mode, ToolCall, ToolInput};
use serde_json::json;

use crate::adapter::{HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput};
use crate::call_parts::{files_read, foreign_calls, listing, one_by_one};
use crate::capability::{AskBy, MomentCapabilities};
use crate::claude_family::{
    self, FamilyMember, ReplyExtras, SessionFreedom, element, guarded_handler, shell_handler,
};
use crate::host::Host;
use crate::observed::CallFate::{Runs, Stopped};
use crate::observed::ObservedMode;
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};
use crate::settings_shape;
use crate::tool_names::{ToolTranslation, by_table, mcp, patch_or_refusal};

/// Droid.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Droid,
    title: "Droid",
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
        programs: &["droid"],
        oldest: None,
        folder: SettingsFolder { variable: None, base: FolderBase::Home, path: ".factory" },
        pieces,
        refusal: settings_shape::droid_refusal,
        afterwards: "",
    },
};

/// How it is proven.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &["exec", "--auto", "high", "-m", "custom:portcullis-trial-0", PROMPT],
    variables: &[
        ("FACTORY_API_KEY", NAME),
        ("FACTORY_DISABLE_KEYRING", "1"),
        ("DROID_DISABLE_AUTO_UPDATE", "true"),
        ("FACTORY_RUNTIME_SETTINGS_PATH", "@FOLDER@/droid-settings.json"),
    ],
    files: &[(
        "droid-settings.json",
        r#"{"customModels":[{"model":"scripted","id":"custom:portcullis-trial-0","index":0,
"displayName":"scripted","baseUrl":"@URL@/v1","apiKey":"portcullis-trial",
"provider":"generic-chat-completion-api","maxOutputTokens":4000}]}"#,
    )],
    tool: "Execute",
    input: |command| json!({"command": command, "summary": "Leave a file", "riskLevel": "low", "riskLevelReason": "It is empty"}),
    takes_command: false,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[ObservedMode {
    version: "0.215.0",
    mode: "`exec --auto high`",
    moment: &BEFORE,
    fates: [Runs, Runs, Stopped, Runs, Stopped, Runs, Runs, Stopped],
    shown_by: "droid::each_answer_before_a_call",
    gone_shown_by: "droid::a_hook_whose_program_is_gone_stops_the_call",
}];

static BEFORE: HookMoment = HookMoment {
    capabilities: MomentCapabilities { ask: AskBy::Nothing, ..claude_family::BEFORE.capabilities },
    ..claude_family::BEFORE
};

static DIALECT: FamilyMember = FamilyMember {
    before: |_, _| &BEFORE,
    request: None,
    standing,
    calls,
    rewrites: false,
    session: |session, _| HookSession { transcript: None, ..session },
};

/// Its tools as ours. Patches, lists, folders and what the table lacks are left to [`calls`].
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation { theirs: &["Execute"], ours: "Bash", fields: &[("command", &["command"])] },
    ToolTranslation { theirs: &["Read"], ours: "Read", fields: &[("file_path", &["file_path"])] },
    ToolTranslation {
        theirs: &["Create", "Write"],
        ours: "Write",
        fields: &[("file_path", &["file_path"]), ("content", &["content"])],
    },
    ToolTranslation {
        theirs: &["Edit"],
        ours: "Edit",
        fields: &[
            ("file_path", &["file_path"]),
            ("old_string", &["old_str", "old_string"]),
            ("new_string", &["new_str", "new_string"]),
        ],
    },
    ToolTranslation { theirs: &["MultiEdit"], ours: "MultiEdit", fields: &[("file_path", &["file_path"])] },
    ToolTranslation {
        theirs: &["Glob"],
        ours: "Glob",
        fields: &[("pattern", &["patterns", "pattern"]), ("path", &["folder", "path"])],
    },
    ToolTranslation {
        theirs: &["Grep"],
        ours: "Grep",
        fields: &[("pattern", &["pattern"]), ("path", &["path"]), ("glob", &["glob_pattern"])],
    },
    ToolTranslation { theirs: &["FetchUrl"], ours: "WebFetch", fields: &[("url", &["url"])] },
    ToolTranslation { theirs: &["WebSearch"], ours: "WebSearch", fields: &[("query", &["query"])] },
    ToolTranslation {
        theirs: &["Task"],
        ours: "Agent",
        fields: &[("prompt", &["prompt"]), ("subagent_type", &["subagent_type"])],
    },
    ToolTranslation { theirs: &["Skill"], ours: "Skill", fields: &[("skill", &["skill"])] },
    ToolTranslation { theirs: &["TaskOutput"], ours: "TaskOutput", fields: &[] },
    ToolTranslation { theirs: &["TaskStop"], ours: "TaskStop", fields: &[] },
    ToolTranslation { theirs: &["ToolSearch"], ours: "ToolSearch", fields: &[] },
    ToolTranslation { theirs: &["TodoWrite"], ours: "TodoWrite", fields: &[] },
    ToolTranslation { theirs: &["AskUser"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation { theirs: &["ExitSpecMode", "ProposeMission"], ours: "ExitPlanMode", fields: &[] },
    // Its words go where those of a search go, and Droid keeps the picture in a folder of its own.
    ToolTranslation { theirs: &["GenerateImage"], ours: "WebSearch", fields: &[("query", &["prompt"])] },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    claude_family::read(told, &DIALECT)
}

fn standing(word: Option<&str>) -> SessionFreedom {
    match word {
        None | Some("auto-medium" | "auto-high") => SessionFreedom { mode: None, person: None },
        Some("spec") => SessionFreedom::of(Mode::Plan),
        Some("auto-low") => SessionFreedom::of(Mode::AcceptEdits),
        Some(_) => SessionFreedom::of(Mode::Default),
    }
}

fn calls(tool: &str, input: ToolInput) -> Vec<ToolCall> {
    match tool {
        "ApplyPatch" => {
            let texts = (input.text("input"), input.text("patch"));
            let is_clear = texts.0.is_none() || texts.1.is_none() || texts.0 == texts.1;
            patch_or_refusal(texts.0.or(texts.1).filter(|_| is_clear))
        }
        "Glob" => one_by_one(&input, "patterns").into_iter().flat_map(|input| call(tool, input)).collect(),
        "LS" => vec![listing(&input, &["directory_path", "path"])],
        // Their pictures go to the model.
        "GenerateImage" | "Task" => {
            let field = if tool == "Task" { "image_paths" } else { "input_image_paths" };
            files_read(&input, field).into_iter().chain(call(tool, input)).collect()
        }
        _ => call(tool, input),
    }
}

fn call(tool: &str, input: ToolInput) -> Vec<ToolCall> {
    if tool.starts_with("mcp__") {
        return vec![ToolCall::new(tool, input)];
    }
    let servers = mcp_calls(tool, &input);
    match by_table(TOOLS, tool, &input) {
        Some(call) => vec![call],
        None if !servers.is_empty() => servers,
        None => foreign_calls("droid", tool, input),
    }
}

/// A tool of an MCP server is `SERVER___TOOL`; every way to read the name must be allowed.
fn mcp_calls(tool: &str, input: &ToolInput) -> Vec<ToolCall> {
    const SIGN: &str = "___";
    let names = tool.match_indices(SIGN).filter_map(|(at, _)| {
        let (server, rest) = tool.split_at_checked(at)?;
        Some((server, rest.strip_prefix(SIGN)?))
            .filter(|(server, rest)| !server.is_empty() && !rest.is_empty())
    });
    names.map(|(server, tool)| ToolCall::new(&mcp(server, tool), input.clone())).collect()
}

fn write(moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    claude_family::write(moment, answer, ReplyExtras { notice: true, ending: true })
}

/// Its time-outs are in seconds. Wrapped in `hooks`, as Claude Code has them, the events would be ignored.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    const FILE: &str = "hooks.json";
    const WRITERS: &str = "Create|Edit|MultiEdit|ApplyPatch";
    vec![
        element(FILE, &["PreToolUse"], "*", guarded_handler(command, 90)),
        element(FILE, &["UserPromptSubmit"], "", shell_handler(command, 10)),
        element(FILE, &["PostToolUse"], WRITERS, shell_handler(command, 10)),
        element(FILE, &["SessionStart"], "", shell_handler(command, 10)),
        element(FILE, &["SessionEnd"], "", shell_handler(command, 10)),
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
    fn levels_become_modes_and_none_of_them_bypasses() {
        for (word, expected) in [
            (Some("off"), Some(Mode::Default)),
            (Some("spec"), Some(Mode::Plan)),
            (Some("auto-low"), Some(Mode::AcceptEdits)),
            (Some("auto-medium"), None),
            (Some("auto-high"), None),
            (Some("bypassPermissions"), Some(Mode::Default)),
            (None, None),
        ] {
            assert_eq!(standing(word), SessionFreedom { mode: expected, person: None }, "{word:?}");
        }
    }

    #[test]
    fn tools_become_ours() {
        for (tool, input, expected) in [
            ("Execute", r#"{"command":"ls","riskLevel":"low","cwd":"/"}"#, r#"Bash {"command":"ls"}"#),
            ("Execute", "{}", r#"Bash {"file_path":null}"#),
            ("Create", r#"{"file_path":"a","content":"b"}"#, r#"Write {"content":"b","file_path":"a"}"#),
            (
                "Edit",
                r#"{"file_path":"a","old_str":"b","new_str":"c"}"#,
                r#"Edit {"file_path":"a","new_string":"c","old_string":"b"}"#,
            ),
            (
                "Glob",
                r#"{"folder":"/a","patterns":["*.rs","/etc/*"]}"#,
                "Glob {\"path\":\"/a\",\"pattern\":\"*.rs\"}\nGlob {\"path\":\"/a\",\"pattern\":\"/etc/*\"}",
            ),
            ("LS", r#"{"directory_path":"/a","ignorePatterns":["b"]}"#, r#"Glob {"path":"/a"}"#),
            ("LS", "{}", r#"Glob {"path":"."}"#),
            ("LS", r#"{"directory_path":["/a"]}"#, r#"Glob {"file_path":null}"#),
            ("TaskStop", r#"{"task_id":"1"}"#, r#"TaskStop {"task_id":"1"}"#),
            ("Skill", r#"{"skill":"a"}"#, r#"Skill {"skill":"a"}"#),
            (
                "Task",
                r#"{"subagent_type":"w","description":"d","prompt":"p","image_paths":["/a.png"]}"#,
                "Read {\"file_path\":\"/a.png\"}\nAgent {\"prompt\":\"p\",\"subagent_type\":\"w\"}",
            ),
            (
                "GenerateImage",
                r#"{"prompt":"p","input_image_paths":[7]}"#,
                "Read {\"file_path\":null}\nWebSearch {\"query\":\"p\"}",
            ),
            ("Glob", r#"{"patterns":[]}"#, r#"Glob {"file_path":null}"#),
            ("Glob", r#"{"patterns":[7]}"#, r#"Glob {"file_path":null}"#),
            ("ApplyPatch", r#"{"input":"rm"}"#, r#"Edit {"file_path":null}"#),
            (
                "ApplyPatch",
                r#"{"input":"*** Begin Patch\n*** Delete File: a\n*** End Patch","patch":"another"}"#,
                r#"Edit {"file_path":null}"#,
            ),
            (
                "ApplyPatch",
                r#"{"input":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}"#,
                r#"Bash {"command":"rm -- a"}"#,
            ),
            ("FetchUrl", r#"{"url":"https://docs.rs"}"#, r#"WebFetch {"url":"https://docs.rs"}"#),
            ("mcp__a__b", "{}", "mcp__a__b {}"),
            ("a_b___c", "{}", "mcp__a_b__c {}"),
            ("___c", "{}", "___c {}"),
            ("Bash", r#"{"command":"ls"}"#, "droid.Bash {\"command\":\"ls\"}\nBash {\"command\":\"ls\"}"),
            ("GenerateDroid", "{}", "GenerateDroid {}"),
        ] {
            assert_eq!(shown(tool, input), expected, "{tool} {input}");
        }
    }

    #[test]
    fn an_event_that_droid_does_not_have_is_refused() {
        let input =
            br#"{"hook_event_name":"PermissionRequest","cwd":"/w","tool_name":"Read","tool_input":{}}"#;
        assert!(read(&HostInput { input, directory: "/w", variable: &|_| None }).is_err());
    }
}
