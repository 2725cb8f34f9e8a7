//! Walks the whole trail and says whether it is what was written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::Trail;
use super::files::{Anchor, Segment};
use super::line::{BEGINNING, Header};
use super::read::{Line, Snapshot};
use crate::error::StoreError;
use crate::hash::{hexadecimal, sha256};

/// How many breaks are told in full; the rest are counted.
const MOST_BREAKS: usize = 20;

const NO_RECORD: &str = "it is no record, and no record says that it was torn";

const FORGED: &str = "no process of Portcullis wrote this line";

/// An end of the trail, as it was at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The number of its last record.
    pub number: u64,
    /// The hash of its last record.
    pub hash: String,
}

/// A place where the trail is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The file.
    pub file: PathBuf,
    /// The line in it; 0 where it is no particular line.
    pub line: u64,
    /// What is wrong.
    pub what: String,
    /// Whether it is a line that none of our processes can have written, not even one that was killed.
    pub is_forged: bool,
}

/// A rest that a killed writer left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornLine {
    /// The file.
    pub file: PathBuf,
    /// The line in it.
    pub line: u64,
}

/// What a walk through the trail found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// How many records there are.
    pub records: u64,
    /// The last of the records that retention removed; none has number 0.
    pub removed: u64,
    /// The last record.
    pub head: Option<Head>,
    /// The first places where something is wrong; none if the trail is what was written.
    pub breaks: Vec<Break>,
    /// How many there are.
    pub break_count: u64,
    /// What killed writers left. Nothing that was acknowledged is in there.
    pub torn: Vec<TornLine>,
    /// Whether the hash that was expected is in the chain; `None` if none was.
    pub has_expected: Option<bool>,
}

impl Verification {
    /// Says whether the trail is what was written, as far as can be told.
    pub fn is_whole(&self) -> bool {
        self.break_count == 0 && self.has_expected != Some(false)
    }
}

impl Trail {
    /// Walks the whole trail. `seen` are ends it had before, and `expected` is a hash that must be in it.
    pub(crate) fn verify(&self, seen: &[Head], expected: Option<&str>) -> Result<Verification, StoreError> {
        let Some(snapshot) = self.snapshot()? else {
            return Ok(Walk::new(Head::default(), seen, expected).finish(&self.directory()));
        };
        let Anchor { number, hash, .. } = snapshot.anchor.clone();
        let mut walk = Walk::new(Head { number, hash }, seen, expected);
        for segment in &snapshot.segments {
            walk.read(&snapshot, segment)?;
        }
        Ok(walk.finish(&self.current()))
    }

    /// Returns the end of the trail without walking it; `None` if there is no record.
    pub(crate) fn head(&self) -> Result<Option<Head>, StoreError> {
        Ok(self.last()?.map(|last| Head { number: last.number, hash: last.hash }))
    }
}

impl Default for Head {
    /// The end of a trail without records.
    fn default() -> Self {
        Self { number: 0, hash: BEGINNING.to_owned() }
    }
}

/// A walk through the chain.
#[derive(Debug)]
pub struct Walk<'a> {
    result: Verification,
    /// The record before the next one.
    number: u64,
    hash: String,
    /// What came since then and is no record.
    rest: Option<Rest>,
    seen: BTreeMap<u64, Vec<&'a str>>,
    expected: Option<&'a str>,
    /// Whether the record that the chain begins after is not the one that was seen.
    has_wrong_anchor: bool,
}

/// Lines that are no records.
#[derive(Debug)]
struct Rest {
    hasher: Sha256,
    lines: Vec<u64>,
    /// The first one that is no part of a record of ours.
    forged: Option<u64>,
}

impl<'a> Walk<'a> {
    /// Begins after the last record that was removed, or at the default where none was. `seen` are ends that the trail
    /// had before, and `expected` is a hash that must be in it.
    pub fn new(removed: Head, seen: &'a [Head], expected: Option<&'a str>) -> Self {
        let mut ends: BTreeMap<u64, Vec<&'a str>> = BTreeMap::new();
        for head in seen.iter().filter(|head| head.number >= removed.number.max(1)) {
            ends.entry(head.number).or_default().push(&head.hash);
        }
        // The last record that was removed may have been seen too.
        let is_known =
            ends.remove(&removed.number).is_none_or(|hashes| hashes.contains(&removed.hash.as_str()));
        let has_expected =
            expected.map(|hash| removed.number > 0 && hash.eq_ignore_ascii_case(&removed.hash));
        Self {
            result: Verification { removed: removed.number, has_expected, ..Verification::default() },
            number: removed.number,
            hash: removed.hash,
            rest: None,
            seen: ends,
            expected,
            has_wrong_anchor: !is_known,
        }
    }

    /// Walks over a line that is kept by itself, without its end. `file` and `number` name it where something is wrong.
    pub fn line(&mut self, file: &Path, number: u64, line: &[u8]) {
        match Header::read(line) {
            Some(header) => self.record(file, (number, line), &header),
            // What is kept by itself is written as a whole or not at all.
            None => self.tell_forged(file, number),
        }
    }

