//! A conversation with the command: a line there, a line back, while it runs.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A running command that is talked to.
pub(crate) struct Dialogue {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Dialogue {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// Says something as it is.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Reads the next line, with its newline.
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// Says a line of JSON and reads the next line as JSON.
    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.say(format!("{message}\n").as_bytes());
        self.hear_json()
    }

    pub(crate) fn hear_json(&mut self) -> Value {
        let line = self.hear();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Takes what is written to the command, to be written from elsewhere.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.stdin.take().unwrap()
    }

    /// Ends the conversation; returns what was still to be heard, and the exit code.
    pub(crate) fn finish(mut self) -> (String, Option<i32>) {
        drop(self.stdin.take());
        let mut rest = String::new();
        while self.stdout.read_line(&mut rest).unwrap() > 0 {}
        (rest, self.child.wait().unwrap().code())
    }
}
