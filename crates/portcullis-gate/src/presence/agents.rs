//! The agents: which processes started hooks, and for which sessions.
//!
//! The list outlives the agents for as long as the machine runs, because what an agent left behind is still the agent's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use portcullis_settings::disk::{
    DirectoryLock, FilePrivacy, ReplaceError, create_directory, plain, read_text, replace,
};
use serde::{Deserialize, Serialize};

use super::SystemProcesses;
use super::known_programs::{AGENTS, MULTIPLEXERS, SERVICE_MANAGERS, SSH_SERVERS, STARTERS, TERMINALS};
use super::process_table::{Process, ProcessTable};
use crate::Failure;

/// The file, below the state directory.
pub(super) const FILE: &str = "agents.json";
/// The form of the file.
const VERSION: u32 = 1;
/// The longest file, in bytes.
const LONGEST: u64 = 4 << 20;
/// How many agents are kept. Of those that ended the oldest go first. One that runs never goes, nor does the first one of a
/// control group since the machine started: what it left behind is still there.
const MOST: usize = 512;
/// How many sessions of an agent are kept, the newest.
const MOST_SESSIONS: usize = 32;

/// A process that is an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct RecordedAgent {
    pub(super) pid: u32,
    started: u64,
    boot: String,
    namespace: Option<String>,
    pub(super) program: String,
    terminal: u32,
    group: Option<String>,
    pub(super) sessions: Vec<String>,
}

/// Every agent that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRoster {
    version: u32,
    pub(super) agents: Vec<RecordedAgent>,
}

impl Default for AgentRoster {
    fn default() -> Self {
        Self { version: VERSION, agents: Vec::new() }
    }
}

impl RecordedAgent {
    pub(super) fn is(&self, process: &Process, table: &dyn ProcessTable) -> bool {
        self.pid == process.pid && self.started == process.started && self.is_counted_by(table)
    }

    /// Says whether its number means the same here.
    fn is_counted_by(&self, table: &dyn ProcessTable) -> bool {
        self.boot == table.boot() && self.namespace == table.namespace()
    }

    pub(super) fn is_running(&self, table: &dyn ProcessTable) -> bool {
        self.is_counted_by(table)
            && table.process(self.pid).is_some_and(|found| found.started == self.started)
    }
}

impl AgentRoster {
    /// Reads the list below a state directory. One that cannot be read is a failure, not an empty one.
    pub fn read(state: &Path) -> Result<Self, Failure> {
        let file = state.join(FILE);
        let text = read_text(&file, LONGEST).map_err(|error| broken(&file, &error.message))?;
        text.map_or_else(|| Ok(Self::default()), |text| Self::parse(&file, &text))
    }

    fn parse(file: &Path, text: &str) -> Result<Self, Failure> {
        let roster: Self = serde_json::from_str(text).map_err(|error| broken(file, &error.to_string()))?;
        if roster.version == VERSION { Ok(roster) } else { Err(broken(file, "its version is not known")) }
    }

    /// Adds what another list knows, so that what was once seen stays known.
    pub fn absorb(&mut self, other: Self) {
        for agent in other.agents {
            match self.agents.iter_mut().find(|known| known.names_the_same(&agent)) {
                Some(known) => known.sessions = agent.sessions,
                None => self.agents.push(agent),
            }
        }
        self.make_room(&SystemProcesses::default());
    }

    /// Says whether a process is an agent: one that starts hooks, or one that is known by its program.
    pub(super) fn is_agent(&self, process: &Process, table: &dyn ProcessTable) -> bool {
        process.is_one_of(&AGENTS) || self.has(process, table)
    }

    /// Says whether a process is one that starts hooks.
    pub(super) fn has(&self, process: &Process, table: &dyn ProcessTable) -> bool {
        self.agents.iter().any(|agent| agent.is(process, table))
    }

    /// Returns an agent that runs in a terminal.
    pub(super) fn living_at(&self, terminal: u32, table: &dyn ProcessTable) -> Option<&RecordedAgent> {
        self.agents.iter().find(|agent| agent.terminal == terminal && agent.is_running(table))
    }

    /// Says whether an agent was there before a process began.
    pub(super) fn is_before(&self, process: &Process, table: &dyn ProcessTable) -> bool {
        self.earlier(process, table).next().is_some()
    }

    /// Says whether an agent was there before a process began, in the same control group: what an agent starts stays in
    /// its group.
    pub(super) fn may_have_started(&self, process: &Process, table: &dyn ProcessTable) -> bool {
        let group = table.control_group(process.pid);
        self.earlier(process, table).any(|agent| agent.group == group)
    }

