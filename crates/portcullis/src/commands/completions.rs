//! `portcullis completions`: a completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::print;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis completions bash > ~/.local/share/bash-completion/completions/portcullis
  portcullis completions zsh > ~/.zfunc/_portcullis")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Runs the command.
pub(crate) fn run(arguments: &CompletionsArgs, mut command: Command) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "portcullis", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::Success)
}
