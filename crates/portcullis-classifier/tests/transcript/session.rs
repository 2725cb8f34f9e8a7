//! What a transcript answers about its session: chains that break, files that were written, the call that is judged.

use std::collections::BTreeMap;

use portcullis_classifier::transcript::{TranscriptEntry, TranscriptFormat, read, read_end};
use portcullis_core::ToolCall;
use pretty_assertions::assert_eq;

use crate::{bash, call, human, transcript};

/// A user record of Claude Code; an empty parent is null, `-` is none at all.
fn said(uuid: &str, parent: &str) -> String {
    let parent = match parent {
        "" => r#""parentUuid":null,"#.to_owned(),
        "-" => String::new(),
        uuid => format!("\"parentUuid\":\"{uuid}\","),
    };
    format!(r#"{{{parent}"type":"user","uuid":"{uuid}","message":{{"content":"{uuid}"}}}}"#)
}

fn turns(lines: &[String]) -> Vec<String> {
    read(lines.join("\n").as_bytes(), Some(TranscriptFormat::Claude)).human_turns()
}

#[test]
fn a_broken_chain_of_parents_loses_nothing_before_the_break() {
    for (links, expected) in [
        ([("a", ""), ("b", "gone"), ("c", "b")], ["a", "b", "c"]),
        ([("a", ""), ("b", ""), ("c", "b")], ["a", "b", "c"]),
        ([("a", "-"), ("b", "-"), ("c", "-")], ["a", "b", "c"]),
        ([("a", "c"), ("b", "a"), ("c", "b")], ["a", "b", "c"]),
        ([("a", "a"), ("b", "b"), ("c", "c")], ["a", "b", "c"]),
    ] {
        let lines: Vec<String> = links.iter().map(|(uuid, parent)| said(uuid, parent)).collect();
        assert_eq!(turns(&lines), expected, "{links:?}");
    }
}

#[test]
fn a_record_that_cannot_be_read_does_not_break_the_chain() {
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let lines = [
        said("root", ""),
        said("dead", "root"),
        format!(
            r#"{{"parentUuid":"root","type":"assistant","uuid":"x","message":{{"content":[{{"type":"tool_use","name":"Bash","input":{{"a":{deep}}}}}]}}}}"#
        ),
        said("end", "x"),
    ];
    let transcript = read(lines.join("\n").as_bytes(), Some(TranscriptFormat::Claude));
    assert_eq!(transcript.skipped, 1);
    assert_eq!(transcript.human_turns(), ["root", "end"]);
}

#[test]
fn a_missing_summary_still_ends_the_session_at_the_boundary() {
    let boundary =
        r#"{"parentUuid":null,"type":"system","subtype":"compact_boundary","uuid":"b"}"#.to_owned();
    assert_eq!(turns(&[said("old", ""), boundary, said("new", "b")]), ["new"]);
}

#[test]
fn a_session_of_eight_megabytes_and_more_is_cut_at_its_beginning() {
    let line = format!("{{\"user\":\"{}\"}}\n", "x".repeat(1_000));
    let bytes = line.repeat((8 << 20) / line.len() + 100);
    let transcript = read(bytes.as_bytes(), None);
    assert!(transcript.is_cut);
    assert_eq!(transcript.skipped, 0);
    assert_eq!(transcript.entries.len(), (8 << 20) / line.len());
}

#[test]
fn a_cut_file_of_a_subagent_is_still_a_subagents() {
    let head = r#"{"type":"session_meta","payload":{"thread_source":"subagent"}}"#;
    let line = format!(
        "{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":\"{}\"}}}}\n",
        "x".repeat(100_000)
    );
    let transcript = read(format!("{head}\n{}", line.repeat(90)).as_bytes(), None);
    assert!(transcript.is_cut);
    assert!(transcript.human_turns().is_empty());
    assert!(!transcript.entries.is_empty());
}

#[test]
fn written_files_are_absolute_and_know_their_contents_only_if_they_were_written_whole() {
    let one = |tool: &str, input: &str| TranscriptEntry::Call { id: None, call: call(tool, input) };
    let transcript = transcript(vec![
        one("Write", r#"{"file_path":"a.sh","content":"echo a"}"#),
        one("Write", r#"{"file_path":"/tmp/x/../b.sh","content":"echo b"}"#),
        one("Edit", r#"{"file_path":"./a.sh","old_string":"a","new_string":"b"}"#),
        one("MultiEdit", r#"{"file_path":"c.py","edits":[]}"#),
        one("NotebookEdit", r#"{"notebook_path":"n.ipynb","new_source":"1"}"#),
        one("Write", r#"{"file_path":"","content":"x"}"#),
        one("Write", r#"{"file_path":5,"content":"x"}"#),
        one("Read", r#"{"file_path":"d"}"#),
        bash("echo x > e"),
    ]);
    let expected: BTreeMap<String, Option<String>> = BTreeMap::from([
        ("/code/app/a.sh".to_owned(), None),
        ("/tmp/b.sh".to_owned(), Some("echo b".to_owned())),
        ("/code/app/c.py".to_owned(), None),
        ("/code/app/n.ipynb".to_owned(), None),
    ]);
    assert_eq!(transcript.written_files("/code/app"), expected);
}

#[test]
fn the_call_that_is_judged_is_taken_out_by_its_id() {
    let with_id = |id: &str, command: &str| TranscriptEntry::Call {
        id: Some(id.to_owned()),
        call: ToolCall::bash(command),
    };
    let all =
        transcript(vec![with_id("1", "ls"), with_id("2", "ls"), with_id("2", "pwd"), with_id("3", "ls")]);
    let left = all.clone().without_pending(Some("2"), &ToolCall::bash("other"));
    assert_eq!(left.entries, [with_id("1", "ls"), with_id("3", "ls")]);
    // Not written down yet: the equal call has another id and is another call.
    assert_eq!(all.clone().without_pending(Some("4"), &ToolCall::bash("ls")), all);
}

#[test]
fn without_an_id_the_last_call_is_taken_out_if_it_is_the_same_and_the_user_said_nothing_since() {
    let pending = ToolCall::bash("ls");
    let notice = || read(br#"{"notice":"x"}"#, None).entries.remove(0);
    for (before, after) in [
        (vec![bash("ls"), bash("ls")], vec![bash("ls")]),
        (vec![bash("ls"), notice()], vec![notice()]),
        (vec![bash("ls"), human("again")], vec![bash("ls"), human("again")]),
        (vec![bash("ls"), bash("pwd")], vec![bash("ls"), bash("pwd")]),
        (vec![], vec![]),
    ] {
        assert_eq!(transcript(before).without_pending(None, &pending).entries, after);
    }
    // The host told an id, but its file has none.
    assert!(transcript(vec![bash("ls")]).without_pending(Some("1"), &pending).entries.is_empty());
}

#[test]
fn the_end_of_a_file_is_read_with_its_first_line() {
    let meta =
        |source: &str| format!(r#"{{"type":"session_meta","payload":{{"thread_source":"{source}"}}}}"#);
    let head = |kind: &str| format!(r#"{{"sessionId":"s","projectHash":"p","kind":"{kind}"}}"#);
    let codex = r#"{"type":"event_msg","payload":{"type":"user_message","message":"go on"}}"#;
    let gemini = r#"{"id":"1","type":"user","content":"go on"}"#;
    let claude = r#"{"type":"user","uuid":"2","parentUuid":"1","message":{"content":"go on"}}"#;
    for (first, end, is_humans) in [
        (meta("user"), codex, true),
        (meta("subagent"), codex, false),
        (String::new(), codex, false),
        (head("main"), gemini, true),
        (head("subagent"), gemini, false),
        (String::new(), gemini, false),
        (String::new(), claude, true),
    ] {
        // The end begins in the middle of a line, or with a whole one.
        for end in [end.to_owned(), format!("\"user\":\"push\"}}\n{end}\n")] {
            let transcript = read_end(first.as_bytes(), end.as_bytes(), None);
            assert!(transcript.is_cut);
            assert_eq!(transcript.entries.len(), 1, "{first} {end}");
            assert_eq!(!transcript.human_turns().is_empty(), is_humans, "{first} {end}");
        }
    }
}
