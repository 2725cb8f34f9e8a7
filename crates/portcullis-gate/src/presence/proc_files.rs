//! Processes as `/proc` tells of them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::process_table::{INIT, Process, ProcessTable};
#[cfg(target_os = "linux")]
use super::unix_peers::read as unix_peers;

/// The namespace of process numbers of the machine itself.
const MACHINE_NAMESPACE: &str = "pid:[4026531836]";

/// The first and the last number of the drivers of pseudo terminals.
const PSEUDO_TERMINALS: std::ops::RangeInclusive<u32> = 136..=143;

/// The longest list of variables that is looked at, in bytes.
const LONGEST_ENVIRONMENT: usize = 4 << 20;

/// Reads `/proc`.
#[derive(Debug)]
pub(super) struct ProcFiles {
    root: PathBuf,
    /// The process that tests take for the first one.
    first: Option<u32>,
}

impl Default for ProcFiles {
    fn default() -> Self {
        Self { root: PathBuf::from("/proc"), first: first_process() }
    }
}

/// Returns the process above which nothing is looked at: tests stand in for the machine. Release builds have none.
pub(super) fn first_process() -> Option<u32> {
    #[cfg(debug_assertions)]
    return std::env::var("PORTCULLIS_TEST_FIRST_PROCESS").ok()?.parse().ok();
    #[cfg(not(debug_assertions))]
    None
}

impl ProcFiles {
    fn place(&self, pid: u32, name: &str) -> PathBuf {
        self.root.join(pid.to_string()).join(name)
    }

