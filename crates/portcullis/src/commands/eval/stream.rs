//! The files, read a chunk at a time and handed to the workers.
//!
//! A chunk is bounded in lines and in bytes, so memory does not grow with the files. Every worker takes a run of
//! neighbouring lines and what it says is taken up in their order, so the number of workers does not show.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::thread;

use super::arguments::EvalArgs;
use super::evaluation::{Evaluation, Keep};
use super::progress::Progress;
use super::sample::Sample;
use super::worker::{Outcome, Worker};
use crate::commands::check::{LONGEST_LINE, Reading, read_line};
use portcullis_gate::Failure;

/// The most lines of a chunk for each worker.
const CHUNK_LINES: usize = 256;
/// The most bytes of a chunk, but for its last line.
const CHUNK_BYTES: usize = 8 << 20;
/// The stack of a worker: that of a main thread.
const STACK: usize = 8 << 20;

/// Decides every action of the files. With a sample they are held there, and counted later.
pub(super) fn evaluate(
    arguments: &EvalArgs,
    keep: Keep,
    sample: Option<&mut Sample<'_>>,
) -> Result<Evaluation, Failure> {
    let inputs = open_all(&arguments.files)?;
    let mut workers = Vec::new();
    for _ in 0..arguments.workers() {
        workers.push(Worker::new(arguments)?);
    }
    if let Some(worker) = workers.first_mut() {
        worker.warn();
    }
    let mut intake = Intake { evaluation: Evaluation::new(&arguments.files, keep), sample };
    let size = inputs.iter().map(|input| input.size).sum();
    let mut progress = Progress::new(size, arguments.json);
    let outcome = read_all(inputs, &mut workers, &mut intake, &mut progress);
    progress.clear();
    outcome.map(|()| intake.evaluation)
}

/// Where what was decided goes.
struct Intake<'a, 'b> {
    evaluation: Evaluation,
    sample: Option<&'a mut Sample<'b>>,
}

impl Intake<'_, '_> {
    fn take(&mut self, file: usize, line: &Line, outcome: Outcome) -> Result<(), Failure> {
        match outcome {
            Outcome::Blank => {}
            Outcome::LeftOut => self.evaluation.left_out += 1,
            Outcome::Skipped(message) => self.evaluation.skip(file, line.number, &message),
            Outcome::Decided(action) => match &mut self.sample {
                Some(sample) => sample.hold(*action, line.text.as_deref().unwrap_or_default())?,
                None => self.evaluation.add(*action),
            },
        }
        Ok(())
    }
}

fn read_all(
    inputs: Vec<Input>,
    workers: &mut [Worker<'_>],
    intake: &mut Intake<'_, '_>,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let most_lines = CHUNK_LINES * workers.len();
    let (mut bytes, mut lines) = (0, 0);
    for (file, input) in inputs.into_iter().enumerate() {
        let mut reader = Lines { reader: BufReader::with_capacity(64 << 10, input.reader), number: 0 };
        loop {
            let chunk = reader.chunk(most_lines).map_err(|error| unreadable(&input.name, &error))?;
            if chunk.is_empty() {
                break;
            }
            lines += chunk.len();
            bytes += chunk.iter().map(|line| line.text.as_ref().map_or(0, Vec::len) as u64 + 1).sum::<u64>();
            evaluate_chunk(file, &chunk, workers, intake)?;
            progress.show(bytes, lines);
        }
    }
    Ok(())
}

/// Decides a chunk; the outcomes are taken up in the order of the lines.
fn evaluate_chunk(
    file: usize,
    chunk: &[Line],
    workers: &mut [Worker<'_>],
    intake: &mut Intake<'_, '_>,
) -> Result<(), Failure> {
    let share = chunk.len().div_ceil(workers.len().max(1)).max(1);
    thread::scope(|scope| {
        let mut running = Vec::new();
        for (lines, worker) in chunk.chunks(share).zip(workers) {
            let work = move || lines.iter().map(|line| evaluate_line(file, line, worker)).collect::<Vec<_>>();
            let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            let started =
                started.map_err(|error| Failure::internal(format!("no worker could start: {error}")))?;
            running.push((lines, started));
        }
        for (lines, worker) in running {
            let outcomes = worker.join().map_err(|_| Failure::internal("a worker failed"))?;
            for (line, outcome) in lines.iter().zip(outcomes) {
                intake.take(file, line, outcome)?;
            }
        }
        Ok(())
    })
}

fn evaluate_line(file: usize, line: &Line, worker: &mut Worker<'_>) -> Outcome {
    match &line.text {
        Some(text) => worker.evaluate(file, text),
        None => Outcome::Skipped(format!("the line is longer than {LONGEST_LINE} bytes")),
    }
}

/// A file that was opened.
struct Input {
    name: String,
    reader: Box<dyn Read>,
    /// How long it is, where that is known.
    size: Option<u64>,
}

/// Opens all files, so that a wrong name is told before any work is done.
fn open_all(names: &[String]) -> Result<Vec<Input>, Failure> {
    if names.iter().filter(|name| *name == "-").count() > 1 {
        return Err(Failure::usage("standard input can be read only once"));
    }
    names.iter().map(|name| open(name)).collect()
}

fn open(name: &str) -> Result<Input, Failure> {
    if name == "-" {
        return Ok(Input { name: name.to_owned(), reader: Box::new(io::stdin()), size: None });
    }
    let wrong = |error: io::Error| Failure::usage(format!("`{name}` cannot be read: {error}"));
    let file = File::open(name).map_err(wrong)?;
    let metadata = file.metadata().map_err(wrong)?;
    if metadata.is_dir() {
        return Err(Failure::usage(format!("`{name}` cannot be read: it is a directory")));
    }
    let size = metadata.is_file().then_some(metadata.len());
    Ok(Input { name: name.to_owned(), reader: Box::new(file), size })
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::internal(format!("`{name}` was cut short: {error}"))
}

/// A line and its number.
struct Line {
    number: usize,
    /// Without its newline; nothing if it is too long.
    text: Option<Vec<u8>>,
}

struct Lines {
    reader: BufReader<Box<dyn Read>>,
    number: usize,
}

impl Lines {
    /// Reads the next lines; none at the end.
    fn chunk(&mut self, most: usize) -> io::Result<Vec<Line>> {
        let mut chunk = Vec::new();
        let mut bytes = 0;
        while chunk.len() < most && bytes < CHUNK_BYTES {
            let mut text = Vec::new();
            let reading = read_line(&mut self.reader, LONGEST_LINE, &mut text, || Ok(()))?;
            self.number += 1;
            bytes += text.len();
            match reading {
                Reading::End => break,
                Reading::TooLong => chunk.push(Line { number: self.number, text: None }),
                Reading::Line => chunk.push(Line { number: self.number, text: Some(text) }),
            }
        }
        Ok(chunk)
    }
}
