//! What is known of a run, as a file beside its layers: a line for each state, of which the last one counts.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::wait_for_lock;
use crate::command::FencedExit;
use crate::hexadecimal::hexadecimal;
use crate::host::HostAttempt;
use crate::layer::{ConflictCheck, FileStamp, LayerChange, LayerCommit, remove_tree};
use crate::policy::OverlayLayer;
use crate::protection::STAGING;

/// How long changes wait for those of another run that land in the same workspace.
const LANDING: Duration = Duration::from_secs(10);

/// The name of the layer of a run that was dropped, where its record does not say so.
const DROPPED: &str = "dropped";

/// A run and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its name.
    pub id: String,
    /// The command, for people.
    pub words: Vec<String>,
    /// Where it started.
    pub directory: PathBuf,
    /// The place whose changes are held.
    pub workspace: PathBuf,
    /// The number of that directory, which another one that was put in its place does not have.
    #[serde(default)]
    pub workspace_number: Option<u64>,
    /// When it began, for people.
    pub started_at_ms: u64,
    /// When it began, by the kernel's own notes.
    pub began: FileStamp,
    /// How it ended; nothing if it was killed with its runner.
    pub exit: Option<FencedExit>,
    /// How often it wanted to reach something outside.
    pub refused_connections: u64,
    /// The hosts that it tried to reach.
    #[serde(default)]
    pub hosts: Vec<HostAttempt>,
    /// What becomes of its changes.
    pub state: RunState,
    /// The layers, that of the workspace first; those of other places are thrown away.
    pub layers: Vec<OverlayLayer>,
    /// The changes that are held.
    pub changes: Vec<LayerChange>,
    /// The changes that are being brought down.
    pub committing: Vec<LayerChange>,
    /// Why its changes wait for a person, where it was an agent's call.
    #[serde(default)]
    pub hold: Option<HoldNote>,
}

/// Why the changes of an agent's call wait for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldNote {
    /// What speaks against them, in one clause.
    pub reason: String,
    /// The agent's program; empty if nobody knows.
    pub host: String,
    /// Its session; empty if nobody knows.
    pub session: String,
}

/// What becomes of the changes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunState {
    /// The command runs.
    Running,
    /// Changes wait for an answer.
    Held,
    /// Changes are being brought down.
    Committing,
    /// All of them landed, or there were none.
    Committed,
    /// They were thrown away.
    Dropped,
}

impl RunRecord {
    /// Reads the last state that was written. A line that a kill or a full disk cut does not count, wherever it stands: what
    /// is cut never reads as a state.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let text = fs::read(path)?;
        let end = text.iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
        let whole = text.get(..end).unwrap_or_default();
        let states = whole.rsplit(|byte| *byte == b'\n').map(serde_json::from_slice);
        let mut broken = None;
        for state in states {
            match state {
                Ok(record) => return Ok(Self::unless_dropped(record, path)),
                Err(error) => broken = broken.or(Some(error)),
            }
        }
        Err(broken.map_or(io::ErrorKind::UnexpectedEof.into(), io::Error::from))
    }

    /// A run that was dropped where there was no room to write so is dropped nevertheless.
    fn unless_dropped(mut record: Self, path: &Path) -> Self {
        let is_open = !matches!(record.state, RunState::Committed | RunState::Dropped);
        if is_open && path.with_file_name(DROPPED).exists() {
            record.state = RunState::Dropped;
        }
        record
    }

    /// Drops a run in one step that takes no room: its layer gets the name by which `read` knows that. Then its files go,
    /// and the directory stays until the record says so too.
    pub(super) fn mark_dropped(folder: &Path) -> Result<(), RunError> {
        let (layer, aside) = (folder.join("0"), folder.join(DROPPED));
        fs::rename(&layer, &aside).map_err(RunError::disk("drop", &layer))?;
        let names = fs::read_dir(&aside).map_err(RunError::disk("read", &aside))?;
        for path in names.flatten().map(|entry| entry.path()) {
            remove_tree(&path).map_err(RunError::disk("remove", &path))?;
        }
        Ok(())
    }

    /// Adds the state as a line of its own. It outlives this process, though not yet the machine.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        self.append(path).map(drop)
    }

    /// Adds the state as a line of its own, and returns when that is on disk: for the journal of a commit.
    pub(super) fn write_to_disk(&self, path: &Path) -> io::Result<()> {
        self.append(path)?.sync_all()?;
        path.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
    }

    /// Adds a line. Where that fails, what was there stays as it was.
    fn append(&self, path: &Path) -> io::Result<File> {
        let mut file = File::options().create(true).read(true).append(true).open(path)?;
        let before = file.metadata()?.len();
        // After a line that was cut, a new one begins.
        let mut text = if ends_in_line(&file)? { Vec::new() } else { vec![b'\n'] };
        serde_json::to_writer(&mut text, self)?;
        text.push(b'\n');
        if let Err(error) = file.write_all(&text) {
            file.set_len(before)?;
            return Err(error);
        }
        Ok(file)
    }

    /// Returns the directory for copies of what lands, on the file system of the workspace.
    pub(super) fn staging(&self) -> PathBuf {
        self.workspace.join(format!("{STAGING}{}", self.id))
    }

    /// Splits the changes of a run. A directory that is new comes along with what lies in it.
    pub(super) fn select(
        &self,
        selection: &RunSelection,
    ) -> Result<(Vec<LayerChange>, Vec<LayerChange>), RunError> {
        let RunSelection::Paths(paths) = selection else {
            return Ok((self.changes.clone(), Vec::new()));
        };
        for path in paths {
            if !self.changes.iter().any(|change| change.path.starts_with(path)) {
                return Err(RunError::NoSuchChange { id: self.id.clone(), path: path.display().to_string() });
            }
        }
        let is_meant = |change: &LayerChange| {
            paths.iter().any(|path| {
                change.path.starts_with(path) || path.starts_with(&change.path) && change.path != *path
            })
        };
        Ok(self.changes.iter().cloned().partition(is_meant))
    }

    /// Refuses changes that meet one from outside.
    pub(super) fn refuse_conflicts(&self, selected: &[LayerChange]) -> Result<(), RunError> {
        let check = ConflictCheck::of(&self.workspace, self.began, selected);
        let mut conflicts = Vec::new();
        for change in selected {
            let conflict = check.conflict(change);
            if conflict.map_err(RunError::disk("look at", &self.workspace.join(&change.path)))?.is_some() {
                conflicts.push(change.path.display().to_string());
            }
        }
        match conflicts.first() {
            Some(first) => Err(RunError::Conflict { count: conflicts.len(), first: first.clone() }),
            None => Ok(()),
        }
    }
}

