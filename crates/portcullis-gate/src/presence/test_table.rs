//! Processes that tests make up.

use std::collections::BTreeMap;

use super::process_table::{Process, ProcessTable};

/// The number of a pseudo terminal.
pub(super) const fn pts(place: u32) -> u32 {
    (136 << 8) | place
}

/// A machine with made-up processes.
#[derive(Debug, Default)]
pub(super) struct MadeUpTable {
    processes: BTreeMap<u32, Process>,
    variables: BTreeMap<(u32, String), String>,
    arguments: BTreeMap<u32, Vec<String>>,
    makers: BTreeMap<u32, Vec<u32>>,
    open: BTreeMap<u32, Vec<u32>>,
    partners: BTreeMap<u32, Vec<u32>>,
    groups: BTreeMap<u32, String>,
    contained: Vec<u32>,
    connections: Vec<String>,
    namespace: Option<String>,
}

impl MadeUpTable {
    /// Starts a process: its number, its parent, its program, who leads its session, and its terminal. Later ones have
    /// higher numbers and began later.
    pub(super) fn start(
        mut self,
        (pid, parent): (u32, u32),
        name: &str,
        (session, terminal): (u32, u32),
    ) -> Self {
        let process = Process {
            pid,
            parent,
            session,
            terminal,
            started: u64::from(pid),
            user: 1_000,
            names: vec![name.to_owned()],
            installed: Some(name.to_owned()),
        };
        self.processes.insert(pid, process);
        self
    }

    /// Starts a shell that leads a terminal, made by its parent.
    pub(super) fn shell(self, (pid, parent): (u32, u32), place: u32) -> Self {
        self.start((pid, parent), "bash", (pid, pts(place))).made(place, parent)
    }

    pub(super) fn of_root(mut self, pid: u32) -> Self {
        self.processes.entry(pid).and_modify(|process| process.user = 0);
        self
    }

    pub(super) fn not_installed(mut self, pid: u32) -> Self {
        self.processes.entry(pid).and_modify(|process| process.installed = None);
        self
    }

    /// Has a process call itself something else.
    pub(super) fn called(mut self, pid: u32, name: &str) -> Self {
        self.processes.entry(pid).and_modify(|process| process.names.push(name.to_owned()));
        self
    }

    pub(super) fn made(mut self, place: u32, maker: u32) -> Self {
        self.makers.entry(pts(place)).or_default().push(maker);
        self
    }

    pub(super) fn unseen_maker(mut self, place: u32) -> Self {
        self.makers.remove(&pts(place));
        self
    }

    pub(super) fn opens(mut self, pid: u32, place: u32) -> Self {
        self.open.entry(pid).or_default().push(pts(place));
        self
    }

    /// Connects the client of a server.
    pub(super) fn serves(mut self, server: u32, client: u32) -> Self {
        self.partners.entry(server).or_default().push(client);
        self
    }

    pub(super) fn set(mut self, pid: u32, name: &str, value: &str) -> Self {
        self.variables.insert((pid, name.to_owned()), value.to_owned());
        self
    }

    pub(super) fn group(mut self, pid: u32, group: &str) -> Self {
        self.groups.insert(pid, group.to_owned());
        self
    }

    pub(super) fn says(mut self, pid: u32, words: &[&str]) -> Self {
        self.arguments.insert(pid, words.iter().map(|&word| word.to_owned()).collect());
        self
    }

    pub(super) fn connected(mut self, ends: &str) -> Self {
        self.connections.push(ends.to_owned());
        self
    }

    pub(super) fn inside(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    pub(super) fn in_container(mut self, pid: u32) -> Self {
        self.contained.push(pid);
        self
    }

    pub(super) fn end(mut self, pid: u32) -> Self {
        self.processes.remove(&pid);
        self
    }
}

impl ProcessTable for MadeUpTable {
    fn process(&self, pid: u32) -> Option<Process> {
        self.processes.get(&pid).cloned()
    }

    fn arguments(&self, pid: u32) -> Vec<String> {
        self.arguments.get(&pid).cloned().unwrap_or_default()
    }

    fn variable(&self, pid: u32, name: &str) -> Option<String> {
        self.variables.get(&(pid, name.to_owned())).cloned()
    }

    fn is_in_namespace(&self, pid: u32) -> bool {
        !self.contained.contains(&pid)
    }

    fn control_group(&self, pid: u32) -> Option<String> {
        self.groups.get(&pid).cloned()
    }

    fn terminal_makers(&self, terminal: u32) -> Vec<u32> {
        self.makers.get(&terminal).cloned().unwrap_or_default()
    }

    fn at_terminal(&self, terminal: u32) -> Vec<u32> {
        self.processes
            .values()
            .filter(|process| process.terminal == terminal)
            .map(|process| process.pid)
            .collect()
    }

    fn open_terminals(&self, pid: u32) -> Vec<u32> {
        self.open.get(&pid).cloned().unwrap_or_default()
    }

    fn partners(&self, pid: u32) -> Option<Vec<u32>> {
        Some(self.partners.get(&pid).cloned().unwrap_or_default())
    }

    fn connections(&self) -> Vec<String> {
        self.connections.clone()
    }

    fn boot(&self) -> String {
        "boot".to_owned()
    }

    fn namespace(&self) -> Option<String> {
        self.namespace.clone()
    }
}
