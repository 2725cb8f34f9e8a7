//! One session file from beginning to end: every call of it is judged and counted.

use std::cell::LazyCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_classifier::transcript::{CallResult, SessionEvent, SessionStream, TranscriptFormat};
use portcullis_core::tool::find_tool;
use portcullis_core::{Reason, SafetyCheck, ToolCall, Verdict, visible};
use portcullis_hosts::json::write_input;
use portcullis_store::redact;

use super::arguments::ReplayArgs;
use super::history::History;
use super::judge::{Judge, Judged, Place};
use super::lines::{self, Form, Lines, Reading, trimmed};
use super::places::Candidate;
use super::tally::{Answer, Example, Tally};
use portcullis_output::shorten::shorten;

/// The longest call and reason that are shown, in characters.
const LONGEST_SHOWN: usize = 160;
/// How many bytes of a text are looked at to show it.
const LONGEST_LOOKED_AT: usize = 4_096;
/// How many calls whose end has not been read are kept in mind.
const MOST_OPEN: usize = 4_096;

/// How far all workers are together.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) bytes: AtomicU64,
    pub(super) calls: AtomicU64,
}

/// What a file is judged with.
pub(super) struct ReplayContext<'a> {
    pub(super) arguments: &'a ReplayArgs,
    pub(super) judge: Judge<'a>,
    /// Where calls are made whose record does not tell.
    pub(super) usual_place: &'a str,
    pub(super) watch: &'a Watch,
    /// A line, kept so that its memory serves again.
    pub(super) buffer: Vec<u8>,
}

impl ReplayContext<'_> {
    /// Judges every call of a file. Whatever is wrong with it is counted and named.
    pub(super) fn replay(&mut self, file: &Candidate) -> Tally {
        let mut tally = Tally::default();
        let name = visible(&file.path.display().to_string()).into_owned();
        match lines::open(&file.path) {
            Ok(Some((lines, form))) => {
                tally.sessions += 1;
                if let Err(error) = self.read(lines, form, &name, &mut tally) {
                    lose(&mut tally, file, format!("{name}: it was cut short: {error}"));
                }
            }
            Ok(None) => {
                tally.others += 1;
                let is_expected = file.path.extension().is_some_and(|extension| extension == "jsonl");
                if file.is_named || is_expected {
                    lose(&mut tally, file, format!("{name}: it is not a session of an agent"));
                }
            }
            Err(error) => lose(&mut tally, file, format!("{name}: {error}")),
        }
        tally
    }

    fn read(&mut self, mut lines: Lines, form: Form, name: &str, tally: &mut Tally) -> io::Result<()> {
        let format = match form {
            Form::Lines(format) => format,
            Form::Document => TranscriptFormat::Gemini,
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut run = Run::new(format, name);
        loop {
            let reading = match form {
                Form::Lines(_) => lines.next(&mut buffer)?,
                Form::Document if lines.number > 0 => Reading::End,
                Form::Document => lines.whole(&mut buffer)?,
            };
            self.watch.bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            match reading {
                Reading::End => break,
                Reading::TooLong => {
                    // What stood in it is not known: it may have been anything.
                    run.history.sum_up();
                    tally.too_long += 1;
                }
                Reading::Line => self.take(trimmed(&buffer), lines.number, &mut run, tally),
            }
        }
        run.finish(tally);
        self.buffer = buffer;
        Ok(())
    }

    fn take(&mut self, line: &[u8], number: usize, run: &mut Run<'_>, tally: &mut Tally) {
        if line.is_empty() {
            return;
        }
        let mut told = Vec::new();
        if run.stream.take(line, &mut told).is_none() {
            tally.skipped += 1;
        }
        for happening in told {
            match happening {
                SessionEvent::Said(text) => run.history.say(text),
                SessionEvent::Summed => run.history.sum_up(),
                SessionEvent::TookBack(turns) => run.history.take_back(turns),
                SessionEvent::Ended { id, fate } => run.end(&id, fate, tally),
                SessionEvent::Called { id, calls } => self.judge(id, &calls, number, run, tally),
            }
        }
    }

    fn judge(
        &mut self,
        id: Option<String>,
        calls: &[ToolCall],
        line: usize,
        run: &mut Run<'_>,
        tally: &mut Tally,
    ) {
        let scene = run.stream.scene();
        let cwd = scene.cwd.as_deref().unwrap_or(self.usual_place);
        let project = run.project.get_or_insert_with(|| cwd.to_owned());
        let place = Place { cwd: cwd.to_owned(), project: project.clone() };
        self.watch.calls.fetch_add(1, Ordering::Relaxed);
        if !self.arguments.takes(scene.time.as_deref()) {
            self.judge.pass(calls, &place, &mut run.history);
            tally.left_out += 1;
            return;
        }
        match self.judge.judge(calls, scene.mode, &place, &mut run.history) {
            Ok(judged) => {
                count(tally, run, &judged, calls.get(judged.call), line);
                run.open(id, judged.answer, tally);
            }
            Err(message) => {
                tally.unjudged += 1;
                tally.complain(format!("{}: {}", run.name, redacted(&message)));
            }
        }
    }
}

fn lose(tally: &mut Tally, file: &Candidate, problem: String) {
    tally.failed += 1;
    tally.has_lost_named |= file.is_named;
    tally.complain(problem);
}

