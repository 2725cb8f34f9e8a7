//! Who is at the other end: a person at a terminal of their own, or something that an agent started.
//!
//! ```text
//! hook ──► its parents ──► agents.json             whoever would widen something ──► its parents, its terminal ──► may they?
//! ```
//!
//! Nothing that a process of the same user can read makes anybody a person. What counts is where a process comes from: the
//! kernel says who started it and which terminal it has, and every hook says which process is an agent.
//!
//! INVARIANT: what cannot be found out is no person. Denying and looking need none.

mod absence;
mod agents;
mod check;
mod known_programs;
mod noted;
mod plain_shell;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "where there is no `/proc`, only the numbers of terminals are needed")
)]
mod proc_files;
mod process_table;
#[cfg(any(test, not(target_os = "linux")))]
mod ps_command;
mod session_owner;
mod ssh;
#[cfg(test)]
mod test_table;
#[cfg(target_os = "linux")]
mod unix_peers;

use std::sync::OnceLock;

use portcullis_hosts::HookSession;

pub use absence::Absence;
pub use agents::AgentRoster;
pub use session_owner::is_session_of;

use noted::NotedParent;
use process_table::ProcessTable as _;

use crate::Failure;
use crate::session_settings::locations;

#[cfg(target_os = "linux")]
use proc_files::ProcFiles as SystemProcesses;
#[cfg(not(target_os = "linux"))]
use ps_command::PsCommand as SystemProcesses;

/// What the trial calls of `portcullis doctor` are known by. They are recorded, and are nobody's work: nothing is kept of
/// them for a person to allow, and they are in no figures.
pub const DOCTOR_SESSION: &str = "portcullis-doctor";

/// One process: its number, which another one may get later, and when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: u32,
    started: u64,
}

impl ProcessIdentity {
    /// Returns the process that has a number now.
    pub fn of(pid: u32) -> Option<Self> {
        let started = SystemProcesses::default().process(pid)?.started;
        Some(Self { pid, started })
    }
}

/// Says whether a process is a person's, at a terminal of their own.
pub fn check_process(roster: &AgentRoster, process: ProcessIdentity) -> Result<(), Absence> {
    check::PresenceCheck::new(&SystemProcesses::default(), roster).process(process.pid)?;
    // Whatever has the number now must be what had it then.
    if ProcessIdentity::of(process.pid) == Some(process) { Ok(()) } else { Err(Absence::Unknown) }
}

/// Refuses to go on unless this process is a person's, at a terminal of their own. `what` is what only they can do.
pub fn require_presence(what: &str) -> Result<(), Failure> {
    look(&read_roster()?).map_err(|absence| absence.refusal(what))
}

/// Refuses to go on if an agent may have started this process. Where no agent was seen since the machine started, a script
/// that sets a machine up needs no terminal.
pub fn require_no_agent(what: &str) -> Result<(), Failure> {
    let roster = read_roster()?;
    match look(&roster) {
        Err(
            Absence::NoTerminal
            | Absence::Detached
            | Absence::MadeTerminal { .. }
            | Absence::CameLater { .. },
        ) if !roster.has_agents(&SystemProcesses::default()) => Ok(()),
        looked => looked.map_err(|absence| absence.refusal(what)),
    }
}

/// Says whether an agent started this process, or nobody can tell.
pub fn is_agents_process() -> bool {
    static IS_AGENTS: OnceLock<bool> = OnceLock::new();
    *IS_AGENTS.get_or_init(|| {
        let Ok(roster) = read_roster() else { return true };
        check::PresenceCheck::new(&SystemProcesses::default(), &roster).is_agents(std::process::id())
    })
}

fn look(roster: &AgentRoster) -> Result<(), Absence> {
    check_process(roster, ProcessIdentity::of(std::process::id()).ok_or(Absence::Unknown)?)
}

fn read_roster() -> Result<AgentRoster, Failure> {
    locations(None)?.state.map_or_else(|| Ok(AgentRoster::default()), |state| AgentRoster::read(&state))
}

/// Keeps which process is the agent of a session: the one that started this program.
pub fn note_agent_of(session: &HookSession) -> Result<(), Failure> {
    // Whoever tries the hook out is no agent.
    let Some(state) = locations(None)?.state.filter(|_| session.id != DOCTOR_SESSION) else { return Ok(()) };
    let table = SystemProcesses::default();
    let parent = NotedParent::of(&state, &table, std::os::unix::process::parent_id(), &session.id);
    if parent.as_ref().is_some_and(NotedParent::is_known) {
        return Ok(());
    }
    let noted = agents::note(&state, &table, std::process::id(), &session.id)?;
    // Above a script of the shell stands the terminal, which is no agent.
    parent.iter().filter(|parent| noted.contains(&parent.pid)).for_each(NotedParent::keep);
    Ok(())
}
