//! `portcullis uninstall`: gives agents their settings back.

use std::path::Path;

use clap::Args;
use portcullis_core::visible;
use portcullis_hosts::Host;
use portcullis_settings::SettingsLocations;

use crate::exit_code::{ExitCode, report_failure};
use portcullis_gate::Failure;
use portcullis_gate::presence::require_no_agent;
use portcullis_gate::session_settings::locations;
use portcullis_install::agent::{Agent, registrable};
use portcullis_install::program::{self, Program};
use portcullis_install::undo::Undo;
use portcullis_install::writing::Turn;
use portcullis_output::terminal::{BOLD, HOW_TO_CONFIRM, Painted, confirm, print, print_notes};

/// Undo `init`: give agents their settings back as they were
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis uninstall
  portcullis uninstall codex --dry-run
  portcullis uninstall --yes --purge-state

A file that nobody changed since gets its former bytes back.
From any other only our entries are taken out.
Our own settings stay, and without --purge-state so does the state: the audit trail, trusted
workspaces, backups.

Exit codes: 0 done, 64 something could not be undone or was not confirmed, 70 internal failure")]
pub(crate) struct UninstallArgs {
    /// The agents; all if none is named
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// Show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Remove the state directory as well: the audit trail, trusted workspaces, backups
    #[arg(long, conflicts_with = "hosts")]
    purge_state: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &UninstallArgs) -> Result<ExitCode, Failure> {
    if !arguments.dry_run {
        require_no_agent("change how agents are registered")?;
    }
    let locations = locations(None)?;
    let program = program::running()?;
    let hosts =
        if arguments.hosts.is_empty() { registrable().collect() } else { find_hosts(&arguments.hosts)? };
    let failure = undo(arguments, &hosts, &program, &locations)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if arguments.purge_state && !arguments.dry_run {
        purge(arguments, &locations)?;
    }
    Ok(ExitCode::Success)
}

/// Undoes what was written for agents; returns the last failure, after saying the earlier ones.
fn undo(
    arguments: &UninstallArgs,
    hosts: &[Host],
    program: &Program,
    locations: &SettingsLocations,
) -> Result<Option<Failure>, Failure> {
    let turn = if arguments.dry_run { Turn::look(locations)? } else { Turn::take(locations)? };
    let mut failure = None;
    let mut fail = |new: Failure| {
        if let Some(earlier) = failure.replace(new) {
            report_failure(&earlier);
        }
    };
    let mut work = Vec::new();
    for host in hosts {
        let agent = Agent::look(*host, locations)?;
        match Undo::make(&turn, &agent, program) {
            Ok(undo) => {
                print_notes(undo.left.iter().map(|path| left(path, &agent)));
                if !undo.is_empty() {
                    work.push((agent, undo));
                }
            }
            Err(why) => fail(why),
        }
    }
    let shown =
        work.iter().map(|(agent, undo)| format!("{}\n{}\n", Painted(BOLD, agent.adapter.title), undo.show()));
    print(&shown.collect::<String>())?;
    if work.is_empty() {
        print("nothing of ours is registered\n")?;
    }
    if arguments.dry_run || work.is_empty() {
        return Ok(failure);
    }
    if !arguments.yes && !confirm("Write these changes?")? {
        return Err(Failure::usage("nothing was changed").with_hint(HOW_TO_CONFIRM));
    }
    for (agent, undo) in work {
        match undo.carry_out(&turn, &agent) {
            Ok(()) => print(&format!("{}: no longer registered\n", agent.adapter.title))?,
            Err(why) => fail(why),
        }
    }
    Ok(failure)
}

/// Says why a file that is on record stays as it is.
fn left(path: &Path, agent: &Agent) -> String {
    let (path, folder) = (path.display(), agent.folder.display());
    format!(
        "`{path}` is left as it is: it is on record, and is none of the settings of {} in `{folder}`",
        agent.adapter.title
    )
}

fn purge(arguments: &UninstallArgs, locations: &SettingsLocations) -> Result<(), Failure> {
    let Some(state) = locations.state.as_deref().filter(|state| state.is_dir()) else { return Ok(()) };
    let name = visible(&state.to_string_lossy()).into_owned();
    if !arguments.yes && !confirm(&format!("Remove `{name}` with the audit trail?"))? {
        return Err(Failure::usage(format!("`{name}` was kept")).with_hint(HOW_TO_CONFIRM));
    }
    std::fs::remove_dir_all(state)
        .map_err(|error| Failure::usage(format!("`{name}` could not be removed: {error}")))?;
    print(&format!("`{name}` is removed\n"))
}

/// Finds the agents that were named.
pub(super) fn find_hosts(names: &[String]) -> Result<Vec<Host>, Failure> {
    let find = |name: &String| {
        registrable().find(|host| host.name() == name).ok_or_else(|| {
            let known: Vec<&str> = registrable().map(Host::name).collect();
            Failure::usage(format!("`{name}` is not an agent that can be registered"))
                .with_hint(format!("name one of {}", known.join(", ")))
        })
    };
    names.iter().map(find).collect()
}
