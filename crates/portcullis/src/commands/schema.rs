//! `portcullis schema`: the JSON Schema of what Portcullis reads.

use clap::{Args, ValueEnum};
use portcullis_settings::settings_schema;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::print;

/// Print the JSON Schema of settings files
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis schema settings > portcullis.schema.json")]
pub(crate) struct SchemaArgs {
    /// Which schema
    subject: Subject,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Subject {
    /// Settings files
    Settings,
}

/// Runs the command.
pub(crate) fn run(arguments: &SchemaArgs) -> Result<ExitCode, Failure> {
    let schema = match arguments.subject {
        Subject::Settings => settings_schema(),
    };
    print(&schema)?;
    Ok(ExitCode::Success)
}
