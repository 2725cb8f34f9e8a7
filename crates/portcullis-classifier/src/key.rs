//! The key to a provider: where it comes from, and that it never shows.
//!
//! Which variable or command may be named, and by whom, is decided where settings are read.

use std::fmt;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use crate::fault::{FaultKind, ModelFault, RetryAdvice};

/// The most a key command may print.
const MOST_OUTPUT: usize = 64 * 1024;
const LONGEST_KEY: usize = 16 * 1024;
const LONGEST_NAME: usize = 80;
/// A shorter key may be an ordinary word, and taking it out of a text would garble it.
const SHORTEST_TELLING: usize = 8;
/// What stands in the place of a key.
const MARK: &str = "[key]";
/// How long the output of a command that has ended may still come in.
const GRACE: Duration = Duration::from_millis(100);

/// A key. It shows in no message, and no copies are made of it by accident.
pub struct Secret {
    text: String,
}

impl Secret {
    /// Takes a key as it was given, without the white space around it. What is left must be visible ASCII: anything else
    /// could end the header it is sent in and begin another.
    pub fn parse(text: &str) -> Result<Secret, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("is empty".to_owned());
        }
        if text.len() > LONGEST_KEY {
            return Err(format!("is longer than {LONGEST_KEY} characters"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("holds a space, a line break or a character outside of printable ASCII".to_owned());
        }
        Ok(Secret { text: text.to_owned() })
    }

    /// Returns the key itself, to be sent.
    pub(crate) fn expose(&self) -> &str {
        &self.text
    }

    /// Says whether a text holds the key. One so short that it may be a word of the language does not count.
    pub fn occurs_in(&self, text: &str) -> bool {
        self.text.len() >= SHORTEST_TELLING && text.contains(&self.text)
    }

    /// Returns a text with the key taken out of it.
    pub fn redact(&self, text: &str) -> String {
        text.replace(&self.text, MARK)
    }

    /// Returns bytes with the key taken out of them, or `None` if they do not hold it. It is found however often it was
    /// escaped as in JSON, and beside bytes that are no text.
    pub(crate) fn erase(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let key: String = SpelledLetters { rest: self.text.as_bytes() }.map(|(letter, _)| letter).collect();
        if key.len() < SHORTEST_TELLING {
            return None;
        }
        let plain: String = SpelledLetters { rest: bytes }.map(|(letter, _)| letter).collect();
        let mut found = plain.match_indices(key.as_str()).map(|(at, _)| at).peekable();
        found.peek()?;
        let mut out = Vec::with_capacity(bytes.len());
        let mut end = 0;
        for (at, (_, spelling)) in (SpelledLetters { rest: bytes }).enumerate() {
            if found.next_if_eq(&at).is_some() {
                out.extend(MARK.bytes());
                end = at + key.len();
            }
            if at >= end {
                out.extend(spelling);
            }
        }
        Some(out)
    }
}

/// Reads bytes letter by letter, each with how it is spelled: as itself, or as an escape of JSON within any number of
/// strings. What is not ASCII is a letter that no key has.
struct SpelledLetters<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for SpelledLetters<'a> {
    type Item = (char, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.rest;
        let mut rest = start;
        let (mut letter, mut is_escaped) = (None, false);
        while let Some((byte, after)) = rest.split_first() {
            let escape = if is_escaped { code_unit(rest) } else { None };
            let (code, after) = escape.unwrap_or((u32::from(*byte), after));
            rest = after;
            // A backslash belongs to the letter it escapes, itself escaped or not.
            is_escaped = code == u32::from(b'\\');
            if !is_escaped {
                letter = char::from_u32(code).filter(char::is_ascii);
                break;
            }
        }
        if rest.len() == start.len() {
            return None;
        }
        self.rest = rest;
        let spelling = start.get(..start.len() - rest.len()).unwrap_or_default();
        Some((letter.unwrap_or('\0'), spelling))
    }
}

/// Reads the `u` and the four digits of an escape.
fn code_unit(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = bytes.strip_prefix(b"u")?.split_at_checked(4)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let code = u32::from_str_radix(str::from_utf8(digits).ok().filter(|_| is_hex)?, 16).ok()?;
    Some((code, rest))
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret([key])")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[key]")
    }
}

