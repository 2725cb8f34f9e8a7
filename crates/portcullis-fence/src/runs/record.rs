//! What is known of a run, as a file beside its layers.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::command::FencedExit;
use crate::layer::{FileStamp, LayerChange};
use crate::policy::OverlayLayer;

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
    /// When it began, for people.
    pub started_at_ms: u64,
    /// When it began, by the kernel's own notes.
    pub began: FileStamp,
    /// How it ended; nothing if it was killed with its runner.
    pub exit: Option<FencedExit>,
    /// How often it wanted to reach something outside.
    pub refused_connections: u64,
    /// What becomes of its changes.
    pub state: RunState,
    /// The layers, that of the workspace first; those of other places are thrown away.
    pub layers: Vec<OverlayLayer>,
    /// The changes that are held.
    pub changes: Vec<LayerChange>,
    /// The changes that are being brought down.
    pub committing: Vec<LayerChange>,
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
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    /// Replaces the record in one step. It outlives this process, though not yet the machine.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        self.replace(path).map(drop)
    }

    /// Replaces the record in one step, and returns when that is on disk: for the journal of a commit.
    pub(super) fn write_to_disk(&self, path: &Path) -> io::Result<()> {
        self.replace(path)?.sync_all()?;
        path.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
    }

    fn replace(&self, path: &Path) -> io::Result<File> {
        let text = serde_json::to_vec(self)?;
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(&text)?;
        fs::rename(&new, path)?;
        Ok(file)
    }
}
