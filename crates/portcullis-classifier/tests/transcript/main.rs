//! Session files of all hosts, read and rendered.
#![cfg(test)]

mod encoding;
mod hosts;
mod malformed;
mod outcomes;
mod properties;
mod rendering;
mod session;
mod stream;

use portcullis_classifier::transcript::{Transcript, TranscriptEntry, TranscriptStyle, render};
use portcullis_core::{ToolCall, ToolInput};
use portcullis_hosts::json;

/// Makes a call of a tool's name and its input as JSON.
fn call(tool: &str, input: &str) -> ToolCall {
    ToolCall::new(tool, self::input(input))
}

fn input(text: &str) -> ToolInput {
    json::parse_input(text.as_bytes()).unwrap()
}

/// Makes a transcript of entries.
fn transcript(entries: Vec<TranscriptEntry>) -> Transcript {
    Transcript { entries, ..Transcript::default() }
}

fn human(text: &str) -> TranscriptEntry {
    TranscriptEntry::Human(text.to_owned())
}

fn bash(command: &str) -> TranscriptEntry {
    TranscriptEntry::Call { id: None, call: ToolCall::bash(command) }
}

/// Returns a transcript as the judge reads it.
fn shown(transcript: &Transcript) -> String {
    render(transcript, &ToolCall::bash("true"), &TranscriptStyle::default()).unwrap().history.concat()
}
