//! The folder of runs: each has its record, a lock and its layers.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::RunError;
use super::record::{
    HoldNote, RunRecord, RunSelection, RunState, create_private, layer_commit, locked_workspace, make_layer,
    new_id,
};
use super::wait_for_lock;
use crate::command::FenceOutcome;
use crate::layer::{
    ChangeConflict, ChangeKind, ChangedEntry, ConflictCheck, FileStamp, LayerChange, find_changes,
    remove_tree,
};
use crate::policy::{OverlayLayer, ProtectedName};
use crate::protection::{is_protected, leads_to_protected, makes_repository};

/// How many records of finished runs are kept, and how many may be there before a command has to wait for their removal.
const KEPT_RECORDS: usize = 50;
const MOST_RECORDS: usize = 200;

/// How long the beginning of a run takes at most.
const BEGINNING: Duration = Duration::from_mins(1);

/// The names of the files of a run.
const RECORD: &str = "record.json";
const LOCK: &str = "lock";

/// How long an answer waits for another command that works on the same run.
const PATIENCE: Duration = Duration::from_millis(500);

/// The runs of a user.
#[derive(Debug)]
pub struct RunStore {
    root: PathBuf,
}

/// A run that goes on; its lock is held as long as this lives.
#[derive(Debug)]
pub struct OpenRun {
    folder: PathBuf,
    record: RunRecord,
    lock: File,
}

/// A change with what speaks against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldChange {
    /// The change.
    pub change: LayerChange,
    /// Whether it meets a change from outside.
    pub conflict: Option<ChangeConflict>,
    /// Whether it is of a kind that runs later, outside the fence.
    pub is_protected: bool,
}

impl RunStore {
    /// Returns the store in a directory.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Makes a run with a layer over each place, the workspace first.
    pub fn begin(
        &self,
        words: &[String],
        directory: &Path,
        places: &[PathBuf],
        now_ms: u64,
    ) -> Result<OpenRun, RunError> {
        let id = new_id().map_err(RunError::disk("make a name in", &self.root))?;
        let folder = self.root.join(&id);
        let make = || -> io::Result<OpenRun> {
            create_private(&folder)?;
            let lock = File::create(folder.join(LOCK))?;
            lock.lock()?;
            let began = FileStamp::of(&lock.metadata()?);
            let layers = places.iter().enumerate().map(|(index, place)| make_layer(&folder, index, place));
            let record = RunRecord {
                id: id.clone(),
                words: words.to_vec(),
                directory: directory.to_path_buf(),
                workspace: places.first().cloned().unwrap_or_default(),
                workspace_number: places.first().map(fs::metadata).transpose()?.map(|found| found.ino()),
                started_at_ms: now_ms,
                began,
                exit: None,
                refused_connections: 0,
                hosts: Vec::new(),
                state: RunState::Running,
                layers: layers.collect::<io::Result<_>>()?,
                changes: Vec::new(),
                committing: Vec::new(),
                hold: None,
            };
            record.write(&folder.join(RECORD))?;
            Ok(OpenRun { folder: folder.clone(), record, lock })
        };
        make().map_err(|error| {
            // What could not be begun is no run; if that is not removed either, `recover` does it.
            let _ = remove_tree(&folder);
            RunError::disk("keep a run in", &folder)(error)
        })
    }

    /// Returns every run, the newest first. What cannot be read is left out.
    pub fn list(&self) -> Result<Vec<RunRecord>, RunError> {
        let mut records: Vec<RunRecord> = self
            .ids()?
            .iter()
            .filter_map(|id| RunRecord::read(&self.root.join(id).join(RECORD)).ok())
            .collect();
        records.sort_by(|one, other| (other.started_at_ms, &other.id).cmp(&(one.started_at_ms, &one.id)));
        Ok(records)
    }

    /// Returns the runs whose changes wait for an answer, the oldest first. What cannot be read is left out.
    pub fn list_held(&self) -> Result<Vec<RunRecord>, RunError> {
        // Nothing is held of a run without a lock, so most records need not be read.
        let has_lock = |id: &&String| self.root.join(id).join(LOCK).exists();
        let ids = self.ids()?;
        let read = |id: &String| RunRecord::read(&self.root.join(id).join(RECORD)).ok();
        let mut records: Vec<RunRecord> = ids.iter().filter(has_lock).filter_map(read).collect();
        records.retain(|record| record.state == RunState::Held);
        records.sort_by(|one, other| (one.started_at_ms, &one.id).cmp(&(other.started_at_ms, &other.id)));
        Ok(records)
    }

    /// Notes why the changes of a run wait for a person.
    pub fn note_hold(&self, id: &str, note: HoldNote) -> Result<(), RunError> {
        let (_lock, mut record) = self.locked(id, PATIENCE)?;
        if record.state != RunState::Held {
            return Err(RunError::NotHeld(id.to_owned()));
        }
        record.hold = Some(note);
        self.keep(&record)
    }

