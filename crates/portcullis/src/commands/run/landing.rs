//! Whether the changes of a contained call may land: they are judged by what they are, as the calls that make them would be.
//!
//! What runs later or steers tools is held, and so is what a rule, a finding or a protected path speaks of, and a change that
//! takes work away which git could not bring back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::thread;

use portcullis_core::{DiskAnswer, DiskQuestion, is_rebuilt, visible};
use portcullis_fence::{ChangeKind, ChangedEntry, HeldChange, LayerChange, RunRecord, open_regular};
use portcullis_gate::judge::ChangeJudge;
use portcullis_output::human::counted;
use portcullis_world::World;

use super::change_call::{ChangeCall, change_call};

/// The most changed paths that git is asked about.
const MOST_PATHS: usize = 200;

/// Where git notes in its directory that it put other files in place of those that were there.
const GIT_STATE: [&str; 5] = ["index", "HEAD", "ORIG_HEAD", "refs/stash", "reftable/tables.list"];

/// Says why changes must wait for a person, in one clause; nothing if they may land.
pub(super) fn objection(record: &RunRecord, session_id: &str, held: &[HeldChange]) -> Option<String> {
    let protected: Vec<_> = held.iter().filter(|held| held.is_protected).collect();
    if let Some(first) = protected.first() {
        let count = counted(protected.len(), "file");
        let first = visible(&first.change.path.to_string_lossy()).into_owned();
        return Some(format!("{count} that run later or steer tools were changed, first `{first}`"));
    }
    let upper = record.layers.first().map(|layer| layer.upper.as_path())?;
    lost_history(&record.workspace, upper, held)
        .or_else(|| lost_work(&record.workspace, held))
        .or_else(|| judged(record, session_id, held))
}

/// What git keeps commits by, in its directory.
const GIT_HISTORY: [&str; 6] = ["refs", "reftable", "objects", "packed-refs", "logs", "HEAD"];

/// Where git keeps the repositories of submodules and of linked worktrees.
const INNER_REPOSITORIES: [&str; 2] = ["modules", "worktrees"];

/// Names a part of a repository that is gone, cut or replaced. Git itself only adds to what it keeps commits by, and moves
/// the branch that it is on.
fn lost_history(workspace: &Path, upper: &Path, held: &[HeldChange]) -> Option<String> {
    let mut changes = held.iter().map(|held| &held.change);
    let lost = changes.find(|change| {
        let history = GitHistory::of(workspace, upper, change);
        history.is_some_and(|history| history.is_damaged(held).unwrap_or(true))
    })?;
    Some(format!("it damages what git keeps commits by: `{}`", visible(&lost.path.to_string_lossy())))
}

/// A change of what a repository keeps commits by.
struct GitHistory<'run> {
    workspace: &'run Path,
    upper: &'run Path,
    change: &'run LayerChange,
    /// The directory of git, from the workspace.
    directory: PathBuf,
    /// The path of the change in there.
    name: PathBuf,
}

impl<'run> GitHistory<'run> {
    fn of(workspace: &'run Path, upper: &'run Path, change: &'run LayerChange) -> Option<Self> {
        let parts: Vec<&OsStr> = change.path.iter().collect();
        let git = parts.iter().position(|part| *part == ".git")?.saturating_add(1);
        let inside = parts.get(git..).filter(|inside| !inside.is_empty())?;
        let is_inner = inside.first().is_some_and(|part| INNER_REPOSITORIES.iter().any(|name| part == name));
        let is_history = |part: &&OsStr| GIT_HISTORY.iter().any(|name| part == name);
        let at = match inside.iter().position(is_history) {
            Some(at) if at == 0 || is_inner => at,
            // A whole repository that is gone has all of it.
            None if is_inner && change.entry == ChangedEntry::Directory => 0,
            _ => return None,
        };
        let directory = parts.iter().take(git.saturating_add(at)).collect();
        let name = inside.iter().skip(at).collect();
        Some(Self { workspace, upper, change, directory, name })
    }

