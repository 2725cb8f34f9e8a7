//! Programs of others, started without a shell, with a limit on their time and on what they say.

use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// The most that is read of what a program says.
const MOST_OUTPUT: u64 = 1 << 20;

/// How long output is waited for after a program has ended: one of its own may keep the pipe open.
const GRACE: Duration = Duration::from_millis(500);

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it said.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// How long it took.
    pub elapsed: Duration,
}

/// Runs a program to its end. What went wrong is a clause that follows the program's name.
pub fn run(mut command: Command, input: &str, limit: Duration) -> Result<Finished, String> {
    let started = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut leash = Leash::spawn(&mut command)?;
    let mut stdin = leash.child.stdin.take();
    let input = input.to_owned();
    // A program need not read what it is told; it ends the pipe, and the thread with it.
    thread::spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(input.as_bytes())));
    let (stdout, stderr) = (leash.child.stdout.take(), leash.child.stderr.take());
    let (stdout, stderr) = (collect(stdout), collect(stderr));
    let mut pause = Duration::from_micros(200);
    let status = loop {
        let ended = leash.child.try_wait();
        if let Some(status) = ended.map_err(|error| format!("cannot be waited for: {}", error.kind()))? {
            break status;
        }
        if started.elapsed() >= limit {
            return Err(format!("took longer than {} s", limit.as_secs()));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let elapsed = started.elapsed();
    let text = |receiver: &Receiver<String>| receiver.recv_timeout(GRACE).unwrap_or_default();
    Ok(Finished { code: status.code(), stdout: text(&stdout), stderr: text(&stderr), elapsed })
}

/// A talk with a program, line by line.
#[derive(Debug)]
pub struct Dialogue {
    leash: Leash,
    lines: Receiver<String>,
    deadline: Instant,
}

impl Dialogue {
    /// Starts a program that is talked with for so long.
    pub fn start(mut command: Command, limit: Duration) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut leash = Leash::spawn(&mut command)?;
        let stdout = leash.child.stdout.take().ok_or("has no output")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            use std::io::BufRead as _;
            let reader = std::io::BufReader::new(stdout.take(MOST_OUTPUT));
            for line in reader.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { leash, lines, deadline: Instant::now() + limit })
    }

    /// Says a line.
    pub fn say(&mut self, line: &str) -> Result<(), String> {
        let stdin = self.leash.child.stdin.as_mut().ok_or("does not listen")?;
        let said = stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush());
        said.map_err(|_| "does not listen".to_owned())
    }

    /// Waits for the next line.
    pub fn hear(&self) -> Result<String, String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(left).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => "did not answer in time".to_owned(),
            mpsc::RecvTimeoutError::Disconnected => "ended without an answer".to_owned(),
        })
    }
}

/// A program that is ended when nobody waits for it any longer.
#[derive(Debug)]
struct Leash {
    child: Child,
}

impl Leash {
    fn spawn(command: &mut Command) -> Result<Self, String> {
        let child = command.spawn().map_err(|error| format!("cannot be started: {}", error.kind()))?;
        Ok(Self { child })
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        // One that has ended already is only reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a pipe to its end on a thread of its own.
fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_is_heard_to_its_end() {
        let finished = run(shell("cat; echo no >&2; exit 3"), "hello", Duration::from_secs(30)).unwrap();
        assert_eq!(
            (finished.code, finished.stdout.as_str(), finished.stderr.as_str()),
            (Some(3), "hello", "no\n")
        );
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let message = run(shell("while :; do sleep 1; done"), "", Duration::from_millis(50)).unwrap_err();
        assert_eq!(message, "took longer than 0 s");
        let missing = run(Command::new("/no/such/program"), "", Duration::from_secs(30)).unwrap_err();
        assert!(missing.starts_with("cannot be started"), "{missing}");
    }

    #[test]
    fn a_dialogue_ends_with_the_program() {
        let mut dialogue =
            Dialogue::start(shell("read -r line; echo \"$line!\""), Duration::from_secs(30)).unwrap();
        dialogue.say("hello").unwrap();
        assert_eq!(dialogue.hear().unwrap(), "hello!");
        assert_eq!(dialogue.hear().unwrap_err(), "ended without an answer");
    }
}
