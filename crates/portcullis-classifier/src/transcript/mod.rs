//! What happened in a session, as far as a judge may see it (spec D4, D5).
//!
//! ```text
//! bytes of a session file ──► read (claude, codex, gemini, plain) ──► Transcript ──► render ──► Rendered
//! ```
//!
//! Human text and tool calls come in; what the agent said, what it thought and what its tools returned stay out, because
//! the agent could use them to talk to its judge. A line that is not understood is skipped and counted, never fatal.
//!
//! INVARIANT: only what a host itself recorded as the user's words becomes [`Entry::Human`]. Nothing that a tool was
//! given or returned is looked at to find out who speaks.

mod budget;
mod chain;
mod claude;
mod codex;
mod encoding;
mod excerpt;
mod gemini;
mod lines;
mod plain;
mod render;
mod skim;
mod speaker;
mod stream;
mod wire;
mod written;

use std::collections::BTreeMap;

use portcullis_core::ToolCall;

pub use encoding::encode;
pub use render::{ActionTooLong, EntryForm, RenderedTranscript, TokenBudget, TranscriptStyle, render};
pub use stream::{CallResult, SessionCursor, SessionEvent, SessionStream, read_answers, read_outcomes, tell};

use lines::TranscriptWindow;

/// A session up to the call that is judged, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    /// What happened.
    pub entries: Vec<TranscriptEntry>,
    /// How many lines were not understood.
    pub skipped: usize,
    /// Whether the file was so long that its beginning was not read.
    pub is_cut: bool,
    /// What became of calls, by the host's ids, as far as that was looked up.
    pub outcomes: BTreeMap<String, CallResult>,
    /// What the user answered where the agent asked, by the host's ids of those calls, as far as that was looked up.
    pub answers: BTreeMap<String, Vec<UserAnswer>>,
}

/// What the user chose or typed when the agent asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAnswer {
    /// The question, in the agent's words, as the user saw it.
    pub question: String,
    /// The answer.
    pub answer: String,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptEntry {
    /// The user's own words.
    Human(String),
    /// Words that stand where the user's would and are not the user's. They are context, never consent.
    Notice {
        /// Where they come from.
        kind: NoticeKind,
        /// The words.
        text: String,
    },
    /// What the agent did.
    Call {
        /// The host's own id of the call, if it has one. A patch of several files is several calls with one id.
        id: Option<String>,
        /// The call.
        call: ToolCall,
    },
}

/// Where words come from that are not the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticeKind {
    /// A summary the host made when it compacted the session.
    Summary,
    /// A task that was scheduled earlier.
    ScheduledTask,
    /// Another agent, a teammate or another session.
    Agent,
    /// The host itself.
    Host,
    /// A slash command with what was typed behind it, where the host does not say who typed it.
    Command,
    /// The user, who was asked by the agent: a choice among the agent's words, which a judge weighs and no word search.
    Answer,
}

/// Whose session file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TranscriptFormat {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Our own JSONL: `{"user":"…"}` and `{"tool":"Bash","input":{…}}`.
    Plain,
}

/// Reads a session file; without a format, what is in it tells whose it is.
///
/// Only the last 8 MB of a file count. No input is an error: what is not understood is skipped and counted.
pub fn read(bytes: &[u8], format: Option<TranscriptFormat>) -> Transcript {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    read_window(TranscriptWindow::of(bytes), bytes, format)
}

/// Reads the end of a session file too long to be read whole: its first line and its last ones, which need not begin
/// with a whole line.
///
/// The first line is where Codex and Gemini CLI say that a file is a subagent's. If it is not known, nobody in such a
/// file counts as the user.
pub fn read_end(first_line: &[u8], end: &[u8], format: Option<TranscriptFormat>) -> Transcript {
    let first_line = first_line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first_line);
    let window = TranscriptWindow::of_end(first_line, end);
    let format = format.or_else(|| lines::tell(first_line));
    read_window(window, window.body, format)
}

fn read_window(window: TranscriptWindow<'_>, bytes: &[u8], format: Option<TranscriptFormat>) -> Transcript {
    let transcript = match format.unwrap_or_else(|| lines::detect(bytes)) {
        TranscriptFormat::Claude => claude::read(window),
        TranscriptFormat::Codex => codex::read(window),
        TranscriptFormat::Gemini => gemini::read(window, bytes),
        TranscriptFormat::Plain => plain::read(window),
    };
    Transcript { is_cut: window.is_cut, ..transcript }
}

impl Transcript {
    /// Returns the user's own words, oldest first.
    pub fn human_turns(&self) -> Vec<String> {
        let human = |entry: &TranscriptEntry| match entry {
            TranscriptEntry::Human(text) => Some(text.clone()),
            TranscriptEntry::Notice { .. } | TranscriptEntry::Call { .. } => None,
        };
        self.entries.iter().filter_map(human).collect()
    }

    /// Takes the call that is judged out of the transcript, if the host has written it down already.
    ///
    /// The host's id tells which it is. Without one, or if no entry has an id, it is the last call, provided that it
    /// is the same and the user said nothing since.
    #[must_use]
    pub fn without_pending(mut self, id: Option<&str>, call: &ToolCall) -> Self {
        let has_id = |entry: &TranscriptEntry| matches!(entry, TranscriptEntry::Call { id: Some(own), .. } if Some(own.as_str()) == id);
        if id.is_some() && self.entries.iter().any(has_id) {
            self.entries.retain(|entry| !has_id(entry));
            return self;
        }
        let last = self.entries.iter().rposition(|entry| !matches!(entry, TranscriptEntry::Notice { .. }));
        let is_pending = last.and_then(|last| self.entries.get(last)).is_some_and(|entry| match entry {
            TranscriptEntry::Call { id: own, call: other } => {
                (id.is_none() || own.is_none()) && other == call
            }
            TranscriptEntry::Human(_) | TranscriptEntry::Notice { .. } => false,
        });
        if let Some(last) = last.filter(|_| is_pending) {
            self.entries.remove(last);
        }
        self
    }
}
