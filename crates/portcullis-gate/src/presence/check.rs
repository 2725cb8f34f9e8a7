//! Whether a process is a person's: where it comes from, which terminal it has, and who made that terminal.

use super::absence::Absence;
use super::agents::AgentRoster;
use super::known_programs::{MULTIPLEXERS, SCHEDULERS, SERVICE_MANAGERS, TERMINALS};
use super::proc_files::pseudo_terminal;
use super::process_table::{INIT, Process, ProcessTable};
use super::ssh;
use portcullis_world::AGENT_MARKS;

/// How many terminals may stand in one another.
const MOST_NESTED: usize = 4;

/// Looks at processes, with the agents that are known.
pub(super) struct PresenceCheck<'a> {
    table: &'a dyn ProcessTable,
    roster: &'a AgentRoster,
}

impl<'a> PresenceCheck<'a> {
    pub(super) fn new(table: &'a dyn ProcessTable, roster: &'a AgentRoster) -> Self {
        Self { table, roster }
    }

    /// Says whether a process is a person's, at a terminal of their own.
    pub(super) fn process(&self, pid: u32) -> Result<(), Absence> {
        if self.table.is_root(pid) && pid > INIT {
            // A test, which stands in for the machine and whoever sits at it.
            return Ok(());
        }
        if self.roster.has_unseen(self.table) || !self.table.is_in_namespace(pid) {
            return Err(Absence::OtherNamespace);
        }
        self.nested(pid, 0)
    }

    /// Says whether an agent started a process, or nobody can tell. A terminal does not matter.
    pub(super) fn is_agents(&self, pid: u32) -> bool {
        let Some(line) = self.table.line(pid) else { return true };
        let is_left =
            || adopted(self.table, &line).is_some_and(|own| self.roster.may_have_started(own, self.table));
        line.iter().any(|process| self.roster.is_agent(process, self.table))
            || self.refuse_marks(&line).is_err()
            || is_left()
    }

    fn nested(&self, pid: u32, depth: usize) -> Result<(), Absence> {
        let own = self.table.process(pid).ok_or(Absence::Unknown)?;
        let line = if pid == INIT { Some(vec![own.clone()]) } else { self.table.line(pid) };
        let line = line.ok_or(Absence::Unknown)?;
        self.refuse_agents(&line)?;
        if own.terminal == 0 {
            return Err(Absence::NoTerminal);
        }
        let leader = line.iter().position(|process| process.pid == own.session).ok_or(Absence::Detached)?;
        self.refuse_marks(line.get(..=leader).unwrap_or_default())?;
        if let Some(agent) = self.roster.living_at(own.terminal, self.table) {
            return Err(Absence::AgentsTerminal { program: agent.program.clone(), pid: agent.pid });
        }
        self.terminal(own.terminal, line.get(leader..).unwrap_or_default(), depth)
    }

    /// Refuses what an agent started.
    fn refuse_agents(&self, line: &[Process]) -> Result<(), Absence> {
        for process in line {
            if self.roster.is_agent(process, self.table) {
                let program = process.program().to_owned();
                return Err(Absence::StartedByAgent { program, pid: process.pid });
            }
            if process.is_one_of(&SCHEDULERS) {
                return Err(Absence::Scheduled { program: process.program().to_owned() });
            }
        }
        Ok(())
    }

    /// Refuses what was started with a variable of an agent's.
    fn refuse_marks(&self, processes: &[Process]) -> Result<(), Absence> {
        let is_set = |variable: &&str| {
            processes.iter().any(|process| self.table.variable(process.pid, variable).is_some())
        };
        match AGENT_MARKS.into_iter().find(is_set) {
            Some(variable) => Err(Absence::Marked { variable }),
            None => Ok(()),
        }
    }

    /// Looks at who made a terminal. The line begins with the leader of its session.
    fn terminal(&self, terminal: u32, line: &[Process], depth: usize) -> Result<(), Absence> {
        // A console or a serial line is made by the kernel.
        if pseudo_terminal(terminal).is_none() {
            return Ok(());
        }
        ssh::check_origin(self.table, line)?;
        let makers = self.table.terminal_makers(terminal);
        if makers.is_empty() && !Self::is_from_elsewhere(line) {
            let program = line.get(1).or(line.first()).map_or("?", Process::program).to_owned();
            return Err(Absence::MadeTerminal { program });
        }
        makers.into_iter().try_for_each(|maker| self.maker(maker, terminal, depth))
    }

    /// Says whether another user's process, such as one that lets people sign in, or somebody outside stands above.
    fn is_from_elsewhere(line: &[Process]) -> bool {
        let (Some(leader), Some(top)) = (line.first(), line.last()) else { return false };
        top.parent != INIT || line.iter().any(|process| process.user != leader.user)
    }

    /// Looks at a process that makes a terminal.
    fn maker(&self, pid: u32, terminal: u32, depth: usize) -> Result<(), Absence> {
        // A test makes terminals as the machine does.
        if self.table.is_root(pid) {
            return Ok(());
        }
        let line = self.table.line(pid).ok_or(Absence::Unknown)?;
        let maker = line.first().ok_or(Absence::Unknown)?;
        let made = || Absence::MadeTerminal { program: maker.program().to_owned() };
        self.refuse_agents(&line).map_err(|_| made())?;
        self.refuse_marks(std::slice::from_ref(maker))?;
        ssh::check_origin(self.table, &line)?;
        if maker.is_installed(&MULTIPLEXERS) {
            // What nobody looks at is typed by a program.
            return if self.has_client(maker, terminal, depth) { Ok(()) } else { Err(made()) };
        }
        let Some(adopted) = adopted(self.table, &line) else { return Ok(()) };
        if self.roster.may_have_started(adopted, self.table) {
            return Err(made());
        }
        // Whatever makes terminals inside of one that a person opened (an editor, a recorder, a notebook) is theirs.
        let is_opened = maker.is_installed(&TERMINALS) || adopted.is_installed(&TERMINALS);
        if is_opened || !self.roster.is_before(adopted, self.table) { Ok(()) } else { Err(made()) }
    }

    /// Says whether a person looks at a multiplexer: it has a terminal of theirs open, in which they run its client.
    fn has_client(&self, maker: &Process, own: u32, depth: usize) -> bool {
        if depth >= MOST_NESTED {
            return false;
        }
        let terminals = self.table.open_terminals(maker.pid).into_iter().filter(|terminal| *terminal != own);
        terminals.flat_map(|terminal| self.table.at_terminal(terminal)).any(|pid| {
            let client = self.table.process(pid).filter(|process| process.pid != maker.pid);
            client.is_some_and(|client| client.installed == maker.installed)
                && self.nested(pid, depth + 1).is_ok()
        })
    }
}

/// Returns the process of a line that the first process or a service manager took over or started, so that nothing says who
/// wanted it; `None` if somebody who signed in stands above.
fn adopted<'a>(table: &dyn ProcessTable, line: &'a [Process]) -> Option<&'a Process> {
    let user = line.first()?.user;
    let own = line.iter().take_while(|process| process.user == user).count();
    let is_manager =
        |process: &Process| process.is_one_of(&SERVICE_MANAGERS) && table.is_root(process.parent);
    line.iter().take(own).enumerate().find_map(|(at, process)| {
        let is_adopted = process.parent == INIT || line.get(at + 1).is_some_and(is_manager);
        is_adopted.then_some(process)
    })
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
