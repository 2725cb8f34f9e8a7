//! A stream of calls, one JSON object a line, answered in order.
//!
//! A line that is not understood gets an error line and the rest go on. The lines that have arrived are shared out among
//! workers. Each loads the settings of a directory once and looks a path up once, so what it answers comes from one state
//! of the disk, and a call that comes again is answered as before: what agents did repeats itself.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::thread;
use std::time::Instant;

use portcullis_core::Value;
use portcullis_hosts::json::{write_text, write_value};

use super::arguments::CheckArgs;
use super::call_line::{CallLine, Fields, LONGEST_LINE, parse_object, take_call};
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
/// The most calls whose answers are remembered, and the longest such line and answer, in bytes.
const MOST_KNOWN: usize = 4096;
const LONGEST_KNOWN: usize = 8 << 10;
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
        let mut workers = vec![Worker::new(arguments, session, !is_ordered)];
        for _ in 1..if is_ordered { 1 } else { cores } {
            workers.push(Worker::new(arguments, SessionSettings::open(&arguments.session)?, true));
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
    fn say(&mut self, id: &Value, fields: &str) {
        let out = &mut self.text;
        out.push_str("{\"id\":");
        write_value(out, id);
        out.push(',');
        out.push_str(fields);
        out.push_str("}\n");
    }

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
    /// What was said of calls, by the call; nothing where the same call may be answered otherwise the next time.
    known: Option<HashMap<Fields, String>>,
}

impl<'a> Worker<'a> {
    fn new(arguments: &'a CheckArgs, session: SessionSettings, remembers: bool) -> Self {
        let sessions = Sessions::new(&arguments.session, session, SessionSettings::open_in);
        let known = remembers.then(HashMap::new);
        Self { arguments, sessions, world: World::default(), answered: Answered::default(), known }
    }

    /// Answers lines, to be written out before the next ones are.
    fn answer(&mut self, lines: &[Option<Vec<u8>>]) {
        let mut answered = std::mem::take(&mut self.answered);
        for line in lines {
            let (id, outcome) = match line {
                Some(line) => parse_line(line),
                None => (Value::Null, Err(format!("the line is longer than {LONGEST_LINE} bytes"))),
            };
            let is_short = line.as_ref().is_some_and(|line| line.len() <= LONGEST_KNOWN);
            let answer = |fields| self.answer_call(&id, fields, is_short, &mut answered);
            if let Err(message) = outcome.and_then(answer) {
                answered.refuse(&id, &message);
            }
        }
        self.answered = answered;
    }

    /// Answers a call, as before if it came before. What is said of a short one is remembered.
    fn answer_call(
        &mut self,
        id: &Value,
        mut call: Fields,
        is_short: bool,
        answered: &mut Answered,
    ) -> Result<(), String> {
        if let Some(said) = self.known.as_ref().and_then(|known| known.get(&call)) {
            answered.say(id, said);
            return Ok(());
        }
        let asked = (is_short && self.known.is_some()).then(|| call.clone());
        let said = self.judge(&take_call(&mut call)?, &mut answered.notes)?;
        answered.say(id, &said);
        if let (Some(known), Some(asked)) = (&mut self.known, asked)
            && said.len() <= LONGEST_KNOWN
        {
            if known.len() >= MOST_KNOWN {
                known.clear();
            }
            known.insert(asked, said);
        }
        Ok(())
    }

    /// Judges a call and says what came of it, in the fields of its answer.
    fn judge(&mut self, line: &CallLine, notes: &mut Vec<String>) -> Result<String, String> {
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
        notes.append(&mut judged.problems);
        let explained = explained(arguments, session, &line.call, &judged, notes);
        let mut said = String::new();
        write_fields(&mut said, &judged, elapsed.as_micros(), explained.as_ref());
        Ok(said)
    }
}

/// Reads a line; the id comes back even if the rest is not understood.
fn parse_line(line: &[u8]) -> (Value, Result<Fields, String>) {
    match parse_object(line) {
        Ok(mut fields) => (fields.remove("id").unwrap_or(Value::Null), Ok(fields)),
        Err(message) => (Value::Null, Err(message)),
    }
}