    /// Says whether something is lost by the change. What cannot be looked at is taken for lost.
    fn is_damaged(&self, held: &[HeldChange]) -> io::Result<bool> {
        if self.name.starts_with("reftable") {
            return self.loses_refs(held);
        }
        let before = match fs::symlink_metadata(self.workspace.join(&self.change.path)) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if self.change.kind == ChangeKind::Removed {
            return Ok(true);
        }
        if self.change.entry == ChangedEntry::Directory {
            return Ok(before.is_some_and(|before| !before.is_dir()));
        }
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            return Ok(true);
        }
        let first = self.name.iter().next().and_then(OsStr::to_str).unwrap_or_default();
        match (first, before) {
            ("refs", _) => self.moves_another_ref(held),
            (_, None) | ("HEAD", _) => Ok(false),
            ("objects", Some(_)) if self.name.starts_with("objects/info") => Ok(false),
            ("objects", Some(before)) => Ok(before.len() != self.change.bytes || !self.begins_as_before()?),
            ("logs", _) => Ok(!self.begins_as_before()?),
            _ => self.drops_lines(),
        }
    }

    /// Says whether a file begins with all that it was.
    fn begins_as_before(&self) -> io::Result<bool> {
        let mut before = BufReader::new(open_regular(&self.workspace.join(&self.change.path))?);
        let mut after = BufReader::new(open_regular(&self.upper.join(&self.change.path))?);
        loop {
            let (one, other) = (before.fill_buf()?, after.fill_buf()?);
            let common = one.len().min(other.len());
            if one.is_empty() {
                return Ok(true);
            }
            if common == 0 || one.get(..common) != other.get(..common) {
                return Ok(false);
            }
            before.consume(common);
            after.consume(common);
        }
    }

    fn drops_lines(&self) -> io::Result<bool> {
        let before = read_text(&self.workspace.join(&self.change.path))?;
        let after = read_text(&self.upper.join(&self.change.path))?;
        let kept: BTreeSet<&str> = after.lines().collect();
        Ok(before.lines().any(|line| !line.starts_with('#') && !kept.contains(line)))
    }

    /// Says whether a ref that was there leads elsewhere, other than the branch that git is on and the stash, whose log keeps
    /// where they were.
    fn moves_another_ref(&self, held: &[HeldChange]) -> io::Result<bool> {
        let Some(before) = self.value_before()? else { return Ok(false) };
        let after = read_text(&self.upper.join(&self.change.path))?;
        let after = after.trim();
        if after == before {
            return Ok(false);
        }
        let is_object = after.len() >= 40 && after.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_object && !after.starts_with("ref: ") {
            return Ok(true);
        }
        let log = self.directory.join("logs").join(&self.name);
        if self.name == Path::new("refs/stash") {
            return Ok(!held.iter().any(|held| held.change.path == log));
        }
        let on = self.directory.join("HEAD");
        let is_head = |place: &Path| {
            read_text(&place.join(&on))
                .is_ok_and(|head| head.trim().strip_prefix("ref: ").map(Path::new) == Some(&*self.name))
        };
        let log_keeps = |place: &Path| read_text(&place.join(&log)).is_ok_and(|log| log.contains(&before));
        let keeps = || log_keeps(self.upper) || log_keeps(self.workspace);
        Ok(!(is_head(self.workspace) || is_head(self.upper) && keeps()))
    }

    /// Says whether a ref is gone or leads elsewhere in a repository that keeps its refs in tables, other than the branch that
    /// git is on. Its tables hold the logs too, packed, and so nobody can say whether these keep where a ref was; what git
    /// notes beside the refs is its own.
    fn loses_refs(&self, held: &[HeldChange]) -> io::Result<bool> {
        let directory = self.directory.join("reftable");
        let list = directory.join("tables.list");
        let is_gone = |path: &Path| {
            let mut removed = held.iter().filter(|held| held.change.kind == ChangeKind::Removed);
            removed.any(|held| path.starts_with(&held.change.path))
        };
        let read_before = |path: &Path| read_bytes(&self.workspace.join(path));
        let read_after = |path: &Path| match fs::symlink_metadata(self.upper.join(path)) {
            Ok(_) => read_bytes(&self.upper.join(path)),
            Err(_) if is_gone(path) => Err(io::ErrorKind::NotFound.into()),
            Err(_) => read_before(path),
        };
        let before = match read_before(&list) {
            // A repository that is new.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            list => refs_in(&list?, |name| read_before(&directory.join(name)))?,
        };
        let after = refs_in(&read_after(&list)?, |name| read_after(&directory.join(name)))?;
        let on = match before.get("HEAD") {
            Some(RefValue::Name(name)) => Some(name),
            _ => None,
        };
        let is_kept = |(name, value): (&String, &RefValue)| {
            let now = after.get(name);
            let is_moved = on == Some(name) && matches!(now, Some(RefValue::Object(_)));
            now == Some(value) || is_moved || !name.starts_with("refs/")
        };
        Ok(!before.iter().all(is_kept))
    }

    /// Returns where a ref led, which may stand in a file of its own or among the packed ones.
    fn value_before(&self) -> io::Result<Option<String>> {
        match read_text(&self.workspace.join(&self.change.path)) {
            Ok(text) => return Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        let packed = read_text(&self.workspace.join(&self.directory).join("packed-refs"));
        let packed = packed.unwrap_or_default();
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        Ok(lines.find(|(_, name)| Path::new(name) == self.name).map(|(value, _)| value.to_owned()))
    }
}

