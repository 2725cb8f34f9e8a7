//! How the changes of a run are shown: a tree with counts for people, a list for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use portcullis_core::visible;
use portcullis_fence::{
    ChangeKind, ChangedEntry, FencedExit, HeldChange, RunError, RunRecord, RunState, protected_names,
};
use portcullis_gate::Failure;
use portcullis_gate::containment::{conflict_text, run_failure};
use portcullis_output::human::{age, counted};
use portcullis_output::terminal::{BOLD, DIM, ERROR, Painted};
use serde_json::{Value, json};

use crate::commands::run::FenceHome;

/// Beyond so many changes, a directory stands for what is in it.
const MOST_LINES: usize = 40;

/// Returns the held changes of a run with what speaks against each.
pub(crate) fn held(home: &FenceHome, record: &RunRecord) -> Result<Vec<HeldChange>, Failure> {
    home.runs().held(record, &protected_names()).map_err(|error| run_failure(&error))
}

/// Returns the lines of a run of which nobody can say what it changed.
pub(super) fn unreadable_line((id, error): &(String, RunError)) -> String {
    let reason = visible(&error.to_string()).into_owned();
    format!(
        "{}  {reason}\n  {}\n",
        Painted(BOLD, visible(id)),
        Painted(
            DIM,
            format!("nobody can tell what it changed · `portcullis runs drop {}` removes it", visible(id))
        )
    )
}

/// Returns the lines of a run in a list.
pub(super) fn line(record: &RunRecord, now: u64) -> String {
    let command = visible(&record.words.join(" ")).into_owned();
    let state = match record.state {
        RunState::Held => format!("held, {}", counted(record.changes.len(), "change")),
        other => state_name(other).to_owned(),
    };
    let when = age(now.saturating_sub(record.started_at_ms));
    let place = visible(&record.workspace.to_string_lossy()).into_owned();
    format!(
        "{}  {command}\n  {}\n",
        Painted(BOLD, &record.id),
        Painted(DIM, format!("{state} · {when} · {place}"))
    )
}

/// Writes the changes of a run as a tree.
pub(crate) fn changes_text(record: &RunRecord, held: &[HeldChange]) -> String {
    let count = |kind| held.iter().filter(|held| held.change.kind == kind).count();
    let mut out = format!(
        "{} in {}: {} added, {} modified, {} removed\n",
        Painted(BOLD, counted(held.len(), "change")),
        visible(&record.workspace.to_string_lossy()),
        count(ChangeKind::Added),
        count(ChangeKind::Modified),
        count(ChangeKind::Removed)
    );
    let is_short = held.len() <= MOST_LINES;
    let needs_a_look = |held: &&HeldChange| held.conflict.is_some() || held.is_protected;
    let mut shown: Vec<&HeldChange> = held.iter().collect();
    if !is_short {
        for (directory, count) in counts(held) {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "  {:>6}  {}", count, visible(&directory));
        }
        shown = held.iter().filter(needs_a_look).take(MOST_LINES).collect();
    }
    out.extend(shown.into_iter().map(change_line));
    out
}

/// Counts the changes by the directory at the top.
fn counts(held: &[HeldChange]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for held in held {
        let path = &held.change.path;
        let first = path.iter().next().map(|first| first.to_string_lossy().into_owned()).unwrap_or_default();
        let name = if path.iter().count() > 1 { format!("{first}/") } else { first };
        *counts.entry(name).or_insert(0) += 1;
    }
    counts
}

fn change_line(held: &HeldChange) -> String {
    let change = &held.change;
    let sign = match change.kind {
        ChangeKind::Added => '+',
        ChangeKind::Modified => '~',
        ChangeKind::Removed => '-',
    };
    let end = if change.entry == ChangedEntry::Directory { "/" } else { "" };
    let mut line = format!("  {sign} {}{end}", visible(&change.path.to_string_lossy()));
    if change.entry == ChangedEntry::File && change.kind != ChangeKind::Removed {
        let _ = write!(line, "  {}", Painted(DIM, counted(change.bytes, "byte")));
    }
    if let Some(conflict) = held.conflict {
        let _ = write!(line, "  {}", Painted(ERROR, conflict_text(conflict)));
    }
    if held.is_protected {
        let _ = write!(line, "  {}", Painted(ERROR, "runs later or steers tools, outside the fence"));
    }
    line.push('\n');
    line
}

/// Returns a run for programs.
pub(crate) fn run_json(home: &FenceHome, record: &RunRecord) -> Result<Value, Failure> {
    let changes: Vec<Value> = held(home, record)?.iter().map(change_json).collect();
    let exit = match record.exit {
        Some(FencedExit::Code(code)) => json!({"code": code}),
        Some(FencedExit::Signal(signal)) => json!({"signal": signal}),
        None => Value::Null,
    };
    Ok(json!({
        "id": record.id,
        "command": record.words,
        "directory": shown(&record.directory),
        "workspace": shown(&record.workspace),
        "started_at_ms": record.started_at_ms,
        "state": state_name(record.state),
        "exit": exit,
        "refused_connections": record.refused_connections,
        "hosts": record.hosts,
        "changes": changes,
    }))
}

fn change_json(held: &HeldChange) -> Value {
    let kind = match held.change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Removed => "removed",
    };
    let entry = match held.change.entry {
        ChangedEntry::File => "file",
        ChangedEntry::Directory => "directory",
        ChangedEntry::Link => "link",
        ChangedEntry::Special => "special",
    };
    json!({
        "path": shown(&held.change.path),
        "change": kind,
        "entry": entry,
        "bytes": held.change.bytes,
        "conflict": held.conflict.map(conflict_text),
        "is_protected": held.is_protected,
    })
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the word for a state.
pub(crate) fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Held => "held",
        RunState::Committing => "landing",
        RunState::Committed => "kept",
        RunState::Dropped => "dropped",
    }
}