    fn earlier<'a>(
        &'a self,
        process: &'a Process,
        table: &'a dyn ProcessTable,
    ) -> impl Iterator<Item = &'a RecordedAgent> {
        self.agents.iter().filter(|agent| agent.is_counted_by(table) && agent.started <= process.started)
    }

    /// Says whether any agent was seen since the machine started.
    pub(super) fn has_agents(&self, table: &dyn ProcessTable) -> bool {
        let boot = table.boot();
        self.agents.iter().any(|agent| agent.boot == boot)
    }

    /// Says whether agents were seen whose processes cannot be seen from here.
    pub(super) fn has_unseen(&self, table: &dyn ProcessTable) -> bool {
        let (boot, here) = (table.boot(), table.namespace());
        here.is_some() && self.agents.iter().any(|agent| agent.boot == boot && agent.namespace != here)
    }

    /// Adds an agent with its session; says whether that changed anything.
    fn add(&mut self, agent: RecordedAgent, table: &dyn ProcessTable) -> bool {
        let session = agent.sessions.first().cloned();
        let Some(known) = self.agents.iter_mut().find(|known| known.names_the_same(&agent)) else {
            self.agents.push(agent);
            self.make_room(table);
            return true;
        };
        let Some(session) = session.filter(|session| !known.sessions.contains(session)) else { return false };
        known.sessions.push(session);
        let over = known.sessions.len().saturating_sub(MOST_SESSIONS);
        known.sessions.drain(..over);
        true
    }

    fn make_room(&mut self, table: &dyn ProcessTable) {
        let mut over = self.agents.len().saturating_sub(MOST);
        if over == 0 {
            return;
        }
        let mut firsts: BTreeMap<_, (u64, u32)> = BTreeMap::new();
        for agent in &self.agents {
            let own = (agent.started, agent.pid);
            let first = firsts.entry(agent.counted_by()).or_insert(own);
            *first = own.min(*first);
        }
        let boot = table.boot();
        self.agents.retain(|agent| {
            let is_first =
                agent.boot == boot && firsts.get(&agent.counted_by()) == Some(&(agent.started, agent.pid));
            let goes = over > 0 && !is_first && !agent.is_running(table);
            over -= usize::from(goes);
            !goes
        });
    }
}

impl RecordedAgent {
    /// Returns what decides whether a process may be of this agent's making, beside the time.
    fn counted_by(&self) -> (String, Option<String>, Option<String>) {
        (self.boot.clone(), self.namespace.clone(), self.group.clone())
    }

    fn names_the_same(&self, other: &Self) -> bool {
        (self.pid, self.started, &self.boot, &self.namespace)
            == (other.pid, other.started, &other.boot, &other.namespace)
    }
}

/// Returns the processes that started a hook: the nearest one that does not only start others, and those between it and the
/// shell of its terminal.
pub(super) fn agents_of(table: &dyn ProcessTable, hook: u32) -> Vec<Process> {
    let (line, _) = table.seen_line(hook);
    // What stands above the shell of a terminal is the terminal's.
    let leader = line.iter().position(|process| process.pid == process.session && process.terminal != 0);
    let above = line.get(1..leader.map_or(line.len(), |at| at + 1)).unwrap_or_default();
    let nearest = above.iter().position(|process| !process.is_one_of(&STARTERS));
    let is_peoples = |process: &Process| {
        [&TERMINALS[..], &MULTIPLEXERS, &SSH_SERVERS, &SERVICE_MANAGERS]
            .iter()
            .any(|names| process.is_one_of(names))
    };
    // A harness may be a script of the shell; the shell that leads a terminal is a person's.
    let is_shell = |process: &&Process| process.session != process.pid || process.terminal == 0;
    let Some(at) = nearest.filter(|at| above.get(*at).is_some_and(|process| !is_peoples(process))) else {
        return above.first().filter(is_shell).into_iter().cloned().collect();
    };
    let session = above.get(at).map(|process| (process.session, process.terminal));
    let is_job = |process: &&Process| {
        process.terminal != 0
            && process.pid != process.session
            && Some((process.session, process.terminal)) == session
    };
    let job = above.iter().skip(at + 1).take_while(is_job);
    above.iter().skip(at).take(1).chain(job).cloned().collect()
}

/// Keeps who started a hook for a session, and returns these processes. Nothing is locked or written unless there is
/// something new.
pub(super) fn note(
    state: &Path,
    table: &dyn ProcessTable,
    hook: u32,
    session: &str,
) -> Result<Vec<u32>, Failure> {
    let record = |process: Process| RecordedAgent {
        pid: process.pid,
        started: process.started,
        boot: table.boot(),
        namespace: table.namespace(),
        program: process.program().to_owned(),
        terminal: process.terminal,
        group: table.control_group(process.pid),
        sessions: vec![session.to_owned()],
    };
    let agents: Vec<RecordedAgent> = agents_of(table, hook).into_iter().map(record).collect();
    let add_to = |roster: &mut AgentRoster| {
        agents.iter().filter(|&agent| roster.add(agent.clone(), table)).count() > 0
    };
    let pids = agents.iter().map(|agent| agent.pid).collect();
    if agents.is_empty() || !add_to(&mut AgentRoster::read(state)?) {
        return Ok(pids);
    }
    let file: PathBuf = state.join(FILE);
    create_directory(state, FilePrivacy::Private).map_err(|error| broken(&file, &error.to_string()))?;
    let _lock = DirectoryLock::take(state).map_err(|refusal| unwritten(&file, &refusal))?;
    let before = read_text(&file, LONGEST).map_err(|error| broken(&file, &error.message))?;
    let mut roster = match &before {
        Some(text) => AgentRoster::parse(&file, text)?,
        None => AgentRoster::default(),
    };
    if !add_to(&mut roster) {
        return Ok(pids);
    }
    let text = serde_json::to_string(&roster).map_err(|error| broken(&file, &error.to_string()))?;
    replace(&file, before.as_deref(), &format!("{text}\n"), FilePrivacy::Private)
        .map_err(|refusal| unwritten(&file, &refusal))?;
    Ok(pids)
}

