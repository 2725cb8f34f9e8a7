//! `portcullis auto-mode`: what the classifier is told, whom it asks, and whether that works.

mod config;
mod critique;
mod defaults;
mod prompt;
mod reset;
mod test;
mod test_report;

use clap::{Args, Subcommand};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// Show, try and reset what the classifier of auto mode goes by
#[derive(Debug, Args)]
pub(crate) struct AutoModeArgs {
    #[command(subcommand)]
    command: AutoModeCommand,
}

#[derive(Debug, Subcommand)]
enum AutoModeCommand {
    Defaults(defaults::DefaultsArgs),
    Config(config::ConfigArgs),
    Prompt(prompt::PromptArgs),
    Critique(critique::CritiqueArgs),
    Test(test::TestArgs),
    Reset(reset::ResetArgs),
}

/// Runs the command.
pub(crate) fn run(arguments: &AutoModeArgs) -> Result<ExitCode, Failure> {
    match &arguments.command {
        AutoModeCommand::Defaults(arguments) => defaults::run(arguments),
        AutoModeCommand::Config(arguments) => config::run(arguments),
        AutoModeCommand::Prompt(arguments) => prompt::run(arguments),
        AutoModeCommand::Critique(arguments) => critique::run(arguments),
        AutoModeCommand::Test(arguments) => test::run(arguments),
        AutoModeCommand::Reset(arguments) => reset::run(arguments),
    }
}