/// A file in the course of being read.
struct Run<'a> {
    name: &'a str,
    format: TranscriptFormat,
    stream: SessionStream,
    history: History,
    /// The directory the session began in.
    project: Option<String>,
    /// What was answered to calls whose end has not been read.
    pending: BTreeMap<String, Answer>,
    /// Their ids, the oldest first.
    order: VecDeque<String>,
}

impl<'a> Run<'a> {
    fn new(format: TranscriptFormat, name: &'a str) -> Self {
        Self {
            name,
            format,
            stream: SessionStream::new(format),
            history: History::default(),
            project: None,
            pending: BTreeMap::new(),
            order: VecDeque::new(),
        }
    }

    /// Keeps in mind what was answered until the call's end is read.
    fn open(&mut self, id: Option<String>, answer: Answer, tally: &mut Tally) {
        let Some(id) = id else {
            *tally.fates.entry((None, answer)).or_default() += 1;
            return;
        };
        if self.order.len() >= MOST_OPEN
            && let Some(oldest) = self.order.pop_front()
            && let Some(answer) = self.pending.remove(&oldest)
        {
            *tally.fates.entry((None, answer)).or_default() += 1;
        }
        if let Some(before) = self.pending.insert(id.clone(), answer) {
            *tally.fates.entry((None, before)).or_default() += 1;
        }
        self.order.push_back(id);
    }

    fn end(&mut self, id: &str, fate: CallResult, tally: &mut Tally) {
        if let Some(answer) = self.pending.remove(id) {
            *tally.fates.entry((Some(fate), answer)).or_default() += 1;
        }
    }

    fn finish(self, tally: &mut Tally) {
        for answer in self.pending.into_values() {
            *tally.fates.entry((None, answer)).or_default() += 1;
        }
    }
}

fn count(tally: &mut Tally, run: &Run<'_>, judged: &Judged, call: Option<&ToolCall>, line: usize) {
    let (name, format) = (run.name, run.format);
    let (answer, verdict) = (judged.answer, &judged.verdict);
    let example = LazyCell::new(|| Example {
        title: call.map(title).unwrap_or_default(),
        reason: redacted(&verdict.reason.message()),
        place: format!("{name}:{line}"),
    });
    tally.total.count(answer);
    tally.by_host.entry(format).or_default().count(answer);
    tally.by_mode.entry(judged.mode).or_default().count(answer);
    tally.by_step.entry(verdict.step).or_default().count(answer);
    tally.by_tool.count(&call.map(|call| shorten(call.tool(), LONGEST_SHOWN)).unwrap_or_default(), answer);
    let mut codes: Vec<&'static str> = verdict.findings.iter().map(|found| found.code).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        tally.findings.count(&code, answer, &example);
    }
    match (answer, &judged.remedy.rules) {
        (Answer::Ask, Some(rules)) => tally.prompts.count(rules, answer, &example),
        (Answer::Ask, None) => tally.stubborn.count(&why(verdict), answer, &example),
        (Answer::Deny, _) => {
            let why = why(verdict);
            tally.denied.count(&why, answer, &example);
            tally.denied.raise(&why, verdict.findings.iter().map(|found| found.severity).max());
        }
        (Answer::Allow | Answer::Model, _) => {}
    }
    tally.run_by_edits += usize::from(judged.remedy.is_run_by_edits);
    if let Some(other) = judged.other.filter(|other| *other != answer) {
        tally.changes.entry((answer, other)).or_default().count(answer, &example);
    }
}

/// Says why in words that are the same for calls of one kind.
fn why(verdict: &Verdict) -> String {
    let found = verdict.findings.iter().find(|found| !found.is_requested).map(|found| found.code);
    let words = match &verdict.reason {
        Reason::Unsettled { .. } if found.is_some() => found.unwrap_or_default(),
        Reason::Finding { code, .. } | Reason::Requested { code, .. } => code,
        Reason::Rule { rule, .. } => {
            let text = shorten(&rule.text, LONGEST_SHOWN);
            return format!("the {} rule `{text}`", rule.behavior);
        }
        Reason::Safety { check: SafetyCheck::ProtectedPath, .. } => "a protected path",
        Reason::Safety { check: SafetyCheck::CriticalRemoval, .. } => "a removal that cannot be undone",
        Reason::Safety { check: SafetyCheck::SymbolicLink, .. } => {
            "a symbolic link out of the working directories"
        }
        Reason::Interaction => "a tool that only a person can answer",
        Reason::OutsideWorkspace { .. } => "a path outside the working directories",
        Reason::Opaque { .. } => "a command that cannot be read for sure",
        Reason::Unsettled { .. } => "no rule covers it",
        Reason::Mode(mode) => return format!("mode {mode}"),
        other => other.kind(),
    };
    words.to_owned()
}

/// Describes a call on one line: its tool and what it is about, without secrets.
fn title(call: &ToolCall) -> String {
    let primary = find_tool(call.tool()).and_then(|tool| tool.primary_field);
    let text = primary.and_then(|field| call.input().text(field)).map_or_else(
        || {
            let mut text = String::new();
            write_input(&mut text, call.input());
            redacted(&text)
        },
        redacted,
    );
    format!("{} {text}", visible(&shorten(call.tool(), LONGEST_SHOWN)))
}

/// Makes a text fit to be shown: one line, no secrets, not too long.
fn redacted(text: &str) -> String {
    let start = text.get(..text.floor_char_boundary(LONGEST_LOOKED_AT)).unwrap_or(text);
    let text = redact(start);
    visible(&shorten(&text, LONGEST_SHOWN)).into_owned()
}
