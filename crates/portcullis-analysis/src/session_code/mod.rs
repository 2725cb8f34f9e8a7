//! Code that a session wrote itself: which of its files a command would use, and whether they do more than compute.
//!
//! What git holds unchanged is the project's own. A file that the agent wrote is judged by what stands in it when a tool
//! would run it or be steered by it: read where there is a reader, else searched for the words by which its language
//! reaches out of a computation. A file in which there is none of them may run; any other is unknown.

mod kind;
mod line;
mod manifest;
mod run;
mod words;

pub use kind::{FileKind, kind_of};
pub use line::{BroughtFile, FileWrite, brought_before, filled_directories, plain_build, writes};
pub use manifest::{declares_more, is_manifest, starting_word};
pub use run::{CodeRun, code_runs};
pub(crate) use words::outward_word;
pub use words::{reaching_word, steering_word};

/// What a session put into a file.
#[derive(Debug, Clone, Copy)]
pub struct SessionText<'a> {
    /// What the file holds.
    pub whole: &'a str,
    /// The texts that edits put into it, if the rest of it is not the session's.
    pub pieces: Option<&'a [String]>,
}

/// The most lines of a file and of the edits in it that are compared.
const MOST_LINES: usize = 20_000;

impl SessionText<'_> {
    /// Returns the lines that the session put into the file, with whether they do.
    fn lines(&self) -> impl Iterator<Item = (&str, bool)> {
        let pieces = self.pieces.unwrap_or_default();
        let whole_lines: std::collections::BTreeSet<&str> =
            pieces.iter().flat_map(|piece| piece.lines()).map(str::trim).take(MOST_LINES).collect();
        // A piece of one line may stand in the middle of one.
        let parts: Vec<&str> =
            pieces.iter().map(|piece| piece.trim()).filter(|piece| is_part(piece)).collect();
        let is_own = move |line: &str| {
            self.pieces.is_none()
                || whole_lines.contains(line.trim()) && !line.trim().is_empty()
                || parts.iter().any(|part| line.contains(part))
        };
        self.whole.lines().take(MOST_LINES).map(move |line| (line, is_own(line)))
    }

    /// Says whether an edit is known only by the words of a command, not by what it left in the file.
    fn has_hidden_edit(&self) -> bool {
        let pieces = self.pieces.unwrap_or_default();
        pieces.iter().any(|piece| piece.lines().any(|line| !self.whole.contains(line.trim())))
    }

    /// Returns what the session put into the file: whole lines of it, and the edits themselves.
    pub fn own(&self) -> String {
        let mut own = self.pieces.unwrap_or_default().join("\n");
        own.push('\n');
        for (line, _) in self.lines().filter(|(_, is_own)| *is_own) {
            own.push_str(line);
            own.push('\n');
        }
        own
    }
}

fn is_part(piece: &str) -> bool {
    !piece.is_empty() && !piece.contains('\n')
}
