//! A conversation with a program: one JSON value a line, each way.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::run::end_group;

/// How long the program may be silent.
const LONGEST_SILENCE: Duration = Duration::from_mins(1);

/// A program that runs, and what it says.
pub(super) struct Conversation {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    reader: JoinHandle<()>,
}

impl Conversation {
    /// Starts a program in a process group of its own.
    pub(super) fn start(command: &mut Command) -> Self {
        let command = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("an output"));
        let (sender, lines) = mpsc::channel();
        let reader = thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).unwrap_or_default();
        });
        let input = child.stdin.take().expect("an input");
        Self { child, input, lines, reader }
    }

    pub(super) fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the program listens");
    }

    /// Returns what the program says next.
    pub(super) fn hear(&self) -> Value {
        let line = self.lines.recv_timeout(LONGEST_SILENCE).expect("the program says something");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the program speaks JSON, not {line:?}"))
    }

    /// Ends the program and all that it started.
    pub(super) fn end(self) {
        let Self { mut child, input, lines, reader } = self;
        drop((input, lines));
        end_group(child.id());
        let _ = (child.wait(), reader.join());
    }
}
