//! The proof: the real agent runs, with a scripted model on loopback in the place of its own, and makes one call that a
//! rule of a throw-away project denies.
//!
//! Where the agent can be given another command, it makes a second call that is contained, and the run that comes of it is
//! looked for.
//!
//! Nothing but what the model is told by the agent proves that we were asked: an agent may stop the call for reasons of its
//! own. Where the agent ends without a word to its model, our record of decisions is the proof. The call leaves an empty
//! file in the throw-away project if nobody stops it. How an agent is started stands in its adapter; its settings are
//! never changed.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use portcullis_hosts::{Host, HostDecision, ScriptedRun};
use portcullis_store::audit::{Audit, Position};
use portcullis_testkit::{AgentCall, AgentScript, AgentServer, AgentTurn};
use serde_json::json;

use super::rewrite_trial::{RewriteTrial, SeenRewrite};
use super::{Check, Checks};
use portcullis_gate::{SessionSettings, SettingsFlags, new_id, process, stores};
use portcullis_install::agent::Agent;

/// The file that the call leaves.
const FILE: &str = "portcullis-trial.txt";

/// What the call is known by.
const LABEL: &str = "trial";

/// How long the agent may take.
const LIMIT: Duration = Duration::from_mins(2);

/// The most records that are looked at. Other agents may be at work meanwhile.
const MOST_RECORDS: usize = 10_000;

/// Proves that an agent asks us, and that it runs a command in place of its own.
pub(crate) fn prove(agent: &Agent, state: Option<&Path>) -> Vec<Check> {
    let mut checks = Checks::new(Some(agent.host()));
    let title = agent.adapter.title;
    let trial = state.and_then(|state| RewriteTrial::of(agent.adapter, state));
    match run(agent, trial.as_ref()) {
        None => {
            let message = format!("{title} cannot be started with a scripted model");
            checks.warning("proof", message, "make a call in it, and look at `portcullis log`");
        }
        Some(Ok(seen)) => {
            checks.fine("proof", format!("{title} asked us about a call and stopped it"));
            if let Some(trial) = &trial {
                trial.conclude(&mut checks, title, seen);
            }
        }
        Some(Err(why)) => {
            let again = format!("run `portcullis init {}`, and see the checks above", agent.host().name());
            checks.problem("proof", why, again);
        }
    }
    checks.list
}

/// Runs the agent, and says what was seen of a rewrite; `None` if it cannot be driven so.
fn run(agent: &Agent, trial: Option<&RewriteTrial>) -> Option<Result<SeenRewrite, String>> {
    let scripted = agent.adapter.scripted_run?;
    let program = agent.program.as_ref()?;
    let command = format!("touch {FILE}");
    let call = |label: &str, command: &str| AgentCall::new(label, scripted.tool, (scripted.input)(command));
    let mut turns = vec![AgentTurn::call(call(LABEL, &command))];
    turns.extend(trial.map(|_| AgentTurn::call(call(RewriteTrial::LABEL, RewriteTrial::COMMAND))));
    turns.push(AgentTurn::say("All done."));
    let server = match AgentServer::start(AgentScript::new(turns)) {
        Ok(server) => server,
        Err(error) => return Some(Err(format!("the scripted model cannot be started: {error}"))),
    };
    Some(ThrowAwayProject::make(&command, scripted, &server.url()).and_then(|project| {
        if let Some(trial) = trial {
            trial.begin(&project.folder)?;
        }
        let record = Record::open(agent.host());
        let agent_command = project.agent_command(program, scripted, &server.url());
        process::run(agent_command, "", LIMIT).map_err(|why| format!("the agent {why}"))?;
        let seen = trial.map_or(SeenRewrite::Nothing, |trial| trial.end(&project.folder));
        if project.folder.join(FILE).exists() {
            return Err("the agent ran the trial call: it does not ask us".to_owned());
        }
        match server.told(LABEL) {
            Some(told) if told.contains(&rule(&command)) => Ok(seen),
            Some(told) => {
                Err(format!("the agent did not ask us about the trial call, and said: {}", cut(&told)))
            }
            None if agent.adapter.usual.capabilities.reason => {
                Err("the agent said nothing of the trial call to its model".to_owned())
            }
            None if record.has_denial(&command, &project.folder) => Ok(seen),
            None => Err("the agent did not ask us about the trial call".to_owned()),
        }
    }))
}

/// Our record of decisions, from now on.
struct Record {
    host: Host,
    trail: Option<(Audit, Position)>,
}

impl Record {
    fn open(host: Host) -> Self {
        let session = SessionSettings::open(&SettingsFlags::default());
        let store = session.and_then(|session| stores::open_for(&session)).ok();
        let audit = store.map(|store| store.audit());
        let trail = audit.and_then(|audit| audit.end().ok().map(|position| (audit, position)));
        Self { host, trail }
    }

    /// Says whether a command was denied in a folder. What cannot be read says nothing.
    fn has_denial(&self, command: &str, folder: &Path) -> bool {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let update = self.trail.as_ref().and_then(|(audit, from)| audit.read_after(*from, MOST_RECORDS).ok());
        update.is_some_and(|update| {
            update.records.iter().map(|record| &record.entry).any(|entry| {
                entry.host == self.host.name()
                    && entry.summary == command
                    && entry.said == HostDecision::Deny.as_str()
                    && Path::new(&entry.cwd).canonicalize().is_ok_and(|cwd| cwd == folder)
            })
        })
    }
}

fn rule(command: &str) -> String {
    format!("Bash({command})")
}

fn cut(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// A folder with nothing but a rule in it, until it is dropped.
struct ThrowAwayProject {
    folder: PathBuf,
}

impl ThrowAwayProject {
    /// Makes a project whose settings deny a command, with the files that lead an agent to the scripted model.
    fn make(command: &str, scripted: &ScriptedRun, url: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("no throw-away project can be made: {error}");
        let id = new_id().ok_or("no throw-away project can be made: there is no randomness")?;
        let project = Self { folder: std::env::temp_dir().join(format!("portcullis-trial-{id}")) };
        DirBuilder::new().mode(0o700).create(&project.folder).map_err(failed)?;
        // In this mode nobody is asked, so that what can be contained is.
        let permissions = json!({"defaultMode": "dontAsk", "deny": [rule(command)]});
        let settings = json!({"permissions": permissions}).to_string();
        project.write(".portcullis/settings.json", &settings).map_err(failed)?;
        for (path, text) in scripted.files {
            project.write(path, &project.fill(text, url)).map_err(failed)?;
        }
        Ok(project)
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let path = self.folder.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    }

    fn fill(&self, text: &str, url: &str) -> String {
        ScriptedRun::fill(text, url, &self.folder.to_string_lossy())
    }

    /// Makes the command that starts an agent here, with the scripted model.
    fn agent_command(&self, program: &Path, scripted: &ScriptedRun, url: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .args(scripted.arguments.iter().map(|text| self.fill(text, url)))
            .envs(scripted.variables.iter().map(|(name, text)| (*name, self.fill(text, url))))
            // A proxy would be asked for the model in vain.
            .env("NO_PROXY", "127.0.0.1");
        command
    }
}

impl Drop for ThrowAwayProject {
    fn drop(&mut self) {
        // What is left of it harms nobody.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