    /// Reads the line of a process and hands it on.
    fn with_stat<T>(&self, pid: u32, read: impl FnOnce(Process, &str) -> T) -> Option<T> {
        let text = read_whole(&self.place(pid, "stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        let (process, command) = parse_stat(pid, &text)?;
        Some(read(process, command))
    }

    fn names(&self, pid: u32, command: &str) -> Vec<String> {
        let mut names = vec![command.to_owned()];
        let mut add = |name: Option<String>| {
            if let Some(name) = name.filter(|name| !name.is_empty() && !names.contains(name)) {
                names.push(name);
            }
        };
        // What an interpreter runs is its first word that is no option; after one it may be code.
        let words = self.arguments(pid);
        let script = words.get(1).filter(|word| !word.starts_with('-'));
        add(script.filter(|word| word.contains('/')).and_then(|word| file_name(Path::new(word))));
        add(words.first().and_then(|word| file_name(Path::new(word.trim_start_matches('-')))));
        let program = fs::read_link(self.place(pid, "exe")).ok();
        add(program.and_then(|path| file_name(&path)).map(|name| without_mark(&name).to_owned()));
        names
    }

    /// Returns whose a process is. In a namespace of users that somebody made, they are whom they want to be.
    fn user(&self, pid: u32) -> Option<u32> {
        let [here, there] = ["self", &pid.to_string()].map(|name| self.root.join(name));
        let users = |place: &Path| fs::read_to_string(place.join("uid_map")).ok();
        let place = if users(&there)? == users(&here)? { there } else { here };
        let status = fs::read_to_string(place.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// Returns the file name of a program that the administrator alone can replace. A file that lies elsewhere under this
    /// name, as in a namespace of mounts that somebody made, is another one. An interpreter is no more than itself: what it
    /// says of its script it may have rewritten.
    fn installed(&self, pid: u32) -> Option<String> {
        let program = self.place(pid, "exe");
        let path = fs::read_link(&program).ok().filter(|path| is_kept_by_administrator(path))?;
        let (runs, lies) = (fs::metadata(&program).ok()?, fs::metadata(&path).ok()?);
        if (runs.dev(), runs.ino()) == (lies.dev(), lies.ino()) { file_name(&path) } else { None }
    }

    fn all(&self) -> Vec<u32> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Returns where the open files of a process lead.
    fn open_files(&self, pid: u32) -> Vec<(PathBuf, PathBuf)> {
        let entries = fs::read_dir(self.place(pid, "fd")).into_iter().flatten().flatten();
        let led = entries.filter_map(|entry| Some((entry.path(), fs::read_link(entry.path()).ok()?)));
        led.collect()
    }

    /// Returns the numbers of the sockets that a process has open.
    fn sockets(&self, pid: u32) -> Vec<u32> {
        let number = |target: &Path| -> Option<u32> {
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        };
        self.open_files(pid).iter().filter_map(|(_, target)| number(target)).collect()
    }

    /// Returns the number of the terminal whose other end an open file is.
    fn made_terminal(&self, pid: u32, file: &Path) -> Option<u32> {
        let information = fs::read_to_string(self.place(pid, "fdinfo").join(file.file_name()?)).ok()?;
        information.lines().find_map(|line| line.strip_prefix("tty-index:"))?.trim().parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
const fn unix_peers() -> Option<std::collections::BTreeMap<u32, u32>> {
    None
}

/// Reads a file whose length the kernel does not tell: at once, where the standard library would begin with 32 bytes.
fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(1024);
    File::open(path)?.read_to_end(&mut text)?;
    Ok(text)
}

/// Says whether the administrator alone can change a file, or what lies in a directory. Links are followed.
fn is_administrators(path: &Path) -> bool {
    // In a directory with this mark a group may add files, and replaces none of others.
    let is_writable = |mode: u32| mode & 0o002 != 0 || mode & 0o020 != 0 && mode & 0o1000 == 0;
    fs::metadata(path).is_ok_and(|seen| seen.uid() == 0 && !is_writable(seen.mode()))
}

/// The same for a file and every directory above it, in which it could be replaced.
fn is_kept_by_administrator(file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    file.ancestors().all(is_administrators)
}

/// A program that was replaced while it runs is marked so.
fn without_mark(name: &str) -> &str {
    name.strip_suffix(" (deleted)").unwrap_or(name)
}

/// Returns the namespace of process numbers that a process is in.
fn namespace(process: &Path) -> Option<String> {
    Some(fs::read_link(process.join("ns/pid")).ok()?.to_str()?.to_owned())
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name()?.to_str().map(str::to_owned)
}

/// Returns the place of a pseudo terminal among them; `None` for a terminal of another kind.
pub(super) const fn pseudo_terminal(terminal: u32) -> Option<u32> {
    let (major, minor) = ((terminal >> 8) & 0xfff, (terminal & 0xff) | ((terminal >> 12) & 0xf_ff00));
    if major < *PSEUDO_TERMINALS.start() || major > *PSEUDO_TERMINALS.end() {
        return None;
    }
    Some(minor + (major - *PSEUDO_TERMINALS.start()) * 256)
}

/// Returns the number of the pseudo terminal with a place among them.
const fn terminal_number(place: u32) -> u32 {
    (*PSEUDO_TERMINALS.start() << 8) | (place & 0xff) | ((place & 0xf_ff00) << 12)
}

/// Reads a line of `stat`. The name may have any letters in it, brackets too.
fn parse_stat(pid: u32, text: &str) -> Option<(Process, &str)> {
    let (head, rest) = text.rsplit_once(')')?;
    let command = head.split_once('(')?.1;
    let mut fields = [""; 20];
    let mut words = rest.split_ascii_whitespace();
    fields.fill_with(|| words.next().unwrap_or_default());
    let field = |at: usize| fields.get(at).copied();
    // A process that ended and was not yet waited for can do nothing. Where only its first thread ended it goes on.
    let threads: u32 = field(17)?.parse().ok()?;
    if matches!(field(0)?, "Z" | "X") && threads <= 1 {
        return None;
    }
    let process = Process {
        pid,
        parent: field(1)?.parse().ok()?,
        session: field(3)?.parse().ok()?,
        terminal: u32::try_from(field(4)?.parse::<i64>().ok()?).ok()?,
        started: field(19)?.parse().ok()?,
        ..Process::default()
    };
    Some((process, command))
}

impl ProcessTable for ProcFiles {
    fn process(&self, pid: u32) -> Option<Process> {
        self.with_stat(pid, |process, command| {
            let (user, names) = (self.user(pid)?, self.names(pid, command));
            Some(Process { user, names, installed: self.installed(pid), ..process })
        })?
    }

    fn glance(&self, pid: u32) -> Option<Process> {
        self.with_stat(pid, |process, command| Process { names: vec![command.to_owned()], ..process })
    }

    fn arguments(&self, pid: u32) -> Vec<String> {
        let text = read_whole(&self.place(pid, "cmdline")).unwrap_or_default();
        let words = text.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        let mut words: Vec<String> = words.collect();
        if words.last().is_some_and(String::is_empty) {
            words.pop();
        }
        words
    }

    fn variable(&self, pid: u32, name: &str) -> Option<String> {
        let text =
            fs::read(self.place(pid, "environ")).ok().filter(|text| text.len() <= LONGEST_ENVIRONMENT)?;
        text.split(|byte| *byte == 0).find_map(|entry| {
            let (key, value) = std::str::from_utf8(entry).ok()?.split_once('=')?;
            (key == name).then(|| value.to_owned())
        })
    }

    fn is_in_namespace(&self, pid: u32) -> bool {
        let [here, there] = ["self", &pid.to_string()].map(|name| namespace(&self.root.join(name)));
        here.is_some() && here == there
    }

    fn control_group(&self, pid: u32) -> Option<String> {
        fs::read_to_string(self.place(pid, "cgroup")).ok()
    }

    fn terminal_makers(&self, terminal: u32) -> Vec<u32> {
        let Some(place) = pseudo_terminal(terminal) else { return Vec::new() };
        let makes = |pid: u32| {
            let files = self.open_files(pid);
            files.iter().any(|(file, target)| {
                target.file_name().is_some_and(|name| name == "ptmx")
                    && self.made_terminal(pid, file) == Some(place)
            })
        };
        self.all().into_iter().filter(|pid| makes(*pid)).collect()
    }

    fn at_terminal(&self, terminal: u32) -> Vec<u32> {
        let is_there = |pid: &u32| self.with_stat(*pid, |found, _| found.terminal == terminal) == Some(true);
        self.all().into_iter().filter(is_there).collect()
    }

    fn open_terminals(&self, pid: u32) -> Vec<u32> {
        let place = |target: &Path| -> Option<u32> {
            target.strip_prefix("/dev/pts").ok()?.to_str()?.parse().ok().map(terminal_number)
        };
        let mut found: Vec<u32> =
            self.open_files(pid).iter().filter_map(|(_, target)| place(target)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn partners(&self, pid: u32) -> Option<Vec<u32>> {
        let peers = unix_peers()?;
        let other_ends: Vec<u32> =
            self.sockets(pid).iter().filter_map(|socket| peers.get(socket).copied()).collect();
        let has_one = |other: &u32| self.sockets(*other).iter().any(|socket| other_ends.contains(socket));
        Some(self.all().into_iter().filter(has_one).collect())
    }

    fn connections(&self) -> Vec<String> {
        let tables = ["net/tcp", "net/tcp6"].map(|name| fs::read_to_string(self.root.join(name)));
        let lines = tables.iter().flatten().flat_map(|table| table.lines().skip(1));
        lines.filter_map(super::ssh::parse_connection).collect()
    }

    fn boot(&self) -> String {
        let id = read_whole(&self.root.join("sys/kernel/random/boot_id")).unwrap_or_default();
        String::from_utf8_lossy(id.trim_ascii()).into_owned()
    }

    fn namespace(&self) -> Option<String> {
        namespace(&self.root.join("self")).filter(|name| name != MACHINE_NAMESPACE)
    }

    fn is_root(&self, pid: u32) -> bool {
        pid <= INIT || Some(pid) == self.first
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_hides_nothing() {
        let text = "7 (a) S 1 (x) S 5 7 6 34817 7 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0\n";
        let (process, command) = parse_stat(7, text).unwrap();
        assert_eq!(command, "a) S 1 (x");
        assert_eq!((process.parent, process.session, process.terminal, process.started), (5, 6, 34817, 4242));
        assert_eq!(parse_stat(7, "7 (a) Z 5 7 6 0 7 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0"), None);
        let first_thread_ended = "7 (a) Z 5 7 6 0 7 0 0 0 0 0 0 0 0 0 20 0 2 0 4242 0";
        assert!(parse_stat(7, first_thread_ended).is_some());
        assert_eq!(parse_stat(7, "7 (a) S 5"), None);
    }

    #[test]
    fn pseudo_terminals_are_told_from_others() {
        for place in [0, 1, 255, 256, 300, 4_096, 1_000_000] {
            assert_eq!(pseudo_terminal(terminal_number(place)), Some(place));
        }
        assert_eq!(pseudo_terminal(0), None);
        assert_eq!(pseudo_terminal((4 << 8) | 1), None, "a console");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_known() {
        let table = ProcFiles { root: PathBuf::from("/proc"), first: None };
        let own = table.process(std::process::id()).unwrap();
        assert_eq!(own.pid, std::process::id());
        assert!(own.started > 0 && !own.names.is_empty());
        let line = table.line(own.pid).unwrap();
        assert!(table.is_in_namespace(own.pid));
        assert_eq!(line.get(1).map(|parent| parent.pid), Some(own.parent).filter(|parent| *parent > INIT));
        assert!(!table.boot().is_empty());
        assert_eq!(table.variable(own.pid, "NO_SUCH_VARIABLE_OF_OURS"), None);
        assert!(!table.arguments(own.pid).is_empty());
    }
}
