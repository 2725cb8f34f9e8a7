//! `portcullis rules remove`: takes rules out of a settings file.

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_settings::remove_rule;

use super::target::{TargetArgs, describe, refused};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::session::locations;
use crate::terminal::print;
use crate::value_parser::behavior_parser;

/// Remove rules from a settings file, leaving the rest of it as it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis rules remove allow 'Bash(cargo test:*)'
  portcullis rules remove deny 'Bash(curl:*)' --source local --claude")]
pub(crate) struct RemoveArgs {
    /// What the rules do
    #[arg(value_name = "BEHAVIOR", value_parser = behavior_parser())]
    behavior: Behavior,
    /// The rules as they are written
    #[arg(required = true, value_name = "RULE")]
    rules: Vec<String>,
    #[command(flatten)]
    target: TargetArgs,
}

/// Runs the command.
pub(crate) fn run(arguments: &RemoveArgs) -> Result<ExitCode, Failure> {
    let locations = locations(arguments.target.cwd.as_deref())?;
    for rule in &arguments.rules {
        let report = remove_rule(&locations, arguments.target.destination(), arguments.behavior, rule)
            .map_err(|error| refused(&error))?;
        print(&describe(&report, "nothing had to be removed"))?;
    }
    Ok(ExitCode::Success)
}
