//! What is known of processes, whoever tells it.

/// The first process, which takes those whose parent ended.
pub(super) const INIT: u32 = 1;

/// How many parents are looked at before a line of them counts as endless.
const LONGEST_LINE: usize = 256;

/// One process, as the kernel knows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    /// The process that leads its session.
    pub(super) session: u32,
    /// Its controlling terminal; 0 for none.
    pub(super) terminal: u32,
    /// When it began, in ticks since the machine started: together with the number it names one process for good.
    pub(super) started: u64,
    /// Whose it is. A user that exists only in a namespace of the looking user's counts as the looking user.
    pub(super) user: u32,
    /// What it calls itself, and the file names of its program and of the script that it runs.
    pub(super) names: Vec<String>,
    /// The file name of its program, if the administrator alone can replace it.
    pub(super) installed: Option<String>,
}

impl Process {
    /// Returns what people call it.
    pub(super) fn program(&self) -> &str {
        self.names.last().map_or("?", String::as_str)
    }

    /// Says whether its program, or the script that it runs, has one of these names.
    pub(super) fn is_one_of(&self, names: &[&str]) -> bool {
        self.names.iter().any(|name| names.contains(&name.as_str()))
    }

    /// Says whether it is one of these programs as the administrator installed them, whatever it calls itself.
    pub(super) fn is_installed(&self, names: &[&str]) -> bool {
        self.installed.as_deref().is_some_and(|name| names.contains(&name))
    }
}

/// Looks at processes.
pub(super) trait ProcessTable {
    /// Returns a process that runs.
    fn process(&self, pid: u32) -> Option<Process>;

    /// Returns what can be told of a process at a glance: its parent, when it began, what it calls itself.
    fn glance(&self, pid: u32) -> Option<Process> {
        self.process(pid)
    }

    /// Returns the words of its command line.
    fn arguments(&self, pid: u32) -> Vec<String>;

    /// Returns a variable that it was started with; `None` if it has none, or cannot be looked at.
    fn variable(&self, pid: u32, name: &str) -> Option<String>;

    /// Says whether a process counts others as they are counted here. One in a container does not.
    fn is_in_namespace(&self, pid: u32) -> bool;

    /// Returns the group of processes that the system counts it to. What it starts stays in it, unless a service manager of
    /// the user moves it to another one of theirs.
    fn control_group(&self, pid: u32) -> Option<String>;

    /// Returns the processes that hold the other end of a terminal: what they write there is what is typed.
    fn terminal_makers(&self, terminal: u32) -> Vec<u32>;

    /// Returns the processes with a controlling terminal.
    fn at_terminal(&self, terminal: u32) -> Vec<u32>;

    /// Returns the terminals that a process has open.
    fn open_terminals(&self, pid: u32) -> Vec<u32>;

    /// Returns the processes at the other ends of a process's unix sockets; `None` where the system does not tell.
    fn partners(&self, pid: u32) -> Option<Vec<u32>>;

    /// Says whether the makers of terminals are known at all.
    fn tells_makers(&self) -> bool {
        true
    }

    /// Returns the pairs of ends of the connections of this machine, as `ADDRESS PORT ADDRESS PORT`.
    fn connections(&self) -> Vec<String>;

    /// Names what process numbers and times are counted by: this start of the machine.
    fn boot(&self) -> String;

    /// Names the namespace that process numbers are of; `None` for that of the machine, where every process is seen.
    fn namespace(&self) -> Option<String>;

    /// Says whether nothing above a process is looked at.
    fn is_root(&self, pid: u32) -> bool {
        pid <= INIT
    }

    /// Returns a process and those it descends from, the nearest first; `None` if one of them cannot be seen.
    ///
    /// A line that ends too early hides an agent, so nothing is guessed: a parent that ended while it was looked at, one
    /// that the system hides, one whose number somebody else has by now, and more parents than anybody needs are no line.
    fn line(&self, pid: u32) -> Option<Vec<Process>> {
        let (line, next) = self.seen_line(pid);
        self.is_root(next).then_some(line)
    }

    /// Returns a process and those it descends from as far as they can be seen, and the number of the next one.
    fn seen_line(&self, pid: u32) -> (Vec<Process>, u32) {
        let mut line: Vec<Process> = Vec::new();
        let mut next = pid;
        while !self.is_root(next) && line.len() < LONGEST_LINE {
            // Parents begin before their children.
            let is_parent =
                |process: &Process| line.last().is_none_or(|child| process.started <= child.started);
            let Some(process) = self.process(next).filter(is_parent) else { break };
            next = process.parent;
            line.push(process);
        }
        (line, next)
    }
}