    fn read(&mut self, snapshot: &Snapshot, segment: &Segment) -> Result<(), StoreError> {
        let Some(mut lines) = snapshot.lines(segment, 0)? else { return Ok(()) };
        while let Some(line) = lines.next()? {
            match Header::read(line.bytes) {
                Some(header) => self.record(&segment.path, (line.number, line.bytes), &header),
                None => self.add_to_rest(&line),
            }
        }
        match self.rest.take() {
            // The end of the current file is what the next writer will find.
            Some(rest) if segment.is_current => self.tell_rest(&segment.path, &rest, true),
            Some(rest) => self.tell_rest(&segment.path, &rest, false),
            None => {}
        }
        Ok(())
    }

    fn record(&mut self, file: &Path, (place, line): (u64, &[u8]), header: &Header) {
        self.account_for_rest(file, place, header.torn.as_deref());
        let expected = self.number.saturating_add(1);
        if header.n > expected {
            let what = match header.n - 1 {
                last if last == expected => format!("record {last} is missing before it"),
                last => format!("records {expected} to {last} are missing before it"),
            };
            self.tell(file, place, what);
        } else if header.n < expected {
            self.tell(file, place, format!("record {} stands where {expected} belongs", header.n));
        } else if header.prev != self.hash {
            let what = format!(
                "record {} does not follow from what stands before it, which was changed or is not all there",
                header.n
            );
            self.tell(file, place, what);
        }
        self.number = header.n;
        self.hash = sha256(line);
        self.result.records += 1;
        if self.expected.is_some_and(|hash| hash.eq_ignore_ascii_case(&self.hash)) {
            self.result.has_expected = Some(true);
        }
        self.compare_with_seen(file, place);
        self.result.head = Some(Head { number: self.number, hash: self.hash.clone() });
    }

    fn compare_with_seen(&mut self, file: &Path, line: u64) {
        let Some(hashes) = self.seen.remove(&self.number) else { return };
        if hashes.iter().any(|hash| *hash != self.hash) {
            self.tell(file, line, format!("record {} is not the one that was seen before", self.number));
        }
    }

    /// What stands before a record and is none must be what the record says.
    fn account_for_rest(&mut self, file: &Path, line: u64, torn: Option<&str>) {
        match (self.rest.take(), torn) {
            (None, None) => {}
            (None, Some(_)) => {
                self.tell(file, line, "the torn line that it was written after is missing".to_owned());
            }
            (Some(rest), torn) => {
                let is_named = torn.is_some_and(|torn| hexadecimal(&rest.hasher.clone().finalize()) == torn);
                self.tell_rest(file, &rest, is_named);
            }
        }
    }

    fn add_to_rest(&mut self, line: &Line<'_>) {
        let is_torn = Header::is_cut(line.bytes, self.number.saturating_add(1), &self.hash);
        let rest =
            self.rest.get_or_insert_with(|| Rest { hasher: Sha256::new(), lines: Vec::new(), forged: None });
        rest.hasher.update(line.whole);
        if !is_torn && rest.forged.is_none() {
            rest.forged = Some(line.number);
        }
        if rest.lines.last() != Some(&line.number) && rest.lines.len() < MOST_BREAKS {
            rest.lines.push(line.number);
        }
    }

    /// Tells of what is no record. The next writer names whatever it finds, so that being named proves nothing of a line
    /// that a killed writer cannot have left.
    fn tell_rest(&mut self, file: &Path, rest: &Rest, is_named: bool) {
        if let Some(line) = rest.forged {
            self.tell_forged(file, line);
        } else if is_named {
            let torn = |line: &u64| TornLine { file: file.to_path_buf(), line: *line };
            self.result.torn.extend(rest.lines.iter().map(torn));
        } else {
            let line = rest.lines.first().copied().unwrap_or_default();
            self.tell(file, line, NO_RECORD.to_owned());
        }
    }

    fn tell_forged(&mut self, file: &Path, line: u64) {
        self.add_break(Break { file: file.to_path_buf(), line, what: FORGED.to_owned(), is_forged: true });
    }

    fn tell(&mut self, file: &Path, line: u64, what: String) {
        self.add_break(Break { file: file.to_path_buf(), line, what, is_forged: false });
    }

    fn add_break(&mut self, found: Break) {
        self.result.break_count += 1;
        if self.result.breaks.len() < MOST_BREAKS {
            self.result.breaks.push(found);
        }
    }

    /// Ends the walk, and says what was found. Whatever end was seen and is not there was cut off.
    pub fn finish(mut self, file: &Path) -> Verification {
        if self.has_wrong_anchor {
            let what =
                format!("record {}, which was removed, is not the one that was seen", self.result.removed);
            self.tell(file, 0, what);
        }
        // Retention never removes the newest records, so that nothing but an anchor is no trail of ours.
        if self.result.records == 0 && self.result.removed > 0 {
            let what = format!("every record is missing: there were {}", self.result.removed);
            self.tell(file, 0, what);
        }
        if let Some(longest) = self.seen.keys().next_back().copied() {
            let what = match self.result.head.as_ref().map_or(self.result.removed, |head| head.number) {
                last if longest > last => {
                    format!("the last records are missing: there were {longest}, and now {last} is the last")
                }
                _ => format!("record {longest}, which was seen before, is missing"),
            };
            self.tell(file, 0, what);
        }
        self.result
    }
}
