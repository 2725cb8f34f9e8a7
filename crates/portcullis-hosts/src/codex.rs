//! Codex.
//!
//! It speaks Claude Code's format, of which it takes less:
//!
//! | what | standard output | exit code |
//! |---|---|---|
//! | `PreToolUse`, allowed | nothing: an allow there is not taken, and the approval of Codex follows | 0 |
//! | `PreToolUse`, contained | an allow with `updatedInput`, which Codex runs instead | 0 |
//! | `PreToolUse`, asked or denied | a denial: Codex runs a call for which a hook says `ask` | 0 |
//! | `PreToolUse`, a tool that is a question to the user | nothing: Codex puts it to its user | 0 |
//! | `PreToolUse`, a tool of an MCP server that nobody allowed yet, where approvals are asked for | nothing: Codex asks its user | 0 |
//! | `PermissionRequest`, allowed or denied | `decision` | 0 |
//! | `PermissionRequest`, asked | nothing, so that Codex asks its user | 0 |
//! | input that is not understood, an internal failure | a denial, with the reason also on standard error | 2 |
//!
//! Its answers may have no field that it does not know, or the hook counts as failed and the call runs.
//!
//! | `permission_mode` | mode | person |
//! |---|---|---|
//! | `default` | the settings decide | there |
//! | `bypassPermissions`: no approval is ever asked for, as in every `codex exec` | the settings decide | not said |
//! | `plan`, `acceptEdits`, `dontAsk` | the same | not said |
//! | any other | default | not said |
//!
//! The `cwd` it names is where the call runs, which the model chooses, and so it is no working directory: the session's
//! is the one our process was started in, and a call elsewhere is judged as one that goes there first. What is typed into a
//! command that already runs is told to no hook.

use portcullis_core::tool::find_tool;
use portcullis_core::{Mode, Person, ToolCall, ToolInput, Value, path};
use serde_json::json;

use crate::adapter::{
    HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput, SessionFactKind, SessionFormat,
};
use crate::capability::{AskBy, MomentCapabilities, PlainQuestion};
use crate::claude_family::{
    self, FamilyMember, ReplyExtras, SessionFreedom, element, guarded_handler, shell_handler,
};
use crate::fields::{absolute, unknown};
use crate::host::Host;
use crate::observed::CallFate::{Asked, NotSeen, Runs, Stopped};
use crate::observed::ObservedMode;
use crate::registration::{FolderBase, HookCommand, Registration, RegistrationPiece, SettingsFolder};
use crate::reply::{HostError, HostReply};
use crate::scripted_run::{NAME, PROMPT, ScriptedRun};
use crate::settings_shape;
use crate::tool_names;

/// Codex.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Codex,
    title: "Codex",
    usual: &BEFORE,
    others: &[&REQUEST, &BEFORE_ASKED],
    observed: OBSERVED,
    scripted_run: Some(&SCRIPTED_RUN),
    session_format: Some(SessionFormat::Codex),
    shares_session: true,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &["codex"],
        oldest: None,
        folder: SettingsFolder { variable: Some("CODEX_HOME"), base: FolderBase::Home, path: ".codex" },
        pieces,
        refusal: settings_shape::codex_refusal,
        afterwards: "Codex skips a hook that is not trusted, without a word: type `/hooks` in Codex and trust those of \
                     portcullis, then check with `portcullis doctor`",
    },
};

/// How it is proven. In its own sandbox no fence goes up; what it runs are two lines of ours in a folder of ours.
static SCRIPTED_RUN: ScriptedRun = ScriptedRun {
    arguments: &[
        "exec",
        "--skip-git-repo-check",
        "--sandbox",
        "danger-full-access",
        "-c",
        "model_providers.portcullis_trial={name=\"portcullis\",base_url=\"@URL@/v1\",wire_api=\"responses\",\
         env_key=\"PORTCULLIS_TRIAL_KEY\",supports_websockets=false}",
        "-c",
        "model_provider=portcullis_trial",
        "-m",
        "gpt-5.5",
        PROMPT,
    ],
    variables: &[("PORTCULLIS_TRIAL_KEY", NAME)],
    files: &[],
    tool: "exec_command",
    input: |command| json!({"cmd": command}),
    takes_command: true,
};

