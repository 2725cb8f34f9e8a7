//! Our own JSON, for those who build a harness: one object in, one object out.
//!
//! ```text
//! {"event":"call","tool":"Bash","input":{"command":"ls"},"cwd":"/srv/engine"}
//!     ──► {"decision":"allow","reason":"…"}            exit code 0
//! anything that is not understood
//!     ──► {"decision":"deny","reason":"…"}             exit code 2
//! ```
//!
//! | event | fields beside `cwd`, `session`, `project`, `transcript`, `agent`, `mode` |
//! |---|---|
//! | `call` | `tool`, `input`, `person` (`present`, `absent`), `call_id` |
//! | `prompt` | `text`: what the user said |
//! | `done` | `tool`, `input`, `call_id`: what ran |
//! | `session_start`, `session_end` | `source` |
//!
//! An answer has `decision` (`allow`, `ask`, `deny`) and `reason`, and may have `notice`, for the user alone, and
//! `end_run`. The other events are answered with nothing. The names of tools are the canonical ones. Here nothing is
//! guessed: a word that is not known is an error and not a default. `docs/guides/embed-the-hook.md` tells the rest.

use portcullis_core::{Mode, Person, ToolCall, Value};
use serde::Serialize;

use crate::adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
    SessionFact, SessionFactKind,
};
use crate::capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
use crate::claude_family::{BLOCKING_EXIT_CODE, BLOCKING_STDERR};
use crate::fields::{HookInputFields, absolute, unknown, wrong_type};
use crate::host::Host;
use crate::json;
use crate::registration::{FolderBase, Registration, SettingsFolder};
use crate::reply::{HostError, HostReply};

/// Any harness that speaks our own JSON. It is registered by whoever builds it.
pub(crate) static ADAPTER: HostAdapter = HostAdapter {
    host: Host::Generic,
    title: "Any harness",
    usual: &CALL,
    others: &[],
    observed: &[],
    scripted_run: None,
    session_format: None,
    shares_session: false,
    read,
    write,
    welcome: None,
    registration: Registration {
        programs: &[],
        oldest: None,
        folder: SettingsFolder { variable: None, base: FolderBase::Config, path: "" },
        pieces: |_| Vec::new(),
        refusal: |_| None,
        afterwards: "Let your harness start `portcullis hook generic` before every tool call",
    },
};

static CALL: HookMoment = HookMoment {
    event: "call",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Saying,
        plain: PlainQuestion::AsAny,
        reason: true,
        changed_input: false,
        fails_open: false,
    },
    blocking: BlockingReply { stdout: BLOCKING, stderr: BLOCKING_STDERR, exit_code: BLOCKING_EXIT_CODE },
};

/// Standard output of the prepared answer.
pub(crate) const BLOCKING: &str = r#"{"decision":"deny","reason":"portcullis: the permission check failed or ran out of time; blocked to be safe"}"#;

fn read(told: &HostInput<'_>) -> Result<HostEvent, HostError> {
    let mut fields = HookInputFields::read(told.input)?;
    let event = fields.text("event")?;
    let session = session(&mut fields)?;
    let mode = mode(&mut fields)?;
    let kind = match event.as_str() {
        "call" => {
            let person = person(&mut fields)?;
            let call_id = word(&mut fields, "call_id")?;
            let calls = vec![call(&mut fields)?];
            let call = HookCall { moment: &CALL, calls, mode, person, session, call_id, rewritable: None };
            return Ok(HostEvent::Call(Box::new(call)));
        }
        "prompt" => SessionFactKind::Prompt { text: fields.text("text")? },
        "done" => {
            let call_id = word(&mut fields, "call_id")?;
            SessionFactKind::Done { calls: vec![call(&mut fields)?], call_id }
        }
        "session_start" => {
            SessionFactKind::Started { source: word(&mut fields, "source")?.unwrap_or_default() }
        }
        "session_end" => SessionFactKind::Ended,
        other => return Err(unknown("event", other)),
    };
    Ok(HostEvent::Fact(SessionFact { session, mode, kind }))
}

