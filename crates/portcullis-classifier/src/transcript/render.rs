//! The transcript as the judge reads it: one block of text an entry (spec D5, D9).
//!
//! ```text
//! {"user":"fix the bug in main.py"}
//! {"Bash":"npm test"}
//! ```
//!
//! INVARIANT: the first word of a block is ours: it says who speaks. No text of a user, an agent, a tool or a file can
//! begin a line, open or close a tag, or hide, whatever it contains.

use std::borrow::Cow;
use std::collections::BTreeMap;

use portcullis_core::ToolCall;
use portcullis_core::tool::find_tool;

use super::budget::{self, EntrySize};
use super::encoding::{encode, needs_no_judge, pairs};
use super::excerpt::shorten;
use super::{CallResult, NoticeKind, Transcript, TranscriptEntry};
use crate::{escape, estimate_tokens, quote};

/// How a transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TranscriptStyle {
    /// The form of an entry.
    pub form: EntryForm,
    /// How long it may be.
    pub budget: TokenBudget,
}

/// The form of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum EntryForm {
    /// `{"user":"…"}`: one JSON object a line, its only key says who or what.
    #[default]
    Jsonl,
    /// `User: …`, with further lines indented.
    Text,
    /// `{"role":"user","action":"…"}`: the last 20 entries, 200 characters each.
    Compact,
}

/// How many tokens may be spent, as [`estimate_tokens`] counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBudget {
    /// For all of the history. The action is not counted in, so that what is left out does not depend on it.
    pub total: usize,
    /// For one call or notice of the history.
    pub call: usize,
    /// For one turn of the user.
    pub human: usize,
    /// For the action that is judged. It is never shortened.
    pub action: usize,
}

impl Default for TokenBudget {
    fn default() -> Self {
        Self { total: 12_000, call: 1_000, human: 2_000, action: 8_000 }
    }
}

/// A transcript, ready to be put into a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RenderedTranscript {
    /// What came before, one block an entry, each ending in a line break.
    pub history: Vec<String>,
    /// The action that is judged, in the form of an entry.
    pub action: String,
    /// How many entries are missing from the history.
    pub left_out: usize,
}

/// The action alone is longer than a judge is given to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the action is about {tokens} tokens long, more than the {limit} a judge is given; split it up")]
pub struct ActionTooLong {
    /// How long it is.
    pub tokens: usize,
    /// How long it may be.
    pub limit: usize,
}

/// How many entries the compact form shows.
const COMPACT_ENTRIES: usize = 20;

/// How many characters of an entry the compact form shows.
const COMPACT_CHARACTERS: usize = 200;

/// The least an entry is shortened to, so that the mark that says so has room.
const LEAST: usize = 32;

/// What the line costs that says how many entries are missing.
const LEFT_OUT_TOKENS: usize = 16;

/// What a line break costs in a quotation, in characters.
const QUOTED_BREAK: usize = 2;

/// What a line break with the indentation after it costs, in characters.
const INDENTED_BREAK: usize = 5;

/// The longest name that stands as a key.
const LONGEST_NAME: usize = 128;

/// Words a tool's name may not be taken for: keys of ours, and what models take for a speaker.
const RESERVED: [&str; 33] = [
    "action",
    "agent",
    "analysis",
    "answer",
    "assistant",
    "branch",
    "command",
    "cwd",
    "default_branch",
    "deny_rule",
    "developer",
    "effect",
    "facts",
    "file",
    "finding",
    "host",
    "human",
    "left_out",
    "meta",
    "mode",
    "model",
    "notice",
    "outcome",
    "project",
    "question",
    "remote",
    "role",
    "scheduled",
    "severity",
    "summary",
    "system",
    "tool",
    "user",
];

