//! The proof: the real agent runs, with a scripted model on loopback in the place of its own, and makes one call that a
//! rule of a throw-away project denies.
//!
//! Where the agent can be given another command, it makes a second call that is contained, and the run that comes of it is
//! looked for.
//!
//! Nothing but what the model is told by the agent proves that we were asked: an agent may stop the call for reasons of its
//! own. The call leaves an empty file in the throw-away project if nobody stops it. Only agents that take their model from
//! the command line or the environment can be driven so; the settings of an agent are never changed.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use portcullis_hosts::Host;
use portcullis_testkit::{AgentCall, AgentScript, AgentServer, AgentTurn};
use serde_json::{Value, json};

use super::rewrite_trial::{RewriteTrial, SeenRewrite};
use super::{Check, Checks};
use portcullis_gate::{new_id, process};
use portcullis_install::agent::Agent;

/// The file that the call leaves.
const FILE: &str = "portcullis-trial.txt";

/// What the call is known by.
const LABEL: &str = "trial";

/// What the agent is asked to do. The scripted model does not read it.
const PROMPT: &str = "Do what the script says.";

/// How long the agent may take.
const LIMIT: Duration = Duration::from_mins(2);

/// Proves that an agent asks us, and that it runs a command in place of its own.
pub(crate) fn prove(agent: &Agent, state: Option<&Path>) -> Vec<Check> {
    let mut checks = Checks::new(Some(agent.host()));
    let title = agent.adapter.title;
    let trial = state.and_then(|state| RewriteTrial::of(agent.host(), state));
    match run(agent, trial.as_ref()) {
        None => {
            let message =
                format!("{title} cannot be started with another model without changing its settings");
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
    let command = format!("touch {FILE}");
    let mut turns = vec![AgentTurn::call(call(agent.host(), LABEL, &command)?)];
    if trial.is_some() {
        turns.push(AgentTurn::call(call(agent.host(), RewriteTrial::LABEL, RewriteTrial::COMMAND)?));
    }
    turns.push(AgentTurn::say("All done."));
    let server = match AgentServer::start(AgentScript::new(turns)) {
        Ok(server) => server,
        Err(error) => return Some(Err(format!("the scripted model cannot be started: {error}"))),
    };
    let mut agent_command = Command::new(agent.program.as_ref()?);
    let url = server.url();
    agent_command.args(arguments(agent.host(), &url)).envs(variables(agent.host(), &url));
    Some(ThrowAwayProject::make(&command).and_then(|project| {
        agent_command.current_dir(&project.folder);
        if let Some(trial) = trial {
            trial.begin(&project.folder)?;
        }
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
            None => Err("the agent said nothing of the trial call to its model".to_owned()),
        }
    }))
}

fn rule(command: &str) -> String {
    format!("Bash({command})")
}

fn cut(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// Makes the call of a shell as the agent's model makes it.
fn call(host: Host, label: &str, command: &str) -> Option<AgentCall> {
    let described = || json!({"command": command, "description": "Leave a file"});
    let (tool, input): (&str, Value) = match host {
        Host::Claude => ("Bash", described()),
        Host::Codex => ("exec_command", json!({"cmd": command})),
        Host::Qwen => (
            "run_shell_command",
            json!({"command": command, "description": "Leave a file", "is_background": false}),
        ),
        Host::Copilot => ("bash", described()),
        Host::Gemini
        | Host::Opencode
        | Host::Cursor
        | Host::Droid
        | Host::Crush
        | Host::Amp
        | Host::Kimi
        | Host::Pi
        | Host::Cline
        | Host::Generic => return None,
    };
    Some(AgentCall::new(label, tool, input))
}

/// The arguments that make the agent run without a person, with the scripted model.
fn arguments(host: Host, url: &str) -> Vec<String> {
    let provider = format!(
        "model_providers.portcullis_trial={{name=\"portcullis\",base_url=\"{url}/v1\",wire_api=\"responses\",\
         env_key=\"PORTCULLIS_TRIAL_KEY\",supports_websockets=false}}"
    );
    let words: Vec<&str> = match host {
        Host::Claude => vec!["-p", PROMPT, "--permission-mode", "default"],
        Host::Codex => vec![
            "exec",
            "--skip-git-repo-check",
            // In its sandbox no fence goes up. What it runs are two lines of our own in a folder of our own.
            "--sandbox",
            "danger-full-access",
            "-c",
            &provider,
            "-c",
            "model_provider=portcullis_trial",
            "-m",
            "gpt-5.5",
            PROMPT,
        ],
        Host::Qwen => vec!["-p", PROMPT, "--approval-mode", "yolo", "--auth-type", "openai"],
        Host::Copilot => vec!["-p", PROMPT, "--allow-all-tools", "--no-color"],
        _ => Vec::new(),
    };
    words.into_iter().map(str::to_owned).collect()
}

/// The variables that lead the agent to the scripted model.
fn variables(host: Host, url: &str) -> Vec<(&'static str, String)> {
    let key = || "portcullis-trial".to_owned();
    match host {
        Host::Claude => vec![
            ("ANTHROPIC_BASE_URL", url.to_owned()),
            ("ANTHROPIC_API_KEY", key()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ],
        Host::Codex => vec![("PORTCULLIS_TRIAL_KEY", key())],
        Host::Qwen => vec![
            ("OPENAI_BASE_URL", format!("{url}/v1")),
            ("OPENAI_API_KEY", key()),
            ("OPENAI_MODEL", "scripted".to_owned()),
        ],
        Host::Copilot => vec![
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
            ("COPILOT_PROVIDER_API_KEY", key()),
            ("COPILOT_MODEL", "scripted".to_owned()),
        ],
        _ => Vec::new(),
    }
}

/// A folder with nothing but a rule in it, until it is dropped.
struct ThrowAwayProject {
    folder: PathBuf,
}

impl ThrowAwayProject {
    /// Makes a project whose settings deny a command.
    fn make(command: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("no throw-away project can be made: {error}");
        let id = new_id().ok_or("no throw-away project can be made: there is no randomness")?;
        let project = Self { folder: std::env::temp_dir().join(format!("portcullis-trial-{id}")) };
        DirBuilder::new().mode(0o700).create(&project.folder).map_err(failed)?;
        let settings = project.folder.join(".portcullis");
        fs::create_dir(&settings).map_err(failed)?;
        // In this mode nobody is asked, so that what can be contained is.
        let permissions = json!({"defaultMode": "dontAsk", "deny": [rule(command)]});
        let text = json!({"permissions": permissions}).to_string();
        fs::write(settings.join("settings.json"), text).map_err(failed)?;
        Ok(project)
    }
}

impl Drop for ThrowAwayProject {
    fn drop(&mut self) {
        // What is left of it harms nobody.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