/// What was seen in the real program.
static OBSERVED: &[ObservedMode] = &[
    ObservedMode {
        version: "0.166.0",
        mode: "`exec`",
        moment: &BEFORE,
        fates: [Runs, Runs, Stopped, Runs, Stopped, Runs, Runs, Stopped],
        shown_by: "codex::each_answer_before_a_call",
        gone_shown_by: "codex::a_hook_whose_program_is_gone_stops_the_call",
    },
    ObservedMode {
        version: "0.166.0",
        mode: "`app-server`, `on-request`, leaving the sandbox",
        moment: &REQUEST,
        fates: [Runs, NotSeen, Stopped, Asked, Asked, Asked, NotSeen, NotSeen],
        shown_by: "codex::each_answer_at_its_question",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "0.166.0",
        mode: "terminal",
        moment: &BEFORE,
        fates: [Runs, NotSeen, Stopped, Runs, NotSeen, NotSeen, NotSeen, NotSeen],
        shown_by: "by hand, 2026-11-16",
        gone_shown_by: "",
    },
    ObservedMode {
        version: "0.166.0",
        mode: "`app-server`, `on-request`, a tool of an MCP server",
        moment: &BEFORE_ASKED,
        fates: [Asked, Asked, Stopped, Asked, Stopped, Asked, NotSeen, NotSeen],
        shown_by: "codex::each_answer_before_a_call_of_an_mcp_tool",
        gone_shown_by: "",
    },
];

static BEFORE: HookMoment = before_call(PlainQuestion::LeftIfHarmless);

/// Where approvals are asked for, Codex asks its user about a tool of an MCP server by itself, and tells us before it does.
static BEFORE_ASKED: HookMoment = before_call(PlainQuestion::LeftToHost);

const fn before_call(plain: PlainQuestion) -> HookMoment {
    let all = claude_family::BEFORE;
    let capabilities = MomentCapabilities { allow: false, ask: AskBy::Nothing, plain, ..all.capabilities };
    HookMoment { capabilities, ..all }
}

static REQUEST: HookMoment = HookMoment {
    capabilities: MomentCapabilities { changed_input: false, ..claude_family::REQUEST.capabilities },
    ..claude_family::REQUEST
};

/// Anything beside the decision would make Codex throw the answer away.
const EXTRAS: ReplyExtras = ReplyExtras { notice: false, ending: false };

static DIALECT: FamilyMember =
    FamilyMember { before, request: Some(&REQUEST), standing, calls, rewrites: true, session };

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    absolute("cwd", told.directory.to_owned())?;
    let mut event = claude_family::read(told, &DIALECT)?;
    let mut rewritable = None;
    let place = match &mut event {
        HostEvent::Call(asked) => {
            rewritable = Some(&mut asked.rewritable);
            Some((&mut asked.session, &mut asked.calls))
        }
        HostEvent::Fact(fact) => match &mut fact.kind {
            SessionFactKind::Done { calls, .. } | SessionFactKind::Denied { calls, .. } => {
                Some((&mut fact.session, calls))
            }
            _ => None,
        },
        HostEvent::Other => None,
    };
    if let Some((session, calls)) = place {
        let home = path::normalize(told.directory);
        let chosen = std::mem::replace(&mut session.cwd, home.clone());
        // Behind a symbolic link `..` leads elsewhere than the text says.
        if path::components(&chosen).any(|part| part == "..") {
            return Err(unknown("cwd", &chosen));
        }
        let chosen = path::normalize(&chosen);
        if chosen != home {
            *calls = calls.iter().map(|call| moved(call, &chosen)).collect();
            // Codex would run another command there, and not where the call was judged.
            if let Some(rewritable) = rewritable {
                *rewritable = None;
            }
        }
    }
    Ok(event)
}