/// Writes a transcript and the action that is judged.
///
/// Calls of harmless tools, which have nothing to show, are left out of the history without being counted.
pub fn render(
    transcript: &Transcript,
    action: &ToolCall,
    style: &TranscriptStyle,
) -> Result<RenderedTranscript, ActionTooLong> {
    let rendered_action = block(style.form, &EntrySource::of_tool(action.tool()), &shown(action));
    let tokens = estimate_tokens(&rendered_action);
    if tokens > style.budget.action {
        return Err(ActionTooLong { tokens, limit: style.budget.action });
    }
    let told: Vec<Cow<'_, TranscriptEntry>> =
        transcript.entries.iter().map(|it| told(it, transcript)).collect();
    let spoken: Vec<&TranscriptEntry> =
        told.iter().map(AsRef::as_ref).filter(|entry| !is_silent(entry)).collect();
    let before = match style.form {
        EntryForm::Compact => spoken.len().saturating_sub(COMPACT_ENTRIES),
        EntryForm::Jsonl | EntryForm::Text => 0,
    };
    let room = style.budget.total.saturating_sub(LEFT_OUT_TOKENS);
    let blocks = blocks(spoken.get(before..).unwrap_or_default(), &transcript.outcomes, style, room);
    let sizes: Vec<EntrySize> = blocks.iter().map(|block| block.size).collect();
    let kept = blocks.into_iter().zip(budget::choose(&sizes, room)).filter(|(_, stays)| *stays);
    let mut history: Vec<String> = kept.map(|(block, _)| block.text).collect();
    let left_out = spoken.len() - history.len();
    if (left_out > 0 || transcript.is_cut) && style.budget.total >= LEFT_OUT_TOKENS {
        history.insert(0, left_out_line(style.form, left_out, transcript.is_cut));
    }
    Ok(RenderedTranscript { history, action: rendered_action, left_out })
}

/// Returns an entry as it is told: in the place of a question that the agent put stands what the user answered.
///
/// Only Claude Code's own tool asks, by its exact name. A call that brings answers along was not answered by them.
fn told<'a>(entry: &'a TranscriptEntry, transcript: &Transcript) -> Cow<'a, TranscriptEntry> {
    let TranscriptEntry::Call { id: Some(id), call } = entry else { return Cow::Borrowed(entry) };
    let is_question = call.tool() == "AskUserQuestion" && call.input().field("answers").is_none();
    let Some(answers) = transcript.answers.get(id).filter(|_| is_question) else {
        return Cow::Borrowed(entry);
    };
    // Both are quoted, so that no question can hold its own answer.
    let answers = answers.iter().map(|it| format!("{}: {}", quote(&it.question), quote(&it.answer)));
    let text = answers.collect::<Vec<_>>().join("\n");
    Cow::Owned(TranscriptEntry::Notice { kind: NoticeKind::Answer, text })
}

/// Who or what an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntrySource<'a> {
    Human,
    Notice(NoticeKind),
    /// A tool whose name can stand as a key.
    Tool(&'a str),
    /// A tool whose name could be taken for something else.
    OddTool(&'a str),
}

impl<'a> EntrySource<'a> {
    fn of_tool(name: &'a str) -> Self {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        let is_odd = name.is_empty()
            || name.len() > LONGEST_NAME
            || !name.bytes().all(is_plain)
            || RESERVED.iter().any(|word| is_like(name, word));
        // A tool of the table is known by its exact name, as `Agent` is, and can be nothing else.
        if is_odd && find_tool(name).is_none() { Self::OddTool(name) } else { Self::Tool(name) }
    }

    fn of(entry: &'a TranscriptEntry) -> Self {
        match entry {
            TranscriptEntry::Human(_) => Self::Human,
            TranscriptEntry::Notice { kind, .. } => Self::Notice(*kind),
            TranscriptEntry::Call { call, .. } => Self::of_tool(call.tool()),
        }
    }
}

/// Says whether a name reads like a word: its letters are the same, whatever their case and whatever is between them.
fn is_like(name: &str, word: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase())
    }
    letters(name).eq(letters(word))
}

