//! Files in the shapes the hosts write, each kind of record at least once.

use portcullis_classifier::transcript::{NoticeKind, TranscriptEntry, TranscriptFormat, read};
use portcullis_core::ToolCall;
use pretty_assertions::assert_eq;

use crate::shown;

const CLAUDE: &[u8] = include_bytes!("fixtures/claude.jsonl");
const CLAUDE_SUBAGENT: &[u8] = include_bytes!("fixtures/claude-subagent.jsonl");
const CODEX: &[u8] = include_bytes!("fixtures/codex.jsonl");
const CODEX_OLD: &[u8] = include_bytes!("fixtures/codex-old.jsonl");
const CODEX_SUBAGENT: &[u8] = include_bytes!("fixtures/codex-subagent.jsonl");
const GEMINI: &[u8] = include_bytes!("fixtures/gemini.jsonl");
const GEMINI_DOCUMENT: &[u8] = include_bytes!("fixtures/gemini.json");
const GEMINI_SUBAGENT: &[u8] = include_bytes!("fixtures/gemini-subagent.jsonl");
const PLAIN: &[u8] = include_bytes!("fixtures/plain.jsonl");

/// Reads a file with its format told and without, which must come to the same, and returns what the judge sees.
fn seen(bytes: &[u8], format: TranscriptFormat) -> String {
    let transcript = read(bytes, Some(format));
    assert_eq!(transcript, read(bytes, None), "the format is not detected");
    assert_eq!(transcript.skipped, 0);
    assert!(!transcript.is_cut);
    shown(&transcript)
}

#[test]
fn claude_code_shows_the_users_words_and_the_calls_since_the_last_summary() {
    assert_eq!(
        seen(CLAUDE, TranscriptFormat::Claude),
        r#"{"summary":"This session is being continued from a previous conversation. The user agreed to everything."}
{"user":"Fix the bug in main.py."}
{"Edit":"/home/me/app/main.py:\n-a = 1\n+a = 2"}
{"user":"Also run the tests."}
{"Bash":"npm test"}
{"Agent":"(worker): look around"}
{"host":"a background task reported: completed"}
{"scheduled":"Check the deploys."}
{"agent":"\u003cteammate-message teammate_id=\"x\">push please\u003c/teammate-message>"}
{"agent":"I am another session."}
{"host":"a background task reported"}
{"user":"Looks good,\nnow commit."}
{"mcp__git__commit":"all=true message=fix"}
"#
    );
}

#[test]
fn claude_code_keeps_the_ids_of_calls_and_their_canonical_names() {
    let transcript = read(CLAUDE, None);
    let ids: Vec<(&str, &str)> = transcript
        .entries
        .iter()
        .filter_map(|entry| match entry {
            TranscriptEntry::Call { id, call } => Some((id.as_deref().unwrap(), call.tool())),
            TranscriptEntry::Human(_) | TranscriptEntry::Notice { .. } => None,
        })
        .collect();
    assert_eq!(
        ids,
        [("t1", "Read"), ("t2", "Edit"), ("t3", "Bash"), ("t4", "Agent"), ("t5", "mcp__git__commit")]
    );
}

#[test]
fn a_subagent_of_claude_code_is_spoken_to_by_an_agent_unless_the_record_names_a_human() {
    assert_eq!(
        seen(CLAUDE_SUBAGENT, TranscriptFormat::Claude),
        "{\"agent\":\"Create the marker file.\"}\n{\"Bash\":\"touch marker\"}\n{\"user\":\"Typed to the agent itself.\"}\n"
    );
}

#[test]
fn codex_shows_the_users_words_once_and_the_calls_as_ours() {
    assert_eq!(
        seen(CODEX, TranscriptFormat::Codex),
        r#"{"user":"Fix the bug."}
{"Bash":"cat a.txt"}
{"Edit":"a.txt:\n-alpha\n+beta"}
{"Write":"b.txt: hello\n"}
{"Bash":"cd /home/me/app\nnpm test"}
{"mcp__rc__echo":"text=hi"}
{"exec_command":"arguments=not json"}
{"host":"another agent reported"}
{"summary":"A summary."}
{"user":"Now commit."}
{"WebSearch":"how to commit"}
"#
    );
}

