//! Reads the trail: all of it as it is at one moment, or what came after a place.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::Trail;
use super::files::{Anchor, Segment};
use super::line::{MOST_LINE, Record};
use crate::disk;
use crate::error::StoreError;

/// A place in the trail. The default is its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The number of the file.
    pub(super) segment: u32,
    /// The first byte after what was read.
    pub(super) offset: u64,
}

impl Position {
    /// Returns the place after a record, in a trail that is kept by the numbers of its records and not in files.
    pub const fn after_record(number: u64) -> Self {
        Self { segment: 0, offset: number }
    }

    /// Returns the number of the record that such a place is after; 0 for the beginning.
    pub const fn record(self) -> u64 {
        self.offset
    }
}

/// What came after a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The records, the oldest first.
    pub records: Vec<Record>,
    /// Where to go on.
    pub position: Position,
}

/// The trail at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Where the chain begins.
    pub(super) anchor: Anchor,
    /// The files that are not removed, the oldest first. The last is the current one.
    pub(super) segments: Vec<Segment>,
    /// The current file, with its length; it may be put aside or grow in the meantime.
    current: Option<(File, u64)>,
}

/// A line of a file, or a piece of one that is too long to be ours.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// The line without its end.
    pub(super) bytes: &'a [u8],
    /// The same with its end.
    pub(super) whole: &'a [u8],
    /// Where it begins.
    pub(super) offset: u64,
    /// Which line it is; the first is 1.
    pub(super) number: u64,
}

impl Line<'_> {
    /// Says whether the line is ended.
    pub(super) const fn is_ended(&self) -> bool {
        self.bytes.len() < self.whole.len()
    }

    /// Returns where the next one begins.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(u64::try_from(self.whole.len()).unwrap_or(u64::MAX))
    }
}

/// The lines of a file.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    reader: BufReader<std::io::Take<File>>,
    buffer: Vec<u8>,
    offset: u64,
    number: u64,
}

impl Lines {
    fn new(path: &Path, mut file: File, start: u64, length: u64) -> Result<Self, StoreError> {
        file.seek(SeekFrom::Start(start)).map_err(|error| StoreError::of_io("read", path, &error))?;
        let reader = BufReader::with_capacity(MOST_LINE, file.take(length.saturating_sub(start)));
        Ok(Self { path: path.to_path_buf(), reader, buffer: Vec::new(), offset: start, number: 1 })
    }

    /// Returns the next line, or what there is of it.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, StoreError> {
        self.buffer.clear();
        let most = u64::try_from(MOST_LINE).unwrap_or(u64::MAX);
        let read = self.reader.by_ref().take(most).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|error| StoreError::of_io("read", &self.path, &error))?;
        if read == 0 {
            return Ok(None);
        }
        let (offset, number) = (self.offset, self.number);
        self.offset = offset.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        let bytes = self.buffer.strip_suffix(b"\n");
        self.number += u64::from(bytes.is_some());
        Ok(Some(Line { bytes: bytes.unwrap_or(&self.buffer), whole: &self.buffer, offset, number }))
    }
}

impl Snapshot {
    /// Opens a file of the trail from some place on; `None` if it is not there.
    pub(super) fn lines(&self, segment: &Segment, start: u64) -> Result<Option<Lines>, StoreError> {
        let failed = |error: &_| StoreError::of_io("read", &segment.path, error);
        let (file, length) = if segment.is_current {
            let Some((file, length)) = &self.current else { return Ok(None) };
            (file.try_clone().map_err(|error| failed(&error))?, *length)
        } else {
            let Some(file) = disk::open_existing(&segment.path)? else { return Ok(None) };
            let length = file.metadata().map_err(|error| failed(&error))?.len();
            (file, length)
        };
        Lines::new(&segment.path, file, start, length).map(Some)
    }
}

impl Trail {
    /// Looks at the trail as it is; `None` if nothing was ever recorded.
    pub(super) fn snapshot(&self) -> Result<Option<Snapshot>, StoreError> {
        if !self.exists()? {
            return Ok(None);
        }
        let lock = self.lock()?;
        let anchor = self.anchor()?;
        let mut segments = self.segments(&lock)?;
        // What a removal that was cut short left behind counts as removed.
        segments.retain(|segment| segment.number > anchor.segment);
        let path = self.current();
        let current = match disk::open_existing(&path)? {
            Some(file) => {
                let length =
                    file.metadata().map_err(|error| StoreError::of_io("look at", &path, &error))?.len();
                Some((file, length))
            }
            None => None,
        };
        Ok(Some(Snapshot { anchor, segments, current }))
    }

    /// Returns where the trail ends now, to begin there with [`Self::read_after`].
    pub(crate) fn end(&self) -> Result<Position, StoreError> {
        let Some(snapshot) = self.snapshot()? else { return Ok(Position::default()) };
        let segment = snapshot.segments.last().map_or(0, |segment| segment.number);
        Ok(Position { segment, offset: snapshot.current.map_or(0, |(_, length)| length) })
    }

    /// Reads what came after a place, but no more than so many records.
    pub(crate) fn read_after(&self, position: Position, most: usize) -> Result<Update, StoreError> {
        let mut update = Update { records: Vec::new(), position };
        let Some(snapshot) = self.snapshot()? else { return Ok(update) };
        for segment in snapshot.segments.iter().filter(|segment| segment.number >= position.segment) {
            let start = if segment.number == position.segment { position.offset } else { 0 };
            let Some(mut lines) = snapshot.lines(segment, start)? else { continue };
            while let Some(line) = lines.next()? {
                // A line that is not ended is written just now, or torn.
                if update.records.len() >= most || (segment.is_current && !line.is_ended()) {
                    return Ok(update);
                }
                update.position = Position { segment: segment.number, offset: line.end() };
                update.records.extend(Record::read(line.bytes));
            }
        }
        Ok(update)
    }

    /// Reads the record at a place; `None` if none stands there.
    pub(super) fn read_at(&self, place: Position, length: u64) -> Result<Option<Record>, StoreError> {
        let most = u64::try_from(MOST_LINE).unwrap_or(u64::MAX);
        let sealed = self.sealed_file(place.segment);
        // The current file is put aside under the number it is known by.
        for path in [sealed.clone(), self.current(), sealed] {
            let Some(mut file) = disk::open_existing(&path)? else { continue };
            let mut bytes = Vec::new();
            let read = file
                .seek(SeekFrom::Start(place.offset))
                .and_then(|_| file.take(length.min(most)).read_to_end(&mut bytes));
            match read {
                Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
                    return Err(StoreError::of_io("read", &path, &error));
                }
                _ => {}
            }
            if let Some(record) = Record::read(bytes.strip_suffix(b"\n").unwrap_or(&bytes)) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}
