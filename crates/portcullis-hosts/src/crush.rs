//! Crush.
//!
//! | verdict on `PreToolUse` | `decision` |
//! |---|---|
//! | allow | `allow`: runs without a question |
//! | ask | `null`, and Crush asks by itself, if it asks about such a call at all; otherwise `deny` |
//! | deny | `deny`, with the reason for the agent |
//!
//! Crush runs some calls without asking anybody: looking at files, and commands that begin with one of a list of words,
//! whatever follows behind `&` or a redirection. There an ask is a denial. It does not ask either about a tool that its
//! user once allowed for good; that is the user's choice. In yolo mode and in `crush run` it asks about nothing, and a
//! hook is not told: `--headless` makes every ask a denial there. The calls of Crush's subagents, which can only look,
//! raise no hook.
//!
//! A hook that crashes, is late or prints something else lets the call go its way; exit code 2 denies.

use portcullis_core::{ToolCall, ToolInput};
use serde::Serialize;
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
};
use crate::call_parts::{calls_of, files_read, foreign_calls, listing};
use crate::capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
use crate::claude_family::{BLOCKING_EXIT_CODE, BLOCKING_STDERR};
use crate::fields::{HookInputFields, unknown};
use crate::host::Host;
use crate::observed::{ObservedMode, not_run};
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::tool_names::{self, FieldRenaming, ToolTranslation};

/// Crush.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Crush,
    title: "Crush",
    usual: &UNASKED,
    others: &[&ASKED],
    observed: OBSERVED,
    scripted_run: None,
    session_format: None,
    shares_session: false,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["crush"],
        oldest: None,
        folder: SettingsFolder { variable: None, base: FolderBase::Config, path: "crush" },
        pieces,
        refusal: |_| None,
        afterwards: "Crush asks nobody in yolo mode and in `crush run`: add `--headless` to the hook's command if you \
                     use them",
    },
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[not_run(&UNASKED), not_run(&ASKED)];

/// A call that Crush may run without asking its user.
static UNASKED: HookMoment = moment(AskBy::Nothing);

/// A call that Crush asks its user about.
static ASKED: HookMoment = moment(AskBy::Silence);

const fn moment(ask: AskBy) -> HookMoment {
    HookMoment {
        event: "PreToolUse",
        capabilities: MomentCapabilities {
            allow: true,
            ask,
            plain: PlainQuestion::LeftIfHarmless,
            reason: true,
            changed_input: true,
            fails_open: true,
        },
        blocking: BlockingReply { stdout: BLOCKING, stderr: BLOCKING_STDERR, exit_code: BLOCKING_EXIT_CODE },
    }
}

const BLOCKING: &str = r#"{"version":1,"decision":"deny","reason":"portcullis: the permission check failed or ran out of time; blocked to be safe"}"#;

/// The tools that Crush asks about, beside those of MCP servers.
const ASKED_TOOLS: [&str; 7] = ["bash", "download", "edit", "fetch", "agentic_fetch", "multiedit", "write"];

/// How commands begin that Crush does not ask about.
const UNASKED_COMMANDS: [&str; 46] = [
    "cal",
    "date",
    "df",
    "du",
    "echo",
    "env",
    "free",
    "groups",
    "hostname",
    "id",
    "kill",
    "killall",
    "ls",
    "nice",
    "nohup",
    "printenv",
    "ps",
    "pwd",
    "set",
    "time",
    "timeout",
    "top",
    "type",
    "uname",
    "unset",
    "uptime",
    "whatis",
    "whereis",
    "which",
    "whoami",
    "git blame",
    "git branch",
    "git config --get",
    "git config --list",
    "git describe",
    "git diff",
    "git grep",
    "git log",
    "git ls-files",
    "git ls-remote",
    "git remote",
    "git rev-parse",
    "git shortlog",
    "git show",
    "git status",
    "git tag",
];

const FILE: FieldRenaming<'_> = ("file_path", &["file_path"]);
const PATTERN: FieldRenaming<'_> = ("pattern", &["pattern"]);
const FOLDER: FieldRenaming<'_> = ("path", &["path"]);