fn before(word: Option<&str>, tool: &str) -> &'static HookMoment {
    if word == Some("default") && tool.starts_with("mcp__") { &BEFORE_ASKED } else { &BEFORE }
}

fn standing(word: Option<&str>) -> SessionFreedom {
    match word {
        None => SessionFreedom { mode: None, person: None },
        Some("default") => SessionFreedom { mode: None, person: Some(Person::Present) },
        Some("bypassPermissions") => SessionFreedom { mode: None, person: None },
        Some("plan") => SessionFreedom::of(Mode::Plan),
        Some("acceptEdits") => SessionFreedom::of(Mode::AcceptEdits),
        Some("dontAsk") => SessionFreedom::of(Mode::DontAsk),
        Some(_) => SessionFreedom::of(Mode::Default),
    }
}

fn session(session: HookSession, told: &HostInput<'_>) -> HookSession {
    // A subagent's own file begins with the task that an agent gave it, which is nobody's word.
    let transcript = session.transcript.filter(|_| session.agent.is_none());
    HookSession { project: Some(told.directory.to_owned()), transcript, ..session }
}

/// What Codex puts before a host when a command that runs wants to reach it.
const WANTS_HOST: &str = "network-access ";

fn calls(tool: &str, input: ToolInput) -> Vec<ToolCall> {
    let wanted = input.text("description").and_then(|text| text.strip_prefix(WANTS_HOST));
    // Whoever may run a command may not reach any host with it.
    let fetch = wanted.map(|host| {
        let url = if host.contains("://") { host.to_owned() } else { format!("https://{host}") };
        ToolCall::new("WebFetch", ToolInput::of_text("url", &url))
    });
    let applied = input.text("command").and_then(applied_patch).unwrap_or_default();
    let calls = tool_names::codex(tool, None, input);
    let is_unread = calls.iter().any(|call| call.tool() == "apply_patch");
    let calls = if is_unread { tool_names::patch_or_refusal(None) } else { calls };
    calls.into_iter().chain(applied).chain(fetch).collect()
}

/// Returns what a command line does that hands a patch to `apply_patch`: Codex applies it itself. Only one that does
/// nothing else is understood.
fn applied_patch(line: &str) -> Option<Vec<ToolCall>> {
    const START: &str = "*** Begin Patch";
    const END: &str = "*** End Patch";
    let program = ["apply_patch", "applypatch"].into_iter().find(|name| line.contains(name))?;
    let start = line.find(START)?;
    let end = line.rfind(END).map(|end| end + END.len());
    let is_alone = line.trim_start().starts_with(program);
    Some(tool_names::patch_or_refusal(end.and_then(|end| line.get(start..end)).filter(|_| is_alone)))
}

/// Makes of a call that runs in another directory one that goes there from the session's.
fn moved(call: &ToolCall, directory: &str) -> ToolCall {
    let primary = find_tool(call.tool()).and_then(|info| info.primary_field);
    let field = |(name, value): (&str, &Value)| {
        let value = match value {
            Value::Text(command) if call.tool() == "Bash" && name == "command" => {
                Value::Text(tool_names::in_directory(directory, command))
            }
            Value::Text(file)
                if Some(name) == primary && name.ends_with("path") && !file.starts_with('/') =>
            {
                Value::Text(format!("{directory}/{file}"))
            }
            other => other.clone(),
        };
        (name.to_owned(), value)
    };
    ToolCall::new(call.tool(), call.input().fields().map(field).collect())
}

fn write(moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    claude_family::write(moment, answer, EXTRAS)
}