/// Where a key comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable, looked up by the caller.
    Variable {
        /// Its name.
        name: String,
        /// What it holds, if it is set.
        value: Option<String>,
    },
    /// A program with its arguments that prints the key. No shell reads it.
    Command(Vec<String>),
    /// Nowhere: none is needed.
    None,
}

impl fmt::Debug for KeySource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::Variable { name, value } => {
                let state = if value.is_some() { "set" } else { "not set" };
                write!(out, "Variable({name}, {state})")
            }
            KeySource::Command(words) => write!(out, "Command({})", program_name(words)),
            KeySource::None => out.write_str("None"),
        }
    }
}

/// Gets the key, by the deadline. `None` if none is needed.
pub fn fetch_key(source: &KeySource, deadline: Instant) -> Result<Option<Secret>, ModelFault> {
    match source {
        KeySource::None => Ok(None),
        KeySource::Variable { name, value } => {
            let name = shown(name);
            let value = value.as_deref().filter(|value| !value.trim().is_empty());
            let value = value
                .ok_or_else(|| no_key(format!("the variable {name} is not set, it must hold the key")))?;
            let secret = Secret::parse(value);
            secret.map(Some).map_err(|what| no_key(format!("the key in the variable {name} {what}")))
        }
        KeySource::Command(words) => {
            let name = program_name(words);
            let fail = |what: String| no_key(format!("the key command {name} {what}"));
            let output = run(words, deadline).map_err(fail)?;
            let text =
                str::from_utf8(&output).map_err(|_| fail("prints something that is not text".to_owned()))?;
            let line = text.lines().next().unwrap_or_default();
            let secret = Secret::parse(line);
            secret.map(Some).map_err(|what| fail(format!("prints a first line that {what}")))
        }
    }
}

fn no_key(message: String) -> ModelFault {
    ModelFault::new(FaultKind::NoKey, message, RetryAdvice::No)
}

/// Returns the name of a command for people: the program alone, since an argument may be a secret.
fn program_name(words: &[String]) -> String {
    shown(words.first().map_or("(empty)", String::as_str))
}

fn shown(name: &str) -> String {
    let head: String = name.chars().take(LONGEST_NAME).collect();
    portcullis_core::visible(&head).into_owned()
}

/// A process that does not outlive its use.
struct Leash {
    child: Child,
}

