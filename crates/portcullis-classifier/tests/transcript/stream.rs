//! Files line by line, as they happened: what was rewound counts too, what is written twice counts once.

use portcullis_classifier::transcript::{CallResult, SessionEvent, SessionStream, TranscriptFormat, tell};
use portcullis_core::Mode;
use pretty_assertions::assert_eq;

const CLAUDE: &str = include_str!("fixtures/claude.jsonl");
const CODEX: &str = include_str!("fixtures/codex.jsonl");
const GEMINI: &str = include_str!("fixtures/gemini.jsonl");
const GEMINI_DOCUMENT: &str = include_str!("fixtures/gemini.json");
const GEMINI_SUBAGENT: &str = include_str!("fixtures/gemini-subagent.jsonl");
const PLAIN: &str = include_str!("fixtures/plain.jsonl");

/// Writes each happening as a short line.
fn shown(happening: &SessionEvent) -> String {
    match happening {
        SessionEvent::Said(text) => format!("said {text}"),
        SessionEvent::Summed => "summed".to_owned(),
        SessionEvent::TookBack(turns) => format!("took back {turns}"),
        SessionEvent::Called { id, calls } => {
            let tools: Vec<&str> = calls.iter().map(portcullis_core::ToolCall::tool).collect();
            format!("{} {}", id.as_deref().unwrap_or("-"), tools.join("+"))
        }
        SessionEvent::Ended { id, fate } => format!("{id} {fate:?}"),
    }
}

fn stream_of(format: TranscriptFormat, text: &str) -> (SessionStream, Vec<String>) {
    let mut stream = SessionStream::new(format);
    let mut told = Vec::new();
    for line in text.lines() {
        assert_eq!(stream.take(line.as_bytes(), &mut told), Some(()), "{line}");
    }
    (stream, told.iter().map(shown).collect())
}

#[test]
fn claude_code_tells_every_call_with_its_end_also_of_dead_branches_and_sidechains() {
    let (stream, told) = stream_of(TranscriptFormat::Claude, CLAUDE);
    assert_eq!(
        told,
        [
            "said Old words before the summary.",
            "t0 Bash",
            "summed",
            "said Fix the bug in main.py.",
            "t1 Read",
            "t1 Ran",
            "t2 Edit",
            "t2 Ran",
            "said Words that were rewound.",
            "t9 Bash",
            "said Also run the tests.",
            "t3 Bash",
            "t4 Agent",
            "t8 Bash",
            "t4 Ran",
            "t3 Ran",
            "said Looks good,\nnow commit.",
            "t5 mcp__git__commit",
        ]
    );
    assert_eq!(stream.scene().cwd.as_deref(), Some("/home/me/app"));
    assert_eq!(stream.scene().time.as_deref(), Some("2026-11-01T10:00:01.000Z"));
}

#[test]
fn claude_code_tells_the_mode_and_why_a_call_did_not_run() {
    let result = |id: &str, extra: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","toolUseResult":"x"{extra},"message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":true}}]}}}}"#
        )
    };
    let lines = [
        r#"{"type":"permission-mode","permissionMode":"acceptEdits","sessionId":"s"}"#.to_owned(),
        result("a", r#","toolDenialKind":"user-rejected""#),
        result("b", r#","toolDenialKind":"permission-rule""#),
        result("c", r#","toolDenialKind":"automode-blocked""#),
        result("d", ""),
        r#"{"type":"user","uuid":"u","permissionMode":"of another version","cwd":"relative","message":{"content":"hi"}}"#
            .to_owned(),
    ];
    let (stream, told) = stream_of(TranscriptFormat::Claude, &lines.join("\n"));
    assert_eq!(told, ["a Rejected", "b DeniedByRule", "c Blocked", "d Failed", "said hi"]);
    assert_eq!((stream.scene().mode, stream.scene().cwd.as_deref()), (Some(Mode::AcceptEdits), None));
}

#[test]
fn codex_tells_a_patch_as_one_call_and_what_was_taken_back() {
    let (stream, told) = stream_of(TranscriptFormat::Codex, CODEX);
    assert_eq!(
        told,
        [
            "said Fix the bug.",
            "c1 Bash",
            "c2 Edit+Write",
            "c3 Bash",
            "c4 mcp__rc__echo",
            "c5 exec_command",
            "summed",
            "said Rolled back words.",
            "c6 Bash",
            "took back 1",
            "said Now commit.",
            "- WebSearch",
        ]
    );
    assert_eq!(stream.scene().cwd.as_deref(), Some("/home/me/app"));
}

#[test]
fn gemini_counts_a_message_that_is_written_again_once() {
    let (_, told) = stream_of(TranscriptFormat::Gemini, &format!("{GEMINI}{GEMINI}"));
    let calls: Vec<&String> =
        told.iter().filter(|line| line.starts_with('c') && !line.ends_with("Ran")).collect();
    assert_eq!(calls, ["c1 Read", "c2 Edit", "c3 Bash", "c4 Bash", "c5 mcp__git__commit"]);
    assert_eq!(told.iter().filter(|line| *line == "said Now commit.").count(), 1);
    let mut stream = SessionStream::new(TranscriptFormat::Gemini);
    let mut document = Vec::new();
    stream.take(GEMINI_DOCUMENT.as_bytes(), &mut document).unwrap();
    let document: Vec<String> = document.iter().map(shown).collect();
    assert_eq!(document, ["said Fix the bug.", "c1 Write", "said Thanks.", "c1 Ran"]);
    assert_eq!(stream_of(TranscriptFormat::Gemini, GEMINI_SUBAGENT).1, ["c1 Bash", "c1 Ran"]);
    let cancelled = r#"{"id":"m","type":"gemini","toolCalls":[{"id":"x","name":"glob","args":{"pattern":"*"},"status":"cancelled"}]}"#;
    assert_eq!(stream_of(TranscriptFormat::Gemini, cancelled).1, ["x Glob", "x Rejected"]);
}

#[test]
fn our_own_form_is_read_too() {
    assert_eq!(
        stream_of(TranscriptFormat::Plain, PLAIN).1,
        ["said Fix the bug.", "summed", "c1 Agent", "- Bash", "- TodoWrite"]
    );
}

#[test]
fn what_is_no_record_is_not_understood_and_does_no_harm() {
    let deep = "[".repeat(10_000);
    let lines: [&[u8]; 7] = [b"", b"x", b"[]", b"{}", b"\xff\xfe", b"{\"type\":\"user\"", deep.as_bytes()];
    for format in [TranscriptFormat::Claude, TranscriptFormat::Codex, TranscriptFormat::Plain] {
        for line in lines {
            let mut told = Vec::new();
            assert_eq!(SessionStream::new(format).take(line, &mut told), None, "{format:?}");
            assert_eq!(told, []);
        }
    }
    assert_eq!(tell(b"{\"type\":\"user\",\"uuid\":\"u\"}"), Some(TranscriptFormat::Claude));
    assert_eq!(tell(b"{\"name\":\"package\"}"), None);
    assert_eq!(CallResult::Ran.max(CallResult::Blocked), CallResult::Blocked);
}
