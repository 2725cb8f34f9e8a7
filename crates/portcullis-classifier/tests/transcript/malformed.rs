//! Lines that are not what they should be: none is fatal, none becomes the user's words, none hides its neighbours.

use portcullis_classifier::transcript::{TranscriptEntry, TranscriptFormat, read};
use pretty_assertions::assert_eq;

/// Lines that no reader understands: not JSON, or JSON that is not an object.
const NOT_RECORDS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"[]",
    b"[{\"user\":\"push\"}]",
    b"null",
    b"true",
    b"0",
    b"1e999",
    b"NaN",
    b"\"push\"",
    b"user: push",
    b"{'user':'push'}",
    b"{\"user\":\"push\"",
    b"{\"user\":\"push\"}}",
    b"{\"user\":\"push\"} {\"user\":\"push\"}",
    b"{\"user\":\"push\",}",
    b"{\"user\":\"pu\\xsh\"}",
    b"{\"user\":\"pu\\ud800sh\"}",
    b"{\"user\":\"\xff\xfe\"}",
    b"{\"user\":\"a\tb\"}",
    b"{user:\"push\"}",
    b"\x00\x00\x00\x00",
    b"\xef\xbb\xbf{\"user\":\"push\"}",
    b"// comment",
    b"<user>push</user>",
    b"{\"type\":\"user\",\"uuid\":\"x\",\"message\":{\"content\":\"push\"",
    b"{\"type\":\"user\",\"type\":\"user\",\"message\":{\"content\":\"push\"}}",
    b"{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"push\"}",
];

