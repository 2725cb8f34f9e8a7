//! `portcullis rules`: look at rules, change them, and understand them.

mod add;
mod explain;
mod explanation;
mod lint;
mod list;
mod path_examples;
mod remove;
mod target;
mod test;

use clap::{Args, Subcommand};

pub(crate) use target::describe as describe_edit;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// List, change, test and explain permission rules
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    command: RulesCommand,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    List(list::ListArgs),
    Add(add::AddArgs),
    Remove(remove::RemoveArgs),
    Test(test::TestArgs),
    Explain(explain::ExplainArgs),
    Lint(lint::LintArgs),
}

/// Runs the command.
pub(crate) fn run(arguments: RulesArgs) -> Result<ExitCode, Failure> {
    match arguments.command {
        RulesCommand::List(arguments) => list::run(&arguments),
        RulesCommand::Add(arguments) => add::run(&arguments),
        RulesCommand::Remove(arguments) => remove::run(&arguments),
        RulesCommand::Test(arguments) => test::run(&arguments),
        RulesCommand::Explain(arguments) => explain::run(&arguments),
        RulesCommand::Lint(arguments) => lint::run(&arguments),
    }
}
