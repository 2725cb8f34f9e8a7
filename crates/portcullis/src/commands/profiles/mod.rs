//! `portcullis profiles`: what is known of programs, and how to add to it.

mod draft;
mod new;
mod show;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use portcullis_core::profile::{ProfileOrigin, built_in};
use portcullis_core::visible;
use portcullis_gate::session_settings::absolute_path;
use portcullis_gate::{Failure, SessionSettings, SettingsFlags};
use portcullis_output::settings_notes;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, print_error, printable};
use portcullis_settings::disk::{MAXIMUM_SIZE, read_text};
use portcullis_settings::{ProblemSeverity, ProfileCheck, check_profiles};
use serde_json::json;

use crate::exit_code::ExitCode;

/// See and add what is known of programs
#[derive(Debug, Args)]
pub(crate) struct ProfilesArgs {
    #[command(subcommand)]
    command: ProfilesCommand,
}

#[derive(Debug, Subcommand)]
enum ProfilesCommand {
    /// List the profiles that files add, and count the built-in ones
    #[command(after_help = "Examples:
  portcullis profiles list
  portcullis profiles list --json")]
    List(ListArgs),
    /// Show what is known of a program
    #[command(after_help = "Examples:
  portcullis profiles show sort
  portcullis profiles show acme-lint --json")]
    Show(ShowArgs),
    /// Check a profile file and try its examples
    #[command(after_help = "Examples:
  portcullis profiles check .portcullis/commands/acme-lint.toml
  portcullis profiles check acme-lint.toml && cp acme-lint.toml ~/.config/portcullis/commands/")]
    Check(CheckArgs),
    /// Draft a profile from the manual page or a completion file of a program, which is not run
    #[command(after_help = "Examples:
  portcullis profiles new acme-lint
  portcullis profiles new acme-lint --write
  portcullis profiles new acme-lint --from docs/acme-lint.1")]
    New(new::NewArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    session: SettingsFlags,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// The program, without its directory
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    session: SettingsFlags,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// The file
    file: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: ProfilesArgs) -> Result<ExitCode, Failure> {
    match arguments.command {
        ProfilesCommand::List(arguments) => list(&arguments),
        ProfilesCommand::Show(arguments) => show(&arguments),
        ProfilesCommand::Check(arguments) => check(&arguments),
        ProfilesCommand::New(arguments) => new::run(&arguments),
    }
}

fn list(arguments: &ListArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn_from(&session, ProblemSeverity::Warning);
    let (profiles, count) = (&session.loaded.profiles, built_in().count());
    if arguments.json {
        let added: Vec<_> = profiles
            .added()
            .map(|(name, profile, origin)| {
                json!({"name": name, "summary": profile.summary, "source": origin.source, "file": &*origin.file})
            })
            .collect();
        print(&printable(&format!("{}\n", json!({"built_in": count, "added": added}))))?;
        return Ok(ExitCode::Success);
    }
    let mut out = String::new();
    let width = profiles.added().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    for (name, profile, origin) in profiles.added() {
        let name = Painted(BOLD, format!("{:<width$}", visible(name)));
        let place = Painted(DIM, place_of(origin));
        let _ = writeln!(out, "{name}  {}  {place}", visible(profile.summary));
    }
    let _ = writeln!(out, "{}", Painted(DIM, format_args!("{count} names have a built-in profile")));
    print(&out)?;
    Ok(ExitCode::Success)
}

fn place_of(origin: &ProfileOrigin) -> String {
    format!("{}, {}", origin.source, visible(&origin.file))
}

fn show(arguments: &ShowArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn_from(&session, ProblemSeverity::Warning);
    let profiles = &session.loaded.profiles;
    let Some(profile) = profiles.find(&arguments.name) else {
        let message = format!("nothing is known of `{}`, so that it is asked about", arguments.name);
        let hint = format!("draft a profile with `portcullis profiles new {}`", arguments.name);
        return Err(Failure::usage(message).with_hint(hint));
    };
    let origin = profiles.added().find(|(name, ..)| *name == arguments.name).map(|(.., origin)| origin);
    let text = if arguments.json {
        printable(&format!("{}\n", show::as_json(&arguments.name, profile, origin)))
    } else {
        let place = origin.map_or_else(|| "built-in".to_owned(), place_of);
        show::as_text(&arguments.name, profile, &place)
    };
    print(&text)?;
    Ok(ExitCode::Success)
}

fn check(arguments: &CheckArgs) -> Result<ExitCode, Failure> {
    let path = absolute_path(&arguments.file)?;
    let text = read(&path)?;
    let ProfileCheck { programs, examples, problems } =
        check_profiles(&text, &Arc::from(arguments.file.as_str()));
    if arguments.json {
        let problems: Vec<_> = problems
            .iter()
            .map(|problem| {
                let place = problem.place.as_ref();
                json!({
                    "message": problem.message,
                    "line": place.map(|place| place.line),
                    "column": place.map(|place| place.column),
                })
            })
            .collect();
        let report = json!({"programs": programs, "examples": examples, "problems": problems});
        print(&printable(&format!("{report}\n")))?;
    } else if problems.is_empty() {
        let names = programs.join(", ");
        print(&format!("{examples} examples are as the profile says: {}\n", visible(&names)))?;
    } else {
        for problem in &problems {
            print_error(&format!("{problem}\n\n"));
        }
    }
    Ok(if problems.is_empty() { ExitCode::Success } else { ExitCode::Findings })
}

fn read(path: &Path) -> Result<String, Failure> {
    match read_text(path, MAXIMUM_SIZE) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(Failure::usage(format!("there is no file `{}`", path.display()))),
        Err(unreadable) => Err(Failure::usage(format!("`{}`: {}", path.display(), unreadable.message))),
    }
}
