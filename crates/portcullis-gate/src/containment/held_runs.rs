//! The runs whose changes wait for a person: one place for the terminal and the page.
//!
//! INVARIANT: nothing here asks who answers. Whoever keeps changes has made sure that a person is there.

use std::path::{Path, PathBuf};

use portcullis_fence::{
    ChangeConflict, ChangeKind, HeldChange, RunError, RunRecord, RunSelection, RunState, RunStore,
    protected_names,
};

use super::held_run::{HeldRun, HeldRunChange};
use super::run_difference::run_difference;
use crate::Failure;
use crate::text_difference::{DifferenceLimit, DifferenceLine};

/// The runs of a user whose changes wait.
#[derive(Debug, Clone)]
pub struct HeldRuns {
    root: PathBuf,
}

impl HeldRuns {
    /// Returns those below the state of a user.
    pub fn below(state: &Path) -> Self {
        Self { root: state.join("runs") }
    }

    /// Lists them, the oldest first. What a killed command left is finished or held before.
    pub fn list(&self) -> Result<Vec<HeldRun>, Failure> {
        let runs = self.store();
        let records = runs.recover().and_then(|_| runs.list_held()).map_err(|error| run_failure(&error))?;
        records.iter().map(|record| self.view(record)).collect()
    }

    /// Returns the one whose id begins so; nothing if none does, or several do.
    pub fn find(&self, start: &str) -> Result<Option<HeldRun>, Failure> {
        match self.store().find(start) {
            Ok(record) if record.state == RunState::Held => self.view(&record).map(Some),
            Ok(_) | Err(RunError::Unknown(_)) => Ok(None),
            Err(error) => Err(run_failure(&error)),
        }
    }

    /// Returns what one changed, line by line.
    pub fn difference(&self, id: &str, limit: DifferenceLimit) -> Result<Vec<DifferenceLine>, Failure> {
        let record = self.store().find(id).map_err(|error| run_failure(&error))?;
        Ok(run_difference(&record, &[], limit))
    }

    /// Keeps the changes of one, or only those at or below some paths. Returns how many still wait.
    pub fn keep(&self, id: &str, paths: &[PathBuf]) -> Result<usize, Failure> {
        let selection =
            if paths.is_empty() { RunSelection::All } else { RunSelection::Paths(paths.to_vec()) };
        let record = self.store().commit(id, &selection, false).map_err(|error| run_failure(&error))?;
        Ok(record.changes.len())
    }

    /// Throws the changes of one away.
    pub fn discard(&self, id: &str) -> Result<(), Failure> {
        self.store().discard(id).map(drop).map_err(|error| run_failure(&error))
    }

    fn store(&self) -> RunStore {
        RunStore::at(self.root.clone())
    }

    fn view(&self, record: &RunRecord) -> Result<HeldRun, Failure> {
        let held = self.store().held(record, &protected_names()).map_err(|error| run_failure(&error))?;
        let (reason, host, session) =
            record.hold.clone().map_or_else(Default::default, |hold| (hold.reason, hold.host, hold.session));
        let usual = || "a person ran it, and has not said what becomes of its changes".to_owned();
        Ok(HeldRun {
            id: record.id.clone(),
            command: command_of(&record.words),
            workspace: record.workspace.to_string_lossy().into_owned(),
            host,
            session,
            started_at_ms: record.started_at_ms,
            reason: if reason.is_empty() { usual() } else { reason },
            changes: held.iter().map(change_view).collect(),
        })
    }
}

/// Returns the command as it was asked for: an agent's call runs in a shell of ours.
fn command_of(words: &[String]) -> String {
    match words {
        [bash, option, line] if bash == "bash" && option == "-c" => line.clone(),
        words => words.join(" "),
    }
}

fn change_view(held: &HeldChange) -> HeldRunChange {
    let kind = match held.change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Removed => "removed",
    };
    let protected = held.is_protected.then_some("runs later or steers tools, outside the fence");
    HeldRunChange {
        path: held.change.path.to_string_lossy().into_owned(),
        kind,
        warnings: held.conflict.map(conflict_text).into_iter().chain(protected).collect(),
        runs_later: held.is_protected,
    }
}

/// Says what speaks against landing a change, for people.
pub const fn conflict_text(conflict: ChangeConflict) -> &'static str {
    match conflict {
        ChangeConflict::ChangedOutside => "changed outside since",
        ChangeConflict::OtherNames => "has another name elsewhere, which keeps the old content",
    }
}

/// Makes the failure of a command on held runs.
pub fn run_failure(error: &RunError) -> Failure {
    match error {
        RunError::Disk { .. } => Failure::internal(error.to_string()),
        RunError::Conflict { .. } => Failure::usage(error.to_string())
            .with_hint("look at them with `portcullis runs show`; `portcullis runs commit --replace` puts them over what is there"),
        RunError::Unknown(_) => Failure::usage(error.to_string()).with_hint("`portcullis runs` lists them"),
        _ => Failure::usage(error.to_string()),
    }
}
