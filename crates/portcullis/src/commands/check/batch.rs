//! A stream of calls, one JSON object a line, answered in order.
//!
//! A line that is not understood gets an error line and the rest go on. Settings are loaded once for each directory
//! and paths looked up once, so a run sees one state of the disk.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Write};
use std::time::Instant;

use portcullis_core::{Mode, ToolCall, Value};
use portcullis_hosts::json::{kind, parse, write_text, write_value};

use super::arguments::CheckArgs;
use super::line_reader::{Reading, read_line};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::judge::judge;
use crate::output::json::write_verdict_fields;
use crate::session::Session;
use crate::terminal::unwritten;
use crate::world::World;

/// The longest line that is read, in bytes.
const LONGEST_LINE: usize = 8 << 20;
/// How much output is held back at most, in bytes.
const FULL: usize = 64 << 10;
/// How many directories' settings are kept.
const MOST_SESSIONS: usize = 256;

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
    /// By directory, relative to the one the flags name; that one itself is the empty text.
    sessions: BTreeMap<String, Session>,
    world: World,
    output: Output,
    has_errors: bool,
}

/// One line of input.
struct Line {
    call: ToolCall,
    cwd: Option<String>,
    mode: Option<Mode>,
}

impl<'a> Batch<'a> {
    fn new(arguments: &'a CheckArgs) -> Result<Self, Failure> {
        let session = Session::open(&arguments.session)?;
        session.warn();
        Ok(Self {
            arguments,
            sessions: BTreeMap::from([(String::new(), session)]),
            world: World::default(),
            output: Output::default(),
            has_errors: false,
        })
    }

    fn answer(&mut self, line: &[u8]) {
        let (id, outcome) = parse_line(line);
        if let Err(message) = outcome.and_then(|line| self.judge(&id, line)) {
            self.refuse(&id, &message);
        }
    }

    fn judge(&mut self, id: &Value, line: Line) -> Result<(), String> {
        let start = Instant::now();
        let arguments = self.arguments;
        let session = find_session(&mut self.sessions, arguments, line.cwd.as_deref().unwrap_or_default())?;
        let context = session.context(line.mode.or(arguments.mode), arguments.person(), &arguments.add_dir);
        let verdict = judge(session.policy(), line.call, context, &mut self.world)
            .map_err(|failure| failure.message)?;
        let out = &mut self.output.text;
        out.push_str("{\"id\":");
        write_value(out, id);
        out.push(',');
        write_verdict_fields(out, &verdict, start.elapsed().as_micros());
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

fn find_session<'a>(
    sessions: &'a mut BTreeMap<String, Session>,
    arguments: &CheckArgs,
    cwd: &str,
) -> Result<&'a Session, String> {
    if !sessions.contains_key(cwd) {
        if sessions.len() >= MOST_SESSIONS {
            sessions.retain(|directory, _| directory.is_empty());
        }
        let session = Session::open_in(&arguments.session, cwd).map_err(|failure| failure.message)?;
        sessions.insert(cwd.to_owned(), session);
    }
    sessions.get(cwd).ok_or_else(|| "the settings could not be kept".to_owned())
}

/// Reads a line; the id comes back even if the rest is not understood.
fn parse_line(line: &[u8]) -> (Value, Result<Line, String>) {
    let mut fields = match parse(line) {
        Ok(Value::Object(fields)) => fields,
        Ok(other) => return (Value::Null, Err(format!("expected an object, found {}", kind(&other)))),
        Err(error) => return (Value::Null, Err(error.to_string())),
    };
    let id = fields.remove("id").unwrap_or(Value::Null);
    let line = parse_fields(&mut fields);
    (id, line)
}

fn parse_fields(fields: &mut BTreeMap<String, Value>) -> Result<Line, String> {
    let tool = take_text(fields, "tool")?.ok_or("field `tool` is missing")?;
    if tool.is_empty() {
        return Err("field `tool` is empty".to_owned());
    }
    let input = match fields.remove("input") {
        Some(Value::Object(input)) => input.into_iter().collect(),
        Some(other) => return Err(format!("field `input` must be an object, but is {}", kind(&other))),
        None => return Err("field `input` is missing".to_owned()),
    };
    let cwd = take_text(fields, "cwd")?;
    let mode = match take_text(fields, "mode")? {
        Some(name) => Some(Mode::find(&name).ok_or_else(|| format!("the mode `{name}` is not known"))?),
        None => None,
    };
    Ok(Line { call: ToolCall::new(&tool, input), cwd, mode })
}

fn take_text(fields: &mut BTreeMap<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text)),
        Some(other) => Err(format!("field `{name}` must be a string, but is {}", kind(&other))),
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