/// Says whether an entry has nothing to show.
fn is_silent(entry: &TranscriptEntry) -> bool {
    matches!(entry, TranscriptEntry::Call { call, .. } if needs_no_judge(call))
}

/// Returns what is shown of the action. Whoever asks about a harmless tool has a reason to.
fn shown(action: &ToolCall) -> String {
    let text = encode(action);
    if text.is_empty() { pairs(action.input()) } else { text }
}

/// An entry in its form.
struct EntryBlock {
    /// Its text; empty if it was not written because it cannot stay.
    text: String,
    size: EntrySize,
}

/// Writes entries in their form. What is so old that newer entries have used up the room is not written at all, so that
/// the time goes with the budget and not with the session.
fn blocks(
    entries: &[&TranscriptEntry],
    outcomes: &BTreeMap<String, CallResult>,
    style: &TranscriptStyle,
    room: usize,
) -> Vec<EntryBlock> {
    let mut spent = 0;
    let mut blocks: Vec<EntryBlock> = Vec::with_capacity(entries.len());
    for entry in entries.iter().rev() {
        let is_human = matches!(entry, TranscriptEntry::Human(_));
        if !is_human && spent > room {
            blocks.push(EntryBlock { text: String::new(), size: EntrySize { tokens: 1, is_human } });
            continue;
        }
        let text = match style.form {
            EntryForm::Compact => compact(entry),
            EntryForm::Jsonl | EntryForm::Text => within_limits(entry, style, room),
        };
        let text = match outcome_of(entry, outcomes) {
            Some(outcome) => with_outcome(style.form, &text, outcome),
            None => text,
        };
        let tokens = estimate_tokens(&text);
        if !is_human {
            spent += tokens;
        }
        blocks.push(EntryBlock { text, size: EntrySize { tokens, is_human } });
    }
    blocks.reverse();
    blocks
}

/// Returns what became of a call, if that is known.
fn outcome_of(entry: &TranscriptEntry, outcomes: &BTreeMap<String, CallResult>) -> Option<CallResult> {
    match entry {
        TranscriptEntry::Call { id: Some(id), .. } => outcomes.get(id).copied(),
        TranscriptEntry::Call { .. } | TranscriptEntry::Human(_) | TranscriptEntry::Notice { .. } => None,
    }
}

/// Adds what became of a call to its block, where no text of the call can stand: as a key of the line, or before the colon
/// that ends the name.
fn with_outcome(form: EntryForm, block: &str, outcome: CallResult) -> String {
    let word = outcome.as_str();
    match form {
        EntryForm::Jsonl | EntryForm::Compact => {
            let line = block.strip_suffix("}\n").unwrap_or(block);
            format!("{line},\"outcome\":\"{word}\"}}\n")
        }
        EntryForm::Text => format!("({word}) {block}"),
    }
}

/// Writes an entry in its form, shortened to what it may cost.
fn within_limits(entry: &TranscriptEntry, style: &TranscriptStyle, room: usize) -> String {
    let TranscriptStyle { form, budget } = *style;
    let own = if matches!(entry, TranscriptEntry::Human(_)) { budget.human } else { budget.call };
    let limit = own.min(room / 4).max(LEAST);
    let (speaker, text) = (EntrySource::of(entry), words(entry));
    // No text of more than four bytes a token can fit, so it need not be written to find out.
    let whole = (text.len() <= limit.saturating_mul(4)).then(|| block(form, &speaker, &text));
    whole.filter(|whole| estimate_tokens(whole) <= limit).unwrap_or_else(|| {
        let around = estimate_tokens(&block(form, &speaker, ""));
        let line_break = if form == EntryForm::Text { INDENTED_BREAK } else { QUOTED_BREAK };
        block(form, &speaker, &shorten(&text, limit.saturating_sub(around), line_break))
    })
}

fn words(entry: &TranscriptEntry) -> Cow<'_, str> {
    match entry {
        TranscriptEntry::Human(text) | TranscriptEntry::Notice { text, .. } => Cow::Borrowed(text),
        TranscriptEntry::Call { call, .. } => Cow::Owned(encode(call)),
    }
}

