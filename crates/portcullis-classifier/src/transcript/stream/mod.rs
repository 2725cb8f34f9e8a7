//! A session file line by line, as it happened: for whoever looks back at whole sessions and keeps little in mind.
//!
//! [`read`](super::read) makes of a file what a judge may see of it now: the chain of records that is still valid. Here
//! everything that ever happened counts, also what was rewound later, because it was asked about when it happened. Who
//! speaks is decided by the same code in both.

mod answers;
mod claude;
mod codex;
mod gemini;
mod outcomes;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};

use portcullis_core::{Mode, ToolCall};

pub use answers::read_answers;
pub use outcomes::read_outcomes;

use super::lines;
use super::{NoticeKind, TranscriptEntry, TranscriptFormat, plain};

/// How many ids of calls and messages are kept in mind, so that what is written twice counts once.
const MOST_IDS: usize = 100_000;

/// One thing that a line tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// The user spoke.
    Said(String),
    /// The host summed up what came before: more happened than is told.
    Summed,
    /// The user took back their last turns, so many of them.
    TookBack(u64),
    /// The agent made a call.
    Called {
        /// The host's id of the call.
        id: Option<String>,
        /// What it amounts to: more than one call for a patch of several files. Never empty.
        calls: Vec<ToolCall>,
    },
    /// A call came to its end.
    Ended {
        /// The host's id of the call.
        id: String,
        /// What became of it.
        fate: CallResult,
    },
}

/// What became of a call, as far as the host wrote it down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallResult {
    /// It ran.
    Ran,
    /// It ended with an error; whether it ran is not told.
    Failed,
    /// The user said no, or broke it off.
    Rejected,
    /// A rule denied it.
    DeniedByRule,
    /// The host's own auto mode blocked it.
    Blocked,
}

/// Where the session is: what the last lines said about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionCursor {
    /// The directory it works in.
    pub cwd: Option<String>,
    /// The permission mode.
    pub mode: Option<Mode>,
    /// When the last line was written, as the host writes it: `2026-11-01T10:00:00.000Z`.
    pub time: Option<String>,
}

/// Says whose record a line is, if it tells.
pub fn tell(line: &[u8]) -> Option<TranscriptFormat> {
    lines::tell(line)
}

/// A session file in the course of being read.
#[derive(Debug)]
pub struct SessionStream {
    format: TranscriptFormat,
    scene: SessionCursor,
    codex: super::codex::CodexReader,
    is_subagent: bool,
    /// What the user said last, if no call was made since: some hosts write it twice.
    last_turn: Option<String>,
    seen: BTreeSet<u64>,
}

impl SessionStream {
    /// Begins a file.
    pub fn new(format: TranscriptFormat) -> Self {
        Self {
            format,
            scene: SessionCursor::default(),
            codex: super::codex::CodexReader::default(),
            is_subagent: false,
            last_turn: None,
            seen: BTreeSet::new(),
        }
    }

    /// Returns where the session is after the last line.
    pub const fn scene(&self) -> &SessionCursor {
        &self.scene
    }

    /// Reads the next line, or a whole document of the older form of Gemini CLI, and adds what it tells to the end of
    /// `told`. `None` if it is not understood.
    pub fn take(&mut self, line: &[u8], told: &mut Vec<SessionEvent>) -> Option<()> {
        match self.format {
            TranscriptFormat::Claude => claude::take(self, line, told),
            TranscriptFormat::Codex => codex::take(self, line, told),
            TranscriptFormat::Gemini => gemini::take(self, line, told),
            TranscriptFormat::Plain => {
                let entry = plain::read_line(line)?;
                self.push(vec![entry], told);
                Some(())
            }
        }
    }

    /// Adds entries; those that follow each other with one id are one call of the host.
    fn push(&mut self, entries: Vec<TranscriptEntry>, told: &mut Vec<SessionEvent>) {
        let mut open: Option<(Option<String>, Vec<ToolCall>)> = None;
        for entry in entries {
            match entry {
                TranscriptEntry::Call { id, call } => match &mut open {
                    Some((known, calls)) if id.is_some() && *known == id => calls.push(call),
                    _ => {
                        self.close(open.take(), told);
                        open = Some((id, vec![call]));
                    }
                },
                TranscriptEntry::Human(text) => {
                    self.close(open.take(), told);
                    if self.last_turn.as_ref() != Some(&text) {
                        self.last_turn = Some(text.clone());
                        told.push(SessionEvent::Said(text));
                    }
                }
                TranscriptEntry::Notice { kind: NoticeKind::Summary, .. } => told.push(SessionEvent::Summed),
                TranscriptEntry::Notice { .. } => {}
            }
        }
        self.close(open, told);
    }

    fn close(&mut self, open: Option<(Option<String>, Vec<ToolCall>)>, told: &mut Vec<SessionEvent>) {
        let Some((id, calls)) = open else { return };
        if id.as_deref().is_none_or(|id| self.is_new("call", id)) {
            self.last_turn = None;
            told.push(SessionEvent::Called { id, calls });
        }
    }

    /// Says whether an id has not come before, and keeps it in mind.
    fn is_new(&mut self, kind: &str, id: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        hasher.write(kind.as_bytes());
        hasher.write_u8(0xff);
        hasher.write(id.as_bytes());
        if self.seen.len() >= MOST_IDS {
            self.seen.clear();
        }
        self.seen.insert(hasher.finish())
    }

    /// Takes over what a line says about where the session is.
    fn move_to(&mut self, cwd: Option<&str>, mode: Option<&str>, time: Option<&str>) {
        replace(&mut self.scene.cwd, cwd.filter(|cwd| cwd.starts_with('/')));
        replace(&mut self.scene.time, time);
        self.scene.mode = mode.and_then(Mode::find).or(self.scene.mode);
    }
}

/// Takes over a text that is given; one that is the same already is not made anew.
fn replace(old: &mut Option<String>, new: Option<&str>) {
    /// The longest directory or time that is taken for one.
    const LONGEST: usize = 4096;
    if let Some(new) = new.filter(|new| new.len() <= LONGEST && old.as_deref() != Some(new)) {
        *old = Some(new.to_owned());
    }
}