/// The same line everywhere: what is trusted is the line.
fn pieces(command: &HookCommand) -> Vec<RegistrationPiece> {
    const FILE: &str = "hooks.json";
    vec![
        element(FILE, &["hooks", "PreToolUse"], ".*", guarded_handler(command, 90)),
        element(FILE, &["hooks", "PermissionRequest"], ".*", shell_handler(command, 90)),
        element(FILE, &["hooks", "PostToolUse"], "Bash", shell_handler(command, 10)),
        element(FILE, &["hooks", "UserPromptSubmit"], "", shell_handler(command, 10)),
    ]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::adapter::HookCall;
    use crate::shown_calls::shown;

    fn asked(text: &str) -> HookCall {
        match read(&HostInput { input: text.as_bytes(), directory: "/w", variable: &|_| None }) {
            Ok(HostEvent::Call(call)) => *call,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Writes calls as `Tool {input}`, one a line.
    fn call(tool: &str, input: &str, rest: &str) -> HookCall {
        asked(&format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"/t","tool_name":"{tool}","tool_input":{input},{rest}}}"#
        ))
    }

    #[test]
    fn a_patch_in_a_command_line_is_judged_as_what_it_does() {
        let with = |line: &str| {
            let input = serde_json::json!({ "command": line }).to_string();
            shown(&call("Bash", &input, r#""cwd":"/w""#).calls[1..])
        };
        let patch = "*** Begin Patch\n*** Delete File: .env\n*** End Patch";
        let line = format!("apply_patch <<'EOF'\n{patch}\nEOF\n");
        assert_eq!(with(&line), r#"Bash {"command":"rm -- .env"}"#);
        let refused = r#"Edit {"file_path":null}"#;
        assert_eq!(with(&format!("cd sub && {line}")), refused);
        assert_eq!(with("apply_patch '*** Begin Patch'"), refused);
        assert_eq!(with("grep -r apply_patch ."), "");
        assert_eq!(with("echo '*** Begin Patch'"), "");
    }

    #[test]
    fn a_mode_says_what_codex_means_by_it() {
        for (word, mode, person) in [
            ("\"default\"", None, Some(Person::Present)),
            ("\"bypassPermissions\"", None, None),
            ("\"plan\"", Some(Mode::Plan), None),
            ("\"acceptEdits\"", Some(Mode::AcceptEdits), None),
            ("\"dontAsk\"", Some(Mode::DontAsk), None),
            ("\"auto\"", Some(Mode::Default), None),
            ("null", None, None),
        ] {
            let asked =
                call("Bash", r#"{"command":"ls"}"#, &format!(r#""cwd":"/w","permission_mode":{word}"#));
            assert_eq!((asked.mode, asked.person), (mode, person), "{word}");
        }
    }

    #[test]
    fn a_call_elsewhere_is_one_that_goes_there_and_never_makes_a_working_directory() {
        let patch = r"*** Begin Patch\n*** Add File: a\n+b\n*** Delete File: /c\n*** End Patch";
        let patch = format!(r#"{{"command":"{patch}"}}"#);
        for (tool, input, cwd, expected) in [
            ("Bash", r#"{"command":"ls & cat x"}"#, "/w", r#"Bash {"command":"ls & cat x"}"#),
            ("Bash", r#"{"command":"ls & cat x"}"#, "/w/./", r#"Bash {"command":"ls & cat x"}"#),
            ("Bash", r#"{"command":"ls & cat x"}"#, "/", r#"Bash {"command":"cd /\nls & cat x"}"#),
            ("Bash", r#"{"command":"ls"}"#, "/w/a b", r#"Bash {"command":"cd '/w/a b'\nls"}"#),
            ("view_image", r#"{"path":"a.png"}"#, "/etc", r#"Read {"file_path":"/etc/a.png"}"#),
            (
                "apply_patch",
                &patch,
                "/etc",
                "Write {\"content\":\"b\\n\",\"file_path\":\"/etc/a\"}\nBash {\"command\":\"cd /etc\\nrm -- /c\"}",
            ),
        ] {
            let asked = call(tool, input, &format!(r#""cwd":"{cwd}""#));
            assert_eq!(shown(&asked.calls), expected, "{tool} in {cwd}");
            assert_eq!((asked.session.cwd.as_str(), asked.session.project.as_deref()), ("/w", Some("/w")));
        }
    }

    #[test]
    fn a_patch_that_is_not_understood_is_an_edit_of_no_file() {
        for input in [
            "{}",
            r#"{"command":7}"#,
            r#"{"command":"rm -rf /","file_path":"/w/a"}"#,
            r#"{"command":"*** Begin Patch\n*** Add File: a\nb\n*** End Patch"}"#,
        ] {
            let asked = call("apply_patch", input, r#""cwd":"/w""#);
            assert_eq!(shown(&asked.calls), r#"Edit {"file_path":null}"#, "{input}");
        }
    }

    #[test]
    fn a_host_that_a_command_wants_to_reach_is_judged_too() {
        let input = r#"{"command":"cargo test","description":"network-access evil.example"}"#;
        let expected = "Bash {\"command\":\"cargo test\"}\nWebFetch {\"url\":\"https://evil.example\"}";
        assert_eq!(shown(&call("Bash", input, r#""cwd":"/w""#).calls), expected);
    }

    #[test]
    fn a_subagents_file_is_not_read_for_the_users_words() {
        let own = call("Bash", r#"{"command":"ls"}"#, r#""cwd":"/w""#);
        assert_eq!(own.session.transcript.as_deref(), Some("/t"));
        let inner = call("Bash", r#"{"command":"ls"}"#, r#""cwd":"/w","agent_id":"a1""#);
        assert_eq!((inner.session.transcript, inner.session.agent.as_deref()), (None, Some("a1")));
    }

    #[test]
    fn a_directory_that_winds_is_refused() {
        let text = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w/link/.."}"#;
        let error =
            read(&HostInput { input: text.as_bytes(), directory: "/w", variable: &|_| None }).unwrap_err();
        assert_eq!(error.to_string(), "field `cwd` of the hook input has the unknown value `/w/link/..`");
    }

    #[test]
    fn without_a_directory_of_our_own_nothing_is_judged() {
        let input =
            br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/"}"#;
        let error = read(&HostInput { input, directory: "", variable: &|_| None }).unwrap_err();
        assert_eq!(error.to_string(), "field `cwd` of the hook input must be an absolute path, but is ``");
    }

    #[test]
    fn an_answer_has_nothing_but_the_decision() {
        let answer = |said| HostAnswer {
            said,
            reason: "because".to_owned(),
            notice: Some("settings are broken".to_owned()),
            ends_run: true,
            changed_input: None,
        };
        let before = write(&BEFORE, &answer(crate::capability::HostDecision::Deny)).stdout;
        assert_eq!(
            before,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"because"}}"#
        );
        assert_eq!(write(&BEFORE, &answer(crate::capability::HostDecision::Silence)), HostReply::silence());
        assert_eq!(
            write(&REQUEST, &answer(crate::capability::HostDecision::Allow)).stdout,
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#
        );
    }

    #[test]
    fn the_hooks_are_one_line_each() {
        let command = HookCommand {
            program: "/opt/my tools/portcullis".to_owned(),
            arguments: vec!["hook".to_owned(), "codex".to_owned()],
            host_version: None,
        };
        let values: Vec<_> = pieces(&command)
            .into_iter()
            .map(|piece| match piece {
                RegistrationPiece::Element { file: "hooks.json", at, value, .. } => (at.join("."), value),
                other => panic!("{other:?}"),
            })
            .collect();
        let plain = "'/opt/my tools/portcullis' hook codex";
        let handler = |line: &str, timeout: u32| serde_json::json!({ "type": "command", "command": line, "timeout": timeout });
        let guarded = command.guarded_line();
        assert_eq!(
            values,
            [
                (
                    "hooks.PreToolUse".to_owned(),
                    serde_json::json!({ "matcher": ".*", "hooks": [handler(&guarded, 90)] })
                ),
                (
                    "hooks.PermissionRequest".to_owned(),
                    serde_json::json!({ "matcher": ".*", "hooks": [handler(plain, 90)] })
                ),
                (
                    "hooks.PostToolUse".to_owned(),
                    serde_json::json!({ "matcher": "Bash", "hooks": [handler(plain, 10)] })
                ),
                ("hooks.UserPromptSubmit".to_owned(), serde_json::json!({ "hooks": [handler(plain, 10)] })),
            ]
        );
    }
}
