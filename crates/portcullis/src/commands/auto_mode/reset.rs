//! `portcullis auto-mode reset`: takes the user's own rules for the classifier out of the settings.

use clap::Args;
use portcullis_settings::reset_auto_mode;

use crate::commands::rules::describe_edit;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::presence::require_no_agent;
use portcullis_gate::session_settings::locations;
use portcullis_output::terminal::{HOW_TO_CONFIRM, confirm, print};

/// Take `autoMode` out of your user settings, so that the built-in rules hold
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis auto-mode reset
  portcullis auto-mode reset --yes

Managed settings are left alone.

Exit codes: 0 done, 64 wrong usage or not confirmed, 70 internal failure")]
pub(crate) struct ResetArgs {
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(arguments: &ResetArgs) -> Result<ExitCode, Failure> {
    require_no_agent("change settings")?;
    if !arguments.yes && !confirm("Take `autoMode` out of your user settings?")? {
        return Err(Failure::usage("nothing was changed").with_hint(HOW_TO_CONFIRM));
    }
    let reports = reset_auto_mode(&locations(None)?).map_err(|error| Failure::from(&error))?;
    let changed = reports.iter().filter(|report| report.changed);
    let mut out: String = changed.map(|report| describe_edit(report, "")).collect();
    if out.is_empty() {
        out.push_str("nothing to reset: no user settings set `autoMode`\n");
    }
    print(&out)?;
    Ok(ExitCode::Success)
}
