//! One line for every model call, for costs and latencies: appended without a lock, rotated when it is large.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Store;
use crate::disk;
use crate::disk::FileLock;
use crate::error::StoreError;

/// A larger file is put aside, and the one before it forgotten.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// A longer line is none of ours.
const MOST_LINE: usize = 16 * 1024;
/// A longer name is cut.
const MOST_NAME: usize = 256;

/// How a model call ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ModelCallOutcome {
    /// The model said not to block.
    Allow,
    /// The model said to block.
    Block,
    /// The answer was no verdict.
    Unparseable,
    /// The answer was what had been asked for, and that was no verdict.
    Answer,
    /// There was no answer; the kind of failure.
    Fault(String),
}

impl From<String> for ModelCallOutcome {
    fn from(text: String) -> Self {
        match text.as_str() {
            "allow" => Self::Allow,
            "block" => Self::Block,
            "unparseable" => Self::Unparseable,
            "answer" => Self::Answer,
            _ => Self::Fault(text.strip_prefix("fault:").map(str::to_owned).unwrap_or(text)),
        }
    }
}

impl From<ModelCallOutcome> for String {
    fn from(outcome: ModelCallOutcome) -> Self {
        match outcome {
            ModelCallOutcome::Allow => "allow".to_owned(),
            ModelCallOutcome::Block => "block".to_owned(),
            ModelCallOutcome::Unparseable => "unparseable".to_owned(),
            ModelCallOutcome::Answer => "answer".to_owned(),
            ModelCallOutcome::Fault(kind) => format!("fault:{kind}"),
        }
    }
}

/// One call of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCallRecord {
    /// When it ended, in unix milliseconds.
    pub at_ms: u64,
    /// The session.
    pub session: String,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The stage of the protocol.
    pub stage: String,
    /// How it ended.
    pub outcome: ModelCallOutcome,
    /// Tokens of the prompt, neither read from a cache nor written to it.
    pub input: u64,
    /// Tokens of the prompt, read from the cache.
    pub cache_read: u64,
    /// Tokens of the prompt, written to the cache.
    pub cache_write: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// What it cost, if the price is known.
    pub cost_usd: Option<f64>,
    /// How long it took, retries included.
    pub latency_ms: u64,
    /// How many requests it took.
    pub attempts: u32,
}

impl ModelCallRecord {
    /// Returns the record with its names cut, as one line.
    fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let outcome = match &self.outcome {
            ModelCallOutcome::Fault(kind) => ModelCallOutcome::Fault(cut(kind)),
            other => other.clone(),
        };
        let record = Self {
            session: cut(&self.session),
            provider: cut(&self.provider),
            model: cut(&self.model),
            stage: cut(&self.stage),
            outcome,
            ..*self
        };
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        Ok(line)
    }
}

fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(MOST_NAME)).unwrap_or_default().to_owned()
}

impl Store {
    /// Keeps a record of a model call, in one write.
    pub fn append_call(&self, record: &ModelCallRecord) -> Result<(), StoreError> {
        disk::make_directory(self.root())?;
        let path = self.calls_file("jsonl");
        let failed = |error: &io::Error| StoreError::of_io("write", &path, error);
        let line = record.to_line().map_err(|error| failed(&error.into()))?;
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        let mut file = disk::open_or_create(&path, &options)?;
        if is_full(&file, &line).map_err(|error| failed(&error))? {
            self.rotate(&path, &line)?;
            file = disk::open_or_create(&path, &options)?;
        }
        append_line(&mut file, line).map_err(|error| failed(&error))
    }

    /// Returns the records that are kept, the oldest first.
    pub fn read_calls(&self) -> Result<ModelCalls, StoreError> {
        let mut calls = ModelCalls { readers: Vec::new(), line: Vec::new(), skipped: 0 };
        if !disk::has_directory(self.root())? {
            return Ok(calls);
        }
        // The current file first: should it be put aside now, it is found a second time and left out.
        let current = disk::open_existing(&self.calls_file("jsonl"))?;
        let aside = self.calls_file("1.jsonl");
        let older = disk::open_existing(&aside)?;
        let is_twice = current.as_ref().map_or(Ok(false), |file| disk::is_at(&aside, file))?;
        calls.readers.extend(current.map(BufReader::new));
        calls.readers.extend(older.filter(|_| !(cfg!(unix) && is_twice)).map(BufReader::new));
        Ok(calls)
    }

