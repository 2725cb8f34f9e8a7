//! Judges calls on threads, so that a call that waits for a model or a person waits alone.
//!
//! ```text
//! reader ──► judging thread ──► decided at once: the reader forwards it, and the order of calls stays
//!                          └──► waits: the reader goes on with another thread; this one forwards the call later
//! ```

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;

use portcullis_core::{ToolCall, Value};
use portcullis_gate::gate::{HostGate, QuestionWithdrawal, UNATTENDED};
use portcullis_gate::judge::ConfiguredConsultants;
use portcullis_hosts::json::write_value;
use portcullis_hosts::{BlockingReply, HookCall, HookMoment, HostAnswer, HostDecision};
use portcullis_output::terminal::print_notes;

use super::frame::Call;
use super::name::rule_name;
use super::server_end::Ticket;
use super::{HOST, STACK, Shared};
use crate::commands::mcp::json_rpc::refusal_line;
use crate::flags::print_notice;

/// How many calls wait for somebody at once; the others wait for their turn.
const MOST_WAITING: usize = 32;

/// The one moment at which a call is judged.
static MOMENT: HookMoment = HookMoment {
    event: "tools/call",
    capabilities: UNATTENDED,
    blocking: BlockingReply { stdout: "", stderr: "", exit_code: 70 },
};

/// What becomes of a call, as far as the reader is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It goes on.
    Allowed,
    /// It was answered.
    Refused,
    /// Somebody is asked, and it is forwarded or answered later.
    Waits,
}

/// A call that is to be judged.
struct Job {
    call: Call,
    /// What is forwarded if it waited and is allowed then.
    line: Vec<u8>,
    ticket: Ticket,
}

/// What a judging thread says.
enum News {
    Decided(HostAnswer),
    Waits,
}

/// The threads that wait, and what waits for one of them.
#[derive(Default)]
pub(super) struct Backlog {
    threads: usize,
    jobs: VecDeque<Job>,
}

/// The thread that judges the next call.
struct JudgingThread {
    jobs: Sender<Job>,
    news: Receiver<News>,
}

/// Judges the calls of the reader.
pub(super) struct Judging {
    shared: Arc<Shared>,
    thread: Option<JudgingThread>,
}

impl Judging {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared, thread: None }
    }

    /// Judges a call. One that is refused is answered, and one that waits is forwarded as `line` if it is allowed later.
    pub(super) fn judge(&mut self, call: Call, line: Vec<u8>) -> io::Result<Progress> {
        let id = call.id.clone();
        let Some(ticket) = self.shared.server.hold(id.as_ref(), line.len()) else {
            let refusal =
                HostAnswer::failure("too many calls wait for an answer already; try it again later");
            return self.shared.answer(id.as_ref(), &refusal).map(|()| Progress::Refused);
        };
        let job = Job { call, line, ticket };
        {
            let mut backlog = backlog(&self.shared);
            if backlog.threads >= MOST_WAITING {
                backlog.jobs.push_back(job);
                return Ok(Progress::Waits);
            }
        }
        self.judge_now(job, id.as_ref())
    }

    fn judge_now(&mut self, job: Job, id: Option<&Value>) -> io::Result<Progress> {
        let ticket = job.ticket.clone();
        let news = match self.thread.take().map_or_else(|| start(&self.shared), Ok) {
            Ok(thread) => {
                // A thread that is gone says nothing, and then nothing was decided.
                let _ = thread.jobs.send(job);
                let news = thread.news.recv().ok();
                self.thread = Some(thread).filter(|_| matches!(news, Some(News::Decided(_))));
                news
            }
            Err(_) => None,
        };
        let answer = match news {
            Some(News::Waits) => return Ok(Progress::Waits),
            Some(News::Decided(answer)) => answer,
            None => HostAnswer::failure("the call could not be judged because of an internal failure"),
        };
        let _released = self.shared.server.release(&ticket, None)?;
        self.shared.answer(id, &answer)?;
        Ok(if answer.said == HostDecision::Allow { Progress::Allowed } else { Progress::Refused })
    }
}

