//! What a run changed, line by line.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_core::visible;
use portcullis_fence::{ChangeKind, ChangedEntry, LayerChange, RunRecord};
use portcullis_gate::Failure;
use portcullis_install::unified_diff;
use portcullis_output::terminal::{DIM, Painted};

/// The largest file that is shown line by line.
const LARGEST_SHOWN: u64 = 1 << 20;

/// Writes the difference of the changed files at or below paths, or of all.
pub(super) fn run_diff(record: &RunRecord, paths: &[PathBuf]) -> Result<String, Failure> {
    let layer = record.layers.first().ok_or_else(|| Failure::internal("the run has no layer"))?;
    let is_meant =
        |change: &&LayerChange| paths.is_empty() || paths.iter().any(|path| change.path.starts_with(path));
    let meant: Vec<&LayerChange> = record.changes.iter().filter(is_meant).collect();
    if meant.is_empty() {
        return Ok("nothing is held there\n".to_owned());
    }
    Ok(meant.iter().map(|change| change_diff(change, &layer.upper, &record.workspace)).collect())
}

fn change_diff(change: &LayerChange, upper: &Path, lower: &Path) -> String {
    let name = visible(&change.path.to_string_lossy()).into_owned();
    let note = |text: &str| format!("{}\n", Painted(DIM, format!("{name}: {text}")));
    let removed = change.kind == ChangeKind::Removed;
    match change.entry {
        ChangedEntry::Directory if removed => note("the directory is removed"),
        ChangedEntry::Directory => note("the directory is made or has another mode"),
        ChangedEntry::Link if !removed => {
            let target = fs::read_link(upper.join(&change.path)).unwrap_or_default();
            note(&format!("a link to {}", visible(&target.to_string_lossy())))
        }
        ChangedEntry::Special => note("a pipe"),
        ChangedEntry::Link | ChangedEntry::File => {
            let before = read_text(&lower.join(&change.path));
            let after = if removed { ShownText::Missing } else { read_text(&upper.join(&change.path)) };
            match (before, after) {
                (ShownText::Text(before), ShownText::Text(after)) if before == after => {
                    note("another mode or other times")
                }
                (ShownText::Text(before), ShownText::Text(after)) => {
                    unified_diff(&change.path, Some(&before), &after)
                }
                (ShownText::Missing, ShownText::Text(after)) => unified_diff(&change.path, None, &after),
                (ShownText::Text(before), ShownText::Missing) => {
                    unified_diff(&change.path, Some(&before), "")
                }
                (_, ShownText::Missing) => note("removed"),
                _ => note("not text, or too long to show"),
            }
        }
    }
}

enum ShownText {
    Missing,
    Other,
    Text(String),
}

fn read_text(path: &Path) -> ShownText {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= LARGEST_SHOWN => {
            fs::read_to_string(path).map_or(ShownText::Other, ShownText::Text)
        }
        Ok(_) => ShownText::Other,
        Err(_) => ShownText::Missing,
    }
}
