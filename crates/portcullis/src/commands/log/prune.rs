//! `portcullis log prune`: removes old records now.

use clap::Args;
use serde_json::json;

use super::Trail;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::presence::is_agents_process;
use portcullis_output::calendar::DAY_MS;
use portcullis_output::human::counted;
use portcullis_output::terminal::print;

/// Remove old records; the chain goes on with those that stay
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis log prune --dry-run
  portcullis log prune --older-than 30

Whole files are removed, once all that is in them is old enough; the current file is put aside first
if it began more than a week ago. `log` and `stats` do the same with the setting
`audit.retentionDays`.

Exit codes: 0 done, 64 nothing says how old, 70 internal failure")]
pub(crate) struct PruneArgs {
    /// How old records must be, in days; the setting `audit.retentionDays` if it is not given
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    older_than: Option<u32>,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &PruneArgs) -> Result<ExitCode, Failure> {
    // A job of a person's has no terminal, and may.
    if !arguments.dry_run && is_agents_process() {
        return Err(Failure::usage("only a person can remove records, and an agent runs this"));
    }
    let trail = Trail::open()?;
    let days = arguments.older_than.unwrap_or(trail.settings.retention_days);
    if days == 0 {
        return Err(Failure::usage("settings keep records for ever").with_hint("give --older-than DAYS"));
    }
    let pruned = trail.audit.prune(u64::from(days) * DAY_MS, now_ms(), arguments.dry_run);
    let pruned = pruned.map_err(|error| Failure::from(&error))?;
    print(&if arguments.json {
        let (files, records, bytes) = (pruned.files, pruned.records, pruned.bytes);
        format!(
            "{:#}\n",
            json!({"dryRun": arguments.dry_run, "files": files, "records": records, "bytes": bytes})
        )
    } else {
        let done = if arguments.dry_run { "would remove" } else { "removed" };
        let (records, files) = (counted(pruned.records, "record"), counted(pruned.files, "file"));
        format!("{done} {records} in {files}, {}\n", counted(pruned.bytes, "byte"))
    })?;
    Ok(ExitCode::Success)
}
