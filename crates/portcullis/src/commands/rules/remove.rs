//! `portcullis rules remove`: takes rules out of a settings file.

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_settings::remove_rule;

use super::target::{EditArgs, describe};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::presence::require_no_agent;
use portcullis_gate::session_settings::locations;
use portcullis_output::terminal::print;

/// Remove rules from a settings file, leaving the rest of it as it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis rules remove allow 'Bash(cargo test:*)'
  portcullis rules remove deny 'Bash(curl:*)' --source local --claude")]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    edit: EditArgs,
}

/// Runs the command.
pub(crate) fn run(arguments: &RemoveArgs) -> Result<ExitCode, Failure> {
    let EditArgs { behavior, rules, target } = &arguments.edit;
    if *behavior != Behavior::Allow {
        require_no_agent("remove what forbids something")?;
    }
    let locations = locations(target.cwd.as_deref())?;
    for rule in rules {
        let report = remove_rule(&locations, target.destination(), *behavior, rule)
            .map_err(|error| Failure::from(&error))?;
        print(&describe(&report, "nothing had to be removed"))?;
    }
    Ok(ExitCode::Success)
}
