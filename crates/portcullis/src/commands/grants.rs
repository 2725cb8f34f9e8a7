//! `portcullis grants`: what a person granted for a while, and taking it back.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use portcullis_core::visible;
use portcullis_store::{AllowedCall, Grant, GrantScope, Store};
use serde_json::{Value, json};

use super::answer::denied::open_store;
use super::answer::person::require_presence;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_output::grant::grant_json;
use portcullis_output::human::counted;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, print_notes, printable};

/// List what `allow` and `deny` granted for a while, or take it back
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis grants
  portcullis grants --json
  portcullis grants revoke g3
  portcullis grants revoke 3f9a1c-2

A grant ends with its session, its time or its uses. A call that may run once has the id of its denial;
it ends when it ran or its time is over. What `--always` wrote is a rule of the settings:
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
  portcullis grants revoke 3f9a1c-2

Only a person can do that: it works in a terminal alone.")]
    Revoke {
        /// The id of the grant, or of the call that may run once
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
            let revoked = Given::of_store(&store)?.take_back(&store, |given| given == id)?;
            if revoked.is_empty() {
                return Err(Failure::usage(format!("there is no grant `{id}`"))
                    .with_hint("`portcullis grants` lists them"));
            }
            report(&revoked, arguments.json)
        }
        Some(GrantsCommand::Clear) => {
            report(&Given::of_store(&store)?.take_back(&store, |_| true)?, arguments.json)
        }
    }
}

/// What a person gave: rules that hold for a while, and calls that may run once, after the names of their sessions.
struct Given {
    grants: Vec<Grant>,
    calls: Vec<(String, AllowedCall)>,
}

impl Given {
    fn of_store(store: &Store) -> Result<Self, Failure> {
        let now = now_ms();
        let grants = store.grants().list(now).map_err(|error| Failure::from(&error))?;
        let allowed = store.allowed_calls().map_err(|error| Failure::from(&error))?;
        print_notes(allowed.problems.iter().map(ToString::to_string));
        let calls = allowed.calls.into_iter().filter(|(_, call)| call.is_waiting(now)).collect();
        Ok(Self { grants, calls })
    }

    fn is_empty(&self) -> bool {
        self.grants.is_empty() && self.calls.is_empty()
    }

    /// Taking back a denial widens, so an agent may not do it either.
    fn take_back(self, store: &Store, is_meant: impl Fn(&str) -> bool) -> Result<Self, Failure> {
        require_presence()?;
        let now = now_ms();
        let meant = store.grants().revoke(|grant| is_meant(&grant.id), now);
        let grants = meant.map_err(|error| Failure::from(&error))?;
        let mut calls = Vec::new();
        for (session, call) in self.calls.into_iter().filter(|(_, call)| is_meant(&call.id)) {
            let taken = store.session(&session).take_back(&call.id, now);
            if taken.map_err(|error| Failure::from(&error))? {
                calls.push((session, call));
            }
        }
        Ok(Self { grants, calls })
    }

    fn to_json(&self, name: &str) -> String {
        let grants: Vec<Value> = self.grants.iter().map(grant_json).collect();
        let call = |(session, call): &(String, AllowedCall)| {
            json!({
                "id": call.id, "session": session, "tool": call.tool, "cwd": call.cwd, "summary": call.summary,
                "allowedAtMs": call.allowed_at_ms, "expiresAtMs": call.expires_at_ms,
            })
        };
        let calls: Vec<Value> = self.calls.iter().map(call).collect();
        printable(&format!("{:#}\n", json!({ name: grants, "calls": calls })))
    }
}

fn list(store: &Store, is_json: bool) -> Result<ExitCode, Failure> {
    let now = now_ms();
    let given = Given::of_store(store)?;
    print(&if is_json {
        given.to_json("grants")
    } else if given.is_empty() {
        "nothing is granted\n".to_owned()
    } else {
        let grants = given.grants.iter().map(|grant| grant_text(grant, now));
        grants.chain(given.calls.iter().map(|call| call_text(call, now))).collect()
    })?;
    Ok(ExitCode::Success)
}

fn report(revoked: &Given, is_json: bool) -> Result<ExitCode, Failure> {
    let grant =
        |grant: &Grant| format!("{}  revoked {} {}\n", grant.id, grant.behavior, visible(&grant.rule));
    let call = |(_, call): &(String, AllowedCall)| {
        format!("{}  revoked allow once {}\n", call.id, visible(&call.summary))
    };
    print(&if is_json {
        revoked.to_json("revoked")
    } else if revoked.is_empty() {
        "nothing was granted\n".to_owned()
    } else {
        revoked.grants.iter().map(grant).chain(revoked.calls.iter().map(call)).collect()
    })?;
    Ok(ExitCode::Success)
}

fn call_text((session, call): &(String, AllowedCall), now: u64) -> String {
    let minutes = call.expires_at_ms.saturating_sub(now).div_ceil(60_000);
    let head = format!("{}  allow once {}", Painted(BOLD, visible(&call.id)), visible(&call.summary));
    let place = format!("session {}, in {}, {minutes} min left", visible(session), visible(&call.cwd));
    format!("{head}\n  {}\n", Painted(DIM, place))
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
