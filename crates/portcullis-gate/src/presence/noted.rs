//! Which process a session's last hook came from, so that the next hook need not look at all its parents again.
//!
//! Looking at every parent takes as long as the rest of a hook, and an agent starts hundreds of them. The first one notes
//! the agents and writes down here which process stands nearest; one that comes from the same process, for the same
//! session, has nothing to add.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use portcullis_settings::disk::{FilePrivacy, create_directory, read_text, replace};
use portcullis_store::Store;

use super::agents::FILE;
use super::known_programs::STARTERS;
use super::process_table::ProcessTable;

/// The folder, below the state directory, with a file a session.
const FOLDER: &str = "agents";
/// The longest file, in bytes.
const LONGEST: u64 = 512;
/// So many programs that only start others may stand between a hook and its agent.
const MOST_STARTERS: usize = 16;
/// After this time a file is of no use: its session is over, or writes it anew.
const OLD: Duration = Duration::from_hours(30 * 24);

/// What is written down of the process that a hook comes from.
pub(super) struct NotedParent {
    pub(super) pid: u32,
    file: PathBuf,
    roster: PathBuf,
    text: String,
}

impl NotedParent {
    /// Finds the nearest process above a hook that does not only start others; `None` if that cannot be told.
    pub(super) fn of(state: &Path, table: &dyn ProcessTable, parent: u32, session: &str) -> Option<Self> {
        let mut next = parent;
        for _ in 0..MOST_STARTERS {
            let process = table.glance(next).filter(|process| !table.is_root(process.pid))?;
            if process.is_one_of(&STARTERS) {
                next = process.parent;
                continue;
            }
            let folder = state.join(FOLDER);
            let file = folder.join(Store::new(state.to_path_buf()).session(session).name());
            let text = format!("{} {} {}\n", process.pid, process.started, table.boot());
            return Some(Self { pid: process.pid, file, roster: state.join(FILE), text });
        }
        None
    }

    /// Says whether the agents above this process were noted for this session. A list that somebody removed is made anew.
    pub(super) fn is_known(&self) -> bool {
        let known = read_text(&self.file, LONGEST).ok().flatten();
        known.as_deref() == Some(self.text.as_str()) && fs::symlink_metadata(&self.roster).is_ok()
    }

    /// Writes it down. What could not be written costs the next hook a look at its parents and nothing else.
    pub(super) fn keep(&self) {
        let Some(folder) = self.file.parent() else { return };
        if create_directory(folder, FilePrivacy::Private).is_err() {
            return;
        }
        remove_old(folder);
        let before = read_text(&self.file, LONGEST).ok().flatten();
        let _ = replace(&self.file, before.as_deref(), &self.text, FilePrivacy::Private);
    }
}

fn remove_old(folder: &Path) {
    let is_old = |entry: &fs::DirEntry| {
        let written = entry.metadata().and_then(|data| data.modified());
        written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > OLD))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_old) {
        let _ = fs::remove_file(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::super::agents::tests::in_a_terminal;
    use super::super::test_table::{MadeUpTable, pts};
    use super::*;

    fn with_shell(shell: u32) -> MadeUpTable {
        in_a_terminal().start((100, 30), "harness", (30, pts(1))).start((shell, 100), "sh", (30, pts(1)))
    }

    #[test]
    fn a_hook_from_the_same_agent_for_the_same_session_is_known_whatever_shell_started_it() {
        let state = tempfile::tempdir().unwrap();
        let noted = |table: &MadeUpTable, parent: u32, session: &str| {
            NotedParent::of(state.path(), table, parent, session).unwrap()
        };
        let first = noted(&with_shell(110), 110, "s1");
        assert!(!first.is_known());
        first.keep();
        assert!(!first.is_known(), "there is no list of agents");
        fs::write(state.path().join(FILE), "{}").unwrap();
        assert!(noted(&with_shell(110), 110, "s1").is_known());
        assert!(noted(&with_shell(120), 120, "s1").is_known(), "another shell of the same agent");
        assert!(!noted(&with_shell(110), 110, "s2").is_known(), "another session");
        let other = in_a_terminal().start((101, 30), "harness", (30, pts(1)));
        assert!(!noted(&other, 101, "s1").is_known(), "another agent");
    }

    #[test]
    fn nothing_is_known_where_no_agent_can_be_told() {
        let state = tempfile::tempdir().unwrap();
        assert!(NotedParent::of(state.path(), &in_a_terminal(), 999, "s1").is_none());
        assert!(NotedParent::of(state.path(), &in_a_terminal(), 1, "s1").is_none());
    }
}
