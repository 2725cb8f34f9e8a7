//! Removes old files of the trail. The anchor says where the chain goes on.
//!
//! A clock that is set far ahead makes everything look old. So the time counts only as far as a day after the last
//! record: what was recorded shortly before the trail went quiet stays until there is something newer.

use std::fs;
use std::io::ErrorKind;

use super::Trail;
use super::append::End;
use super::files::Anchor;
use super::line::Record;
use crate::error::StoreError;

/// A current file that began so long ago is put aside, so that removing goes by the week.
const LONGEST_CURRENT_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// So long after the last record the clock is believed.
const LONGEST_QUIET_MS: u64 = 24 * 60 * 60 * 1000;

/// What was removed, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many files.
    pub files: u64,
    /// How many records were in them.
    pub records: u64,
    /// How many bytes they had.
    pub bytes: u64,
}

impl Trail {
    /// Removes the files whose last record is older than `age_ms`, now or a day after the last record of all, whichever
    /// comes first; with `is_trial` it only says which.
    pub(crate) fn prune(&self, age_ms: u64, now_ms: u64, is_trial: bool) -> Result<Pruned, StoreError> {
        let Some(newest) = self.last()? else { return Ok(Pruned::default()) };
        let believed_ms = now_ms.min(newest.at_ms.saturating_add(LONGEST_QUIET_MS));
        let before_ms = believed_ms.saturating_sub(age_ms);
        if !is_trial {
            self.seal_old(believed_ms.saturating_sub(age_ms.min(LONGEST_CURRENT_MS)))?;
        }
        let Some(snapshot) = self.snapshot()? else { return Ok(Pruned::default()) };
        let mut pruned = Pruned::default();
        let mut anchor = snapshot.anchor.clone();
        for segment in snapshot.segments.iter().filter(|segment| !segment.is_current) {
            let end = End::of_file(&segment.path)?;
            let Some(last) = end.last.filter(|last| last.at_ms < before_ms) else { break };
            pruned.files += 1;
            pruned.records += last.number.saturating_sub(anchor.number);
            pruned.bytes += end.length;
            anchor =
                Anchor { number: last.number, hash: last.hash, segment: segment.number, removed_ms: now_ms };
        }
        if !is_trial && pruned.files > 0 {
            self.remove_until(&anchor)?;
        }
        Ok(pruned)
    }

    /// The anchor comes first: files that are left behind it count as removed, and go the next time.
    fn remove_until(&self, anchor: &Anchor) -> Result<(), StoreError> {
        let lock = self.lock()?;
        // Somebody else may have removed more in the meantime.
        if self.anchor()?.segment < anchor.segment {
            self.set_anchor(&lock, anchor)?;
        }
        for segment in self.sealed()?.iter().filter(|segment| segment.number <= anchor.segment) {
            match fs::remove_file(&segment.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(StoreError::of_io("remove", &segment.path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Puts the current file aside if its first record is older.
    fn seal_old(&self, before_ms: u64) -> Result<(), StoreError> {
        let Some(snapshot) = self.snapshot()? else { return Ok(()) };
        let Some(segment) = snapshot.segments.last() else { return Ok(()) };
        let Some(mut lines) = snapshot.lines(segment, 0)? else { return Ok(()) };
        let first = lines.next()?.and_then(|line| Record::read(line.bytes));
        if first.is_some_and(|record| record.entry.at_ms < before_ms) {
            let _lock = self.lock()?;
            let end = End::of_file(&self.current())?;
            // Somebody else may have put it aside in the meantime.
            if end.is_clean() && self.next_number(&self.sealed()?)? == segment.number {
                self.seal()?;
            }
        }
        Ok(())
    }
}