    /// Returns a run by its name or by its beginning, if only one begins so.
    pub fn find(&self, name: &str) -> Result<RunRecord, RunError> {
        self.read(&self.id_of(name)?)
    }

    fn id_of(&self, name: &str) -> Result<String, RunError> {
        let ids = self.ids()?;
        let mut matching = ids.into_iter().filter(|id| id.starts_with(name) && !name.is_empty());
        match (matching.next(), matching.next()) {
            (Some(id), None) => Ok(id),
            _ => Err(RunError::Unknown(name.to_owned())),
        }
    }

    fn read(&self, id: &str) -> Result<RunRecord, RunError> {
        let path = self.root.join(id).join(RECORD);
        RunRecord::read(&path).map_err(RunError::disk("read", &path))
    }

    /// Returns the runs that have ended and of which nobody can say what they changed, with the reason.
    pub fn list_unreadable(&self) -> Result<Vec<(String, RunError)>, RunError> {
        let mut unreadable = Vec::new();
        for id in self.ids()?.into_iter().filter(|id| self.root.join(id).join(RECORD).exists()) {
            let failed = match self.read(&id) {
                Err(error) => Some(error),
                // One that goes on has its lock.
                Ok(record) if record.state == RunState::Running && self.lock(&id, Duration::ZERO).is_ok() => {
                    hold(record).err()
                }
                Ok(_) => None,
            };
            unreadable.extend(failed.map(|error| (id, error)));
        }
        Ok(unreadable)
    }

    /// Throws away what a run changed, by its name or the beginning of it. Of one that cannot be read nothing is left, and
    /// nothing is returned.
    pub fn discard_named(&self, name: &str) -> Result<Option<RunRecord>, RunError> {
        let id = self.id_of(name)?;
        if self.read(&id).is_ok() {
            return self.discard(&id).map(Some);
        }
        let folder = self.root.join(&id);
        let _lock = folder.join(LOCK).exists().then(|| self.lock(&id, PATIENCE)).transpose()?;
        remove_tree(&folder).map_err(RunError::disk("remove", &folder))?;
        Ok(None)
    }

    /// Returns the held changes of a run with what speaks against each.
    pub fn held(&self, record: &RunRecord, protected: &[ProtectedName]) -> Result<Vec<HeldChange>, RunError> {
        let upper = record.layers.first().map(|layer| layer.upper.as_path());
        let check = ConflictCheck::of(&record.workspace, record.began, &record.changes);
        let mut held = Vec::new();
        for change in &record.changes {
            // Nobody can say that what cannot be looked at is as it was.
            let conflict = check.conflict(change).unwrap_or(Some(ChangeConflict::ChangedOutside));
            let is_there = |path: &Path| {
                let places = upper.into_iter().chain([record.workspace.as_path()]);
                places.into_iter().any(|place| fs::symlink_metadata(place.join(path)).is_ok())
            };
            let is_protected =
                is_protected_change(protected, change) || makes_repository(&change.path, is_there);
            held.push(HeldChange { change: change.clone(), conflict, is_protected });
        }
        Ok(held)
    }

    /// Brings changes down. Changes that meet one from outside stay held, and nothing lands then, unless told to.
    pub fn commit(
        &self,
        id: &str,
        selection: &RunSelection,
        replaces_outside: bool,
    ) -> Result<RunRecord, RunError> {
        let (_lock, mut record) = self.locked(id, PATIENCE)?;
        if record.state != RunState::Held {
            return Err(RunError::NotHeld(id.to_owned()));
        }
        let (selected, rest) = record.select(selection)?;
        // From here on no other run lands in the same place.
        let workspace = locked_workspace(&record)?;
        if !replaces_outside {
            record.refuse_conflicts(&selected)?;
        }
        let staging = record.staging();
        let commit = layer_commit(&record, &workspace, &staging)?;
        if let Err(error) = commit.stage(&selected) {
            // The copies are of no use; the changes are still in the layer.
            let _ = remove_tree(&staging);
            return Err(RunError::disk("copy the changes to", &staging)(error));
        }
        record.state = RunState::Committing;
        (record.committing, record.changes) = (selected, rest);
        let path = self.root.join(&record.id).join(RECORD);
        record.write_to_disk(&path).map_err(RunError::disk("write", &path))?;
        self.finish(record, &workspace, replaces_outside)
    }