fn session(fields: &mut HookInputFields) -> Result<HookSession, HostError> {
    let project = word(fields, "project")?.map(|path| absolute("project", path)).transpose()?;
    Ok(HookSession {
        id: word(fields, "session")?.unwrap_or_default(),
        cwd: fields.directory("cwd")?,
        project,
        transcript: word(fields, "transcript")?,
        agent: word(fields, "agent")?,
    })
}

fn call(fields: &mut HookInputFields) -> Result<ToolCall, HostError> {
    let tool = fields.word("tool")?;
    // Rules for the tool that is meant would not see it.
    if is_look_alike(&tool) {
        return Err(unknown("tool", &tool));
    }
    Ok(ToolCall::new(&tool, fields.input("input")?))
}

/// Says whether a name is that of a tool but for case, blanks or other signs.
fn is_look_alike(name: &str) -> bool {
    let bare: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    CANONICAL.iter().any(|tool| tool.eq_ignore_ascii_case(&bare) && *tool != name)
}

/// The tools that run something, touch files or reach other machines.
const CANONICAL: [&str; 9] =
    ["Bash", "Edit", "Glob", "Grep", "NotebookEdit", "PowerShell", "Read", "WebFetch", "Write"];

fn mode(fields: &mut HookInputFields) -> Result<Option<Mode>, HostError> {
    let Some(name) = word(fields, "mode")? else { return Ok(None) };
    Mode::find(&name).map(Some).ok_or_else(|| unknown("mode", &name))
}

fn person(fields: &mut HookInputFields) -> Result<Option<Person>, HostError> {
    match word(fields, "person")?.as_deref() {
        None => Ok(None),
        Some("present") => Ok(Some(Person::Present)),
        Some("absent") => Ok(Some(Person::Absent)),
        Some(other) => Err(unknown("person", other)),
    }
}

/// Takes a text that need not be there, but says something if it is.
fn word(fields: &mut HookInputFields, field: &'static str) -> Result<Option<String>, HostError> {
    match fields.take(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) if text.is_empty() => Err(unknown(field, "")),
        Some(Value::Text(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(field, "a string", &other)),
    }
}

fn write(_moment: &'static HookMoment, answer: &HostAnswer) -> HostReply {
    let decision = match answer.said {
        HostDecision::Allow => "allow",
        HostDecision::Ask => "ask",
        HostDecision::Contained | HostDecision::Deny | HostDecision::Silence => "deny",
    };
    own_reply(decision, answer, answer.ends_run)
}

/// Writes an answer in our own JSON, which the plugin for opencode reads too.
pub(crate) fn own_reply(decision: &str, answer: &HostAnswer, ends_run: bool) -> HostReply {
    let wire = GenericReplyWire {
        decision,
        reason: &answer.reason,
        notice: answer.notice.as_deref(),
        end_run: ends_run.then_some(true),
        args: answer.changed_input.as_ref().map(json::to_wire),
    };
    HostReply::json(&wire, BLOCKING)
}

