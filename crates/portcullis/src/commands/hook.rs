//! `portcullis hook`: answers an agent's own hook, started anew for every tool call.
//!
//! The guard is armed before anything else, so whatever happens the host gets an answer that blocks. No argument
//! parser, no thread, no environment beyond what settings need; one write at the end. In auto mode an allow looks once
//! for the session's run of denials, and the session file is read where what was said before may matter; the network is
//! touched only for a call that needs the model.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use clap::Args;
use portcullis_core::Person;
use portcullis_guard::{BlockingAnswer, Guard};
use portcullis_hosts::{Adapter, Blocking, Event, HookCall, Host, HostReply, Told};

use crate::gate::Gate;
use crate::session::SessionArgs;
use crate::session_facts;
use crate::standard_input;

/// How long an answer may take without a model; well below every host's own limit.
const DEADLINE: Duration = Duration::from_secs(10);

/// How long an answer may take in all, whoever is asked and however often. `init` tells agents to wait 90 seconds, and
/// most of them run the call afterwards.
const LONGEST: Duration = Duration::from_secs(85);

/// What ends a process that only keeps a fact and fails; the exit code goes by the fact.
const FACT_LOST: Blocking = Blocking {
    stdout: "",
    stderr: "portcullis: what happened in the session could not be kept\n",
    exit_code: 1,
};

/// Answer an agent's hook: its JSON on standard input, ours on standard output
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis hook claude < input.json
  portcullis hook codex --headless < input.json

`portcullis init` registers it with the agents that are installed.

Exit codes: 0 the answer is on standard output, 2 blocked because of a failure.
Amp goes by the exit code alone: 0 allow, 1 ask, 2 reject.")]
pub(crate) struct HookArgs {
    /// The agent: claude, codex, gemini, opencode, cursor, copilot, qwen, droid, crush, amp, generic
    #[arg(value_parser = Host::ALL.map(Host::name), hide_possible_values = true)]
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
    let started = Instant::now();
    let host = words.first().and_then(|word| word.to_str()).and_then(Host::find);
    // A host that is not known gets the answer that most of them take for a refusal.
    let adapter = host.unwrap_or(Host::Claude).adapter();
    let guard = Guard::arm(prepared(adapter.usual.blocking), DEADLINE);
    let hook = Hook { adapter, guard: &guard, started };
    let reply = match HookWords::parse(words) {
        Ok(words) => hook.answer(&words),
        Err(message) => adapter.fail(adapter.usual, &message),
    };
    guard.answer(reply.stdout.as_bytes(), reply.stderr.as_bytes(), reply.exit_code)
}

fn prepared(blocking: Blocking) -> &'static BlockingAnswer {
    Box::leak(Box::new(BlockingAnswer {
        stdout: blocking.stdout.as_bytes(),
        stderr: blocking.stderr.as_bytes(),
        exit_code: blocking.exit_code,
    }))
}

/// What the command line of a hook says.
struct HookWords {
    session: SessionArgs,
    is_headless: bool,
}

impl HookWords {
    /// Reads `HOST [--settings FILE|JSON] [--headless]`.
    fn parse(words: Vec<OsString>) -> Result<Self, String> {
        let mut session = SessionArgs::default();
        let mut is_headless = false;
        let mut words =
            words.into_iter().map(|word| word.into_string().map_err(|_| "an argument is not text"));
        match words.next().transpose()? {
            Some(host) if Host::find(&host).is_some() => {}
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
                None if word == "--headless" => is_headless = true,
                _ => return Err(format!("the hook's argument `{word}` is not known")),
            }
        }
        Ok(Self { session, is_headless })
    }
}

/// One process of a hook.
struct Hook<'a> {
    adapter: &'static Adapter,
    guard: &'a Guard,
    started: Instant,
}

impl Hook<'_> {
    fn answer(&self, words: &HookWords) -> HostReply {
        let usual = self.adapter.usual;
        let event = match self.read() {
            Ok(event) => event,
            Err(message) => return self.adapter.fail(usual, &message),
        };
        match event {
            Event::Call(call) => {
                if call.moment != usual {
                    self.guard.prepare(prepared(call.moment.blocking));
                }
                #[cfg(debug_assertions)]
                crate::fault::inject(self.guard);
                self.answer_call(words, *call)
            }
            Event::Fact(fact) => {
                let exit_code = session_facts::failing_code(&fact.kind);
                self.guard.prepare(prepared(Blocking { exit_code, ..FACT_LOST }));
                session_facts::keep(&fact)
            }
            Event::Other => HostReply::silence(),
        }
    }

    fn read(&self) -> Result<Event, String> {
        let input = standard_input::read_whole().map_err(|error| error.to_string())?;
        let directory = std::env::current_dir().ok();
        let directory = directory.as_deref().and_then(|directory| directory.to_str()).unwrap_or_default();
        let told = Told { input: &input, directory, variable: &|name| std::env::var(name).ok() };
        (self.adapter.read)(&told).map_err(|error| error.to_string())
    }

    fn answer_call(&self, words: &HookWords, mut asked: HookCall) -> HostReply {
        if words.is_headless {
            asked.person = Some(Person::Absent);
        }
        let gate = Gate {
            arguments: &words.session,
            host: self.adapter.host.name(),
            format: self.adapter.session_format,
            before_asking: &|time| {
                let time = extended(self.started.elapsed(), time);
                self.guard.extend(time);
                time
            },
        };
        match gate.answer(&asked, self.started) {
            Ok(answer) => (self.adapter.write)(asked.moment, &answer),
            Err(failure) => self.adapter.fail(asked.moment, &failure.message),
        }
    }
}

/// Returns how much longer the answer may take, if it took so long already and somebody is to be asked for a time.
fn extended(elapsed: Duration, time: Duration) -> Duration {
    // A timer of nothing would never ring.
    time.min(LONGEST.saturating_sub(elapsed)).max(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_takes_longer_than_agents_wait() {
        let seconds = Duration::from_secs;
        assert_eq!(extended(seconds(0), seconds(70)), seconds(70));
        assert_eq!(extended(seconds(60), seconds(70)), seconds(25));
        assert_eq!(extended(seconds(0), seconds(610)), LONGEST);
        assert_eq!(extended(seconds(100), seconds(70)), Duration::from_millis(1));
    }
}