/// Which changes of a run are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunSelection {
    /// All of them.
    All,
    /// Those at or below these paths, from the workspace.
    Paths(Vec<PathBuf>),
}

/// Makes the layer over a place, in the folder of a run.
pub(super) fn make_layer(folder: &Path, index: usize, place: &Path) -> io::Result<OverlayLayer> {
    let base = folder.join(index.to_string());
    let layer =
        OverlayLayer { place: place.to_path_buf(), upper: base.join("upper"), work: base.join("work") };
    for directory in [&base, &layer.upper, &layer.work] {
        create_private(directory)?;
    }
    // The layer shows as the place itself, so it looks like it.
    let metadata = fs::metadata(place)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        chown(&layer.upper, Some(metadata.uid()), Some(metadata.gid()))?;
    }
    fs::set_permissions(&layer.upper, fs::Permissions::from_mode(metadata.permissions().mode()))?;
    Ok(layer)
}

pub(super) fn layer_commit<'run>(
    record: &'run RunRecord,
    workspace: &'run File,
    staging: &'run Path,
) -> Result<LayerCommit<'run>, RunError> {
    let layer = record.layers.first().ok_or_else(|| RunError::NotHeld(record.id.clone()))?;
    Ok(LayerCommit { upper: &layer.upper, lower: workspace, staging })
}

/// Opens the workspace of a run for what is to land there, and keeps other runs from landing meanwhile: between the look
/// for conflicts and the last file, nothing of theirs arrives that would be lost. A link or a directory that was put in the
/// place of the workspace is not it.
pub(super) fn locked_workspace(record: &RunRecord) -> Result<File, RunError> {
    let failed = RunError::disk("open", &record.workspace);
    let workspace = match File::open(&record.workspace).and_then(|file| Ok((file.metadata()?.ino(), file))) {
        Ok((number, _)) if record.workspace_number.is_some_and(|known| known != number) => {
            return Err(RunError::Replaced(record.workspace.clone()));
        }
        other => other.map_err(failed)?.1,
    };
    wait_for_lock(&workspace, &record.id, &record.workspace, LANDING)?;
    Ok(workspace)
}

fn ends_in_line(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else {
        return Ok(true);
    };
    let mut byte = [0_u8];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

/// Makes a directory that nobody else can look into.
pub(crate) fn create_private(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Returns a name that no other run has.
pub(super) fn new_id() -> io::Result<String> {
    let mut bytes = [0_u8; 5];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(hexadecimal(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(state: RunState) -> RunRecord {
        let began: FileStamp = serde_json::from_str(r#"{"seconds":1,"nanoseconds":2}"#).expect("a stamp");
        RunRecord {
            id: "a1".to_owned(),
            words: Vec::new(),
            directory: "/w".into(),
            workspace: "/w".into(),
            workspace_number: None,
            started_at_ms: 1,
            began,
            exit: None,
            refused_connections: 0,
            hosts: Vec::new(),
            state,
            layers: Vec::new(),
            changes: Vec::new(),
            committing: Vec::new(),
            hold: None,
        }
    }

    #[test]
    fn the_last_whole_line_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record.json");
        assert!(RunRecord::read(&path).is_err());
        record(RunState::Running).write(&path).expect("it is written");
        record(RunState::Held).write(&path).expect("it is written");
        assert_eq!(RunRecord::read(&path).expect("a record").state, RunState::Held);
        let mut file = File::options().append(true).open(&path).expect("the file");
        file.write_all(br#"{"id":"a1","state":"comm"#).expect("a part of a line");
        assert_eq!(RunRecord::read(&path).expect("a record").state, RunState::Held);
        // A write that failed after the end of the cut line, and another one that was cut.
        file.write_all(b"\n").expect("an end");
        assert_eq!(RunRecord::read(&path).expect("a record").state, RunState::Held);
        file.write_all(br#"{"id":"a1","#).expect("a part of a line");
        assert_eq!(RunRecord::read(&path).expect("a record").state, RunState::Held);
        record(RunState::Committed).write(&path).expect("it is written");
        assert_eq!(RunRecord::read(&path).expect("a record").state, RunState::Committed);
    }
    #[test]
    fn a_first_line_that_was_cut_is_no_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record.json");
        let whole = serde_json::to_string(&record(RunState::Running)).expect("JSON");
        for text in ["", "\n", "{\"id\"", whole.as_str()] {
            fs::write(&path, text).expect("a file");
            assert!(RunRecord::read(&path).is_err(), "{text}");
        }
    }
}
