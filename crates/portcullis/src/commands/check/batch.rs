//! A stream of calls, one JSON object a line, answered in order.
//!
//! A line that is not understood gets an error line and the rest go on. The lines that have arrived are shared out among
//! workers. Each loads the settings of a directory once and looks a path up once, so what it answers comes from one state
//! of the disk.

use std::io::{self, BufReader, Write};
use std::thread;
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
use portcullis_gate::classifier::has_classifier;
use portcullis_gate::judge::SessionHistory;
use portcullis_output::judged::write_fields;
use portcullis_output::settings_notes;
use portcullis_output::terminal::{Notes, unwritten};
use portcullis_world::World;

/// How much is read at once, in bytes: what a pipe holds several times, so that every worker has enough to do.
const READ_AT_ONCE: usize = 256 << 10;
/// The fewest lines that are worth a worker of their own.
const SMALLEST_SHARE: usize = 16;
/// The stack of a worker: that of a main thread.
const STACK: usize = 8 << 20;

/// Answers every line of standard input.
pub(crate) fn run(arguments: &CheckArgs) -> Result<ExitCode, Failure> {
    let mut reader = BufReader::with_capacity(READ_AT_ONCE, io::stdin().lock());
    let mut batch = Batch::new(arguments)?;
    loop {
        let mut line = Vec::new();
        let mut unanswered = Ok(());
        let reading = read_line(&mut reader, LONGEST_LINE, &mut line, || {
            unanswered = batch.answer();
            match &unanswered {
                Ok(()) => Ok(()),
                Err(_) => Err(io::ErrorKind::Other.into()),
            }
        });
        unanswered?;
        match reading.map_err(|error| Failure::internal(format!("the batch was cut short: {error}")))? {
            Reading::End => break,
            Reading::TooLong => batch.lines.push(None),
            Reading::Line if line.trim_ascii().is_empty() => {}
            Reading::Line => batch.lines.push(Some(line)),
        }
    }
    batch.answer()?;
    Ok(if batch.has_errors { ExitCode::Usage } else { ExitCode::Success })
}

struct Batch<'a> {
    workers: Vec<Worker<'a>>,
    /// The lines that wait for an answer; nothing for one that is too long.
    lines: Vec<Option<Vec<u8>>>,
    notes: Notes,
    has_errors: bool,
}

impl<'a> Batch<'a> {
    fn new(arguments: &'a CheckArgs) -> Result<Self, Failure> {
        let session = SessionSettings::open(&arguments.session)?;
        settings_notes::warn(&session);
        // What a session counts and what a model is asked depends on the order of the calls.
        let is_ordered =
            arguments.session_id.is_some() || has_classifier(&session.loaded, &arguments.classifier);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut workers = vec![Worker::new(arguments, session)];
        for _ in 1..if is_ordered { 1 } else { cores } {
            workers.push(Worker::new(arguments, SessionSettings::open(&arguments.session)?));
        }
        Ok(Self { workers, lines: Vec::new(), notes: Notes::default(), has_errors: false })
    }

    /// Answers the lines that wait.
    fn answer(&mut self) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.lines);
        let share = lines.len().div_ceil(self.workers.len()).max(SMALLEST_SHARE);
        thread::scope(|scope| {
            let mut shares = lines.chunks(share).zip(&mut self.workers);
            let own = shares.next();
            let mut running = Vec::new();
            for (lines, worker) in shares {
                let work = || worker.answer(lines);
                let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
                running.push(
                    started.map_err(|error| Failure::internal(format!("no worker could start: {error}")))?,
                );
            }
            if let Some((lines, worker)) = own {
                worker.answer(lines);
            }
            for worker in running {
                worker.join().map_err(|_| Failure::internal("a worker failed"))?;
            }
            Ok::<_, Failure>(())
        })?;
        let mut stdout = io::stdout().lock();
        for answered in self.workers.iter_mut().map(|worker| &mut worker.answered) {
            self.has_errors |= answered.has_errors;
            self.notes.say(std::mem::take(&mut answered.notes));
            stdout.write_all(answered.text.as_bytes()).map_err(|error| unwritten(&error))?;
            // The memory is kept for the next lines: it is as large as all they say.
            answered.text.clear();
        }
        stdout.flush().map_err(|error| unwritten(&error))
    }
}

/// What was made of some lines.
#[derive(Default)]
struct Answered {
    text: String,
    notes: Vec<String>,
    has_errors: bool,
}

impl Answered {
    fn refuse(&mut self, id: &Value, message: &str) {
        self.has_errors = true;
        let out = &mut self.text;
        out.push_str("{\"id\":");
        write_value(out, id);
        out.push_str(",\"error\":");
        write_text(out, message);
        out.push_str("}\n");
    }
}

/// Answers calls, with settings and lookups of its own.
struct Worker<'a> {
    arguments: &'a CheckArgs,
    sessions: Sessions<'a>,
    world: World,
    answered: Answered,
}

impl<'a> Worker<'a> {
    fn new(arguments: &'a CheckArgs, session: SessionSettings) -> Self {
        let sessions = Sessions::new(&arguments.session, session, SessionSettings::open_in);
        Self { arguments, sessions, world: World::default(), answered: Answered::default() }
    }

    /// Answers lines, to be written out before the next ones are.
    fn answer(&mut self, lines: &[Option<Vec<u8>>]) {
        let mut answered = std::mem::take(&mut self.answered);
        for line in lines {
            let (id, outcome) = match line {
                Some(line) => parse_line(line),
                None => (Value::Null, Err(format!("the line is longer than {LONGEST_LINE} bytes"))),
            };
            if let Err(message) = outcome.and_then(|line| self.judge(&id, &line, &mut answered)) {
                answered.refuse(&id, &message);
            }
        }
        self.answered = answered;
    }

    fn judge(&mut self, id: &Value, line: &CallLine, answered: &mut Answered) -> Result<(), String> {
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
        answered.notes.append(&mut judged.problems);
        let explained = explained(arguments, session, &line.call, &judged, &mut answered.notes);
        let out = &mut answered.text;
        out.push_str("{\"id\":");
        write_value(out, id);
        out.push(',');
        write_fields(out, &judged, elapsed.as_micros(), explained.as_ref());
        out.push_str("}\n");
        Ok(())
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
