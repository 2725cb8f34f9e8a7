//! What a run changed, line by line.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use portcullis_core::visible;
use portcullis_fence::{ChangeKind, ChangedEntry, LayerChange, RunRecord, open_regular};

use crate::text_difference::{DifferenceKind, DifferenceLimit, DifferenceLine, unified_difference};

/// The largest file that is shown line by line.
const LARGEST_SHOWN: u64 = 1 << 20;

/// Returns the difference of the held changes at or below paths, or of all. What is cut off is counted in the last line.
pub fn run_difference(record: &RunRecord, paths: &[PathBuf], limit: DifferenceLimit) -> Vec<DifferenceLine> {
    let is_meant =
        |change: &&LayerChange| paths.is_empty() || paths.iter().any(|path| change.path.starts_with(path));
    let meant: Vec<&LayerChange> = record.changes.iter().filter(is_meant).collect();
    difference_of(record, &meant, limit)
}

/// Returns the difference of some changes, in this order.
pub(super) fn difference_of(
    record: &RunRecord,
    changes: &[&LayerChange],
    limit: DifferenceLimit,
) -> Vec<DifferenceLine> {
    let Some(layer) = record.layers.first() else { return Vec::new() };
    let mut lines = Vec::new();
    let mut changes = changes.iter();
    while lines.len() < limit.lines
        && let Some(change) = changes.next()
    {
        lines.extend(change_difference(change, &layer.upper, &record.workspace));
    }
    let cut = lines.len().saturating_sub(limit.lines);
    lines.truncate(limit.lines);
    for line in &mut lines {
        if let Some((end, _)) = line.text.char_indices().nth(limit.columns) {
            line.text.truncate(end);
            line.text.push('…');
        }
    }
    let rest = changes.len();
    if cut + rest > 0 {
        let text = format!("… cut here: {cut} more lines of this file, {rest} more changes");
        lines.push(DifferenceLine::new(DifferenceKind::Note, text));
    }
    lines
}

fn change_difference(change: &LayerChange, upper: &Path, lower: &Path) -> Vec<DifferenceLine> {
    let name = change.path.to_string_lossy();
    let note =
        |text: &str| vec![DifferenceLine::new(DifferenceKind::Note, format!("{}: {text}", visible(&name)))];
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
            let before = read_text(lower, &change.path);
            let after = if removed { ShownText::Missing } else { read_text(upper, &change.path) };
            match (before, after) {
                (ShownText::Text(before), ShownText::Text(after)) if before == after => {
                    note("another mode or other times")
                }
                (ShownText::Text(before), ShownText::Text(after)) => {
                    unified_difference(&name, Some(&before), &after)
                }
                (ShownText::Missing, ShownText::Text(after)) => unified_difference(&name, None, &after),
                (ShownText::Text(before), ShownText::Missing) => unified_difference(&name, Some(&before), ""),
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

/// Reads a file below a root. A link on the way may have been put there since, to show a file from elsewhere.
fn read_text(root: &Path, relative: &Path) -> ShownText {
    let mut above = relative.ancestors().skip(1).map(|directory| root.join(directory));
    if above.any(|directory| directory != root && directory.is_symlink()) {
        return ShownText::Other;
    }
    let path = root.join(relative);
    match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= LARGEST_SHOWN => {
            let mut text = String::new();
            let read =
                open_regular(&path).and_then(|file| file.take(LARGEST_SHOWN).read_to_string(&mut text));
            read.map_or(ShownText::Other, |_| ShownText::Text(text))
        }
        Ok(_) => ShownText::Other,
        Err(_) => ShownText::Missing,
    }
}
