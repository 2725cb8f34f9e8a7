//! `portcullis trust`: which workspaces may bring allow rules of their own.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Args, Subcommand};
use portcullis_core::visible;
use portcullis_settings::{
    IgnoredReason, IgnoredSetting, LoadOptions, SettingsLocations, TrustError, TrustQuestion, TrustStore,
    TrustedBy, WorkspaceTrust, find_trust, load,
};
use serde_json::json;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::presence::require_no_agent;
use portcullis_gate::session_settings::{absolute_path, locations};
use portcullis_output::terminal::{DIM, Painted, print, printable};

/// Say which workspaces' own allow rules count
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    command: TrustCommand,
}

#[derive(Debug, Subcommand)]
enum TrustCommand {
    /// Trust the workspace of a directory
    #[command(after_help = "Examples:
  portcullis trust add
  portcullis trust add ~/src/app")]
    Add(DirectoryArgs),
    /// Stop trusting the workspace of a directory
    #[command(after_help = "Examples:
  portcullis trust remove
  portcullis trust remove ~/src/app")]
    Remove(DirectoryArgs),
    /// List the trusted workspaces
    #[command(after_help = "Examples:
  portcullis trust list
  portcullis trust list --json")]
    List(ListArgs),
}

#[derive(Debug, Args)]
struct DirectoryArgs {
    /// The directory; the current one if none is named
    #[arg(value_name = "DIR")]
    directory: Option<String>,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: TrustArgs) -> Result<ExitCode, Failure> {
    let text = match arguments.command {
        TrustCommand::Add(arguments) => add(&arguments)?,
        TrustCommand::Remove(arguments) => remove(&arguments)?,
        TrustCommand::List(arguments) => list(&arguments)?,
    };
    print(&text)?;
    Ok(ExitCode::Success)
}

fn add(arguments: &DirectoryArgs) -> Result<String, Failure> {
    require_no_agent("trust a workspace")?;
    let locations = locations(arguments.directory.as_deref())?;
    let store = TrustStore::of(&locations).map_err(|error| refused(&error))?;
    let is_new = store.add(&locations).map_err(|error| refused(&error))?;
    let workspace = shown(locations.workspace());
    let mut text = if is_new {
        format!("{workspace} is trusted now\n")
    } else {
        format!("{workspace} was trusted already\n")
    };
    let gained = what_trust_gives(&locations);
    if !gained.is_empty() {
        text.push_str("so these of its settings count:\n");
    }
    for entry in gained {
        let origin = entry.origin.to_string();
        let place = Painted(DIM, format_args!("({})", visible(&origin)));
        let _ = writeln!(text, "  {} {place}", visible(&entry.what));
    }
    Ok(text)
}

/// Lists what files in the workspace say that counts only because it is trusted.
fn what_trust_gives(locations: &SettingsLocations) -> Vec<IgnoredSetting> {
    let options = LoadOptions { trust: TrustQuestion::Untrusted, ..LoadOptions::default() };
    let ignored = load(locations, &options).ignored;
    ignored.into_iter().filter(|entry| entry.reason == IgnoredReason::UntrustedWorkspace).collect()
}

fn remove(arguments: &DirectoryArgs) -> Result<String, Failure> {
    let store = TrustStore::of(&locations(None)?).map_err(|error| refused(&error))?;
    // A directory that is gone has no workspace to be found, but its trust can still be taken away.
    let found = locations(arguments.directory.as_deref()).ok();
    let named = arguments.directory.as_deref().map(absolute_path).transpose()?;
    let workspace = match (&found, &named) {
        (Some(locations), _) => locations.workspace(),
        (None, Some(directory)) => directory,
        (None, None) => return Err(Failure::internal("the current directory is not known")),
    };
    let was_trusted = store.remove(workspace).map_err(|error| refused(&error))?;
    let mut text =
        format!("{} is {} trusted\n", shown(workspace), if was_trusted { "no longer" } else { "not" });
    if let Some(locations) = &found
        && matches!(find_trust(locations), Ok(WorkspaceTrust::Trusted(TrustedBy::ClaudeCode)))
    {
        text.push_str("but Claude Code trusts it, and that counts here as well\n");
    }
    Ok(text)
}

fn list(arguments: &ListArgs) -> Result<String, Failure> {
    let locations = locations(None)?;
    let store = TrustStore::of(&locations).map_err(|error| refused(&error))?;
    let trusted = store.list().map_err(|error| refused(&error))?;
    let current = find_trust(&locations).unwrap_or(WorkspaceTrust::Untrusted);
    if arguments.json {
        let workspace = locations.workspace().to_string_lossy();
        let object = json!({"trusted": trusted, "workspace": workspace, "is_trusted": current.is_trusted(), "by": by(current)});
        return Ok(printable(&format!("{object}\n")));
    }
    let mut out = String::new();
    for workspace in &trusted {
        let _ = writeln!(out, "{}", visible(workspace));
    }
    let here = match by(current) {
        Some(by) => format!("{} is trusted by {by}", shown(locations.workspace())),
        None => format!("{} is not trusted", shown(locations.workspace())),
    };
    let _ = writeln!(out, "{}", Painted(DIM, here));
    Ok(out)
}

const fn by(trust: WorkspaceTrust) -> Option<&'static str> {
    match trust {
        WorkspaceTrust::Trusted(TrustedBy::Portcullis) => Some("portcullis"),
        WorkspaceTrust::Trusted(TrustedBy::ClaudeCode) => Some("claude"),
        WorkspaceTrust::Trusted(TrustedBy::Caller) => Some("caller"),
        WorkspaceTrust::Untrusted => None,
    }
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

fn refused(error: &TrustError) -> Failure {
    let failure = match error {
        TrustError::ContainsHome { .. } | TrustError::InsideWorkspace { .. } | TrustError::NotUtf8 { .. } => {
            Failure::usage(error.to_string())
        }
        TrustError::NoPlace
        | TrustError::Corrupt { .. }
        | TrustError::Exposed { .. }
        | TrustError::Locked { .. }
        | TrustError::Io { .. } => Failure::internal(error.to_string()),
    };
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
