//! `portcullis rules add`: writes rules into a settings file.

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_settings::add_rule;

use super::target::{TargetArgs, describe, refused};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::session::{compile, locations};
use crate::terminal::print;
use crate::value_parser::behavior_parser;

/// Add rules to a settings file, leaving the rest of it as it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis rules add allow 'Bash(cargo test:*)'
  portcullis rules add deny 'Read(~/.ssh/**)' 'Bash(git push --force:*)'
  portcullis rules add ask 'Bash(npm publish:*)' --source project --claude")]
pub(crate) struct AddArgs {
    /// What the rules do
    #[arg(value_name = "BEHAVIOR", value_parser = behavior_parser())]
    behavior: Behavior,
    /// The rules
    #[arg(required = true, value_name = "RULE")]
    rules: Vec<String>,
    #[command(flatten)]
    target: TargetArgs,
}

/// Runs the command.
pub(crate) fn run(arguments: &AddArgs) -> Result<ExitCode, Failure> {
    let locations = locations(arguments.target.cwd.as_deref())?;
    // All are looked at before the first is written.
    for rule in &arguments.rules {
        compile(rule, arguments.behavior)?;
    }
    for rule in &arguments.rules {
        let report = add_rule(&locations, arguments.target.destination(), arguments.behavior, rule)
            .map_err(|error| refused(&error))?;
        print(&describe(&report, "the rule is there already"))?;
    }
    Ok(ExitCode::Success)
}
