//! `portcullis rules add`: writes rules into a settings file.

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_settings::add_rule;

use super::target::{EditArgs, describe};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::presence::require_no_agent;
use portcullis_gate::session_settings::{compile, locations};
use portcullis_output::terminal::print;

/// Add rules to a settings file, leaving the rest of it as it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis rules add allow 'Bash(cargo test:*)'
  portcullis rules add deny 'Read(~/.ssh/**)' 'Bash(git push --force:*)'
  portcullis rules add ask 'Bash(npm publish:*)' --source project --claude")]
pub(crate) struct AddArgs {
    #[command(flatten)]
    edit: EditArgs,
}

/// Runs the command.
pub(crate) fn run(arguments: &AddArgs) -> Result<ExitCode, Failure> {
    let EditArgs { behavior, rules, target } = &arguments.edit;
    if *behavior == Behavior::Allow {
        require_no_agent("allow more")?;
    }
    let locations = locations(target.cwd.as_deref())?;
    // All are looked at before the first is written.
    for rule in rules {
        compile(rule, *behavior)?;
    }
    for rule in rules {
        let report = add_rule(&locations, target.destination(), *behavior, rule)
            .map_err(|error| Failure::from(&error))?;
        print(&describe(&report, "the rule is there already"))?;
    }
    Ok(ExitCode::Success)
}
