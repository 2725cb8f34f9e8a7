//! `portcullis hook`: answers an agent's own hook, started anew for every tool call.
//!
//! The guard is armed before anything else, so whatever happens the host gets an answer that blocks. No argument
//! parser, no thread, no environment beyond what settings need; one write at the end. In auto mode an allow looks once
//! for the session's run of denials, and the session file is read where what was said before may matter; the full program
//! is started only for a call that needs the model or a hook of settings, and the daemon's socket is opened only for a call
//! that waits for a person, or where decisions are kept in a shared store.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use portcullis_core::Person;
use portcullis_guard::{BlockingAnswer, Guard};
use portcullis_hosts::{
    BlockingReply, HookCall, Host, HostAdapter, HostEvent, HostInput, HostReply, SessionFact,
};

use portcullis_gate::daemon_client::HandedOver;
use portcullis_gate::gate::HostGate;
use portcullis_gate::judge::Consultants;
use portcullis_gate::mode_in_force;
use portcullis_gate::presence;
use portcullis_gate::session_facts;
use portcullis_gate::standard_input;
use portcullis_gate::{Failure, FailureKind};
use portcullis_gate::{SessionSettings, SettingsFlags};

use crate::full_program::become_full;

/// How long an answer may take without a model; well below every host's own limit.
const DEADLINE: Duration = Duration::from_secs(10);

/// How long an answer may take in all, whoever is asked and however often. `init` tells agents to wait 90 seconds, and
/// most of them run the call afterwards.
const LONGEST: Duration = Duration::from_secs(85);

/// What ends a process that only keeps a fact and fails; the exit code goes by the fact.
const FACT_LOST: BlockingReply = BlockingReply {
    stdout: "",
    stderr: "portcullis: what happened in the session could not be kept\n",
    exit_code: 1,
};

/// Answers the host and ends the process. Without consultants the process turns into the full program where somebody must
/// be asked: a program that names them has all of their code in it.
pub fn run(words: Vec<OsString>, consultants: Option<&dyn Consultants>) -> ! {
    let started = Instant::now();
    let host = words.first().and_then(|word| word.to_str()).and_then(Host::find);
    // A host that is not known gets the answer that most of them take for a refusal.
    let adapter = host.unwrap_or(Host::Claude).adapter();
    let guard = Guard::arm(prepared(adapter.usual.blocking), DEADLINE);
    let hook = Hook { adapter, guard: &guard, started, consultants };
    let reply = match HookWords::parse(words) {
        Ok(words) => hook.answer(&words),
        Err(message) => adapter.fail(adapter.usual, &message),
    };
    guard.answer(reply.stdout.as_bytes(), reply.stderr.as_bytes(), reply.exit_code)
}

fn prepared(blocking: BlockingReply) -> &'static BlockingAnswer {
    Box::leak(Box::new(BlockingAnswer {
        stdout: blocking.stdout.as_bytes(),
        stderr: blocking.stderr.as_bytes(),
        exit_code: blocking.exit_code,
    }))
}

/// What the command line of a hook says.
struct HookWords {
    session: SettingsFlags,
    is_headless: bool,
}

impl HookWords {
    /// Reads `HOST [--settings FILE|JSON] [--headless]`.
    fn parse(words: Vec<OsString>) -> Result<Self, String> {
        let mut session = SettingsFlags::default();
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

    /// Writes the command line that says the same to the full program.
    fn arguments(&self, host: Host) -> Vec<&str> {
        let mut arguments = vec!["hook", host.name()];
        arguments.extend(self.session.settings.iter().flat_map(|settings| ["--settings", settings]));
        arguments.extend(self.is_headless.then_some("--headless"));
        arguments
    }
}

/// What an agent says in variables, by their names.
type Variables = Vec<(String, String)>;

/// What an agent said.
struct Heard<'a> {
    /// On standard input.
    input: &'a [u8],
    /// In the variables that its hooks are told by.
    variables: &'a [(String, String)],
}

/// One process of a hook.
struct Hook<'a> {
    adapter: &'static HostAdapter,
    guard: &'a Guard,
    started: Instant,
    consultants: Option<&'a dyn Consultants>,
}

