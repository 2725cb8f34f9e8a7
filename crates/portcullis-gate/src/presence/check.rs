//! Whether a process is a person's: where it comes from, which terminal it has, and who made that terminal.

use super::absence::Absence;
use super::agents::AgentRoster;
use super::known_programs::{
    DESKTOPS, MOSH_SERVER, MULTIPLEXERS, SCHEDULERS, SCREEN, SERVICE_MANAGERS, SERVICES_THAT_START, STARTERS,
    TERMINALS,
};
use super::plain_shell::is_plain_shell;
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
        if !self.table.tells_makers() {
            return Ok(());
        }
        let leader = line.first().ok_or(Absence::Unknown)?;
        // A console or a serial line is made by the kernel.
        if pseudo_terminal(terminal).is_some() {
            ssh::check_origin(self.table, line)?;
            let makers = self.table.terminal_makers(terminal);
            if makers.is_empty() && !Self::is_from_elsewhere(line) {
                let program = line.get(1).unwrap_or(leader).program().to_owned();
                return Err(Absence::MadeTerminal { program });
            }
            makers.into_iter().try_for_each(|maker| self.maker(maker, (leader, terminal), depth))?;
        }
        // A terminal whose shell has ended, and a line that nobody uses, take whoever comes first.
        let came = self.origin(line, None, terminal, depth);
        came.map_err(|()| Absence::CameLater { program: leader.program().to_owned() })
    }

    /// Says whether another user's process, such as one that lets people sign in, or somebody outside stands above.
    fn is_from_elsewhere(line: &[Process]) -> bool {
        let (Some(leader), Some(top)) = (line.first(), line.last()) else { return false };
        top.parent != INIT || line.iter().any(|process| process.user != leader.user)
    }

    /// Looks at a process that makes a terminal, in which another one leads.
    fn maker(&self, pid: u32, (leader, terminal): (&Process, u32), depth: usize) -> Result<(), Absence> {
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
        self.origin(&line, Some(maker), terminal, depth).map_err(|()| made())?;
        let is_mosh = maker.is_installed(&[MOSH_SERVER]) && self.is_of_a_login(maker);
        if maker.is_installed(&MULTIPLEXERS) || is_mosh || !self.roster.is_before(maker, self.table) {
            return Ok(());
        }
        if maker.is_installed(&TERMINALS) {
            let is_told = self.is_started_as_a_service(&line) && !is_plain_shell(self.table, leader);
            let told = || Absence::ToldToRun { program: leader.program().to_owned() };
            return if is_told { Err(told()) } else { Ok(()) };
        }
        // Whatever makes terminals inside of one that a person opened (an editor, a recorder, a notebook) is theirs.
        let is_inside = maker.terminal != 0 && maker.terminal != terminal && depth < MOST_NESTED;
        let is_theirs = is_inside && self.nested(maker.pid, depth + 1).is_ok() || self.is_opened(&line);
        if is_theirs { Ok(()) } else { Err(made()) }
    }

    /// Looks at where a line of processes comes from that nobody who signed in stands above, and at multiplexers in it,
    /// which do what they are told by whoever asks.
    fn origin(
        &self,
        line: &[Process],
        maker: Option<&Process>,
        terminal: u32,
        depth: usize,
    ) -> Result<(), ()> {
        // A client has a terminal, and a server none.
        let is_server = |process: &&Process| {
            process.is_one_of(&MULTIPLEXERS) && (process.terminal == 0 || Some(*process) == maker)
        };
        if let Some(server) = line.iter().find(is_server) {
            // What nobody looks at is typed by a program.
            if !self.has_client(server, terminal, depth) {
                return Err(());
            }
            if server.is_installed(&MULTIPLEXERS) {
                return Ok(());
            }
        }
        let Some(adopted) = adopted(self.table, line) else { return Ok(()) };
        if self.roster.may_have_started(adopted, self.table) {
            return Err(());
        }
        let is_opened = !self.roster.is_before(adopted, self.table)
            || adopted.is_installed(&TERMINALS)
            || adopted.is_installed(&DESKTOPS)
            || adopted.is_installed(&[MOSH_SERVER]) && self.is_of_a_login(adopted);
        if is_opened { Ok(()) } else { Err(()) }
    }

    /// Says whether a process belongs to somebody's login by ssh. A service manager of the user has no say in such a group.
    fn is_of_a_login(&self, process: &Process) -> bool {
        let group = self.table.control_group(process.pid).unwrap_or_default();
        let is_login = |path: &str| {
            let unit = path.rsplit('/').next().unwrap_or_default();
            unit.starts_with("session-") && !path.contains("/user@")
        };
        group.lines().filter(|line| line.contains("/user.slice/")).all(is_login)
            && group.lines().any(is_login)
            && ssh::is_from_elsewhere(self.table, process)
    }

    /// Says whether something other than a desktop started the topmost process of a line, after an agent.
    fn is_started_as_a_service(&self, line: &[Process]) -> bool {
        adopted(self.table, line).is_some_and(|adopted| {
            self.roster.is_before(adopted, self.table) && !adopted.is_installed(&DESKTOPS)
        })
    }

    /// Says whether somebody who signed in, or the desktop that was there before any agent, started a process.
    fn is_opened(&self, line: &[Process]) -> bool {
        let Some(maker) = line.first() else { return false };
        // An editor has a process of its own for terminals.
        let is_same =
            |process: &Process| process.installed == maker.installed && process.program() == maker.program();
        match line.iter().skip(1).find(|process| !process.is_one_of(&STARTERS) && !is_same(process)) {
            Some(starter) if starter.user == maker.user => {
                starter.is_installed(&DESKTOPS) && !self.roster.is_before(starter, self.table)
            }
            Some(_) => true,
            None => line.last().is_some_and(|top| top.parent != INIT),
        }
    }

    /// Says whether a person looks at a multiplexer: in a terminal of theirs they run its client.
    fn has_client(&self, server: &Process, own: u32, depth: usize) -> bool {
        if depth >= MOST_NESTED {
            return false;
        }
        let partners = self.table.partners(server.pid).filter(|_| !server.is_one_of(&[SCREEN]));
        let clients = partners.unwrap_or_else(|| {
            let open = self.table.open_terminals(server.pid).into_iter().filter(|terminal| *terminal != own);
            open.flat_map(|terminal| self.table.at_terminal(terminal)).collect()
        });
        clients.into_iter().any(|pid| {
            let client = self.table.process(pid).filter(|process| process.pid != server.pid);
            client.is_some_and(|client| {
                client.is_one_of(&MULTIPLEXERS)
                    && client.installed == server.installed
                    && client.terminal != own
                    && self.nested(pid, depth + 1).is_ok()
            })
        })
    }
}

/// Returns the process of a line that the first process or a service manager took over or started, so that nothing says who
/// wanted it; `None` if somebody who signed in stands above.
fn adopted<'a>(table: &dyn ProcessTable, line: &'a [Process]) -> Option<&'a Process> {
    let user = line.first()?.user;
    let own = line.iter().take_while(|process| process.user == user).count();
    let is_manager = |at: usize| line.get(at).is_some_and(|process| starts_for_others(table, process));
    line.iter()
        .take(own)
        .enumerate()
        .find_map(|(at, process)| (process.parent == INIT || is_manager(at + 1)).then_some(process))
}

/// Says whether a process starts others for whoever asks: the service manager of the user, and what it starts to that end.
fn starts_for_others(table: &dyn ProcessTable, process: &Process) -> bool {
    if table.is_root(process.parent) {
        return process.is_one_of(&SERVICE_MANAGERS);
    }
    process.is_installed(&SERVICES_THAT_START)
}
#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