    /// Throws the changes away that have not landed, also of a run that cannot be finished.
    pub fn discard(&self, id: &str) -> Result<RunRecord, RunError> {
        let (_lock, mut record) = self.locked(id, PATIENCE)?;
        if matches!(record.state, RunState::Committed | RunState::Dropped) {
            return Err(RunError::NotHeld(id.to_owned()));
        }
        record.state = RunState::Dropped;
        if self.keep(&record).is_ok() {
            self.clean(&record)?;
        } else {
            // A disk may be full by what is to go away.
            RunRecord::mark_dropped(&self.root.join(id))?;
            self.finish_drop(&record)?;
        }
        Ok(record)
    }

    /// Does what is left of a drop, once there is room for the note of it.
    fn finish_drop(&self, record: &RunRecord) -> Result<(), RunError> {
        self.clean(record)?;
        self.keep(record)
    }

    /// Forgets a run, with what it changed and has not landed.
    pub fn forget(&self, id: &str) -> Result<(), RunError> {
        match self.discard(id) {
            Ok(_) | Err(RunError::NotHeld(_)) => {}
            Err(error) => return Err(error),
        }
        let folder = self.root.join(id);
        remove_tree(&folder).map_err(RunError::disk("remove", &folder))
    }

    /// Finishes what a killed command left: changes that were landing land unless somebody changed what they meet, and what a
    /// killed run wrote is held. One that cannot be finished stays as it is, and does not stand in the way of others.
    pub fn recover(&self) -> Result<Vec<RunRecord>, RunError> {
        let mut recovered = Vec::new();
        let ids = self.ids()?;
        for id in &ids {
            let folder = self.root.join(id);
            if !folder.join(RECORD).exists() {
                // What is left of it is in nobody's way.
                let _ = remove_stillborn(&folder);
            } else if folder.join(LOCK).exists() {
                recovered.extend(self.recover_one(id).ok().flatten());
            }
            // Else nothing is held of it.
        }
        if ids.len() > MOST_RECORDS {
            let _ = self.tidy();
        }
        Ok(recovered)
    }

    fn recover_one(&self, id: &str) -> Result<Option<RunRecord>, RunError> {
        let (_lock, record) = self.locked(id, Duration::ZERO)?;
        match record.state {
            RunState::Committing => {
                let workspace = locked_workspace(&record)?;
                self.finish(record, &workspace, false).map(Some)
            }
            RunState::Running => {
                let record = hold(record)?;
                self.keep(&record).map(|()| Some(record))
            }
            RunState::Held => {
                // Copies of a commit that was killed before the first of them could land.
                let staging = record.staging();
                remove_tree(&staging).map_err(RunError::disk("remove", &staging))?;
                Ok(None)
            }
            RunState::Dropped => self.finish_drop(&record).map(|()| None),
            RunState::Committed => Ok(None),
        }
    }

    /// Removes the oldest runs of which nothing is held. It can take a while, and be cut at any moment. One that cannot be
    /// removed does not stand in the way of others.
    pub fn tidy(&self) -> Result<(), RunError> {
        let records = self.list()?;
        let done = |record: &&RunRecord| matches!(record.state, RunState::Committed | RunState::Dropped);
        let removed = records.iter().filter(done).skip(KEPT_RECORDS).map(|record| {
            let folder = self.root.join(&record.id);
            // The layers first: what is left of a run that lost its record would be taken for one that never began.
            self.clean(record)?;
            remove_tree(&folder).map_err(RunError::disk("remove", &folder))
        });
        removed.fold(Ok(()), Result::and)
    }

    /// Brings down what the record says is landing, and writes that it has. What meets a change from outside is held again
    /// with all that comes after it.
    fn finish(&self, mut record: RunRecord, workspace: &File, replaces: bool) -> Result<RunRecord, RunError> {
        let staging = record.staging();
        let place = Path::new("/proc/self/fd").join(workspace.as_raw_fd().to_string());
        let committing = std::mem::take(&mut record.committing);
        let check = (!replaces).then(|| ConflictCheck::of(&place, record.began, &committing));
        let commit = layer_commit(&record, workspace, &staging)?;
        let failed = RunError::disk("bring the changes down to", &record.workspace);
        let stop = commit.apply(&committing, check).map_err(failed)?;
        let left = match &stop {
            Some(_) => {
                commit.left(&committing, &place).map_err(RunError::disk("look at", &record.workspace))?
            }
            None => Vec::new(),
        };
        record.changes.extend(left);
        record.changes.sort_by(|one, other| one.path.cmp(&other.path));
        // Of the layer of a run that landed as a whole, only directories without files are left, for `tidy` to remove.
        record.state = if record.changes.is_empty() { RunState::Committed } else { RunState::Held };
        self.keep(&record)?;
        let Some(first) = stop else { return Ok(record) };
        // The copies are made anew; the changes are still in the layer.
        let _ = remove_tree(&staging);
        Err(RunError::Stopped { first: first.display().to_string() })
    }

