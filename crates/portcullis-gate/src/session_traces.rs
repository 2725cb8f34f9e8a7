//! What a call that was let through leaves for later calls of its session, where no session file of the host tells it.
//!
//! A session is known this way only from its start on: its agent said that it began, and every call since was put to us.
//! A call of a session of which nobody said that changes nothing but that: such a start would come too late.

use portcullis_core::Case;
use portcullis_store::{SessionFactLog, SessionStart, Store};

use crate::Failure;
use crate::clock::now_ms;
use crate::session_facts::lost;

/// What a call may do from the moment on that it is let through.
#[derive(Debug, Default)]
pub struct CallTraces {
    written: Vec<String>,
    filled: Vec<String>,
    /// Whether it writes what nobody can name, or starts an agent whose calls may belong to another session.
    is_open: bool,
    reads_secrets: bool,
}

/// Who says what happens in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionTeller {
    /// A program that embeds the gate: it puts every call to us, from the first on.
    Program,
    /// A host, which says when its session begins.
    Host,
}

impl CallTraces {
    /// Adds what a call may do.
    pub(crate) fn add(&mut self, case: &Case) {
        self.written.extend(case.written_paths());
        self.filled.extend(case.filled_directories());
        self.is_open |= case.writes_unnamed();
        self.reads_secrets |= case.reads_secrets();
    }

    /// Adds that an agent is started of whose calls we may not be told under this session.
    pub(crate) fn add_stranger(&mut self) {
        self.is_open = true;
    }

    /// Says whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.filled.is_empty() && !self.is_open && !self.reads_secrets
    }

    /// Keeps it. What cannot be kept is a failure: later calls would take the agent's files for the project's.
    pub fn keep(&self, store: &Store, session: &str, teller: SessionTeller) -> Result<(), Failure> {
        if self.is_empty() || session.is_empty() {
            return Ok(());
        }
        let kept = store.session(session).update_facts(|facts| self.keep_in(facts, teller), now_ms());
        kept.map_err(|error| lost(&error))
    }

    fn keep_in(&self, facts: &mut SessionFactLog, teller: SessionTeller) -> bool {
        if teller == SessionTeller::Host && facts.start != SessionStart::Seen {
            return std::mem::replace(&mut facts.start, SessionStart::Missed) != SessionStart::Missed;
        }
        let mut is_changed = self.is_open && !std::mem::replace(&mut facts.is_partial, true);
        is_changed |= self.reads_secrets && !std::mem::replace(&mut facts.reads_secrets, true);
        for path in &self.written {
            is_changed |= facts.write(path);
            if let Some(real) = real_path(path) {
                is_changed |= facts.write(&real);
            }
        }
        for directory in &self.filled {
            is_changed |= facts.fill(directory);
        }
        is_changed
    }
}

/// Returns where a path leads when links are followed, if it is there and is text.
fn real_path(path: &str) -> Option<String> {
    std::fs::canonicalize(path).ok()?.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use portcullis_core::{Context, Mode, ToolCall};
    use pretty_assertions::assert_eq;

    use super::*;

    fn traces(command: &str) -> CallTraces {
        let mut traces = CallTraces::default();
        traces.add(&Case::new(ToolCall::bash(command), Context::new(Mode::Auto, "/code/app")));
        traces
    }

    #[test]
    fn only_a_session_that_was_seen_to_begin_is_followed() {
        let write = traces("echo 'exit 0' > run.sh");
        let mut facts = SessionFactLog::default();
        assert!(write.keep_in(&mut facts, SessionTeller::Host));
        assert_eq!((facts.start, facts.written.len()), (SessionStart::Missed, 0));
        assert!(!write.keep_in(&mut facts, SessionTeller::Host), "nothing is written a second time");

        let mut facts = SessionFactLog { start: SessionStart::Seen, ..SessionFactLog::default() };
        assert!(write.keep_in(&mut facts, SessionTeller::Host));
        assert_eq!(facts.written, ["/code/app/run.sh"]);
        assert!(!write.keep_in(&mut facts, SessionTeller::Host));
    }

    #[test]
    fn what_only_looks_leaves_nothing() {
        for command in ["ls -la", "git status", "cat src/main.rs", "grep -rn add src"] {
            assert!(traces(command).is_empty(), "{command}");
        }
    }

    #[test]
    fn what_cannot_be_named_makes_any_file_the_agents_own() {
        let mut facts = SessionFactLog { start: SessionStart::Seen, ..SessionFactLog::default() };
        let mut started = CallTraces::default();
        started.add_stranger();
        assert!(started.keep_in(&mut facts, SessionTeller::Host) && facts.is_partial);
        assert!(!started.keep_in(&mut facts, SessionTeller::Host));
    }

    #[test]
    fn a_secret_that_was_read_is_remembered() {
        let mut facts = SessionFactLog { start: SessionStart::Seen, ..SessionFactLog::default() };
        assert!(traces("cat ~/.ssh/id_rsa").keep_in(&mut facts, SessionTeller::Host));
        assert!(facts.reads_secrets);
    }
}
