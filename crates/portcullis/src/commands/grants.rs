//! `portcullis grants`: what a person granted for a while, and taking it back.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use portcullis_core::visible;
use portcullis_store::{Grant, GrantScope, Store};
use serde_json::{Value, json};

use super::answer::denied::open_store;
use super::answer::person::require_person;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_output::grant::grant_json;
use portcullis_output::human::counted;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, printable};

/// List what `allow` and `deny` granted for a while, or take it back
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis grants
  portcullis grants --json
  portcullis grants revoke g3

A grant ends with its session, its time or its uses. What `--always` wrote is a rule of the settings:
`portcullis rules list` shows it. Taking a grant back needs a person in a terminal.

Exit codes: 0 done, 64 no such grant or no terminal, 70 internal failure")]
pub(crate) struct GrantsArgs {
    #[command(subcommand)]
    command: Option<GrantsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum GrantsCommand {
    /// List what is granted
    #[command(after_help = "Examples:
  portcullis grants list
  portcullis grants list --json")]
    List,
    /// Take one grant back
    #[command(after_help = "Examples:
  portcullis grants revoke g3

Only a person can do that: it works in a terminal alone.")]
    Revoke {
        /// The id of the grant
        id: String,
    },
    /// Take all grants back
    #[command(after_help = "Examples:
  portcullis grants clear

Only a person can do that: it works in a terminal alone.")]
    Clear,
}

/// Runs the command.
pub(crate) fn run(arguments: &GrantsArgs) -> Result<ExitCode, Failure> {
    let store = open_store()?;
    match &arguments.command {
        None | Some(GrantsCommand::List) => list(&store, arguments.json),
        Some(GrantsCommand::Revoke { id }) => {
            let revoked = revoke(&store, |grant| grant.id == *id)?;
            if revoked.is_empty() {
                return Err(Failure::usage(format!("there is no grant `{id}`"))
                    .with_hint("`portcullis grants` lists them"));
            }
            report(&revoked, arguments.json)
        }
        Some(GrantsCommand::Clear) => report(&revoke(&store, |_| true)?, arguments.json),
    }
}

fn list(store: &Store, is_json: bool) -> Result<ExitCode, Failure> {
    let now = now_ms();
    let grants = store.grants().list(now).map_err(|error| Failure::from(&error))?;
    print(&if is_json {
        as_json("grants", &grants)
    } else if grants.is_empty() {
        "nothing is granted\n".to_owned()
    } else {
        grants.iter().map(|grant| grant_text(grant, now)).collect()
    })?;
    Ok(ExitCode::Success)
}

/// Taking back a denial widens, so an agent may not do it either.
fn revoke(store: &Store, is_meant: impl Fn(&Grant) -> bool) -> Result<Vec<Grant>, Failure> {
    require_person()?;
    store.grants().revoke(is_meant, now_ms()).map_err(|error| Failure::from(&error))
}

fn report(revoked: &[Grant], is_json: bool) -> Result<ExitCode, Failure> {
    let line = |grant: &Grant| format!("{}  revoked {} {}\n", grant.id, grant.behavior, visible(&grant.rule));
    print(&if is_json {
        as_json("revoked", revoked)
    } else if revoked.is_empty() {
        "nothing was granted\n".to_owned()
    } else {
        revoked.iter().map(line).collect()
    })?;
    Ok(ExitCode::Success)
}

fn grant_text(grant: &Grant, now: u64) -> String {
    let mut place = match &grant.scope {
        GrantScope::Session(name) => format!("session {}", visible(name)),
        GrantScope::Workspace(directory) => format!("in {}", visible(directory)),
    };
    // Writing to a String cannot fail.
    if let Some(plan) = grant.plan {
        let _ = write!(place, ", plan {plan}");
    }
    if let Some(uses) = grant.uses_left {
        let _ = write!(place, ", {} left", counted(uses, "use"));
    }
    let minutes = grant.expires_at_ms.saturating_sub(now).div_ceil(60_000);
    if grant.is_timed || grant.uses_left.is_some() {
        let _ = write!(place, ", {minutes} min left");
    }
    let head = format!(
        "{}  {} {}",
        Painted(BOLD, visible(&grant.id)),
        visible(&grant.behavior),
        visible(&grant.rule)
    );
    format!("{head}\n  {}\n", Painted(DIM, place))
}

fn as_json(name: &str, grants: &[Grant]) -> String {
    let grants: Vec<Value> = grants.iter().map(grant_json).collect();
    printable(&format!("{:#}\n", json!({ name: grants })))
}