/// A line before, the case, and a line after, in each form. The lines around it are the user's.
fn around(format: TranscriptFormat, line: &[u8]) -> Vec<u8> {
    let said = |name: &str, parent: &str| match format {
        TranscriptFormat::Claude => format!(
            r#"{{"type":"user","uuid":"{name}","parentUuid":"{parent}","message":{{"content":"{name}"}}}}"#
        ),
        TranscriptFormat::Codex => {
            format!(r#"{{"type":"event_msg","payload":{{"type":"user_message","message":"{name}"}}}}"#)
        }
        TranscriptFormat::Gemini => format!(r#"{{"id":"{name}","type":"user","content":"{name}"}}"#),
        TranscriptFormat::Plain => format!(r#"{{"user":"{name}"}}"#),
    };
    [said("before", "").as_bytes(), line, said("after", "before").as_bytes()].join(&b'\n')
}

#[test]
fn a_line_that_is_not_a_record_is_skipped_and_counted() {
    for format in
        [TranscriptFormat::Claude, TranscriptFormat::Codex, TranscriptFormat::Gemini, TranscriptFormat::Plain]
    {
        for line in NOT_RECORDS {
            let transcript = read(&around(format, line), Some(format));
            let name = String::from_utf8_lossy(line);
            assert_eq!(transcript.human_turns(), ["before", "after"], "{format:?} {name}");
            assert_eq!(transcript.skipped, 1, "{format:?} {name}");
        }
    }
}

#[test]
fn a_record_of_claude_code_that_is_odd_inside_says_nothing() {
    for line in [
        "{}",
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":null}"#,
        r#"{"type":"user","message":"push"}"#,
        r#"{"type":"user","message":["push"]}"#,
        r#"{"type":"user","message":{}}"#,
        r#"{"type":"user","message":{"content":null}}"#,
        r#"{"type":"user","message":{"content":5}}"#,
        r#"{"type":"user","message":{"content":""}}"#,
        r#"{"type":"user","message":{"content":"  \n"}}"#,
        r#"{"type":"user","message":{"content":["push"]}}"#,
        r#"{"type":"user","message":{"content":[null,5,[],{}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"text","text":["push"]}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"image","text":"push"}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"push","text":"push"}]}}"#,
        r#"{"type":"user","message":{"content":"push"},"isMeta":"yes"}"#,
        r#"{"type":"user","message":{"content":"push"},"isMeta":1}"#,
        r#"{"type":"user","message":{"content":"push"},"isSidechain":{}}"#,
        r#"{"type":"user","message":{"content":"push"},"isSidechain":true}"#,
        r#"{"type":"user","message":{"content":"push"},"isVisibleInTranscriptOnly":true}"#,
        r#"{"type":"user","message":{"content":"push"},"toolUseResult":"x"}"#,
        r#"{"type":"user","message":{"content":"push"},"sourceToolAssistantUUID":"x"}"#,
        r#"{"type":"user","message":{"content":"push"},"sourceToolUseID":"x"}"#,
        r#"{"type":"User","message":{"content":"push"}}"#,
        r#"{"type":["user"],"message":{"content":"push"}}"#,
        r#"{"message":{"role":"user","content":"push"}}"#,
        r#"{"type":"assistant","message":{"role":"user","content":"push"}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":""}]}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":7,"input":{}}]}}"#,
        r#"{"type":"system","content":"push","message":{"content":"push"}}"#,
        r#"{"type":"attachment"}"#,
        r#"{"type":"attachment","attachment":"queued_command"}"#,
        r#"{"type":"attachment","attachment":{"type":"queued_command"}}"#,
        r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":{}}}"#,
        r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"push","isMeta":true}}"#,
        r#"{"type":"attachment","attachment":{"type":"hook_additional_context","prompt":"push"}}"#,
        r#"{"type":"progress","message":{"content":"push"}}"#,
        r#"{"type":"queue-operation","operation":"enqueue","content":"push"}"#,
        r#"{"type":"summary","summary":"push","leafUuid":"x"}"#,
        r#"{"type":"api-request-blob","message":{"role":"user","content":"push"}}"#,
    ] {
        // The last record names the first as its parent; the odd one hangs on the first and is hung on by the last.
        let linked = line.replacen('{', r#"{"uuid":"odd","parentUuid":"before","#, 1).replace(",}", "}");
        for (odd, parent) in [(line, "before"), (linked.as_str(), "odd")] {
            let text = format!(
                "{}\n{odd}\n{}",
                r#"{"type":"user","uuid":"before","message":{"content":"before"}}"#,
                format_args!(
                    r#"{{"type":"user","uuid":"after","parentUuid":"{parent}","message":{{"content":"after"}}}}"#
                ),
            );
            let transcript = read(text.as_bytes(), Some(TranscriptFormat::Claude));
            let expected = ["before", "after"].map(|text| TranscriptEntry::Human(text.to_owned()));
            assert_eq!(transcript.entries, expected, "{odd}");
        }
    }
}

#[test]
fn words_of_others_are_never_the_users() {
    for line in [
        r#"{"type":"user","message":{"content":"push"},"origin":{"kind":"cron"}}"#,
        r#"{"type":"user","message":{"content":"push"},"origin":{"kind":"loop"}}"#,
        r#"{"type":"user","message":{"content":"push"},"origin":{"kind":"peer"}}"#,
        r#"{"type":"user","message":{"content":"push"},"origin":{"kind":"auto-continuation"}}"#,
        r#"{"type":"user","message":{"content":"push"},"origin":{"kind":"Human"}}"#,
        r#"{"type":"user","message":{"content":"push"},"origin":{"kind":5}}"#,
        r#"{"type":"user","message":{"content":"push"},"origin":{}}"#,
        r#"{"type":"user","message":{"content":"push"},"promptSource":"system"}"#,
        r#"{"type":"user","message":{"content":"push"},"isCompactSummary":true}"#,
        r#"{"type":"user","message":{"content":"This session is being continued from a previous conversation: push"}}"#,
        r#"{"type":"user","message":{"content":" <teammate-message>push"}}"#,
        r#"{"type":"user","message":{"content":"<cross-session-message from=\"x\">push"}}"#,
        r#"{"type":"user","message":{"content":"[SCHEDULED TASK x] push"}}"#,
        r#"{"type":"user","message":{"content":"[SYSTEM NOTIFICATION - NOT USER INPUT] push"}}"#,
        r#"{"type":"user","message":{"content":[{"type":"text","text":"yes"},{"type":"text","text":"<channel>push"}]}}"#,
        r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"push","origin":{"kind":"cron"}}}"#,
        r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"push","commandMode":"bash"}}"#,
    ] {
        let transcript = read(line.as_bytes(), Some(TranscriptFormat::Claude));
        assert!(
            matches!(transcript.entries.as_slice(), [TranscriptEntry::Notice { .. }]),
            "{line}: {transcript:?}"
        );
    }
}

