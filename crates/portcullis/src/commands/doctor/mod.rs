//! `portcullis doctor`: checks that calls are judged, from the agent's settings to the answer.

mod health;

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use clap::Args;
use portcullis_core::visible;
use serde_json::json;

use self::health::{Check, State, check_agent, check_own, prove};
use crate::commands::uninstall::find_hosts;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::session_settings::locations;
use portcullis_install::agent::{Agent, registrable};
use portcullis_output::human::counted;
use portcullis_output::terminal::{
    BOLD, DIM, ERROR, HOW_TO_CONFIRM, Painted, WARNING, confirm, print, printable,
};

const FINE: Style = AnsiColor::Green.on_default().bold();

/// Check that agents ask us and get the right answers, down to a trial call
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis doctor
  portcullis doctor claude --json
  portcullis doctor --online
  portcullis doctor claude --prove

For every agent the registered command is started as the agent would start it, with a call that must
be stopped and one that only looks. Neither is run; both are in the audit trail, in the session
`portcullis-doctor`, and in no figures of `stats`.
With --prove the agent itself is started, if a person says yes: with a scripted model on this machine in
the place of its own, in a throw-away project, where it tries to leave an empty file that a rule denies.

Exit codes: 0 everything works, 1 there are problems, 64 wrong usage")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
pub(crate) struct DoctorArgs {
    /// The agents; all that are installed if none is named
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also see whether the classifier's host takes connections; nothing is sent
    #[arg(long)]
    online: bool,
    /// Also start the agents with a scripted model, and see that they ask us; a person says yes first
    #[arg(long)]
    prove: bool,
    /// Do not ask before agents are started
    #[arg(long, requires = "prove")]
    yes: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &DoctorArgs) -> Result<ExitCode, Failure> {
    let locations = locations(None)?;
    let mut checks = check_own(&locations, arguments.online);
    let hosts =
        if arguments.hosts.is_empty() { registrable().collect() } else { find_hosts(&arguments.hosts)? };
    let mut agents = Vec::new();
    for host in hosts {
        let agent = Agent::look(host, &locations)?;
        if !arguments.hosts.is_empty() || agent.is_installed() {
            agents.push(agent);
        }
    }
    let is_proven = arguments.prove && wants_proof(&agents, arguments.yes)?;
    for agent in &agents {
        checks.extend(check_agent(agent, &locations));
        if is_proven && agent.program.is_some() {
            checks.extend(prove(agent, locations.state.as_deref()));
        }
    }
    let count = |state: State| checks.iter().filter(|check| check.state == state).count();
    let (problems, warnings) = (count(State::Problem), count(State::Warning));
    if arguments.json {
        let list: Vec<_> = checks.iter().map(Check::to_json).collect();
        let object = json!({"checks": list, "problems": problems, "warnings": warnings});
        print(&printable(&format!("{object:#}\n")))?;
    } else {
        print(&describe(&checks, problems, warnings))?;
    }
    Ok(if problems == 0 { ExitCode::Success } else { ExitCode::Findings })
}

/// Asks whether agents may be started; a no is the end.
fn wants_proof(agents: &[Agent], is_sure: bool) -> Result<bool, Failure> {
    let started = agents.iter().filter(|agent| agent.program.is_some());
    let names: Vec<&str> = started.map(|agent| agent.adapter.title).collect();
    let question = format!("Start {} with a scripted model, in a throw-away project?", names.join(", "));
    if !names.is_empty() && !is_sure && !confirm(&question)? {
        return Err(Failure::usage("no agent was started").with_hint(HOW_TO_CONFIRM));
    }
    Ok(!names.is_empty())
}

fn describe(checks: &[Check], problems: usize, warnings: usize) -> String {
    let mut out = String::new();
    let mut subject = None;
    for check in checks {
        let title = check.host.map_or("Portcullis", |host| host.adapter().title);
        if subject != Some(title) {
            let gap = if subject.is_some() { "\n" } else { "" };
            let _ = writeln!(out, "{gap}{}", Painted(BOLD, title));
            subject = Some(title);
        }
        let style = match check.state {
            State::Fine => FINE,
            State::Warning => WARNING,
            State::Problem => ERROR,
        };
        let symbol = Painted(style, check.state.symbol());
        let _ = writeln!(out, "  {symbol} {}: {}", check.name, visible(&check.message));
        if let Some(remedy) = check.remedy.as_deref().filter(|remedy| !remedy.is_empty()) {
            let _ = writeln!(out, "      {}", Painted(DIM, visible(remedy)));
        }
    }
    let _ = writeln!(out, "\n{}, {}", counted(problems, "problem"), counted(warnings, "warning"));
    out
}
