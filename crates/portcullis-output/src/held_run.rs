//! Runs whose changes wait for a person, for programs.

use portcullis_gate::containment::{HeldRun, HeldRunChange};
use serde_json::{Value, json};

/// Returns a run whose changes wait.
pub fn held_run_json(run: &HeldRun) -> Value {
    json!({
        "id": run.id,
        "command": run.command,
        "workspace": run.workspace,
        "host": run.host,
        "session": run.session,
        "startedAtMs": run.started_at_ms,
        "reason": run.reason,
        "changes": run.changes.iter().map(change_json).collect::<Vec<_>>(),
    })
}

fn change_json(change: &HeldRunChange) -> Value {
    json!({"path": change.path, "change": change.kind, "warnings": change.warnings})
}