impl Hook<'_> {
    fn answer(&self, words: &HookWords) -> HostReply {
        let usual = self.adapter.usual;
        let input = match standard_input::read_whole() {
            Ok(input) => input,
            Err(error) => return self.adapter.fail(usual, &error.to_string()),
        };
        let (event, variables) = match self.read(&input) {
            Ok(read) => read,
            Err(message) => return self.adapter.fail(usual, &message),
        };
        match event {
            HostEvent::Call(call) => {
                if call.moment != usual {
                    self.guard.prepare(prepared(call.moment.blocking));
                }
                if let Err(failure) = presence::note_agent_of(&call.session) {
                    return self.adapter.fail(call.moment, &failure.message);
                }
                #[cfg(debug_assertions)]
                crate::fault::inject(self.guard);
                self.answer_call(words, *call, &Heard { input: &input, variables: &variables })
            }
            HostEvent::Fact(fact) => {
                let exit_code = session_facts::failing_code(&fact.kind);
                self.guard.prepare(prepared(BlockingReply { exit_code, ..FACT_LOST }));
                if let Err(failure) = presence::note_agent_of(&fact.session) {
                    let stderr = format!("portcullis: {}\n", failure.message);
                    return HostReply { stderr, exit_code, ..HostReply::silence() };
                }
                self.keep(words, &fact, &Heard { input: &input, variables: &variables })
            }
            HostEvent::Other => HostReply::silence(),
        }
    }

    /// Reads what the agent says, and returns with it what it says in variables.
    fn read(&self, input: &[u8]) -> Result<(HostEvent, Variables), String> {
        let directory = std::env::current_dir().ok();
        let directory = directory.as_deref().and_then(|directory| directory.to_str()).unwrap_or_default();
        let variables = RefCell::new(Variables::new());
        let variable = |name: &str| {
            let value = std::env::var(name).ok()?;
            variables.borrow_mut().push((name.to_owned(), value.clone()));
            Some(value)
        };
        let read = (self.adapter.read)(&HostInput { input, directory, variable: &variable });
        let event = read.map_err(|error| error.to_string())?;
        Ok((event, variables.into_inner()))
    }

    fn answer_call(&self, words: &HookWords, mut asked: HookCall, heard: &Heard<'_>) -> HostReply {
        if words.is_headless {
            asked.person = Some(Person::Absent);
        }
        let gate = HostGate {
            arguments: &words.session,
            host: self.adapter.host.name(),
            format: self.adapter.session_format,
            known: None,
            consultants: self.consultants,
            before_asking: &|time| {
                let time = extended(self.started.elapsed(), time);
                self.guard.extend(time);
                time
            },
            withdrawal: None,
        };
        let session = match gate.open(&asked.session) {
            Ok(session) => session,
            Err(failure) => return self.adapter.fail(asked.moment, &failure.message),
        };
        if session.loaded.store.is_shared() {
            let replied = self.hand_over(words, &session, heard);
            return replied.unwrap_or_else(|failure| self.adapter.fail(asked.moment, &failure.message));
        }
        match gate.answer_by(session, &asked, self.started) {
            Ok(answer) => (self.adapter.write)(asked.moment, &answer),
            Err(failure) if failure.kind == FailureKind::Elsewhere => {
                let message = become_full(words.arguments(self.adapter.host), Some(heard.input));
                self.adapter.fail(asked.moment, &message)
            }
            Err(failure) => self.adapter.fail(asked.moment, &failure.message),
        }
    }

    /// Keeps a fact, where the session's calls are judged.
    fn keep(&self, words: &HookWords, fact: &SessionFact, heard: &Heard<'_>) -> HostReply {
        let is_welcome = mode_in_force::is_welcome(self.adapter, fact);
        if !session_facts::is_to_be_kept(fact) && !is_welcome {
            return HostReply::silence();
        }
        let place = &fact.session;
        let project = place.project.as_ref().map(PathBuf::from);
        match SessionSettings::open_for_hook(&words.session, &place.cwd, project) {
            Ok(session) if session.loaded.store.is_shared() => {
                self.hand_over(words, &session, heard).unwrap_or_else(|failure| {
                    let stderr = format!("portcullis: {}\n", failure.message);
                    let exit_code = session_facts::failing_code(&fact.kind);
                    HostReply { stderr, exit_code, ..HostReply::silence() }
                })
            }
            Ok(session) if is_welcome => mode_in_force::welcome(self.adapter, &session, fact),
            // Settings that cannot be used block every call, and keep no fact from being kept.
            Ok(_) | Err(_) => session_facts::keep(fact),
        }
    }

    /// Lets the daemon of this machine answer, because what outlives a process is kept elsewhere. What it cannot answer is
    /// a failure.
    fn hand_over(
        &self,
        words: &HookWords,
        session: &SessionSettings,
        heard: &Heard<'_>,
    ) -> Result<HostReply, Failure> {
        if words.session.settings.is_some() {
            return Err(Failure::usage("the daemon does not know the settings that `--settings` names")
                .with_hint("start `portcullis serve` with them, and leave them out here"));
        }
        let time = extended(self.started.elapsed(), LONGEST);
        self.guard.extend(time);
        let approvals = &session.loaded.approvals;
        let wait = if approvals.is_enabled { approvals.wait_seconds.into() } else { 0 };
        let handed = HandedOver {
            host: self.adapter.host.name(),
            input: heard.input,
            is_headless: words.is_headless,
            variables: heard.variables,
            wait: Duration::from_secs(wait),
            time,
        };
        handed.send(session.locations.state.as_deref())
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
