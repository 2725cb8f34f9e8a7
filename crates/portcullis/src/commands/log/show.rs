//! `portcullis log show`: everything that is kept of a decision.

use clap::Args;
use portcullis_core::visible;
use portcullis_gate::judge::Trial;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_store::audit::Entry;
use portcullis_store::audit::index::Found;

use super::Trail;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::{print, printable};
use portcullis_output::{record, trial};

/// Show everything that is kept of a decision, with the trace of its steps
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis log show 01KA3VQ9R8Z4T1M6YB2C5D7EFG
  portcullis log show 01KA3V --json
  portcullis log show 01KA3V --today

What is shown is what was recorded, whatever settings and files say now.
With --today it is followed by what they would say to the same call; nobody is asked for that, and
nothing is recorded.

Exit codes: 0 done, 64 no such record or several, 70 internal failure")]
pub(crate) struct ShowArgs {
    /// The id of the record, or how it begins
    id: String,
    /// Say as well what today's settings would answer
    #[arg(long)]
    today: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &ShowArgs) -> Result<ExitCode, Failure> {
    let id = &arguments.id;
    let trail = Trail::open()?;
    let found = trail.pruned().get(id).map_err(|error| Failure::from(&error))?;
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
    let today = if arguments.today { Some(try_today(&record.entry)?) } else { None };
    let allowed = trail.allowed_since()?;
    print(&if arguments.json {
        let mut object = allowed.object(&record);
        if let (Some(fields), Some((session, trial))) = (object.as_object_mut(), &today) {
            fields.insert("today".to_owned(), trial::object(trial, session));
        }
        printable(&format!("{object:#}\n"))
    } else {
        let today = today.map(|(_, trial)| trial::page(&trial)).unwrap_or_default();
        let since = if allowed.has(&record) { "\nA person allowed this very call once since.\n" } else { "" };
        record::page(&record) + since + &today
    })?;
    Ok(ExitCode::Success)
}

/// Judges the recorded call by the settings of its directory and session as they are now.
fn try_today(entry: &Entry) -> Result<(SessionSettings, Trial), Failure> {
    let session =
        SessionSettings::open_for_session(&SettingsFlags::default(), &entry.cwd, None, &entry.session)?;
    let trial = Trial::of_record(&session, entry)?;
    Ok((session, trial))
}
