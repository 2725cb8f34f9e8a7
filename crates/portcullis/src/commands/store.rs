//! `portcullis store`: where everything that outlives a process is kept, and whether it can be used.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clap::{Args, Subcommand};
use portcullis_core::visible;
use portcullis_store::Store;
use serde_json::{Value, json};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::stores;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::terminal::{BOLD, Painted, print, printable};

/// The most files whose sizes are added up.
const MOST_FILES: usize = 100_000;

/// Say where everything is kept and whether it can be used, or update its tables
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Say which store is used, whether it answers, and how large it is
    #[command(after_help = "Examples:
  portcullis store status
  portcullis store status --json

Exit codes: 0 it can be used, 1 it cannot, 64 wrong usage")]
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make the tables of a shared store, or bring them up to date
    #[command(after_help = "Examples:
  portcullis store migrate
  PGPASSWORD=… portcullis store migrate --json

A daemon does the same when it starts. Do it by hand where the daemons' account may not change tables.")]
    Migrate {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub(crate) fn run(arguments: &StoreArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&SettingsFlags::default())?;
    let state = session.locations.state.clone().ok_or_else(|| {
        Failure::usage("there is no home directory, so nothing is kept").with_hint("set HOME")
    })?;
    stores::refuse_broken(&session.loaded)?;
    match &arguments.command {
        StoreCommand::Status { json } => {
            let status = look(&session, &state);
            print(&if *json { printable(&format!("{:#}\n", status.to_json())) } else { status.to_text() })?;
            Ok(if status.trouble.is_none() { ExitCode::Success } else { ExitCode::Findings })
        }
        StoreCommand::Migrate { json } => {
            let taken = migrate(&session)?;
            print(&if *json {
                printable(&format!("{:#}\n", json!({"steps": taken})))
            } else if taken.is_empty() {
                "the tables are up to date\n".to_owned()
            } else {
                format!("done: {}\n", taken.join(", "))
            })?;
            Ok(ExitCode::Success)
        }
    }
}

/// What is known of a store.
#[derive(Debug, Default)]
struct Status {
    kind: &'static str,
    place: String,
    /// What stands in the way, a clause.
    trouble: Option<String>,
    /// How many steps of its tables were taken, and how many there are.
    steps: Option<(usize, usize)>,
    /// How many records the audit trail has.
    records: Option<u64>,
    bytes: Option<u64>,
    /// The newest policy that was published.
    policy: Option<u64>,
}

impl Status {
    fn to_json(&self) -> Value {
        json!({
            "kind": self.kind,
            "place": self.place,
            "isUsable": self.trouble.is_none(),
            "trouble": self.trouble,
            "stepsApplied": self.steps.map(|(applied, _)| applied),
            "stepsKnown": self.steps.map(|(_, known)| known),
            "records": self.records,
            "bytes": self.bytes,
            "policyVersion": self.policy,
        })
    }

    fn to_text(&self) -> String {
        let mut out = format!("{} {}\n", Painted(BOLD, self.kind), visible(&self.place));
        let mut line = |name: &str, value: String| {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "  {name:<8} {value}");
        };
        line(
            "usable",
            self.trouble.as_deref().map_or("yes".to_owned(), |why| format!("no: {}", visible(why))),
        );
        if let Some((applied, known)) = self.steps {
            line("tables", format!("{applied} of {known} steps"));
        }
        if let Some(records) = self.records {
            line("records", records.to_string());
        }
        if let Some(bytes) = self.bytes {
            line("size", format!("{} KiB", bytes.div_ceil(1024)));
        }
        if let Some(version) = self.policy {
            line("policy", format!("version {version}"));
        }
        out
    }

    /// Adds what any store can tell.
    fn count(&mut self, store: &Store) {
        let counted = store.backend().trail_head().and_then(|head| {
            let policy = store.backend().latest_policy()?;
            Ok((head.map_or(0, |head| head.number), policy.map(|policy| policy.version)))
        });
        match counted {
            Ok((records, policy)) => (self.records, self.policy) = (Some(records), policy),
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }
}

fn look(session: &SessionSettings, state: &Path) -> Status {
    match &session.loaded.store.url {
        None => {
            let store = Store::new(state.to_path_buf());
            let bytes = Some(size_of(state));
            let mut status =
                Status { kind: "files", place: store.backend().place(), bytes, ..Status::default() };
            status.count(&store);
            status
        }
        Some(url) => {
            let shown = Status { kind: "postgres", place: url.to_string(), ..Status::default() };
            look_at_shared(session, state, shown)
        }
    }
}

#[cfg(feature = "postgres")]
fn look_at_shared(session: &SessionSettings, state: &Path, mut status: Status) -> Status {
    let Some(url) = &session.loaded.store.url else { return status };
    let looked = stores::open_fleet(url).and_then(|fleet| {
        let found = fleet.status().map_err(|error| Failure::from(&error))?;
        Ok((fleet, found))
    });
    match looked {
        Ok((fleet, found)) => {
            status.place = format!("{}, PostgreSQL {}", found.place, found.server);
            status.steps = Some((found.schema.applied, found.schema.known));
            status.bytes = Some(found.partitions.iter().map(|partition| partition.bytes).sum());
            match fleet.check() {
                Ok(()) => status.count(&Store::with_backend(state.to_path_buf(), std::sync::Arc::new(fleet))),
                Err(error) => status.trouble = Some(error.to_string()),
            }
        }
        Err(failure) => status.trouble = Some(failure.message),
    }
    status
}

#[cfg(not(feature = "postgres"))]
fn look_at_shared(_session: &SessionSettings, _state: &Path, status: Status) -> Status {
    Status { trouble: Some(stores::without_postgres().message), ..status }
}

#[cfg(feature = "postgres")]
fn migrate(session: &SessionSettings) -> Result<Vec<&'static str>, Failure> {
    match &session.loaded.store.url {
        None => Ok(Vec::new()),
        Some(url) => stores::open_fleet(url)?.migrate().map_err(|error| Failure::from(&error)),
    }
}

#[cfg(not(feature = "postgres"))]
fn migrate(session: &SessionSettings) -> Result<Vec<&'static str>, Failure> {
    if session.loaded.store.url.is_some() { Err(stores::without_postgres()) } else { Ok(Vec::new()) }
}

/// Adds up the sizes of the files below a directory; links are not followed.
fn size_of(directory: &Path) -> u64 {
    let mut folders = vec![directory.to_path_buf()];
    let (mut bytes, mut seen) = (0_u64, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() && seen < MOST_FILES {
                folders.push(entry.path());
            } else if metadata.is_file() {
                bytes = bytes.saturating_add(metadata.len());
            }
        }
    }
    bytes
}
