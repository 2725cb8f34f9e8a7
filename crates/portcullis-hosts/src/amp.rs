//! Amp.
//!
//! A rule of `amp.permissions` can hand a call to a program. It gets the tool's arguments alone on standard input, the
//! tool's name in `AGENT_TOOL_NAME`, and answers with its exit code:
//!
//! | verdict | exit code |
//! |---|---|
//! | allow | 0 |
//! | ask | 1: Amp asks its user |
//! | deny, and every failure | 2: the agent reads standard error |
//!
//! The program is started by name and without arguments, so ours is also known as `portcullis-amp`. The rule must come
//! first, because the first one that matches counts. The directory of the process is the session's.

use portcullis_core::ToolCall;
use serde_json::json;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
};
use crate::call_parts::foreign_calls;
use crate::capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
use crate::claude_family::{BLOCKING_EXIT_CODE, BLOCKING_STDERR};
use crate::fields::absolute;
use crate::host::Host;
use crate::json;
use crate::observed::{ObservedMode, not_run};
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::tool_names::{self, FieldRenaming, ToolTranslation};

/// Amp.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Amp,
    title: "Amp",
    usual: &DELEGATED,
    others: &[],
    observed: OBSERVED,
    scripted_run: None,
    session_format: None,
    shares_session: false,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["amp"],
        oldest: None,
        folder: SettingsFolder { variable: None, base: FolderBase::Config, path: "amp" },
        pieces,
        refusal: |_| None,
        afterwards: "",
    },
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[not_run(&DELEGATED)];

static DELEGATED: HookMoment = HookMoment {
    event: "delegate",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Saying,
        plain: PlainQuestion::AsAny,
        reason: true,
        changed_input: false,
        fails_open: false,
    },
    blocking: BlockingReply { stdout: "", stderr: BLOCKING_STDERR, exit_code: BLOCKING_EXIT_CODE },
};

/// The exit code that makes Amp ask its user.
const ASKING_EXIT_CODE: i32 = 1;

/// The name our program has for Amp.
const PROGRAM_NAME: &str = "portcullis-amp";

const FILE: FieldRenaming<'_> = ("file_path", &["path"]);

/// Amp's tools, but for the shell and MCP servers.
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation { theirs: &["Read"], ours: "Read", fields: &[FILE] },
    ToolTranslation { theirs: &["create_file"], ours: "Write", fields: &[FILE, ("content", &["content"])] },
    ToolTranslation {
        theirs: &["edit_file"],
        ours: "Edit",
        fields: &[FILE, ("old_string", &["old_str"]), ("new_string", &["new_str"])],
    },
    ToolTranslation { theirs: &["format_file", "undo_edit"], ours: "Edit", fields: &[FILE] },
    ToolTranslation {
        theirs: &["Grep"],
        ours: "Grep",
        fields: &[("pattern", &["pattern"]), ("path", &["path"])],
    },
    ToolTranslation { theirs: &["glob"], ours: "Glob", fields: &[("pattern", &["filePattern"])] },
    ToolTranslation { theirs: &["read_web_page"], ours: "WebFetch", fields: &[("url", &["url"])] },
    ToolTranslation {
        theirs: &["web_search"],
        ours: "WebSearch",
        fields: &[("query", &["query", "objective"])],
    },
    ToolTranslation { theirs: &["Task"], ours: "Agent", fields: &[("prompt", &["prompt"])] },
    ToolTranslation { theirs: &["todo_read", "todo_write"], ours: "TodoWrite", fields: &[] },
];

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    const NAME: &str = "AGENT_TOOL_NAME";
    let name = (told.variable)(NAME).filter(|name| !name.is_empty());
    let name = name.ok_or(HostError::Missing { field: NAME })?;
    let input = json::parse_input(told.input)?;
    let session = HookSession {
        id: (told.variable)("AMP_THREAD_ID").unwrap_or_default(),
        cwd: absolute("the working directory", told.directory.to_owned())?,
        ..HookSession::default()
    };
    let calls = match name.as_str() {
        "Bash" => vec![tool_names::command_line(&input, &["cmd"], &["cwd"])],
        name if name.starts_with("mcp__") => vec![ToolCall::new(name, input)],
        name => match tool_names::by_table(TOOLS, name, &input) {
            Some(call) => vec![call],
            None => foreign_calls("amp", name, input),
        },
    };
    let call = HookCall {
        moment: &DELEGATED,
        calls,
        mode: None,
        person: None,
        session,
        call_id: None,
        rewritable: None,
    };
    Ok(HostEvent::Call(Box::new(call)))
}