fn start(shared: &Arc<Shared>) -> io::Result<JudgingThread> {
    let (jobs, given) = channel();
    let (told, news) = channel();
    let shared = Arc::clone(shared);
    let judging = move || judge_all(&shared, &given, &told);
    thread::Builder::new().name("judge".to_owned()).stack_size(STACK).spawn(judging)?;
    Ok(JudgingThread { jobs, news })
}

/// Judges what the reader gives, until one call waits; from then on it is one of those that wait.
fn judge_all(shared: &Shared, jobs: &Receiver<Job>, news: &Sender<News>) {
    while let Ok(job) = jobs.recv() {
        let has_waited = Cell::new(false);
        let before_waiting = || {
            if !has_waited.replace(true) {
                backlog(shared).threads += 1;
                // A reader that is gone needs no news.
                let _ = news.send(News::Waits);
            }
        };
        let answer = judge(shared, &job.call, &job.ticket.withdrawal, &before_waiting);
        if has_waited.get() {
            settle(shared, &job, &answer);
            return judge_backlog(shared);
        }
        let _ = news.send(News::Decided(answer));
    }
}

/// Judges what waited for its turn, and ends when nothing does.
fn judge_backlog(shared: &Shared) {
    loop {
        let job = {
            let mut backlog = backlog(shared);
            let job = backlog.jobs.pop_front();
            if job.is_none() {
                backlog.threads -= 1;
            }
            job
        };
        let Some(job) = job else { return };
        let answer = judge(shared, &job.call, &job.ticket.withdrawal, &|| ());
        settle(shared, &job, &answer);
    }
}

fn backlog(shared: &Shared) -> MutexGuard<'_, Backlog> {
    shared.backlog.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forwards or answers a call that waited. Whoever cancelled it hears nothing more of it.
fn settle(shared: &Shared, job: &Job, answer: &HostAnswer) {
    let line = (answer.said == HostDecision::Allow).then_some(job.line.as_slice());
    let settled = shared.server.release(&job.ticket, line).and_then(|released| {
        if released.is_wanted { shared.answer(job.call.id.as_ref(), answer) } else { Ok(()) }
    });
    if let Err(error) = settled {
        print_notes([format!("a call that waited cannot be passed on: {error}")]);
    }
}

impl Shared {
    /// Says what a judgement comes to: a refusal is answered, if somebody waits for an answer.
    fn answer(&self, id: Option<&Value>, answer: &HostAnswer) -> io::Result<()> {
        print_notice(answer);
        match id {
            Some(id) if answer.said != HostDecision::Allow => {
                self.client.answer(&refusal_line(id, &answer.reason))
            }
            _ => Ok(()),
        }
    }
}

fn judge(
    shared: &Shared,
    call: &Call,
    withdrawal: &QuestionWithdrawal,
    before_waiting: &dyn Fn(),
) -> HostAnswer {
    let Some(server) = shared.name.get() else {
        return HostAnswer::failure(
            "the server has not said its name yet, by which rules know its tools (start the proxy with --name)",
        );
    };
    let Some(tool) = rule_name(server, &call.tool) else {
        return HostAnswer::failure(
            "the tool's name is empty, too long, or holds characters that are not seen",
        );
    };
    let call_id = call.id.as_ref().map(|id| match id {
        Value::Text(text) => text.clone(),
        other => {
            let mut text = String::new();
            write_value(&mut text, other);
            text
        }
    });
    let asked = HookCall {
        moment: &MOMENT,
        calls: vec![ToolCall::new(&tool, call.arguments.clone())],
        mode: shared.gate.mode,
        person: Some(shared.gate.person()),
        session: shared.place.clone(),
        call_id,
        rewritable: None,
    };
    let session = shared.gate.session();
    let gate = HostGate {
        arguments: &session,
        host: HOST,
        format: None,
        known: None,
        consultants: Some(&ConfiguredConsultants),
        before_asking: &|time| {
            before_waiting();
            time
        },
        withdrawal: Some(withdrawal),
    };
    gate.answer_or_block(&asked)
}