/// Crush's tools, but for the shell, downloads and MCP servers.
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation { theirs: &["view"], ours: "Read", fields: &[FILE] },
    ToolTranslation { theirs: &["write"], ours: "Write", fields: &[FILE, ("content", &["content"])] },
    ToolTranslation {
        theirs: &["edit"],
        ours: "Edit",
        fields: &[FILE, ("old_string", &["old_string"]), ("new_string", &["new_string"])],
    },
    ToolTranslation { theirs: &["glob"], ours: "Glob", fields: &[PATTERN, FOLDER] },
    ToolTranslation { theirs: &["grep"], ours: "Grep", fields: &[PATTERN, FOLDER, ("glob", &["include"])] },
    ToolTranslation { theirs: &["fetch", "web_fetch"], ours: "WebFetch", fields: &[("url", &["url"])] },
    // A search through public code goes to a service by what it says.
    ToolTranslation {
        theirs: &["web_search", "sourcegraph"],
        ours: "WebSearch",
        fields: &[("query", &["query"])],
    },
    ToolTranslation { theirs: &["agent"], ours: "Agent", fields: &[("prompt", &["prompt"])] },
    ToolTranslation { theirs: &["todos"], ours: "TodoWrite", fields: &[] },
    ToolTranslation { theirs: &["question"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation { theirs: &["job_output"], ours: "TaskOutput", fields: &[] },
    ToolTranslation { theirs: &["job_kill"], ours: "TaskStop", fields: &[] },
    ToolTranslation { theirs: &["list_mcp_resources"], ours: "ListMcpResourcesTool", fields: &[] },
    ToolTranslation { theirs: &["read_mcp_resource"], ours: "ReadMcpResourceTool", fields: &[] },
    // They tell of Crush itself.
    ToolTranslation { theirs: &["crush_info", "crush_logs"], ours: "ToolSearch", fields: &[] },
    // It starts the language server of the project anew.
    ToolTranslation { theirs: &["lsp_restart"], ours: "TaskStop", fields: &[] },
    // It puts a text in the place of a symbol.
    ToolTranslation {
        theirs: &["lsp_replace_symbol"],
        ours: "Edit",
        fields: &[FILE, ("new_string", &["replacement"])],
    },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    let mut fields = HookInputFields::read(told.input)?;
    let event = fields.text("event")?;
    if event != UNASKED.event {
        return Err(unknown("event", &event));
    }
    let session = HookSession {
        id: fields.optional("session_id").unwrap_or_default(),
        cwd: fields.directory("cwd")?,
        ..HookSession::default()
    };
    let name = fields.word("tool_name")?;
    let input = fields.input("tool_input")?;
    let moment = if is_asked_about(&name, &input) { &ASKED } else { &UNASKED };
    let calls = calls(&name, input);
    let call = HookCall { moment, calls, mode: None, person: None, session, call_id: None, rewritable: None };
    Ok(HostEvent::Call(Box::new(call)))
}

/// Says whether Crush asks its user about a call that nobody decides.
fn is_asked_about(name: &str, input: &ToolInput) -> bool {
    let command = input.text("command").unwrap_or_default().trim_start().to_lowercase();
    let is_unasked = name == "bash" && UNASKED_COMMANDS.iter().any(|start| command.starts_with(start));
    !is_unasked && (name.starts_with("mcp_") || ASKED_TOOLS.contains(&name))
}

fn calls(name: &str, input: ToolInput) -> Vec<ToolCall> {
    match name {
        "bash" => vec![tool_names::command_line(&input, &["command"], &["working_dir"])],
        "download" => {
            let part = |ours, fields| {
                let row = ToolTranslation { theirs: &["download"], ours, fields };
                tool_names::by_table(&[row], name, &input)
            };
            [part("WebFetch", &[("url", &["url"])]), part("Write", &[FILE])].into_iter().flatten().collect()
        }
        // It also searches and follows links, so it is more than the page it names.
        "agentic_fetch" if input.field("url").is_some() => {
            let row = ToolTranslation {
                theirs: &["agentic_fetch"],
                ours: "WebFetch",
                fields: &[("url", &["url"])],
            };
            let page = tool_names::by_table(&[row], name, &input);
            page.into_iter().chain([tool_names::foreign("crush", name, input)]).collect()
        }
        "ls" => vec![listing(&input, &["path"])],
        // They look at one file, or at a symbol wherever it is.
        "lsp_call_hierarchy" | "lsp_definition" | "lsp_diagnostics" | "lsp_references" | "lsp_symbols" => {
            let files = ["file_path", "path"].iter().flat_map(|field| files_read(&input, field));
            let files: Vec<ToolCall> = files.collect();
            if files.is_empty() { vec![listing(&input, &[])] } else { files }
        }
        // It changes every file that has the symbol, which are files of the project.
        "lsp_rename" => {
            let edited = calls_of("Edit", "file_path", &input, "path");
            edited.into_iter().chain([tool_names::foreign("crush", name, input)]).collect()
        }
        // It changes one file at several places, which are a list.
        "multiedit" => vec![ToolCall::new("MultiEdit", input)],
        _ => match tool_names::by_table(TOOLS, name, &input) {
            Some(call) => vec![call],
            None => other_calls(name, input),
        },
    }
}

/// The name of an MCP server's tool, `mcp_server_tool`, does not say where the server's name ends: it counts for every
/// server that it may belong to.
fn other_calls(name: &str, input: ToolInput) -> Vec<ToolCall> {
    let rest = name.strip_prefix("mcp_").unwrap_or_default();
    let splits = rest.match_indices('_').filter_map(|(place, _)| {
        let (server, tool) = rest.split_at_checked(place)?;
        Some((server, tool.strip_prefix('_')?))
            .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
    });
    let names: Vec<String> = splits.map(|(server, tool)| tool_names::mcp(server, tool)).collect();
    let mut calls: Vec<ToolCall> =
        names.iter().take(MOST_SERVERS).map(|name| ToolCall::new(name, input.clone())).collect();
    // A server chooses the names of its tools. A longer one is still its own, and no rule allows it.
    if names.is_empty() || names.len() > MOST_SERVERS {
        calls.extend(foreign_calls("crush", name, input));
    }
    calls
}

/// How many servers a name may belong to before it belongs to any.
const MOST_SERVERS: usize = 16;

fn write(_moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    let decision = match answer.said {
        HostDecision::Allow => Some("allow"),
        HostDecision::Contained | HostDecision::Deny => Some("deny"),
        HostDecision::Ask | HostDecision::Silence => None,
    };
    let is_denied = answer.said == HostDecision::Deny;
    let wire = CrushReplyWire {
        version: 1,
        decision,
        halt: (is_denied && answer.ends_run).then_some(true),
        reason: is_denied.then_some(answer.reason.as_str()),
    };
    HostReply::json(&wire, BLOCKING)
}

#[derive(Serialize)]
struct CrushReplyWire<'a> {
    version: u32,
    /// `null` decides nothing.
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    halt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The command goes through a shell, and its time limit is in seconds. A failure would leave the call to Crush alone.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    let value =
        json!({"name": "portcullis", "matcher": ".*", "command": command.guarded_line(), "timeout": 90});
    vec![RegistrationPiece::Element {
        file: "crush.json",
        at: &["hooks", "PreToolUse"],
        value,
        is_first: false,
    }]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::shown_calls;

    fn read_text(text: &str) -> Result<HostEvent, HostError> {
        read(&HostInput { input: text.as_bytes(), directory: "/", variable: &|_| None })
    }

    fn call_of(name: &str, input: &str) -> HookCall {
        let text = format!(
            r#"{{"event":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"{name}","tool_input":{input}}}"#
        );
        match read_text(&text).unwrap() {
            HostEvent::Call(call) => *call,
            other => panic!("{other:?}"),
        }
    }

    /// Writes calls as `Tool {input}`, one a line.
    fn shown(name: &str, input: &str) -> String {
        shown_calls::shown(&call_of(name, input).calls)
    }

    #[test]
    fn tools_become_ours() {
        for (name, input, expected) in [
            ("bash", r#"{"command":"ls","working_dir":"/x"}"#, r#"Bash {"command":"cd /x\nls"}"#),
            ("bash", r#"{"command":7}"#, r#"Bash {"file_path":null}"#),
            ("view", r#"{"file_path":"a","limit":3}"#, r#"Read {"file_path":"a"}"#),
            ("write", r#"{"file_path":"a","content":"b"}"#, r#"Write {"content":"b","file_path":"a"}"#),
            ("multiedit", r#"{"file_path":"a","edits":[]}"#, r#"MultiEdit {"edits":[],"file_path":"a"}"#),
            (
                "download",
                r#"{"url":"https://a/b","file_path":"/etc/x"}"#,
                "WebFetch {\"url\":\"https://a/b\"}\nWrite {\"file_path\":\"/etc/x\"}",
            ),
            ("agent", r#"{"prompt":"look"}"#, r#"Agent {"prompt":"look"}"#),
            ("mcp_tracker_close", "{}", "mcp__tracker__close {}"),
            ("mcp_a_b_c", "{}", "mcp__a__b_c {}\nmcp__a_b__c {}"),
            ("mcp_x", "{}", "mcp_x {}"),
            (
                "agentic_fetch",
                r#"{"url":"https://a","prompt":"p"}"#,
                "WebFetch {\"url\":\"https://a\"}\nagentic_fetch {\"prompt\":\"p\",\"url\":\"https://a\"}",
            ),
            ("TodoWrite", "{}", "crush.TodoWrite {}"),
            ("job_kill", r#"{"shell_id":"1"}"#, r#"TaskStop {"shell_id":"1"}"#),
            ("ls", r#"{"path":"/a","depth":2}"#, r#"Glob {"path":"/a"}"#),
            ("ls", "{}", r#"Glob {"path":"."}"#),
            ("lsp_diagnostics", r#"{"file_path":"/a"}"#, r#"Read {"file_path":"/a"}"#),
            ("lsp_symbols", r#"{"query":"a"}"#, r#"Glob {"path":"."}"#),
            (
                "lsp_rename",
                r#"{"symbol":"a","new_name":"b","path":"/a"}"#,
                "Edit {\"file_path\":\"/a\"}\nlsp_rename {\"new_name\":\"b\",\"path\":\"/a\",\"symbol\":\"a\"}",
            ),
            (
                "lsp_replace_symbol",
                r#"{"symbol":"a","file_path":"/a","replacement":"b"}"#,
                r#"Edit {"file_path":"/a","new_string":"b"}"#,
            ),
            ("question", r#"{"questions":[]}"#, r#"AskUserQuestion {"questions":[]}"#),
            ("web_search", r#"{"query":"a"}"#, r#"WebSearch {"query":"a"}"#),
        ] {
            assert_eq!(shown(name, input), expected, "{name} {input}");
        }
    }

    #[test]
    fn a_server_cannot_name_a_tool_so_that_rules_for_the_server_do_not_see_it() {
        let calls = call_of("mcp_a_b_c_d_e_f_g_h_i_j_k_l_m_n_o_p_q_r", "{}").calls;
        let names: Vec<&str> = calls.iter().map(ToolCall::tool).collect();
        assert_eq!(names.first(), Some(&"mcp__a__b_c_d_e_f_g_h_i_j_k_l_m_n_o_p_q_r"));
        // Nothing allows this one, whichever servers are.
        assert_eq!(names.last(), Some(&"mcp_a_b_c_d_e_f_g_h_i_j_k_l_m_n_o_p_q_r"));
        assert_eq!(names.len(), MOST_SERVERS + 1);
    }

    #[test]
    fn a_question_is_left_to_crush_only_where_crush_asks() {
        for (name, input, expected) in [
            ("bash", r#"{"command":"make install"}"#, AskBy::Silence),
            ("bash", r#"{"command":"ls & rm -rf x"}"#, AskBy::Nothing),
            ("bash", r#"{"command":"  ECHO x > f"}"#, AskBy::Nothing),
            ("bash", r#"{"command":"timeout 5 rm x"}"#, AskBy::Nothing),
            ("bash", r#"{"command":"git branch -D x"}"#, AskBy::Nothing),
            ("bash", r#"{"command":"git push"}"#, AskBy::Silence),
            ("write", r#"{"file_path":"a"}"#, AskBy::Silence),
            ("mcp_tracker_close", "{}", AskBy::Silence),
            ("view", r#"{"file_path":"/etc/shadow"}"#, AskBy::Nothing),
            ("job_kill", "{}", AskBy::Nothing),
        ] {
            assert_eq!(call_of(name, input).moment.capabilities.ask, expected, "{name} {input}");
        }
    }

    #[test]
    fn input_that_is_not_understood_is_refused() {
        for text in [
            "",
            "{}",
            r#"{"event":"PostToolUse","cwd":"/w","tool_name":"bash","tool_input":{}}"#,
            r#"{"event":"PreToolUse","tool_name":"bash","tool_input":{}}"#,
            r#"{"event":"PreToolUse","cwd":"w","tool_name":"bash","tool_input":{}}"#,
            r#"{"event":"PreToolUse","cwd":"/w","tool_input":{}}"#,
            r#"{"event":"PreToolUse","cwd":"/w","tool_name":"bash","tool_input":"ls"}"#,
        ] {
            assert!(read_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_answer_is_an_object_of_version_one() {
        let answer = |said, ends_run| {
            write(
                &ASKED,
                &HostAnswer { said, reason: "why".to_owned(), notice: None, ends_run, changed_input: None },
            )
            .stdout
        };
        assert_eq!(answer(HostDecision::Allow, true), r#"{"version":1,"decision":"allow"}"#);
        assert_eq!(answer(HostDecision::Silence, false), r#"{"version":1,"decision":null}"#);
        assert_eq!(answer(HostDecision::Deny, false), r#"{"version":1,"decision":"deny","reason":"why"}"#);
        assert_eq!(
            answer(HostDecision::Deny, true),
            r#"{"version":1,"decision":"deny","halt":true,"reason":"why"}"#
        );
    }
}
