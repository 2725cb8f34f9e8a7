//! `portcullis stats`: what decisions add up to.

mod text;

use clap::Args;

use crate::commands::log::{FilterArgs, Trail};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::chart::Chart;
use portcullis_output::terminal::{print, printable};
use portcullis_output::totals::totals_object;
use portcullis_store::audit::index::Filter;

/// How many denials are looked at for those that stand no longer, the newest first.
const MOST_LIFTED: u64 = 10_000;

/// Show in figures what was decided: shares, prompts avoided, models, latencies
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis stats
  portcullis stats --since 7d
  portcullis stats --since 2026-01-01 --host claude --json

A call is counted once: where an agent asks a second time about the same call (PermissionRequest
after PreToolUse), the second record is not counted. The trial calls of `doctor` are not counted.
A prompt counts as avoided if the host was answered allow, nobody was asked, and the call does
more than read. A denial that a person lifted since is told apart. Costs are the known ones of all requests to models. Days are those of UTC.

Exit codes: 0 done, 64 wrong usage, 70 internal failure")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// How many of the most frequent calls to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &StatsArgs) -> Result<ExitCode, Failure> {
    let trail = Trail::open()?;
    let filter = arguments.filter.of_agents();
    let totals = trail.pruned().totals(&filter, arguments.top).map_err(|error| Failure::from(&error))?;
    let lifted = lifted(&trail, &filter)?;
    print(&if arguments.json {
        let mut object = totals_object(&totals);
        if let Some(fields) = object.as_object_mut() {
            fields.insert("allowedSince".to_owned(), lifted.into());
        }
        printable(&format!("{object:#}\n"))
    } else {
        text::page(&totals, lifted, Chart::for_output())
    })?;
    Ok(ExitCode::Success)
}

/// Counts the denials that stand no longer, because a person let the call run since.
fn lifted(trail: &Trail, filter: &Filter) -> Result<u64, Failure> {
    let denials = Filter { said: Some("deny".to_owned()), ..filter.clone() };
    let records = trail.audit.find(&denials, MOST_LIFTED).map_err(|error| Failure::from(&error))?;
    let allowed = trail.allowed_since()?;
    Ok(records.iter().filter(|record| allowed.has(record)).map(|_| 1).sum())
}
