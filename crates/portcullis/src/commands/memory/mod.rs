//! `portcullis memory`: what people allowed that is not asked about again, and forgetting it.

mod export;
mod text;

use clap::{Args, Subcommand};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::recollection::lasts_ms;
use portcullis_gate::session_settings::{SessionSettings, SettingsFlags};
use portcullis_gate::stores;
use portcullis_output::terminal::{print, print_notes, printable};
use portcullis_store::{RememberedYes, Store};
use serde_json::json;

use crate::exit_code::ExitCode;

/// List or forget the commands that run because you allowed one like them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis memory
  portcullis memory show m3
  portcullis memory forget m3
  portcullis memory forget --here
  portcullis memory export --rules

When you allow a command, its shape is remembered for the repository: the program with its subcommand,
what it does, and where. The next command of that shape runs without a question.
The setting `memory.enabled` switches this off.

Exit codes: 0 done, 64 nothing is known by this id, 70 internal failure")]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    command: Option<MemoryCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// List what is remembered
    #[command(after_help = "Examples:
  portcullis memory list
  portcullis memory list --json")]
    List,
    /// Show all that is remembered of one command
    #[command(after_help = "Examples:
  portcullis memory show m3
  portcullis memory show m3 --json")]
    Show {
        /// What it is listed by
        id: String,
    },
    /// Forget commands, so that they are asked about again
    #[command(after_help = "Examples:
  portcullis memory forget m3 m4
  portcullis memory forget --here
  portcullis memory forget --all")]
    Forget(ForgetArgs),
    /// Print what is remembered as rules, or as a draft of command profiles
    #[command(after_help = "Examples:
  portcullis memory export --rules
  portcullis memory export --profile > bd.toml

A rule covers more than what is remembered: whatever the program becomes, and any arguments where some differ.
A profile is a draft, and counts once you wrote into it what the program does.")]
    Export(ExportArgs),
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct ForgetArgs {
    /// What they are listed by
    ids: Vec<String>,
    /// Everything of the repository around the current directory
    #[arg(long, conflicts_with_all = ["ids", "all"])]
    here: bool,
    /// Everything
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

#[derive(Debug, Args)]
struct ExportArgs {
    /// As allow rules of a settings file, which is the default
    #[arg(long, conflicts_with = "profile")]
    rules: bool,
    /// As a draft of command profiles
    #[arg(long)]
    profile: bool,
}

/// Something remembered, after its id.
type KnownYes = (String, RememberedYes);

/// Runs the command.
pub(crate) fn run(arguments: &MemoryArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&SettingsFlags::default())?;
    let store = stores::open_for(&session)?;
    let known = listed(&session, &store)?;
    match &arguments.command {
        None | Some(MemoryCommand::List) => {
            list(&known, arguments.json)?;
            let is_off = !session.loaded.memory.is_enabled;
            print_notes(is_off.then(|| "settings switch the memory off, so none of this counts".to_owned()));
        }
        Some(MemoryCommand::Show { id }) => show(&known, id, arguments.json)?,
        Some(MemoryCommand::Forget(meant)) => forget(&session, &store, meant, arguments.json)?,
        Some(MemoryCommand::Export(form)) if form.profile => print(&export::profiles(&known))?,
        Some(MemoryCommand::Export(_)) => print(&export::rules(&known))?,
    }
    Ok(ExitCode::Success)
}

/// Returns what counts now, wherever that is.
fn listed(session: &SessionSettings, store: &Store) -> Result<Vec<KnownYes>, Failure> {
    let mut known = store.remembered().list().map_err(|error| Failure::from(&error))?;
    known.retain(|(_, yes)| yes.is_good(now_ms(), lasts_ms(session)));
    Ok(known)
}

fn list(known: &[KnownYes], is_json: bool) -> Result<(), Failure> {
    print(&if is_json {
        json_text("memory", known)
    } else if known.is_empty() {
        "nothing is remembered\n".to_owned()
    } else {
        text::table(known, now_ms())
    })
}

fn show(known: &[KnownYes], id: &str, is_json: bool) -> Result<(), Failure> {
    let found = known.iter().find(|(known, _)| known == id).ok_or_else(|| unknown(id))?;
    print(&if is_json {
        printable(&format!("{:#}\n", text::to_json(found)))
    } else {
        text::details(found, now_ms())
    })
}

/// Forgetting asks more and allows nothing, so anybody may.
fn forget(
    session: &SessionSettings,
    store: &Store,
    meant: &ForgetArgs,
    is_json: bool,
) -> Result<(), Failure> {
    let here = session.locations.workspace().to_string_lossy().into_owned();
    let is_meant = |id: &str, yes: &RememberedYes| {
        meant.all || meant.here && yes.repository == here || meant.ids.iter().any(|meant| meant == id)
    };
    let forgotten = store.remembered().forget(is_meant).map_err(|error| Failure::from(&error))?;
    if let Some(id) = meant.ids.iter().find(|id| !forgotten.iter().any(|(known, _)| known == *id)) {
        return Err(unknown(id));
    }
    print(&if is_json {
        json_text("forgotten", &forgotten)
    } else if forgotten.is_empty() {
        "nothing was remembered\n".to_owned()
    } else {
        forgotten.iter().map(text::forgotten).collect()
    })
}

fn json_text(name: &str, known: &[KnownYes]) -> String {
    let entries: Vec<_> = known.iter().map(text::to_json).collect();
    printable(&format!("{:#}\n", json!({ name: entries })))
}

fn unknown(id: &str) -> Failure {
    Failure::usage(format!("nothing is remembered by the id `{id}`"))
        .with_hint("`portcullis memory` lists what is")
}
