//! `portcullis hook`: answers an agent's own hook, started anew for every tool call.
//!
//! The guard is armed before anything else, so whatever happens the host gets an answer that blocks. No argument
//! parser, no thread, no environment beyond what settings need; one write at the end.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use portcullis_core::Person;
use portcullis_guard::{BlockingAnswer, Guard};
use portcullis_hosts::HostReply;
use portcullis_hosts::claude::{self, Hook, HookCall};

use crate::judge::judge;
use crate::session::{Session, SessionArgs, claude_project};
use crate::standard_input;
use crate::world::World;

/// How long an answer may take; well below every host's own limit.
const DEADLINE: Duration = Duration::from_secs(10);

static BLOCKING: BlockingAnswer = BlockingAnswer {
    stdout: claude::BLOCKING_STDOUT.as_bytes(),
    stderr: claude::BLOCKING_STDERR.as_bytes(),
    exit_code: claude::BLOCKING_EXIT_CODE,
};

/// Answer an agent's hook: its JSON on standard input, ours on standard output
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis hook claude < input.json

To register it with Claude Code, put this into ~/.claude/settings.json:
  {\"hooks\":{\"PreToolUse\":[{\"matcher\":\"*\",\"hooks\":[{\"type\":\"command\",
    \"command\":\"/absolute/path/to/portcullis\",\"args\":[\"hook\",\"claude\"],\"timeout\":30}]}]}}

Exit codes: 0 the answer is on standard output, 2 blocked because of a failure")]
pub(crate) struct HookArgs {
    /// The agent
    #[arg(value_parser = ["claude"])]
    host: String,
    /// A settings file, or settings as JSON
    #[arg(long, value_name = "FILE|JSON")]
    settings: Option<String>,
}

impl HookArgs {
    /// Returns the words they were made of.
    pub(crate) fn into_words(self) -> Vec<OsString> {
        let settings = self.settings.map(|settings| ["--settings".to_owned(), settings]);
        std::iter::once(self.host).chain(settings.into_iter().flatten()).map(OsString::from).collect()
    }
}

/// Answers the host and ends the process.
pub(crate) fn run(words: Vec<OsString>) -> ! {
    let guard = Guard::arm(&BLOCKING, DEADLINE);
    let reply = parse_words(words)
        .and_then(|session| answer(&session))
        .unwrap_or_else(|message| claude::failure(&message));
    guard.answer(reply.stdout.as_bytes(), reply.stderr.as_bytes(), reply.exit_code)
}

/// Reads `claude [--settings FILE|JSON]`.
fn parse_words(words: Vec<OsString>) -> Result<SessionArgs, String> {
    let mut session = SessionArgs::default();
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
            _ => return Err(format!("the hook's argument `{word}` is not known")),
        }
    }
    Ok(session)
}

fn answer(session: &SessionArgs) -> Result<HostReply, String> {
    let input = standard_input::read_whole().map_err(|error| error.to_string())?;
    match claude::parse(&input).map_err(|error| error.to_string())? {
        Hook::PreToolUse(call) => answer_call(session, call),
        Hook::Other => Ok(claude::no_opinion()),
    }
}

fn answer_call(arguments: &SessionArgs, call: HookCall) -> Result<HostReply, String> {
    let session =
        Session::open_for_hook(arguments, &call.cwd, claude_project()).map_err(|failure| failure.message)?;
    let context = session.context(Some(call.mode), Person::Present, &[]);
    let verdict = judge(session.policy(), call.call, context, &mut World::default())
        .map_err(|failure| failure.message)?;
    Ok(claude::reply(&verdict, session.notice().as_deref()))
}
