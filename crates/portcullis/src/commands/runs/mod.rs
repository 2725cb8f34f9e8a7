//! `portcullis runs`: what fenced commands changed and nobody has answered yet.

pub(crate) mod picture;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use portcullis_fence::{RunError, RunRecord, RunSelection, RunState};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::containment::{run_difference, run_failure};
use portcullis_gate::text_difference::DifferenceLimit;
use portcullis_output::difference::painted_difference;
use portcullis_output::human::counted;
use portcullis_output::terminal::{print, printable};
use serde_json::{Value, json};

use super::run::{FenceHome, require_keeper};
use crate::exit_code::ExitCode;
use picture::{changes_text, line, run_json, state_name, unreadable_line};

/// List what fenced commands changed, and keep or drop it
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis runs
  portcullis runs show 3fa9
  portcullis runs diff 3fa9
  portcullis runs commit 3fa9 src/
  portcullis runs drop 3fa9

What `portcullis run` changed waits here until it is answered. Keeping it needs a person in a terminal.

Exit codes: 0 done, 64 no such run, a conflict or no terminal, 70 internal failure")]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum RunsCommand {
    /// List the runs, the newest first
    #[command(after_help = "Examples:
  portcullis runs list
  portcullis runs list --json")]
    List,
    /// Show what a run changed
    #[command(after_help = "Examples:
  portcullis runs show 3fa9
  portcullis runs show 3fa9 --json")]
    Show(RunArg),
    /// Show what a run changed, line by line
    #[command(after_help = "Examples:
  portcullis runs diff 3fa9
  portcullis runs diff 3fa9 src/main.rs")]
    Diff(PathsArgs),
    /// Keep what a run changed, or a part of it
    #[command(after_help = "Examples:
  portcullis runs commit 3fa9
  portcullis runs commit 3fa9 src/ Cargo.toml
  portcullis runs commit 3fa9 --replace

What somebody changed meanwhile stays as it is, and nothing lands, unless `--replace` is given.
Only a person can do that: it works in a terminal alone.")]
    Commit {
        #[command(flatten)]
        paths: PathsArgs,
        /// Put the changes over what was changed outside since
        #[arg(long)]
        replace: bool,
    },
    /// Throw away what a run changed
    #[command(after_help = "Examples:
  portcullis runs drop 3fa9")]
    Drop(RunArg),
}

#[derive(Debug, Args)]
struct RunArg {
    /// The run, or the beginning of its name
    id: String,
}

#[derive(Debug, Args)]
struct PathsArgs {
    /// The run, or the beginning of its name
    id: String,
    /// Only what lies at or below these paths, from the workspace
    paths: Vec<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &RunsArgs) -> Result<ExitCode, Failure> {
    let home = FenceHome::find()?;
    let runs = home.runs();
    runs.recover().map_err(|error| run_failure(&error))?;
    // What cannot be removed is in nobody's way.
    let _ = runs.tidy();
    let text = match &arguments.command {
        None | Some(RunsCommand::List) => list(&home, arguments.json)?,
        Some(RunsCommand::Show(run)) => show(&home, &run.id, arguments.json)?,
        Some(RunsCommand::Diff(paths)) => {
            let record = find(&home, &paths.id)?;
            diff(&record, &paths.paths)
        }
        Some(RunsCommand::Commit { paths, replace }) => commit(&home, paths, *replace, arguments.json)?,
        Some(RunsCommand::Drop(run)) => {
            match home.runs().discard_named(&run.id).map_err(|error| run_failure(&error))? {
                Some(record) => said(&home, &record, arguments.json)?,
                None if arguments.json => "{}\n".to_owned(),
                None => "it could not be read, and nothing of it is left\n".to_owned(),
            }
        }
    };
    print(&text)?;
    Ok(ExitCode::Success)
}

fn find(home: &FenceHome, id: &str) -> Result<RunRecord, Failure> {
    home.runs().find(id).map_err(|error| run_failure(&error))
}

fn list(home: &FenceHome, is_json: bool) -> Result<String, Failure> {
    let records = home.runs().list().map_err(|error| run_failure(&error))?;
    let unreadable = home.runs().list_unreadable().map_err(|error| run_failure(&error))?;
    if is_json {
        let runs: Vec<Value> =
            records.iter().map(|record| run_json(home, record)).collect::<Result<_, _>>()?;
        let reason = |(id, error): &(String, RunError)| json!({"id": id, "reason": error.to_string()});
        let unreadable: Vec<Value> = unreadable.iter().map(reason).collect();
        let listed = if unreadable.is_empty() {
            json!({"runs": runs})
        } else {
            json!({"runs": runs, "unreadable": unreadable})
        };
        return Ok(printable(&format!("{listed:#}\n")));
    }
    if records.is_empty() && unreadable.is_empty() {
        return Ok("no run is kept\n".to_owned());
    }
    let now = now_ms();
    let is_readable = |record: &&RunRecord| unreadable.iter().all(|(id, _)| *id != record.id);
    let lines = records.iter().filter(is_readable).map(|record| line(record, now));
    Ok(lines.chain(unreadable.iter().map(unreadable_line)).collect())
}

fn show(home: &FenceHome, id: &str, is_json: bool) -> Result<String, Failure> {
    let record = find(home, id)?;
    if is_json {
        return Ok(printable(&format!("{:#}\n", run_json(home, &record)?)));
    }
    let held = picture::held(home, &record)?;
    Ok(format!("{}{}", line(&record, now_ms()), changes_text(&record, &held)))
}

fn diff(record: &RunRecord, paths: &[PathBuf]) -> String {
    let lines = run_difference(record, paths, DifferenceLimit::NONE);
    if lines.is_empty() { "nothing is held there\n".to_owned() } else { painted_difference(&lines) }
}

fn commit(home: &FenceHome, paths: &PathsArgs, replaces: bool, is_json: bool) -> Result<String, Failure> {
    require_keeper()?;
    let record = find(home, &paths.id)?;
    let selection =
        if paths.paths.is_empty() { RunSelection::All } else { RunSelection::Paths(paths.paths.clone()) };
    let record = home.runs().commit(&record.id, &selection, replaces).map_err(|error| run_failure(&error))?;
    said(home, &record, is_json)
}

fn said(home: &FenceHome, record: &RunRecord, is_json: bool) -> Result<String, Failure> {
    if is_json {
        return Ok(printable(&format!("{:#}\n", run_json(home, record)?)));
    }
    Ok(match record.state {
        RunState::Held => format!("{}: {} still held\n", record.id, counted(record.changes.len(), "change")),
        other => format!("{}: {}\n", record.id, state_name(other)),
    })
}
