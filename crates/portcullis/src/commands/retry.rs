//! `portcullis retry`: the old name of `portcullis allow --id ID --yes` for what auto mode denied.

use clap::Args;
use portcullis_store::DenialKind;

use super::answer::denied::{self, USUAL_LIMIT, USUAL_WAIT_MINUTES};
use super::answer::person::require_presence;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// List what auto mode denied lately, or let one of those calls run once
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis retry
  portcullis retry 3f9a1c-2
  portcullis retry --json --limit 5

With an id, the very same call (tool, input and directory, in the same session) is allowed once.
Deny and ask rules, safety checks and findings that nothing clears still hold.
Only a person can do that: it works in a terminal alone, the list works anywhere.
Tell the agent to try again afterwards.

Exit codes: 0 done, 64 no such denial, one that nothing lifts, or no terminal, 70 internal failure")]
pub(crate) struct RetryArgs {
    /// The id of the denial
    id: Option<String>,
    /// How many minutes the call may take to come again
    #[arg(long, value_name = "N", default_value_t = USUAL_WAIT_MINUTES, value_parser = clap::value_parser!(u64).range(1..=1440))]
    minutes: u64,
    /// How many denied calls to list
    #[arg(long, value_name = "N", default_value_t = USUAL_LIMIT, conflicts_with = "id")]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &RetryArgs) -> Result<ExitCode, Failure> {
    let store = denied::open_store()?;
    let Some(id) = &arguments.id else {
        let mut recent = denied::recent(&store, arguments.limit)?;
        // What a person could not be asked about is a matter of `portcullis allow`.
        recent.calls.retain(|(_, call)| call.kind != DenialKind::Asked);
        return denied::list_calls(&recent, arguments.json, "auto mode denied nothing lately\n");
    };
    require_presence()?;
    let known = denied::find(&store, id)?;
    denied::allow_once(&store, &known, arguments.minutes, arguments.json)
}