    /// Puts the current file aside, unless somebody else just did.
    fn rotate(&self, path: &Path, line: &[u8]) -> Result<(), StoreError> {
        let _lock = FileLock::take_within(&self.calls_file("lock"), self.patience)?;
        let failed = |error: &io::Error| StoreError::of_io("rotate", path, error);
        let Some(file) = disk::open_existing(path)? else { return Ok(()) };
        if is_full(&file, line).map_err(|error| failed(&error))? {
            fs::rename(path, self.calls_file("1.jsonl")).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    fn calls_file(&self, extension: &str) -> PathBuf {
        self.root().join(format!("calls.{extension}"))
    }
}

fn is_full(file: &File, line: &[u8]) -> io::Result<bool> {
    let added = u64::try_from(line.len()).unwrap_or(u64::MAX);
    Ok(file.metadata()?.len().saturating_add(added) > MOST_BYTES)
}

/// Appends a line with one write, and ends a torn one before it.
fn append_line(file: &mut File, mut line: Vec<u8>) -> io::Result<()> {
    if is_torn(file)? {
        line.insert(0, b'\n');
    }
    loop {
        match file.write(&line) {
            Ok(written) if written == line.len() => return Ok(()),
            Ok(_) => return Err(ErrorKind::StorageFull.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Says whether a file ends in the middle of a line.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// The records of model calls. What is no record is passed over and counted.
#[derive(Debug)]
pub struct ModelCalls {
    /// The next file is the last.
    readers: Vec<BufReader<File>>,
    line: Vec<u8>,
    skipped: u64,
}

impl ModelCalls {
    /// Returns how many lines were passed over so far.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }
}

impl Iterator for ModelCalls {
    type Item = ModelCallRecord;

    fn next(&mut self) -> Option<ModelCallRecord> {
        while let Some(reader) = self.readers.last_mut() {
            match read_line(reader, &mut self.line) {
                Ok(ModelCallLine::End) => _ = self.readers.pop(),
                Ok(ModelCallLine::Whole) if self.line.is_empty() => {}
                Ok(ModelCallLine::Whole) => match serde_json::from_slice(&self.line) {
                    Ok(record) => return Some(record),
                    Err(_) => self.skipped = self.skipped.saturating_add(1),
                },
                Ok(ModelCallLine::TooLong) => self.skipped = self.skipped.saturating_add(1),
                // The rest of the file cannot be read.
                Err(_) => {
                    self.skipped = self.skipped.saturating_add(1);
                    self.readers.pop();
                }
            }
        }
        None
    }
}

enum ModelCallLine {
    Whole,
    TooLong,
    End,
}

/// Reads a line without its end, and never more of it than a line of ours can be.
fn read_line(reader: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<ModelCallLine> {
    line.clear();
    let (mut is_begun, mut is_long) = (false, false);
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        let is_end = buffer.is_empty();
        let part = buffer.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let has_newline = part.len() < buffer.len();
        is_begun |= !is_end;
        is_long |= line.len() + part.len() > MOST_LINE;
        if !is_long {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(has_newline);
        reader.consume(used);
        if is_end || has_newline {
            return Ok(match (is_begun, is_long) {
                (false, _) => ModelCallLine::End,
                (true, true) => ModelCallLine::TooLong,
                (true, false) => ModelCallLine::Whole,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_somebody_else_just_put_aside_is_not_put_aside_again() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        let (current, aside) = (store.calls_file("jsonl"), store.calls_file("1.jsonl"));
        File::create(&current).unwrap().set_len(MOST_BYTES).unwrap();
        store.rotate(&current, b"a line\n").unwrap();
        assert!(!current.exists() && aside.exists());
        store.rotate(&current, b"a line\n").unwrap();
        fs::write(&current, "new").unwrap();
        store.rotate(&current, b"a line\n").unwrap();
        assert_eq!(fs::read(&current).unwrap(), b"new");
        assert_eq!(fs::metadata(&aside).unwrap().len(), MOST_BYTES);
    }
}
