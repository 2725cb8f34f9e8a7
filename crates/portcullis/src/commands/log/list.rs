//! Lists records, and those that come while one watches.

use std::time::Duration;

use clap::Args;
use portcullis_store::audit::index::Filter;
use portcullis_store::audit::{Position, Record};
use serde_json::{Value, json};

use super::{FilterArgs, Trail};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::{print, printable};

/// How often the trail is looked at while one watches.
const PAUSE: Duration = Duration::from_millis(300);

/// How many records are read at once while one watches.
const AT_ONCE: usize = 1_000;

/// What is listed, and how.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// How many records to list, the newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u64,
    /// Print JSON; with --follow an object on each line
    #[arg(long)]
    json: bool,
    /// Go on with what is decided from now on, the newest last, until interrupted
    #[arg(long)]
    follow: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &ListArgs) -> Result<ExitCode, Failure> {
    let trail = Trail::open()?;
    let filter = arguments.filter.filter();
    // What is added between both is then shown twice rather than never.
    let end = trail.audit.end().map_err(|error| Failure::from(&error))?;
    let mut records = trail.pruned().find(&filter, arguments.limit).map_err(|error| Failure::from(&error))?;
    if arguments.follow {
        records.reverse();
        print_each(&trail, &records, arguments.json)?;
        return follow(&trail, &filter, end, arguments.json);
    }
    let allowed = trail.allowed_since()?;
    let text = if arguments.json {
        let objects: Vec<Value> = records.iter().map(|record| allowed.object(record)).collect();
        printable(&format!("{:#}\n", json!({ "records": objects })))
    } else if records.is_empty() {
        "nothing was recorded that fits\n".to_owned()
    } else {
        records.iter().map(|record| allowed.lines(record)).collect()
    };
    print(&text)?;
    Ok(ExitCode::Success)
}

/// Watches until the process is interrupted or nobody reads any more.
fn follow(trail: &Trail, filter: &Filter, mut place: Position, is_json: bool) -> Result<ExitCode, Failure> {
    loop {
        let update = trail.audit.read_after(place, AT_ONCE).map_err(|error| Failure::from(&error))?;
        place = update.position;
        let fitting: Vec<Record> = update.records.into_iter().filter(|record| filter.has(record)).collect();
        print_each(trail, &fitting, is_json)?;
        std::thread::sleep(PAUSE);
    }
}

fn print_each(trail: &Trail, records: &[Record], is_json: bool) -> Result<(), Failure> {
    if records.is_empty() {
        return Ok(());
    }
    let allowed = trail.allowed_since()?;
    let text = |one: &Record| {
        if is_json { printable(&format!("{}\n", allowed.object(one))) } else { allowed.lines(one) }
    };
    print(&records.iter().map(text).collect::<String>())
}