/// The longest file of git that is read as a whole.
const LONGEST_FILE: u64 = 64 << 20;

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(LONGEST_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of git. Whatever else stands in its place, such as a pipe, cannot be read.
fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Where a ref leads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RefValue {
    /// To an object, with what it was made of.
    Object(Vec<u8>),
    /// To another ref.
    Name(String),
}

/// Returns the refs of a list of tables, of which a later one takes the place of an earlier one.
fn refs_in(
    list: &[u8],
    read: impl Fn(&str) -> io::Result<Vec<u8>>,
) -> io::Result<BTreeMap<String, RefValue>> {
    let list = std::str::from_utf8(list).map_err(|_| io::ErrorKind::InvalidData)?;
    let mut refs = BTreeMap::new();
    for name in list.lines() {
        if name.contains('/') {
            return Err(io::ErrorKind::InvalidData.into());
        }
        add_refs(&read(name)?, &mut refs).ok_or(io::ErrorKind::InvalidData)?;
    }
    Ok(refs)
}

/// Adds the refs of one table: blocks of records whose names are cut short by what they share with the one before. Nothing if
/// it is not as git writes it.
fn add_refs(table: &[u8], refs: &mut BTreeMap<String, RefValue>) -> Option<()> {
    let (head, hash) = match (table.get(..5)?, table.get(24..28)?) {
        (b"REFT\x01", _) => (24, 20),
        (b"REFT\x02", b"s256") => (28, 32),
        (b"REFT\x02", _) => (28, 20),
        _ => return None,
    };
    let size = number_in(table.get(5..8)?);
    let mut start = 0;
    let mut at = head;
    while table.get(at) == Some(&b'r') {
        let length = number_in(table.get(at + 1..at + 4)?);
        let block = table.get(..start + length)?;
        let restarts = number_in(block.get(block.len().checked_sub(2)?..)?);
        let end = block.len().checked_sub(2 + 3 * restarts)?;
        let mut records = RefRecords { bytes: block.get(..end)?, at: at + 4, hash, name: Vec::new() };
        while records.at < end {
            let (name, value) = records.next()?;
            match value {
                Some(value) => refs.insert(name, value),
                None => refs.remove(&name),
            };
        }
        start += if size == 0 { length } else { size };
        at = start;
    }
    Some(())
}

/// The records of a block.
struct RefRecords<'table> {
    bytes: &'table [u8],
    at: usize,
    /// How long the name of an object is.
    hash: usize,
    /// The name of the last ref.
    name: Vec<u8>,
}

impl RefRecords<'_> {
    /// Reads a ref and where it leads, or that it is gone.
    fn next(&mut self) -> Option<(String, Option<RefValue>)> {
        let shared = self.number()?;
        let kind = self.number()?;
        self.name.truncate(shared);
        let suffix = self.take(kind >> 3)?.to_vec();
        self.name.extend(suffix);
        self.number()?;
        let value = match kind & 7 {
            0 => None,
            1 => Some(RefValue::Object(self.take(self.hash)?.to_vec())),
            2 => Some(RefValue::Object(self.take(2 * self.hash)?.to_vec())),
            3 => {
                let length = self.number()?;
                Some(RefValue::Name(String::from_utf8(self.take(length)?.to_vec()).ok()?))
            }
            _ => return None,
        };
        Some((String::from_utf8(self.name.clone()).ok()?, value))
    }

    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    /// Reads a number of variable length, of which each further byte adds one too.
    fn number(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }
}

fn number_in(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
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
    let mut moved: Vec<PathBuf> =
        held.iter().filter_map(|held| moved_by_git(workspace, &held.change.path)).collect();
    moved.dedup();
    let is_loss = |held: &&HeldChange| {
        takes_away(workspace, held, moved.iter().any(|root| held.change.path.starts_with(root)))
    };
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

/// Returns the directory in which git put other files in place of those that were there, if a path is where it notes that.
/// That of a submodule or linked worktree, or of a repository by another name, may be any.
fn moved_by_git(workspace: &Path, path: &Path) -> Option<PathBuf> {
    let is_state = |inside: &Path| GIT_STATE.iter().any(|name| inside.ends_with(name));
    if !is_state(path) {
        return None;
    }
    let above: PathBuf = path.iter().take_while(|part| *part != ".git").collect();
    let Ok(inside) = path.strip_prefix(above.join(".git")) else {
        let is_repository = path.parent().is_some_and(|parent| workspace.join(parent).join("HEAD").is_file());
        return is_repository.then(PathBuf::new);
    };
    let is_inner = INNER_REPOSITORIES.iter().any(|name| inside.starts_with(name));
    Some(if is_inner { PathBuf::new() } else { above })
}

/// Says whether a change takes away what was there: it is gone, emptied, replaced by git, or by a directory. What a build makes again is
/// nobody's work, and what git keeps for itself is judged by its names.
fn takes_away(workspace: &Path, held: &HeldChange, moves_git: bool) -> bool {
    let change = &held.change;
    let is_gits = change.path.components().any(|part| part.as_os_str() == ".git");
    if is_gits || change.path.to_str().is_some_and(is_rebuilt) {
        return false;
    }
    let before = fs::symlink_metadata(workspace.join(&change.path));
    let was_directory = before.as_ref().is_ok_and(fs::Metadata::is_dir);
    match change.kind {
        ChangeKind::Added => false,
        ChangeKind::Removed => true,
        // One of them in the place of the other leaves nothing of it.
        ChangeKind::Modified if was_directory != (change.entry == ChangedEntry::Directory) => true,
        ChangeKind::Modified if was_directory => false,
        ChangeKind::Modified => moves_git || change.bytes < before.map_or(0, |found| found.len()) / 2,
    }
}