impl Drop for Leash {
    fn drop(&mut self) {
        // Both fail only if it has ended and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command and returns what it printed; what it says on standard error is nobody's business.
fn run(words: &[String], deadline: Instant) -> Result<Vec<u8>, String> {
    let (program, arguments) = words.split_first().ok_or("names no program")?;
    if program.is_empty() {
        return Err("names no program".to_owned());
    }
    if Instant::now() >= deadline {
        return Err("took too long".to_owned());
    }
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().map_err(|error| format!("cannot be run: {}", error.kind()))?;
    let mut leash = Leash { child };
    let stdout = leash.child.stdout.take().ok_or("has no output")?;
    let (sender, receiver) = mpsc::sync_channel(4);
    let reader = thread::Builder::new().name("portcullis-key".to_owned());
    let spawned = reader.spawn(move || read_chunks(stdout, &sender));
    spawned.map_err(|error| format!("cannot be read: {}", error.kind()))?;
    let (output, status) = collect(&mut leash.child, &receiver, deadline)?;
    if status.success() {
        return Ok(output);
    }
    Err(status
        .code()
        .map_or("was killed by a signal".to_owned(), |code| format!("failed with exit code {code}")))
}

/// Hands on what a command prints, until it ends or nobody listens.
fn read_chunks(mut stdout: impl Read, sender: &SyncSender<Vec<u8>>) {
    let mut buffer = [0; 4096];
    loop {
        let chunk = match stdout.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => buffer.get(..length).unwrap_or_default().to_vec(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        if sender.send(chunk).is_err() {
            return;
        }
    }
}

/// Waits until a command has ended and its output with it. Where the output stays open because a process of the command
/// lives on, as agents of key stores do, a whole first line is enough.
fn collect(
    child: &mut Child,
    receiver: &Receiver<Vec<u8>>,
    deadline: Instant,
) -> Result<(Vec<u8>, ExitStatus), String> {
    let mut output = Vec::new();
    let (mut is_read, mut ended) = (false, None);
    let mut pause = Duration::from_micros(200);
    loop {
        if is_read {
            thread::sleep(pause);
        } else {
            match receiver.recv_timeout(pause) {
                Ok(chunk) => output.extend(chunk),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => is_read = true,
            }
        }
        if output.len() > MOST_OUTPUT {
            return Err("prints more than 64 KB".to_owned());
        }
        if ended.is_none() {
            let status =
                child.try_wait().map_err(|error| format!("cannot be waited for: {}", error.kind()))?;
            ended = status.map(|status| (status, Instant::now()));
        }
        if let Some((status, since)) = ended {
            let is_enough = output.contains(&b'\n') && since.elapsed() >= GRACE;
            if is_read || is_enough {
                return Ok((output, status));
            }
        }
        if Instant::now() >= deadline {
            return Err("took too long".to_owned());
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    fn variable(value: Option<&str>) -> Result<Option<Secret>, ModelFault> {
        let source = KeySource::Variable { name: "MODEL_KEY".to_owned(), value: value.map(str::to_owned) };
        fetch_key(&source, soon())
    }

    fn command(words: &[&str]) -> Result<Option<Secret>, ModelFault> {
        fetch_key(&KeySource::Command(words.iter().map(ToString::to_string).collect()), soon())
    }

    fn key(fetched: Result<Option<Secret>, ModelFault>) -> String {
        fetched.unwrap().unwrap().expose().to_owned()
    }

    fn complaint(fetched: Result<Option<Secret>, ModelFault>) -> String {
        let fault = fetched.expect_err("no key");
        assert_eq!((fault.kind, fault.retry), (FaultKind::NoKey, RetryAdvice::No));
        fault.message
    }

    #[test]
    fn a_key_shows_nowhere() {
        let secret = Secret::parse("sk-hunter2").unwrap();
        assert_eq!(format!("{secret:?} {secret}"), "Secret([key]) [key]");
        assert_eq!(secret.redact("a sk-hunter2 b sk-hunter2"), "a [key] b [key]");
        let source = KeySource::Variable { name: "A".to_owned(), value: Some("sk-hunter2".to_owned()) };
        assert_eq!(format!("{source:?}"), "Variable(A, set)");
        let source = KeySource::Command(vec!["vault".to_owned(), "--token=hunter2".to_owned()]);
        assert_eq!(format!("{source:?}"), "Command(vault)");
    }

    #[test]
    fn a_key_is_taken_out_however_it_is_spelled() {
        let erase = |key: &str, text: &[u8]| {
            let erased = Secret::parse(key).unwrap().erase(text);
            erased.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let table: [(&[u8], &str); 9] = [
            (b"sk-hunter2", "[key]"),
            (b"a sk-hunter2 b sk-hunter2sk-hunter2", "a [key] b [key][key]"),
            (b"{\"a\": \"\\u0073k-hunter2.\"}", "{\"a\": \"[key].\"}"),
            (b"\\u0073\\u006B\\u002d\\u0068\\u0075\\u006e\\u0074\\u0065\\u0072\\u0032!", "[key]!"),
            (b"x\\\\u0073k-hunter2", "x[key]"),
            (b"x\\\\\\\\\\u0073k-hunter2", "x[key]"),
            (b"x\\u005cu0073k-hunter2", "x[key]"),
            (b"\xffsk-hunter2\xff", "\u{fffd}[key]\u{fffd}"),
            ("\u{e9}sk-hunter2\u{e9}\\n".as_bytes(), "\u{e9}[key]\u{e9}\\n"),
        ];
        for (text, expected) in table {
            assert_eq!(erase("sk-hunter2", text).as_deref(), Some(expected));
        }
        let others: [&[u8]; 7] =
            [b"", b"sk-hunter", b"sk-\xffhunter2", b"\\u0073", b"\\\\\\", b"\\u00", b"sk-\\u00e9hunter2"];
        for text in others {
            assert_eq!(erase("sk-hunter2", text), None, "{text:?}");
        }
        assert_eq!(erase("no", b"no news"), None, "a short key may be a word");
        assert_eq!(erase(r#"a/b"c\d+e=="#, br#"["a\/b\"c\\d+e=="]"#).as_deref(), Some(r#"["[key]"]"#));
    }

    #[test]
    fn a_key_that_could_begin_a_header_is_refused() {
        for text in
            ["a\r\nx-evil: 1", "a\nb", "a\rb", "a\0b", "a b", "a\tb", "cl\u{e9}", "\u{200b}a", "a\u{7f}"]
        {
            assert!(Secret::parse(text).is_err(), "{text:?}");
            let message = complaint(variable(Some(text)));
            assert!(message.contains("MODEL_KEY") && !message.contains("evil"), "{message}");
        }
        assert!(Secret::parse(&"k".repeat(LONGEST_KEY + 1)).is_err());
    }

    #[test]
    fn a_variable_gives_its_key_without_white_space_around_it() {
        assert_eq!(key(variable(Some(" sk-1\n"))), "sk-1");
        for unset in [None, Some(""), Some(" \n")] {
            assert!(complaint(variable(unset)).contains("MODEL_KEY is not set"));
        }
    }

    #[test]
    fn no_source_gives_no_key() {
        assert!(fetch_key(&KeySource::None, soon()).unwrap().is_none());
    }

    #[test]
    fn a_command_gives_the_first_line_it_prints() {
        assert_eq!(key(command(&["printf", "  sk-2 \\r\\nsecond line\\n"])), "sk-2");
        assert_eq!(key(command(&["printf", "sk-3"])), "sk-3");
    }

    #[test]
    fn no_shell_reads_the_command() {
        assert_eq!(key(command(&["printf", "%s", "$(id)`id`;id|id"])), "$(id)`id`;id|id");
        assert!(complaint(command(&["printf sk-1"])).contains("cannot be run"));
    }

    #[test]
    fn a_command_has_no_input() {
        assert!(complaint(command(&["cat"])).contains("is empty"));
    }

    #[test]
    fn a_command_that_fails_is_named_but_not_what_it_printed() {
        for (words, what) in [
            (vec!["sh", "-c", "echo hunter2; exit 3"], "failed with exit code 3"),
            (vec!["sh", "-c", "echo hunter2; kill -9 $$"], "killed by a signal"),
            (vec!["sh", "-c", "echo hunter2 please log in"], "holds a space"),
            (vec!["sh", "-c", "echo; echo hunter2"], "is empty"),
            (vec!["sh", "-c", "printf 'hunter2\\377'"], "not text"),
            (vec!["sh", "-c", "while :; do echo hunter2; done"], "more than 64 KB"),
            (vec!["no-such-program-at-all", "hunter2"], "cannot be run"),
        ] {
            let message = complaint(command(&words));
            assert!(message.contains(what) && message.contains(words[0]), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
        for words in [&[][..], &[""]] {
            assert!(complaint(command(words)).contains("names no program"));
        }
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended() {
        let words =
            |script: &str| KeySource::Command(vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()]);
        for script in ["exec sleep 600", "echo sk-1; exec >&-; exec sleep 600"] {
            let started = Instant::now();
            let fetched = fetch_key(&words(script), started + Duration::from_millis(200));
            assert!(complaint(fetched).contains("took too long"), "{script}");
            assert!(started.elapsed() < Duration::from_secs(20), "{script}");
        }
        let fetched = fetch_key(&words("echo sk-1"), Instant::now());
        assert!(complaint(fetched).contains("took too long"));
    }

    /// Runs a script that leaves a process behind which holds the output open, and ends that process.
    fn fetch_with_process_left_behind(print: &str, time: Duration) -> Result<Option<Secret>, ModelFault> {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! >'{}'; {print}; exit 0", mark.display());
        let source = KeySource::Command(vec!["sh".to_owned(), "-c".to_owned(), script]);
        let started = Instant::now();
        let fetched = fetch_key(&source, started + time);
        assert!(started.elapsed() < Duration::from_mins(1));
        let left = std::fs::read_to_string(&mark).unwrap();
        assert!(Command::new("kill").arg(left.trim()).status().unwrap().success());
        fetched
    }

    #[test]
    fn an_agent_left_behind_by_the_command_does_not_keep_us() {
        let fetched = fetch_with_process_left_behind("echo sk-1", Duration::from_secs(30));
        assert_eq!(key(fetched), "sk-1");
    }

    #[test]
    fn half_a_line_is_no_key_while_more_may_come() {
        let fetched = fetch_with_process_left_behind("printf sk-", Duration::from_millis(500));
        assert!(complaint(fetched).contains("took too long"));
    }
}