    /// Takes the lock of a run. Another command may have it for a moment, so it is worth waiting for a little.
    fn locked(&self, id: &str, patience: Duration) -> Result<(File, RunRecord), RunError> {
        let lock = self.lock(id, patience)?;
        Ok((lock, self.read(id)?))
    }

    fn lock(&self, id: &str, patience: Duration) -> Result<File, RunError> {
        let folder = self.root.join(id);
        let lock = match File::options().write(true).open(folder.join(LOCK)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder.join(RECORD).exists() => {
                return Err(RunError::NotHeld(id.to_owned()));
            }
            other => other.map_err(RunError::disk("open", &folder))?,
        };
        wait_for_lock(&lock, id, &folder, patience)?;
        Ok(lock)
    }

    fn ids(&self) -> Result<Vec<String>, RunError> {
        match fs::read_dir(&self.root) {
            Ok(entries) => {
                let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                let mut ids: Vec<String> = names.collect();
                ids.sort();
                Ok(ids)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(RunError::disk("read", &self.root)(error)),
        }
    }

    fn keep(&self, record: &RunRecord) -> Result<(), RunError> {
        keep(&self.root.join(&record.id), record)
    }

    /// Removes the layers of a run, of which nothing is held any more.
    fn clean(&self, record: &RunRecord) -> Result<(), RunError> {
        let folder = self.root.join(&record.id);
        for index in 0..record.layers.len() {
            let layer = folder.join(index.to_string());
            remove_tree(&layer).map_err(RunError::disk("remove", &layer))?;
        }
        let staging = record.staging();
        remove_tree(&staging).map_err(RunError::disk("remove", &staging))
    }
}

impl OpenRun {
    /// Returns the name of the run.
    pub fn id(&self) -> &str {
        &self.record.id
    }

    /// Returns the layers for the policy of the run.
    pub fn layers(&self) -> &[OverlayLayer] {
        &self.record.layers
    }

    /// Holds what the command changed; a run that changed nothing is done.
    pub fn end(mut self, outcome: &FenceOutcome) -> Result<RunRecord, RunError> {
        self.record.exit = Some(outcome.exit);
        self.record.refused_connections = outcome.refused_connections;
        self.record.hosts.clone_from(&outcome.hosts);
        let record = hold(self.record)?;
        keep(&self.folder, &record)?;
        // What was written to other places is thrown away; empty layers are left for `tidy`.
        for layer in record.layers.iter().skip(1) {
            let is_empty = fs::read_dir(&layer.upper).is_ok_and(|mut entries| entries.next().is_none());
            if !is_empty {
                remove_tree(&layer.upper).map_err(RunError::disk("remove", &layer.upper))?;
            }
        }
        // Process 1 of the fence may not be quite dead, and has this file open too.
        self.lock.unlock().map_err(RunError::disk("unlock", &self.folder))?;
        Ok(record)
    }

    /// Removes a run whose command was never started.
    pub fn abandon(self) -> Result<(), RunError> {
        remove_tree(&self.folder).map_err(RunError::disk("remove", &self.folder))
    }
}

/// Says whether a change is of a kind that runs later, outside the fence.
pub fn is_protected_change(protected: &[ProtectedName], change: &LayerChange) -> bool {
    let is_in_the_way = change.kind != ChangeKind::Removed
        && change.entry != ChangedEntry::Directory
        && leads_to_protected(protected, &change.path);
    is_in_the_way
        || is_protected(protected, &change.path)
        || change.changes_user()
        || change.is_planted_in_git()
}

/// Removes what is left of a run that was killed before it began; another process may just be about to begin it.
fn remove_stillborn(folder: &Path) -> Result<(), RunError> {
    let age =
        fs::symlink_metadata(folder).and_then(|metadata| metadata.modified()).map(|made| made.elapsed());
    match age {
        Ok(Ok(age)) if age > BEGINNING => remove_tree(folder).map_err(RunError::disk("remove", folder)),
        _ => Ok(()),
    }
}

/// Writes a record. A run of which nothing is held needs no lock any more, and so shows that there is nothing to recover.
fn keep(folder: &Path, record: &RunRecord) -> Result<(), RunError> {
    let path = folder.join(RECORD);
    record.write(&path).map_err(RunError::disk("write", &path))?;
    if matches!(record.state, RunState::Committed | RunState::Dropped) {
        let path = folder.join(LOCK);
        fs::remove_file(&path).map_err(RunError::disk("remove", &path))?;
    }
    Ok(())
}

fn hold(mut record: RunRecord) -> Result<RunRecord, RunError> {
    let upper = record.layers.first().map(|layer| layer.upper.clone()).unwrap_or_default();
    record.changes = find_changes(&upper, &record.workspace, Some(record.began))
        .map_err(RunError::disk("look through", &upper))?;
    record.state = if record.changes.is_empty() { RunState::Committed } else { RunState::Held };
    Ok(record)
}