/// Writes an entry in its form.
fn block(form: EntryForm, speaker: &EntrySource<'_>, text: &str) -> String {
    match form {
        EntryForm::Jsonl => jsonl(speaker, text),
        EntryForm::Text => legacy(speaker, text),
        EntryForm::Compact => with_role(speaker, &spoken(speaker, text.to_owned())),
    }
}

fn jsonl(speaker: &EntrySource<'_>, text: &str) -> String {
    match speaker {
        EntrySource::Human => format!("{{\"user\":{}}}\n", quote(text)),
        EntrySource::Notice(kind) => format!("{{\"{}\":{}}}\n", key(*kind), quote(text)),
        EntrySource::Tool(name) => format!("{{\"{name}\":{}}}\n", quote(text)),
        EntrySource::OddTool(name) => {
            format!("{{\"tool\":{{\"name\":{},\"text\":{}}}}}\n", quote(&cut_name(name)), quote(text))
        }
    }
}

fn legacy(speaker: &EntrySource<'_>, text: &str) -> String {
    let text = escape(text).replace('\n', "\n    ");
    match speaker {
        EntrySource::Human => format!("User: {text}\n"),
        EntrySource::Notice(kind) => format!("[{}]: {text}\n", key(*kind)),
        EntrySource::Tool(name) => format!("{name}: {text}\n"),
        EntrySource::OddTool(name) => format!("[tool {}]: {text}\n", quote(&cut_name(name))),
    }
}

/// Writes an entry in the compact form, cut to its length.
fn compact(entry: &TranscriptEntry) -> String {
    let (speaker, text) = (EntrySource::of(entry), words(entry));
    // One more than fits tells whether there is more.
    let mut action = spoken(&speaker, text.chars().take(COMPACT_CHARACTERS + 1).collect());
    if action.chars().nth(COMPACT_CHARACTERS).is_some() {
        action = action.chars().take(COMPACT_CHARACTERS - 1).chain(['…']).collect();
    }
    with_role(&speaker, &action)
}

/// Returns the text with the name of the tool before it, if it is one.
fn spoken(speaker: &EntrySource<'_>, text: String) -> String {
    match speaker {
        EntrySource::Human | EntrySource::Notice(_) => text,
        EntrySource::Tool(name) => format!("{name}: {text}"),
        EntrySource::OddTool(name) => format!("[{}]: {text}", quote(&cut_name(name))),
    }
}

fn with_role(speaker: &EntrySource<'_>, action: &str) -> String {
    let role = match speaker {
        EntrySource::Human => "user",
        EntrySource::Notice(kind) => key(*kind),
        EntrySource::Tool(_) | EntrySource::OddTool(_) => "tool",
    };
    format!("{{\"role\":\"{role}\",\"action\":{}}}\n", quote(action))
}

fn key(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Summary => "summary",
        NoticeKind::ScheduledTask => "scheduled",
        NoticeKind::Agent => "agent",
        NoticeKind::Host => "host",
        NoticeKind::Command => "command",
        NoticeKind::Answer => "answer",
    }
}

fn cut_name(name: &str) -> String {
    shorten(name, LONGEST_NAME / 3, QUOTED_BREAK)
}

/// Writes how many entries are missing. If the file itself was cut, there are more than anybody counted.
fn left_out_line(form: EntryForm, count: usize, is_cut: bool) -> String {
    match (form, is_cut) {
        (EntryForm::Jsonl | EntryForm::Compact, false) => format!("{{\"left_out\":{count}}}\n"),
        (EntryForm::Jsonl | EntryForm::Compact, true) => format!("{{\"left_out\":\"more than {count}\"}}\n"),
        (EntryForm::Text, false) => format!("[left out]: {count} entries\n"),
        (EntryForm::Text, true) => format!("[left out]: more than {count} entries\n"),
    }
}