fn write(_moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    let exit_code = match answer.said {
        HostDecision::Allow => return HostReply::silence(),
        HostDecision::Ask => ASKING_EXIT_CODE,
        HostDecision::Contained | HostDecision::Deny | HostDecision::Silence => BLOCKING_EXIT_CODE,
    };
    HostReply { stderr: format!("{}\n", answer.reason), exit_code, ..HostReply::silence() }
}

fn pieces(_command: &HookCommand) -> Vec<RegistrationPiece> {
    let value = json!({"tool": "*", "action": "delegate", "to": PROGRAM_NAME});
    vec![
        RegistrationPiece::ProgramName { name: PROGRAM_NAME },
        RegistrationPiece::Element { file: "settings.json", at: &["amp.permissions"], value, is_first: true },
    ]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read_call(name: Option<&str>, input: &str, directory: &str) -> Result<HookCall, HostError> {
        let variable = |asked: &str| match asked {
            "AGENT_TOOL_NAME" => name.map(str::to_owned),
            "AMP_THREAD_ID" => Some("T-1".to_owned()),
            _ => None,
        };
        match read(&HostInput { input: input.as_bytes(), directory, variable: &variable })? {
            HostEvent::Call(call) => Ok(*call),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tools_become_ours() {
        for (name, input, expected) in [
            ("Bash", r#"{"cmd":"ls"}"#, r#"Bash {"command":"ls"}"#),
            ("Bash", r#"{"cmd":"ls","cwd":"/x y"}"#, r#"Bash {"command":"cd '/x y'\nls"}"#),
            ("Bash", r#"{"command":"ls"}"#, r#"Bash {"file_path":null}"#),
            ("Read", r#"{"path":"/a","read_range":[1,2]}"#, r#"Read {"file_path":"/a"}"#),
            ("create_file", r#"{"path":"a","content":"b"}"#, r#"Write {"content":"b","file_path":"a"}"#),
            (
                "edit_file",
                r#"{"path":"a","old_str":"b","new_str":"c"}"#,
                r#"Edit {"file_path":"a","new_string":"c","old_string":"b"}"#,
            ),
            ("undo_edit", r#"{"path":"a"}"#, r#"Edit {"file_path":"a"}"#),
            ("Task", r#"{"prompt":"go"}"#, r#"Agent {"prompt":"go"}"#),
            ("mcp__tracker__close", "{}", "mcp__tracker__close {}"),
            ("Sleep", "{}", "amp.Sleep {}"),
            ("oracle", r#"{"task":"think"}"#, r#"oracle {"task":"think"}"#),
        ] {
            let call = read_call(Some(name), input, "/w").unwrap();
            let [one] = call.calls.as_slice() else { panic!("{call:?}") };
            let mut text = format!("{} ", one.tool());
            json::write_input(&mut text, one.input());
            assert_eq!(text, expected, "{name} {input}");
            assert_eq!((call.session.id.as_str(), call.session.cwd.as_str()), ("T-1", "/w"));
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert!(read_call(None, r#"{"cmd":"ls"}"#, "/w").is_err());
        assert!(read_call(Some(""), r#"{"cmd":"ls"}"#, "/w").is_err());
        assert!(read_call(Some("Bash"), "", "/w").is_err());
        assert!(read_call(Some("Bash"), "[]", "/w").is_err());
        assert!(read_call(Some("Bash"), r#"{"cmd":"ls"}"#, "").is_err());
    }

    #[test]
    fn the_exit_code_is_the_answer() {
        for (said, exit_code, stderr) in [
            (HostDecision::Allow, 0, ""),
            (HostDecision::Ask, 1, "why\n"),
            (HostDecision::Deny, 2, "why\n"),
            (HostDecision::Silence, 2, "why\n"),
        ] {
            let reply = write(
                &DELEGATED,
                &HostAnswer {
                    said,
                    reason: "why".to_owned(),
                    notice: None,
                    ends_run: false,
                    changed_input: None,
                },
            );
            assert_eq!(
                (reply.exit_code, reply.stderr.as_str(), reply.stdout.as_str()),
                (exit_code, stderr, "")
            );
        }
        let reply = ADAPTER.fail(&DELEGATED, "no");
        assert_eq!((reply.exit_code, reply.stderr.as_str()), (2, "portcullis: no; blocked to be safe\n"));
    }
}
