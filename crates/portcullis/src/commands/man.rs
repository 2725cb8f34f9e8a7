//! `portcullis man`: manual pages.

use std::path::PathBuf;

use clap::{Args, Command};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::{print, unwritten};

/// Print the manual page, or write one page for each command
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis man | man -l -
  portcullis man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a page for each command into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &ManArgs, command: Command) -> Result<ExitCode, Failure> {
    if let Some(directory) = &arguments.dir {
        std::fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(command, directory))
            .map_err(|error| {
                Failure::internal(format!("cannot write manual pages to `{}`: {error}", directory.display()))
            })?;
        return Ok(ExitCode::Success);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(|error| unwritten(&error))?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::Success)
}
