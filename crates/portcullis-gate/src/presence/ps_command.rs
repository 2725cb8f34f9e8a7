//! Processes as `ps` tells of them, where there is no `/proc`. Who made a terminal is not known there.

use std::collections::BTreeMap;
use std::process::Command;

use super::proc_files::first_process;
use super::process_table::{INIT, Process, ProcessTable};

/// The program, by its path: one that somebody put on the `PATH` is not asked.
const PROGRAM: &str = "/bin/ps";

/// What is asked of it; the name of the program comes last, because it may have blanks in it.
const COLUMNS: &str = "pid=,ppid=,uid=,stat=,tty=,lstart=,comm=";

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The processes of one moment.
#[derive(Debug)]
pub(super) struct PsCommand {
    processes: BTreeMap<u32, Process>,
    /// The process that tests take for the first one.
    first: Option<u32>,
}

impl Default for PsCommand {
    fn default() -> Self {
        let output =
            Command::new(PROGRAM).args(["-axww", "-o", COLUMNS]).env_clear().env("LC_ALL", "C").output();
        let text =
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        Self { processes: parse(&text), first: first_process() }
    }
}

fn parse(text: &str) -> BTreeMap<u32, Process> {
    let rows: Vec<(Process, bool)> = text.lines().filter_map(parse_row).collect();
    let leaders: BTreeMap<u32, (u32, bool)> =
        rows.iter().map(|(process, is_leader)| (process.pid, (process.parent, *is_leader))).collect();
    let session_of = |pid: u32| {
        let mut next = pid;
        for _ in 0..leaders.len() {
            match leaders.get(&next) {
                Some((_, true)) => return next,
                Some((parent, false)) => next = *parent,
                None => return 0,
            }
        }
        0
    };
    rows.into_iter()
        .map(|(process, _)| (process.pid, Process { session: session_of(process.pid), ..process }))
        .collect()
}

/// Reads a row; says with it whether the process leads a session.
fn parse_row(row: &str) -> Option<(Process, bool)> {
    let mut words = row.split_whitespace();
    let mut number = || words.next()?.parse::<u32>().ok();
    let (pid, parent, user) = (number()?, number()?, number()?);
    let (state, terminal) = (words.next()?, words.next()?);
    let (_day, month, day, time, year) =
        (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let started = format!("{year}{month:02}{day:0>2}{}", time.replace(':', "")).parse().ok()?;
    let path = words.collect::<Vec<_>>().join(" ");
    let name = path.rsplit('/').next().unwrap_or_default().trim_start_matches('-').to_owned();
    // What ended and was not yet waited for can do nothing.
    if state.starts_with('Z') {
        return None;
    }
    let terminal = terminal_number(terminal);
    let process = Process { pid, parent, user, terminal, started, names: vec![name], ..Process::default() };
    Some((process, state.contains('s')))
}

/// Returns a number that stands for a terminal; 0 for none.
fn terminal_number(name: &str) -> u32 {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    if name.contains('?') || name == "-" {
        0
    } else {
        digits.parse::<u32>().map_or(1, |number| (number & 0xff) + 1)
    }
}

impl ProcessTable for PsCommand {
    fn process(&self, pid: u32) -> Option<Process> {
        self.processes.get(&pid).cloned()
    }

    fn arguments(&self, pid: u32) -> Vec<String> {
        let output =
            Command::new(PROGRAM).args(["-ww", "-o", "args=", "-p", &pid.to_string()]).env_clear().output();
        let text =
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn variable(&self, _: u32, _: &str) -> Option<String> {
        None
    }

    fn is_in_namespace(&self, _: u32) -> bool {
        true
    }

    fn control_group(&self, _: u32) -> Option<String> {
        None
    }

    fn terminal_makers(&self, _: u32) -> Vec<u32> {
        Vec::new()
    }

    fn at_terminal(&self, terminal: u32) -> Vec<u32> {
        self.processes
            .values()
            .filter(|process| process.terminal == terminal)
            .map(|process| process.pid)
            .collect()
    }

    fn open_terminals(&self, _: u32) -> Vec<u32> {
        Vec::new()
    }

    fn partners(&self, _: u32) -> Option<Vec<u32>> {
        None
    }

    fn tells_makers(&self) -> bool {
        false
    }

    fn connections(&self) -> Vec<String> {
        Vec::new()
    }

    fn boot(&self) -> String {
        self.processes.get(&INIT).map(|first| first.started.to_string()).unwrap_or_default()
    }

    fn namespace(&self) -> Option<String> {
        None
    }

    fn is_root(&self, pid: u32) -> bool {
        pid <= INIT || Some(pid) == self.first
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const ROWS: &str = "\
    1     0     0 Ss   ??       Mon Nov  2 09:14:01 2026     /sbin/launchd
  500     1   501 S    ??       Mon Nov  2 09:20:11 2026     /Applications/iTerm.app/Contents/MacOS/iTerm 2
  501   500     0 Ss   ttys003  Mon Nov  2 09:20:12 2026     login
  502   501   501 S    ttys003  Mon Nov  2 09:20:12 2026     -zsh
  503   502   501 S+   ttys003  Mon Nov 16 10:00:00 2026     /usr/local/bin/portcullis
  504   502   501 Z    ttys003  Mon Nov 16 10:00:00 2026     (gone)
";

    #[test]
    fn rows_are_read_with_their_sessions() {
        let table = PsCommand { processes: parse(ROWS), first: None };
        let own = table.process(503).unwrap();
        assert_eq!((own.parent, own.session, own.terminal, own.started), (502, 501, 4, 20_261_116_100_000));
        assert_eq!(own.names, ["portcullis"]);
        assert_eq!(
            table.process(500).map(|process| (process.terminal, process.names)),
            Some((0, vec!["iTerm 2".to_owned()]))
        );
        assert_eq!(table.process(504), None);
        assert_eq!(table.line(503).unwrap().len(), 4);
        assert_eq!(table.process(502).unwrap().names, ["zsh"]);
        assert_eq!(table.boot(), "20261102091401");
    }
}
