//! `portcullis profiles new`: a draft of a profile, printed or written into the user's folder.

use std::path::PathBuf;

use clap::Args;
use portcullis_core::{Source, visible};
use portcullis_gate::presence::require_no_agent;
use portcullis_gate::session_settings::{absolute_path, locations};
use portcullis_gate::{Failure, env_vars};
use portcullis_output::terminal::print;
use portcullis_settings::disk::{FilePrivacy, create_directory, plain, replace};
use portcullis_settings::profile_draft::is_plain_name;

use super::draft;
use crate::exit_code::ExitCode;

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// The program, without its directory
    name: String,
    /// The manual page or completion file to read, instead of the one that is found
    #[arg(long, value_name = "FILE")]
    from: Vec<String>,
    /// Write it into your folder of profiles instead of printing it
    #[arg(long)]
    write: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &NewArgs) -> Result<ExitCode, Failure> {
    let name = &arguments.name;
    if !is_plain_name(name) {
        return Err(Failure::usage(format!("`{name}` is not the name of a program without its directory")));
    }
    let locations = locations(None)?;
    let sources: Vec<PathBuf> = if arguments.from.is_empty() {
        draft::find_sources(name, &env_vars::manual_path(), locations.home.as_deref())
    } else {
        arguments.from.iter().map(|file| absolute_path(file)).collect::<Result<_, _>>()?
    };
    let text = draft::draft(name, &sources)?;
    if !arguments.write {
        print(&text)?;
        return Ok(ExitCode::Success);
    }
    require_no_agent("say what a program does")?;
    let folders = locations.profile_folders();
    let Some((_, folder)) = folders.into_iter().find(|(source, _)| *source == Source::User) else {
        return Err(Failure::usage("there is no home directory to keep profiles in"));
    };
    let file = folder.join(format!("{name}.toml"));
    let unwritten = |why: String| Failure::usage(format!("`{}` cannot be written: {why}", file.display()));
    if file.exists() {
        return Err(unwritten("it is there already".to_owned()));
    }
    create_directory(&folder, FilePrivacy::Shared).map_err(|error| unwritten(plain(&error)))?;
    replace(&file, None, &text, FilePrivacy::Shared)
        .map_err(|_| unwritten("the disk did not take it".to_owned()))?;
    print(&format!("{}\n", visible(&file.to_string_lossy())))?;
    Ok(ExitCode::Success)
}
