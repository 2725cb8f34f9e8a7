//! `portcullis hook`: answers an agent's own hook, started anew for every tool call.
//!
//! The guard is armed before anything else, so whatever happens the host gets an answer that blocks. No argument
//! parser, no thread, no environment beyond what settings need; one write at the end. In auto mode an allow looks once
//! for the session's run of denials, and the session file is read where what was said before may matter; the network is
//! touched only for a call that needs the model.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use portcullis_classifier::transcript::Format;
use portcullis_core::{Decision, Person, Reason};
use portcullis_guard::{BlockingAnswer, Guard};
use portcullis_hosts::HostReply;
use portcullis_hosts::claude::{self, Hook, HookCall};

use crate::auto::{ClassifierArgs, Judged, Past, Road};
use crate::session::{Session, SessionArgs, claude_project};
use crate::standard_input;
use crate::world::World;

/// How long an answer may take without a model; well below every host's own limit.
const DEADLINE: Duration = Duration::from_secs(10);

/// What an agent is told whose call auto mode denied.
const ADVICE: &str =
    "Do not try to reach the same end by another way: go on with something else, or stop and ask the user";

static BLOCKING: BlockingAnswer = BlockingAnswer {
    stdout: claude::BLOCKING_STDOUT.as_bytes(),
    stderr: claude::BLOCKING_STDERR.as_bytes(),
    exit_code: claude::BLOCKING_EXIT_CODE,
};

/// Answer an agent's hook: its JSON on standard input, ours on standard output
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis hook claude < input.json
  portcullis hook claude --headless < input.json

To register it with Claude Code, put this into ~/.claude/settings.json:
  {\"hooks\":{\"PreToolUse\":[{\"matcher\":\"*\",\"hooks\":[{\"type\":\"command\",
    \"command\":\"/absolute/path/to/portcullis\",\"args\":[\"hook\",\"claude\"],\"timeout\":90}]}]}}

Exit codes: 0 the answer is on standard output, 2 blocked because of a failure")]
pub(crate) struct HookArgs {
    /// The agent
    #[arg(value_parser = ["claude"])]
    host: String,
    /// A settings file, or settings as JSON
    #[arg(long, value_name = "FILE|JSON")]
    settings: Option<String>,
    /// Nobody can be asked: what would be asked is denied, and too many denials end the run
    #[arg(long)]
    headless: bool,
}

impl HookArgs {
    /// Returns the words they were made of.
    pub(crate) fn into_words(self) -> Vec<OsString> {
        let settings = self.settings.map(|settings| ["--settings".to_owned(), settings]);
        let headless = self.headless.then(|| "--headless".to_owned());
        let words = std::iter::once(self.host).chain(settings.into_iter().flatten()).chain(headless);
        words.map(OsString::from).collect()
    }
}

/// Answers the host and ends the process.
pub(crate) fn run(words: Vec<OsString>) -> ! {
    let guard = Guard::arm(&BLOCKING, DEADLINE);
    let reply = parse_words(words)
        .and_then(|words| answer(&guard, &words))
        .unwrap_or_else(|message| claude::failure(&message));
    guard.answer(reply.stdout.as_bytes(), reply.stderr.as_bytes(), reply.exit_code)
}

/// What the command line of a hook says.
struct HookWords {
    session: SessionArgs,
    person: Person,
}

/// Reads `claude [--settings FILE|JSON] [--headless]`.
fn parse_words(words: Vec<OsString>) -> Result<HookWords, String> {
    let mut session = SessionArgs::default();
    let mut person = Person::Present;
    let mut words = words.into_iter().map(|word| word.into_string().map_err(|_| "an argument is not text"));
    match words.next().transpose()?.as_deref() {
        Some("claude") => {}
        Some(other) => return Err(format!("the agent `{other}` is not known")),
        None => return Err("the hook's command line names no agent".to_owned()),
    }
    while let Some(word) = words.next().transpose()? {
        match word.split_once('=') {
            Some(("--settings", value)) => session.settings = Some(value.to_owned()),
            None if word == "--settings" => {
                let value = words.next().transpose()?.ok_or("--settings names no file")?;
                session.settings = Some(value);
            }
            None if word == "--headless" => person = Person::Absent,
            _ => return Err(format!("the hook's argument `{word}` is not known")),
        }
    }
    Ok(HookWords { session, person })
}

fn answer(guard: &Guard, words: &HookWords) -> Result<HostReply, String> {
    let input = standard_input::read_whole().map_err(|error| error.to_string())?;
    match claude::parse(&input).map_err(|error| error.to_string())? {
        Hook::PreToolUse(call) => answer_call(guard, words, call),
        Hook::Other => Ok(claude::no_opinion()),
    }
}

fn answer_call(guard: &Guard, words: &HookWords, call: HookCall) -> Result<HostReply, String> {
    let session = Session::open_for_hook(&words.session, &call.cwd, claude_project())
        .map_err(|failure| failure.message)?;
    let context = session.context(Some(call.mode), words.person, &[]);
    let road = Road {
        session: &session,
        arguments: &ClassifierArgs::default(),
        store: session.store(),
        session_id: Some(call.session),
        before_asking: &|time| guard.extend(time),
    };
    let past = Past {
        file: call.transcript.map(PathBuf::from),
        format: Some(Format::Claude),
        agent: call.agent,
        call_id: call.call_id,
        is_hosts: true,
    };
    let judged =
        road.judge(&call.call, context, &past, &mut World::default()).map_err(|failure| failure.message)?;
    let advice = needs_advice(&judged).then_some(ADVICE);
    let notice = notice(&session, &judged);
    Ok(claude::reply(&judged.verdict, advice, notice.as_deref()))
}

/// Says whether auto mode itself denied the call, or could not judge it.
fn needs_advice(judged: &Judged) -> bool {
    let verdict = &judged.verdict;
    let is_unjudged = matches!(verdict.reason, Reason::Unavailable { .. });
    verdict.decision == Decision::Deny && (verdict.is_judged_denial() || is_unjudged)
}

/// Returns what the user should know and the agent need not: broken settings, what did not work, how to lift a denial.
fn notice(session: &Session, judged: &Judged) -> Option<String> {
    let problem = session.notice().or_else(|| judged.problems.first().cloned());
    let denial = judged.denial.as_ref().filter(|_| judged.verdict.decision == Decision::Deny);
    let retry = denial.map(|id| format!("`portcullis retry {id}` allows this very call once"));
    let parts: Vec<String> = problem.into_iter().chain(retry).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
