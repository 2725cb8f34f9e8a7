//! Whether the changes of a contained call may land: they are judged by what they are, as the calls that make them would be.
//!
//! What runs later or steers tools is held, and so is what a rule, a finding or a protected path speaks of, and a change that
//! takes work away which git could not bring back.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;

use portcullis_core::{DiskAnswer, DiskQuestion, is_rebuilt, visible};
use portcullis_fence::{ChangeKind, ChangedEntry, HeldChange, LayerChange, RunRecord};
use portcullis_gate::judge::ChangeJudge;
use portcullis_output::human::counted;
use portcullis_world::World;

use super::change_call::{ChangeCall, change_call};

/// The most changed paths that git is asked about.
const MOST_PATHS: usize = 200;

/// Where git notes that it put other files in place of those that were there.
const GIT_STATE: [&str; 4] = [".git/index", ".git/HEAD", ".git/ORIG_HEAD", ".git/refs/stash"];

/// Says why changes must wait for a person, in one clause; nothing if they may land.
pub(super) fn objection(record: &RunRecord, session_id: &str, held: &[HeldChange]) -> Option<String> {
    let protected: Vec<_> = held.iter().filter(|held| held.is_protected).collect();
    if let Some(first) = protected.first() {
        let count = counted(protected.len(), "file");
        let first = visible(&first.change.path.to_string_lossy()).into_owned();
        return Some(format!("{count} that run later or steer tools were changed, first `{first}`"));
    }
    lost_history(held)
        .or_else(|| lost_work(&record.workspace, held))
        .or_else(|| judged(record, session_id, held))
}

/// What git keeps commits by.
const GIT_HISTORY: [&str; 4] = ["refs", "objects", "packed-refs", "HEAD"];

/// Names a branch or another part of a repository that is gone, unless git packed what it has.
fn lost_history(held: &[HeldChange]) -> Option<String> {
    let has = |path: &Path, names: &[&str]| {
        let mut parts = path.iter().skip_while(|part| *part != ".git").skip(1);
        parts.next().is_some_and(|part| names.iter().any(|name| part == *name))
    };
    let is_gone = |held: &&HeldChange| held.change.kind == ChangeKind::Removed;
    let is_packed = held.iter().any(|held| !is_gone(&held) && has(&held.change.path, &["packed-refs"]));
    let mut lost = held.iter().filter(is_gone).filter(|held| has(&held.change.path, &GIT_HISTORY));
    let first = lost.next().filter(|_| !is_packed)?;
    Some(format!("it removes what git keeps: `{}`", visible(&first.change.path.to_string_lossy())))
}

/// Says what settings and findings say against a change, the first of them. Many changes are shared out among the cores.
/// Where nothing does, what lands is noted as the session's own first.
fn judged(record: &RunRecord, session_id: &str, held: &[HeldChange]) -> Option<String> {
    let judge = match ChangeJudge::open(&record.directory, session_id) {
        Ok(judge) => judge,
        Err(failure) => return Some(failure.message),
    };
    let upper = record.layers.first().map(|layer| layer.upper.as_path())?;
    let judging = ChangeJudging { judge: &judge, workspace: &record.workspace, upper };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = held.len().div_ceil(cores).max(LEAST_SHARE);
    let objection = thread::scope(|scope| {
        let parts: Vec<_> = held
            .chunks(share)
            .map(|part| thread::Builder::new().spawn_scoped(scope, move || judging.first_objection(part)))
            .collect();
        let unjudged = || Some("its changes could not be judged because of an internal failure".to_owned());
        parts
            .into_iter()
            .map(|part| part.map_or_else(|_| unjudged(), |part| part.join().unwrap_or_else(|_| unjudged())))
            .find_map(|objection| objection)
    });
    objection.or_else(|| {
        let landing = held.iter().map(|held| &held.change).filter(|change| is_for_others(change));
        let files = landing.map(|change| change.path.as_path());
        let noted = judge.note_landing(session_id, &record.workspace, files);
        noted.err().map(|failure| failure.message)
    })
}

/// Says whether a change brings something that later calls may run.
fn is_for_others(change: &LayerChange) -> bool {
    let is_gits = change.path.iter().any(|part| part == ".git");
    !is_gits && change.kind != ChangeKind::Removed && change.entry != ChangedEntry::Directory
}

/// The fewest changes that are worth a thread of their own.
const LEAST_SHARE: usize = 200;

/// What changes are judged with.
#[derive(Debug, Clone, Copy)]
struct ChangeJudging<'a> {
    judge: &'a ChangeJudge,
    workspace: &'a Path,
    upper: &'a Path,
}

impl ChangeJudging<'_> {
    /// Returns what speaks against the first change that something speaks against.
    fn first_objection(self, held: &[HeldChange]) -> Option<String> {
        let mut world = World::default();
        held.iter().find_map(|held| {
            let name = || visible(&held.change.path.to_string_lossy()).into_owned();
            let call = match change_call(self.workspace, self.upper, &held.change) {
                ChangeCall::Call(call) => call,
                ChangeCall::NoneNeeded => return None,
                ChangeCall::Unreadable => return Some(format!("nobody can tell what `{}` is", name())),
            };
            match self.judge.objection(call, &mut world) {
                Ok(None) => None,
                Ok(Some(reason)) => Some(format!("it changed `{}`: {reason}", name())),
                Err(failure) => Some(failure.message),
            }
        })
    }
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
