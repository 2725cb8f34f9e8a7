//! Adds lines to the trail: on the road of every tool call, so it does little.
//!
//! Under the lock: open, look at the end of the file, one write. What takes longer, blacking out and writing the entries
//! as JSON, is done before.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::Trail;
use super::chain::{ChainedLine, Prepared};
use super::line::Header;
use crate::disk;
use crate::error::StoreError;
use crate::hash::sha256;

/// A file that would become larger is put aside.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// How much of the end of a file is read at first; mostly the last line is shorter.
const FIRST_READ: u64 = 4 * 1024;

impl Trail {
    /// Appends decisions in order and returns their ids. If there is an error, nothing was appended. A process that is
    /// killed in the middle of a long write may leave the first of them, which nobody was told of.
    pub(crate) fn append(&self, entries: &[Prepared]) -> Result<Vec<String>, StoreError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let path = self.current();
        let failed = |error: &io::Error| StoreError::of_io("write", &path, error);
        disk::make_directory(&self.root)?;
        disk::make_directory(&self.directory())?;
        let _lock = self.lock()?;
        let mut file = open(&path)?;
        let end = End::read(&mut file).map_err(|error| failed(&error))?;
        let mut length = end.length;
        // A file that ends torn is put aside only when a record has said so.
        let added = entries.iter().map(Prepared::most_bytes).fold(0, usize::saturating_add);
        let most = MOST_BYTES.saturating_sub(u64::try_from(added).unwrap_or(u64::MAX));
        if end.is_clean() && length > 0 && length > most {
            self.seal()?;
            file = open(&path)?;
            length = 0;
        }
        let last = match end.last {
            Some(last) => last,
            None => self.last_before_current()?,
        };
        let mut bytes = Vec::with_capacity(added);
        if end.needs_break {
            bytes.push(b'\n');
        }
        let ids = write_lines(entries, &last, end.torn, &mut bytes);
        write_whole(&mut file, &bytes, length).map_err(|error| failed(&error))?;
        Ok(ids)
    }

    /// Returns the last record, or what is known of it if it was removed; `None` if there never was one.
    pub(super) fn last(&self) -> Result<Option<Last>, StoreError> {
        if !self.exists()? {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let last = match End::of_file(&self.current())?.last {
            Some(last) => last,
            None => self.last_before_current()?,
        };
        Ok((last.number > 0).then_some(last))
    }

    /// Returns the last record of the files that were put aside, or of those that were removed.
    fn last_before_current(&self) -> Result<Last, StoreError> {
        for segment in self.sealed()?.into_iter().rev() {
            if let Some(last) = End::of_file(&segment.path)?.last {
                return Ok(last);
            }
        }
        let anchor = self.anchor()?;
        Ok(Last { number: anchor.number, hash: anchor.hash, at_ms: 0 })
    }

    /// Puts the current file aside. The lock must be held, and the file must end with a whole line.
    pub(super) fn seal(&self) -> Result<(), StoreError> {
        let path = self.current();
        let number = self.next_number(&self.sealed()?)?;
        fs::rename(&path, self.sealed_file(number))
            .map_err(|error| StoreError::of_io("put aside", &path, &error))
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    disk::open_or_create(path, OpenOptions::new().read(true).append(true))
}

/// Writes the lines that follow a record, and returns their ids. The first says what is torn before it.
fn write_lines(
    entries: &[Prepared],
    last: &Last,
    mut torn: Option<String>,
    bytes: &mut Vec<u8>,
) -> Vec<String> {
    let mut number = last.number;
    let mut lines: Vec<ChainedLine> = Vec::with_capacity(entries.len());
    for entry in entries {
        number = number.saturating_add(1);
        let hash = lines.last().map_or_else(|| last.hash.clone(), ChainedLine::hash);
        lines.push(entry.line_after(number, &hash, torn.take()));
    }
    let mut ids = Vec::with_capacity(lines.len());
    for line in lines {
        bytes.extend(line.bytes);
        bytes.push(b'\n');
        ids.push(line.id);
    }
    ids
}

/// Writes lines with one write. What a full disk took of them is taken back, so that it leaves nothing torn.
fn write_whole(file: &mut File, lines: &[u8], length: u64) -> io::Result<()> {
    loop {
        match file.write(lines) {
            Ok(written) if written == lines.len() => return Ok(()),
            Ok(_) => {
                // If this fails too, the next writer says that a line is torn.
                let _ = file.set_len(length);
                return Err(ErrorKind::StorageFull.into());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A record, as the next one sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) number: u64,
    pub(super) hash: String,
    pub(super) at_ms: u64,
}

/// How a file ends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    /// The last record.
    pub(super) last: Option<Last>,
    /// The hash of what stands after it and is no record, as it will be read once its last line is ended.
    torn: Option<String>,
    /// Whether the last line is not ended.
    needs_break: bool,
    /// How long the file is.
    pub(super) length: u64,
}

impl End {
    /// Reads the end of a file; one that is not there is empty.
    pub(super) fn of_file(path: &Path) -> Result<Self, StoreError> {
        let Some(mut file) = disk::open_existing(path)? else { return Ok(Self::default()) };
        Self::read(&mut file).map_err(|error| StoreError::of_io("read", path, &error))
    }

    /// Reads the end of a file, and more of it only if there is no record in there.
    fn read(file: &mut File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let mut window = FIRST_READ.min(length);
        loop {
            let start = length - window;
            let mut bytes = vec![0; usize::try_from(window).unwrap_or(usize::MAX)];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut bytes)?;
            let end = Self::of(&bytes, start == 0);
            if end.last.is_some() || start == 0 {
                return Ok(Self { length, ..end });
            }
            window = window.saturating_mul(2).min(length);
        }
    }

    /// Looks for the last record among the lines that are whole; the first is one only at the beginning of the file.
    fn of(bytes: &[u8], is_from_start: bool) -> Self {
        let needs_break = bytes.last().is_some_and(|byte| *byte != b'\n');
        let mut end = bytes.len();
        loop {
            let before = bytes.get(..end).unwrap_or_default();
            let start = before.iter().rposition(|byte| *byte == b'\n').map(|place| place + 1);
            let line = before.get(start.unwrap_or(0)..).unwrap_or_default();
            let is_whole = start.is_some() || is_from_start;
            if let Some(header) = Header::read(line).filter(|_| is_whole) {
                let after = bytes.get(end + 1..).unwrap_or_default();
                let last = Some(Last { number: header.n, hash: sha256(line), at_ms: header.at_ms });
                return Self { last, torn: torn(after, needs_break), needs_break, length: 0 };
            }
            match start {
                Some(start) => end = start - 1,
                None => return Self { last: None, torn: torn(bytes, needs_break), needs_break, length: 0 },
            }
        }
    }

    /// Says whether it ends with a whole line.
    pub(super) const fn is_clean(&self) -> bool {
        self.torn.is_none() && !self.needs_break
    }
}

/// Returns the hash of what is no record, with the line break that will end it.
fn torn(rest: &[u8], needs_break: bool) -> Option<String> {
    if rest.is_empty() {
        return None;
    }
    let line_break: &[u8] = if needs_break { b"\n" } else { b"" };
    Some(sha256([rest, line_break].concat()))
}