fn unwritten(file: &Path, refusal: &ReplaceError) -> Failure {
    match refusal {
        ReplaceError::Locked => broken(file, "somebody else changes it for too long"),
        ReplaceError::Changed => broken(file, "it changed in the meantime"),
        ReplaceError::Io(error) => broken(file, &plain(error)),
    }
}

fn broken(file: &Path, what: &str) -> Failure {
    Failure::internal(format!("the list of agents `{}` cannot be used: {what}", file.display()))
        .with_hint("remove the file if it is broken; agents that run are noted again with their next call")
}

#[cfg(test)]
pub(super) mod tests {
    use pretty_assertions::assert_eq;

    use super::super::test_table::{MadeUpTable, pts};
    use super::*;

    /// Returns the list after a hook noted who started it.
    pub(in crate::presence) fn noted(table: &MadeUpTable, hook: u32, session: &str) -> AgentRoster {
        let state = tempfile::tempdir().unwrap();
        note(state.path(), table, hook, session).unwrap();
        AgentRoster::read(state.path()).unwrap()
    }

    fn pids(roster: &AgentRoster) -> Vec<u32> {
        roster.agents.iter().map(|agent| agent.pid).collect()
    }

    pub(in crate::presence) fn in_a_terminal() -> MadeUpTable {
        MadeUpTable::default()
            .start((10, 1), "systemd", (10, 0))
            .start((20, 10), "konsole", (20, 0))
            .shell((30, 20), 1)
    }

    #[test]
    fn the_agent_is_who_started_the_hook_whatever_stands_between() {
        let table = in_a_terminal()
            .start((100, 30), "node", (30, pts(1)))
            .start((110, 100), "harness", (30, pts(1)))
            .start((120, 110), "sh", (120, 0))
            .start((130, 120), "timeout", (120, 0))
            .start((140, 130), "portcullis", (120, 0));
        assert_eq!(pids(&noted(&table, 140, "s1")), [110, 100]);
        let editor = MadeUpTable::default()
            .start((10, 1), "systemd", (10, 0))
            .start((40, 10), "code", (40, 0))
            .start((50, 40), "extension-host", (40, 0))
            .start((60, 50), "portcullis", (40, 0));
        assert_eq!(pids(&noted(&editor, 60, "s1")), [50]);
    }

    #[test]
    fn a_person_who_tries_a_hook_is_no_agent() {
        let by_hand = in_a_terminal().start((100, 30), "portcullis", (30, pts(1)));
        assert_eq!(pids(&noted(&by_hand, 100, "s1")), [0_u32; 0]);
        let harness = in_a_terminal().start((100, 30), "bash", (30, pts(1))).start(
            (110, 100),
            "portcullis",
            (30, pts(1)),
        );
        assert_eq!(pids(&noted(&harness, 110, "s1")), [100], "a script is one");
    }

    #[test]
    fn one_that_runs_is_never_forgotten() {
        let running = in_a_terminal().start((100, 30), "harness", (30, pts(1))).start(
            (110, 100),
            "portcullis",
            (30, 0),
        );
        let mut roster = noted(&running, 110, "s1");
        let first = roster.agents[0].clone();
        for number in 0..2 * u32::try_from(MOST).unwrap() {
            let other = RecordedAgent { pid: 1_000 + number, ..first.clone() };
            roster.add(other, &running);
        }
        assert_eq!(roster.agents.len(), MOST);
        assert_eq!(roster.agents[0], first);
    }

    #[test]
    fn whoever_fills_the_list_does_not_hide_who_was_first() {
        let running = in_a_terminal().start((100, 30), "harness", (30, pts(1))).start(
            (110, 100),
            "portcullis",
            (30, 0),
        );
        let mut roster = noted(&running, 110, "s1");
        let first = roster.agents[0].clone();
        let table = running.end(100);
        for number in 1..2 * u64::try_from(MOST).unwrap() {
            let other = RecordedAgent { started: first.started + number, ..first.clone() };
            roster.add(other, &table);
        }
        assert_eq!((roster.agents.len(), &roster.agents[0]), (MOST, &first));
    }

    #[test]
    fn a_broken_list_is_no_empty_one() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(AgentRoster::read(state.path()).unwrap(), AgentRoster::default());
        for wrong in ["", "{}", r#"{"version":2,"agents":[]}"#, "[]"] {
            std::fs::write(state.path().join(FILE), wrong).unwrap();
            assert!(AgentRoster::read(state.path()).is_err(), "{wrong}");
        }
    }
}
