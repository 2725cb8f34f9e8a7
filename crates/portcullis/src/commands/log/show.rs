//! `portcullis log show`: everything that is kept of a decision.

use clap::Args;
use portcullis_core::visible;
use portcullis_store::audit::index::Found;

use super::Trail;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::record;
use portcullis_output::terminal::{print, printable};

/// Show everything that is kept of a decision, with the trace of its steps
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis log show 01KA3VQ9R8Z4T1M6YB2C5D7EFG
  portcullis log show 01KA3V --json

Exit codes: 0 done, 64 no such record or several, 70 internal failure")]
pub(crate) struct ShowArgs {
    /// The id of the record, or how it begins
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &ShowArgs) -> Result<ExitCode, Failure> {
    let id = &arguments.id;
    let found = Trail::open()?.pruned().get(id).map_err(|error| Failure::from(&error))?;
    let record = match found {
        Found::One(record) => record,
        Found::Nothing => {
            return Err(Failure::usage(format!("no record has an id that begins with `{}`", visible(id)))
                .with_hint("`portcullis log` lists the newest"));
        }
        Found::Several(ids) => {
            return Err(Failure::usage(format!(
                "several records have an id that begins with `{}`",
                visible(id)
            ))
            .with_hint(format!("give more of it: {}", ids.join(", "))));
        }
    };
    print(&if arguments.json {
        printable(&format!("{:#}\n", record::object(&record)))
    } else {
        record::page(&record)
    })?;
    Ok(ExitCode::Success)
}