#[derive(Serialize)]
struct GenericReplyWire<'a> {
    decision: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_run: Option<bool>,
    /// What the host runs instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read_text(text: &str) -> Result<HostEvent, HostError> {
        read(&HostInput { input: text.as_bytes(), directory: "/", variable: &|_| None })
    }

    #[test]
    fn a_call_is_read_with_all_that_is_said_of_it() {
        let text = r#"{"event":"call","tool":"Bash","input":{"command":"ls"},"cwd":"/w/sub","session":"s","mode":"auto",
            "person":"absent","project":"/w","transcript":"/t.jsonl","call_id":"c","agent":"a","more":1}"#;
        let session = HookSession {
            id: "s".to_owned(),
            cwd: "/w/sub".to_owned(),
            project: Some("/w".to_owned()),
            transcript: Some("/t.jsonl".to_owned()),
            agent: Some("a".to_owned()),
        };
        let expected = HookCall {
            moment: &CALL,
            calls: vec![ToolCall::bash("ls")],
            mode: Some(Mode::Auto),
            person: Some(Person::Absent),
            session,
            call_id: Some("c".to_owned()),
            rewritable: None,
        };
        assert_eq!(read_text(text), Ok(HostEvent::Call(Box::new(expected))));
    }

    #[test]
    fn facts_are_read() {
        let kind = |rest: &str| match read_text(&format!(r#"{{"cwd":"/w","session":"s",{rest}}}"#)).unwrap() {
            HostEvent::Fact(fact) => fact.kind,
            other => panic!("{other:?}"),
        };
        let prompt = SessionFactKind::Prompt { text: "do not push".to_owned() };
        assert_eq!(kind(r#""event":"prompt","text":"do not push""#), prompt);
        let done = SessionFactKind::Done { calls: vec![ToolCall::bash("ls")], call_id: None };
        assert_eq!(kind(r#""event":"done","tool":"Bash","input":{"command":"ls"}"#), done);
        let started = SessionFactKind::Started { source: "resume".to_owned() };
        assert_eq!(kind(r#""event":"session_start","source":"resume""#), started);
        assert_eq!(kind(r#""event":"session_end""#), SessionFactKind::Ended);
    }

    #[test]
    fn nothing_is_guessed() {
        let whole = r#""event":"call","tool":"Bash","input":{"command":"ls"},"cwd":"/w""#;
        assert!(read_text(&format!("{{{whole}}}")).is_ok());
        for rest in [
            r#""mode":"yolo""#,
            r#""mode":7"#,
            r#""mode":"""#,
            r#""person":"maybe""#,
            r#""person":true"#,
            r#""project":"w""#,
            r#""session":1"#,
            r#""agent":[]"#,
        ] {
            assert!(read_text(&format!("{{{whole},{rest}}}")).is_err(), "{rest}");
        }
        for text in [
            "",
            "[]",
            "{}",
            r#"{"event":"CALL","tool":"Bash","input":{},"cwd":"/w"}"#,
            r#"{"event":"call","tool":"","input":{},"cwd":"/w"}"#,
            r#"{"event":"call","tool":"bash","input":{},"cwd":"/w"}"#,
            r#"{"event":"call","tool":"Bash ","input":{},"cwd":"/w"}"#,
            r#"{"event":"call","tool":"Bash\u0000","input":{},"cwd":"/w"}"#,
            r#"{"event":"call","tool":"notebook_edit","input":{},"cwd":"/w"}"#,
            r#"{"event":"call","tool":"Bash","cwd":"/w"}"#,
            r#"{"event":"call","tool":"Bash","input":"ls","cwd":"/w"}"#,
            r#"{"event":"call","tool":"Bash","input":{},"cwd":"w"}"#,
            r#"{"event":"call","tool":"Bash","input":{}}"#,
            r#"{"event":"prompt","cwd":"/w"}"#,
        ] {
            assert!(read_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_relative_directory_is_told_to_be_one() {
        for (fields, field) in [(r#""cwd":"src""#, "cwd"), (r#""cwd":"/w","project":"src""#, "project")] {
            let text = format!(r#"{{"event":"call","tool":"Bash","input":{{}},{fields}}}"#);
            let expected =
                format!("field `{field}` of the hook input must be an absolute path, but is `src`");
            assert_eq!(read_text(&text).map_err(|error| error.to_string()), Err(expected));
        }
    }

    #[test]
    fn an_answer_is_a_decision_and_a_reason() {
        let answer = |said, notice: Option<&str>, ends_run| {
            let notice = notice.map(str::to_owned);
            write(
                &CALL,
                &HostAnswer { said, reason: "why".to_owned(), notice, ends_run, changed_input: None },
            )
            .stdout
        };
        assert_eq!(answer(HostDecision::Allow, None, false), r#"{"decision":"allow","reason":"why"}"#);
        assert_eq!(answer(HostDecision::Ask, None, false), r#"{"decision":"ask","reason":"why"}"#);
        assert_eq!(
            answer(HostDecision::Deny, Some("note"), true),
            r#"{"decision":"deny","reason":"why","notice":"note","end_run":true}"#
        );
        assert_eq!(answer(HostDecision::Silence, None, false), r#"{"decision":"deny","reason":"why"}"#);
    }
}
