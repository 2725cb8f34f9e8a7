//! Whether the changes of a contained call may land: they are judged by what they are, as a command that made them would be.
//!
//! What runs later or steers tools is held, and so is a change that takes work away which git could not bring back.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use portcullis_core::{DiskAnswer, DiskQuestion, is_rebuilt, visible};
use portcullis_fence::{ChangeKind, ChangedEntry, HeldChange};
use portcullis_output::human::counted;
use portcullis_world::World;

/// The most changed paths that git is asked about.
const MOST_PATHS: usize = 200;

/// Where git notes that it put other files in place of those that were there.
const GIT_STATE: [&str; 4] = [".git/index", ".git/HEAD", ".git/ORIG_HEAD", ".git/refs/stash"];

/// Says why changes must wait for a person, in one clause; nothing if they may land.
pub(super) fn objection(workspace: &Path, held: &[HeldChange]) -> Option<String> {
    let protected: Vec<_> = held.iter().filter(|held| held.is_protected).collect();
    if let Some(first) = protected.first() {
        let count = counted(protected.len(), "file");
        let first = visible(&first.change.path.to_string_lossy()).into_owned();
        return Some(format!("{count} that run later or steer tools were changed, first `{first}`"));
    }
    lost_work(workspace, held)
}

/// Names work that would be lost.
fn lost_work(workspace: &Path, held: &[HeldChange]) -> Option<String> {
    let moves_git = held.iter().any(|held| GIT_STATE.iter().any(|file| held.change.path == Path::new(file)));
    let is_loss = |held: &&HeldChange| takes_away(workspace, held, moves_git);
    let taken: Vec<&HeldChange> = held.iter().filter(is_loss).collect();
    if taken.len() > MOST_PATHS {
        return Some(format!("{} files were removed or emptied", taken.len()));
    }
    let mut world = World::default();
    let mut lost = taken.iter().filter_map(|held| {
        let path = workspace.join(&held.change.path);
        let question = DiskQuestion::Unheld(path.to_str()?.to_owned());
        match world.answer(BTreeSet::from([question])).pop() {
            Some((_, DiskAnswer::Leads(lost))) => lost.first().cloned(),
            Some((_, DiskAnswer::Absent)) => None,
            _ => Some(path.display().to_string()),
        }
    });
    let first = lost.next()?;
    let first = Path::new(&first).strip_prefix(workspace).unwrap_or(Path::new(&first)).display().to_string();
    let more = match lost.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("it takes away work that git does not hold: `{}`{more}", visible(&first)))
}

/// Says whether a change takes away what was there: it is gone, emptied, or replaced by git. What a build makes again is
/// nobody's work, and what git keeps for itself is judged by its names.
fn takes_away(workspace: &Path, held: &HeldChange, moves_git: bool) -> bool {
    let change = &held.change;
    let is_gits = change.path.components().any(|part| part.as_os_str() == ".git");
    if is_gits || change.path.to_str().is_some_and(is_rebuilt) {
        return false;
    }
    match change.kind {
        ChangeKind::Added => false,
        ChangeKind::Removed => true,
        ChangeKind::Modified if change.entry == ChangedEntry::Directory => false,
        ChangeKind::Modified => {
            let before = fs::symlink_metadata(workspace.join(&change.path)).map_or(0, |found| found.len());
            moves_git || change.bytes < before / 2
        }
    }
}
