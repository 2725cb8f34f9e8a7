//! `portcullis stats`: what decisions add up to.

mod text;

use clap::Args;

use crate::commands::log::{FilterArgs, Trail};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::chart::Chart;
use portcullis_output::terminal::{print, printable};
use portcullis_output::totals::totals_object;

/// Show in figures what was decided: shares, prompts avoided, models, latencies
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis stats
  portcullis stats --since 7d
  portcullis stats --since 2026-01-01 --host claude --json

A call is counted once: where an agent asks a second time about the same call (PermissionRequest
after PreToolUse), the second record is not counted. The trial calls of `doctor` are not counted.
A prompt counts as avoided if the host was answered allow, nobody was asked, and the call does
more than read. Costs are the known ones of all requests to models. Days are those of UTC.

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
    let totals = trail
        .pruned()
        .totals(&arguments.filter.of_agents(), arguments.top)
        .map_err(|error| Failure::from(&error))?;
    print(&if arguments.json {
        printable(&format!("{:#}\n", totals_object(&totals)))
    } else {
        text::page(&totals, Chart::for_output())
    })?;
    Ok(ExitCode::Success)
}
