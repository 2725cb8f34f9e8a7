//! A stream of calls, one JSON object a line, answered in order.
//!
//! A line that is not understood gets an error line and the rest go on. Settings are loaded once for each directory
//! and paths looked up once, so a run sees one state of the disk.

use std::io::{self, BufReader, Write};
use std::time::Instant;

use portcullis_core::Value;
use portcullis_hosts::json::{write_text, write_value};

use super::arguments::CheckArgs;
use super::call_line::{CallLine, LONGEST_LINE, parse_object, take_call};
use super::line_reader::{Reading, read_line};
use super::sessions::Sessions;
use super::single::explained;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::SessionSettings;
use portcullis_gate::judge::SessionHistory;
use portcullis_output::judged::write_fields;
use portcullis_output::settings_notes;
use portcullis_output::terminal::{Notes, unwritten};
use portcullis_world::World;

/// How much output is held back at most, in bytes.
const FULL: usize = 64 << 10;

/// Answers every line of standard input.
pub(crate) fn run(arguments: &CheckArgs) -> Result<ExitCode, Failure> {
    let mut reader = BufReader::with_capacity(FULL, io::stdin().lock());
    let mut batch = Batch::new(arguments)?;
    let mut line = Vec::new();
    loop {
        let reading =
            read_line(&mut reader, LONGEST_LINE, &mut line, || batch.output.flush()).map_err(|error| {
                match error.kind() {
                    io::ErrorKind::BrokenPipe => unwritten(&error),
                    _ => Failure::internal(format!("the batch was cut short: {error}")),
                }
            })?;
        match reading {
            Reading::End => break,
            Reading::TooLong => {
                batch.refuse(&Value::Null, &format!("the line is longer than {LONGEST_LINE} bytes"));
            }
            Reading::Line if line.trim_ascii().is_empty() => {}
            Reading::Line => batch.answer(&line),
        }
        batch.output.flush_if_full().map_err(|error| unwritten(&error))?;
    }
    batch.output.flush().map_err(|error| unwritten(&error))?;
    Ok(if batch.has_errors { ExitCode::Usage } else { ExitCode::Success })
}

struct Batch<'a> {
    arguments: &'a CheckArgs,
    sessions: Sessions<'a>,
    world: World,
    output: Output,
    notes: Notes,
    has_errors: bool,
}

impl<'a> Batch<'a> {
    fn new(arguments: &'a CheckArgs) -> Result<Self, Failure> {
        let session = SessionSettings::open(&arguments.session)?;
        settings_notes::warn(&session);
        Ok(Self {
            arguments,
            sessions: Sessions::new(&arguments.session, session, SessionSettings::open_in),
            world: World::default(),
            output: Output::default(),
            notes: Notes::default(),
            has_errors: false,
        })
    }

    fn answer(&mut self, line: &[u8]) {
        let (id, outcome) = parse_line(line);
        if let Err(message) = outcome.and_then(|line| self.judge(&id, &line)) {
            self.refuse(&id, &message);
        }
    }

    fn judge(&mut self, id: &Value, line: &CallLine) -> Result<(), String> {
        let start = Instant::now();
        let arguments = self.arguments;
        let session = self.sessions.find(line.cwd.as_deref().unwrap_or_default())?;
        let mut context =
            session.context(line.mode.or(arguments.mode), arguments.person(), &arguments.add_dir);
        arguments.tell(&mut context);
        let road = arguments.road(session);
        let mut judged = road
            .judge(&line.call, context, &SessionHistory::default(), &mut self.world)
            .map_err(|failure| failure.message)?;
        let elapsed = start.elapsed();
        let mut notes = std::mem::take(&mut judged.problems);
        let explained = explained(arguments, session, &line.call, &judged, &mut self.world, &mut notes);
        self.notes.say(notes);
        let out = &mut self.output.text;
        out.push_str("{\"id\":");
        write_value(out, id);
        out.push(',');
        write_fields(out, &judged, elapsed.as_micros(), explained.as_ref());
        out.push_str("}\n");
        Ok(())
    }

    fn refuse(&mut self, id: &Value, message: &str) {
        self.has_errors = true;
        let out = &mut self.output.text;
        out.push_str("{\"id\":");
        write_value(out, id);
        out.push_str(",\"error\":");
        write_text(out, message);
        out.push_str("}\n");
    }
}

/// Reads a line; the id comes back even if the rest is not understood.
fn parse_line(line: &[u8]) -> (Value, Result<CallLine, String>) {
    match parse_object(line) {
        Ok(mut fields) => {
            let id = fields.remove("id").unwrap_or(Value::Null);
            (id, take_call(&mut fields))
        }
        Err(message) => (Value::Null, Err(message)),
    }
}

/// Answers that were not written yet.
#[derive(Default)]
struct Output {
    text: String,
}

impl Output {
    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.text.len() >= FULL { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(self.text.as_bytes())?;
        stdout.flush()?;
        self.text.clear();
        Ok(())
    }
}
