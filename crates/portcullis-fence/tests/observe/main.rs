//! Copy on write: nothing lands before it is brought down, and then it is as if it had been written there.
#![cfg(test)]
#![cfg(target_os = "linux")]

mod crash;
mod equality;
mod held;
#[path = "../escape/yard.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod yard;

use std::process::Output;

use portcullis_fence::{RunRecord, RunState, RunStore};
use yard::{Who, Yard, text};

/// A yard with a store of runs beside the workspace.
#[derive(Debug)]
struct Pasture {
    yard: Yard,
}

impl Pasture {
    fn new(who: Who) -> Self {
        Self { yard: Yard::new(who) }
    }

    fn store(&self) -> RunStore {
        RunStore::at(self.store_path())
    }

    fn store_path(&self) -> std::path::PathBuf {
        self.yard.root().join("run")
    }

    fn runner(&self, words: &[&str]) -> Output {
        let runner = self.yard.root().join("programs/portcullis-fence-runner").display().to_string();
        let words: Vec<&str> = std::iter::once(runner.as_str()).chain(words.iter().copied()).collect();
        self.yard.plain(&words).output().expect("it runs")
    }

    /// Runs a line over a layer.
    fn observe(&self, line: &str) -> RunRecord {
        let (store, workspace) =
            (self.store_path().display().to_string(), self.yard.workspace().display().to_string());
        let output = self.runner(&["--observe", &store, &workspace, "bash", "-c", line]);
        assert!(output.status.success(), "`{line}`: {}", text(&output));
        let id = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned();
        self.store().find(&id).expect("the run is kept")
    }

    /// Writes that the changes of a run are landing, as if a commit had been killed at once.
    fn begin_commit(&self, record: &RunRecord) {
        let committing = RunRecord {
            state: RunState::Committing,
            changes: Vec::new(),
            committing: record.changes.clone(),
            ..record.clone()
        };
        let path = self.store_path().join(&record.id).join("record.json");
        let line = format!("{}\n", serde_json::to_string(&committing).expect("JSON"));
        std::fs::write(path, line).expect("a record");
    }

    fn commit(&self, id: &str, paths: &[&str]) -> Output {
        let store = self.store_path().display().to_string();
        let words: Vec<&str> = ["--commit", &store, id].into_iter().chain(paths.iter().copied()).collect();
        self.runner(&words)
    }
}

/// Returns the changes of a run in short: a sign and a path.
fn signs(record: &RunRecord) -> Vec<String> {
    use portcullis_fence::ChangeKind::{Added, Modified, Removed};
    let sign = |kind| match kind {
        Added => '+',
        Modified => '~',
        Removed => '-',
    };
    record.changes.iter().map(|change| format!("{}{}", sign(change.kind), change.path.display())).collect()
}