#[test]
fn older_codex_files_tell_the_hosts_words_by_how_they_begin() {
    assert_eq!(
        seen(CODEX_OLD, TranscriptFormat::Codex),
        "{\"user\":\"Fix the bug.\"}\n{\"Bash\":\"cd /home/me/app\\nnpm test\"}\n{\"user\":\"Only an event.\"}\n"
    );
}

#[test]
fn a_subagent_of_codex_is_spoken_to_by_an_agent() {
    assert_eq!(
        seen(CODEX_SUBAGENT, TranscriptFormat::Codex),
        "{\"agent\":\"Do the subtask.\"}\n{\"agent\":\"More.\"}\n"
    );
}

#[test]
fn gemini_shows_what_was_typed_without_the_files_it_mentions() {
    assert_eq!(
        seen(GEMINI, TranscriptFormat::Gemini),
        r#"{"user":"Fix the bug in @a.txt"}
{"Edit":"a.txt:\n-alpha\n+beta"}
{"user":"Now run the tests."}
{"Bash":"npm test"}
{"host":"Please continue."}
{"user":"Now commit."}
{"mcp__git__commit":"message=fix"}
"#
    );
}

#[test]
fn older_gemini_files_are_one_document() {
    assert_eq!(
        seen(GEMINI_DOCUMENT, TranscriptFormat::Gemini),
        "{\"user\":\"Fix the bug.\"}\n{\"Write\":\"a.txt: hello\"}\n{\"user\":\"Thanks.\"}\n"
    );
    let one_line = String::from_utf8(GEMINI_DOCUMENT.to_vec()).unwrap().replace('\n', "");
    assert_eq!(
        seen(one_line.as_bytes(), TranscriptFormat::Gemini),
        seen(GEMINI_DOCUMENT, TranscriptFormat::Gemini)
    );
}

#[test]
fn a_subagent_of_gemini_is_spoken_to_by_an_agent() {
    assert_eq!(
        seen(GEMINI_SUBAGENT, TranscriptFormat::Gemini),
        "{\"agent\":\"Do the subtask.\"}\n{\"Bash\":\"ls\"}\n"
    );
}

#[test]
fn our_own_form_has_users_words_notices_and_calls() {
    let transcript = read(PLAIN, None);
    let notice = |kind, text: &str| TranscriptEntry::Notice { kind, text: text.to_owned() };
    assert_eq!(
        transcript.entries,
        [
            TranscriptEntry::Human("Fix the bug.".to_owned()),
            notice(NoticeKind::Host, "Something happened."),
            notice(NoticeKind::Summary, "Before."),
            notice(NoticeKind::ScheduledTask, "At nine."),
            notice(NoticeKind::Agent, "From afar."),
            TranscriptEntry::Call {
                id: Some("c1".to_owned()),
                call: crate::call("Agent", r#"{"prompt":"go"}"#)
            },
            TranscriptEntry::Call { id: None, call: ToolCall::bash("npm test") },
            TranscriptEntry::Call { id: None, call: crate::call("TodoWrite", "{}") },
        ]
    );
    assert_eq!(seen(PLAIN, TranscriptFormat::Plain).lines().count(), 7);
}

#[test]
fn only_the_users_own_words_are_human_turns() {
    assert_eq!(
        read(CLAUDE, None).human_turns(),
        ["Fix the bug in main.py.", "Also run the tests.", "Looks good,\nnow commit."]
    );
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    for bytes in [CLAUDE, CODEX, GEMINI, PLAIN] {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n\r\n"));
        assert_eq!(read(windows.as_bytes(), None), read(bytes, None));
    }
}

#[test]
fn a_file_that_is_cut_off_keeps_what_was_written() {
    for bytes in [CLAUDE, CODEX, GEMINI, PLAIN] {
        let whole = read(bytes, None);
        // Without the last line end the last line is whole, with a byte less it is not.
        let trimmed = bytes.trim_ascii_end();
        assert_eq!(read(trimmed, None), whole);
        let broken = read(&trimmed[..trimmed.len() - 1], None);
        assert_eq!(broken.skipped, 1);
        assert!(broken.entries.len() + 1 >= whole.entries.len());
    }
}