#[test]
fn an_odd_record_of_codex_says_nothing() {
    for line in [
        "{}",
        r#"{"type":"response_item"}"#,
        r#"{"type":"response_item","payload":null}"#,
        r#"{"type":"response_item","payload":"push"}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user"}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"system","content":"push"}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":"push"}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"push"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["hooks.x"]}}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_image"},{"type":"input_text","text":"push"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.image"]}}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":"<turn_aborted>push</turn_aborted>"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call_output","output":"push"}}"#,
        r#"{"type":"response_item","payload":{"type":"local_shell_call"}}"#,
        r#"{"type":"event_msg","payload":{"type":"agent_message","message":"push"}}"#,
        r#"{"type":"event_msg","payload":{"type":"user_message","message":["push"]}}"#,
        r#"{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":"all"}}"#,
        r#"{"type":"turn_context","payload":{"message":"push"}}"#,
        r#"{"type":"world_state","payload":{"type":"user_message","message":"push"}}"#,
    ] {
        let transcript =
            read(&around(TranscriptFormat::Codex, line.as_bytes()), Some(TranscriptFormat::Codex));
        let expected = ["before", "after"].map(|text| TranscriptEntry::Human(text.to_owned()));
        assert_eq!(transcript.entries, expected, "{line}");
    }
}

#[test]
fn an_odd_record_of_gemini_says_nothing() {
    for line in [
        "{}",
        r#"{"id":"x"}"#,
        r#"{"id":"x","type":"user"}"#,
        r#"{"id":"x","type":"user","content":5}"#,
        r#"{"id":"x","type":"user","content":[]}"#,
        r#"{"id":"x","type":"user","content":[{"functionResponse":{"text":"push"}}]}"#,
        r#"{"id":"x","type":"user","content":"--- Content from referenced files ---\npush"}"#,
        r#"{"id":"x","type":"gemini","content":"push"}"#,
        r#"{"id":"x","type":"gemini","toolCalls":"push"}"#,
        r#"{"id":"x","type":"gemini","toolCalls":[null,{},{"name":""}]}"#,
        r#"{"id":"x","type":"error","content":"push"}"#,
        r#"{"id":5,"type":"user","content":"push"}"#,
        r#"{"$set":{"summary":"push"}}"#,
        r#"{"$set":"push"}"#,
        r#"{"sessionId":"s","projectHash":"p","summary":"push"}"#,
    ] {
        let transcript =
            read(&around(TranscriptFormat::Gemini, line.as_bytes()), Some(TranscriptFormat::Gemini));
        let expected = ["before", "after"].map(|text| TranscriptEntry::Human(text.to_owned()));
        assert_eq!(transcript.entries, expected, "{line}");
    }
}

#[test]
fn our_own_form_is_read_strictly() {
    for line in [
        "{}",
        r#"{"user":5}"#,
        r#"{"user":null}"#,
        r#"{"user":"push","tool":"Bash"}"#,
        r#"{"user":"push","extra":1}"#,
        r#"{"user":"push","user":"push"}"#,
        r#"{"User":"push"}"#,
        r#"{"notice":["push"]}"#,
        r#"{"notice":"push","kind":"user"}"#,
        r#"{"tool":""}"#,
        r#"{"tool":["Bash"]}"#,
        r#"{"tool":"Bash","input":"ls"}"#,
        r#"{"tool":"Bash","input":{"command":"a","command":"b"}}"#,
        r#"{"tool":"Bash","id":5}"#,
        r#"{"tool":"Bash","note":"x"}"#,
    ] {
        let transcript =
            read(&around(TranscriptFormat::Plain, line.as_bytes()), Some(TranscriptFormat::Plain));
        assert_eq!(transcript.human_turns(), ["before", "after"], "{line}");
        assert_eq!((transcript.entries.len(), transcript.skipped), (2, 1), "{line}");
    }
}

#[test]
fn a_file_read_as_another_hosts_has_no_users_words_that_are_not_there() {
    let claude = include_bytes!("fixtures/claude.jsonl");
    let codex = include_bytes!("fixtures/codex.jsonl");
    let gemini = include_bytes!("fixtures/gemini.jsonl");
    let plain = include_bytes!("fixtures/plain.jsonl");
    for (bytes, format) in [
        (claude.as_slice(), TranscriptFormat::Codex),
        (claude, TranscriptFormat::Gemini),
        (claude, TranscriptFormat::Plain),
        (codex, TranscriptFormat::Claude),
        (codex, TranscriptFormat::Gemini),
        (codex, TranscriptFormat::Plain),
        (gemini, TranscriptFormat::Claude),
        (gemini, TranscriptFormat::Codex),
        (gemini, TranscriptFormat::Plain),
        (plain, TranscriptFormat::Claude),
        (plain, TranscriptFormat::Codex),
        (plain, TranscriptFormat::Gemini),
    ] {
        assert_eq!(read(bytes, Some(format)).entries, [], "{format:?}");
    }
}
