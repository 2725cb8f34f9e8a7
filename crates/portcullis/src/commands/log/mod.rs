//! `portcullis log`: what was decided, and whether the record of it is what was written.

mod allowed_since;
mod chain;
mod filter;
mod list;
mod prune;
mod show;

pub(crate) use allowed_since::AllowedSince;
pub(crate) use filter::FilterArgs;

use clap::{Args, Subcommand};
use portcullis_settings::AuditSettings;
use portcullis_store::Store;
use portcullis_store::audit::{Audit, Head};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::audit_head::{self, HeadDelivery};
use portcullis_gate::clock::now_ms;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::calendar::DAY_MS;
use portcullis_output::terminal::print_notes;

/// Show what was decided for agents, and verify the record of it
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  portcullis log
  portcullis log --decision deny --since 7d
  portcullis log --host claude --text 'git push' --limit 50 --json
  portcullis log --follow
  portcullis log show 01KA3V
  portcullis log verify

Times are those of UTC. Secrets were blacked out before a decision was recorded.

Exit codes: 0 done, 1 verify found that the record was changed, 64 wrong usage, 70 internal failure"
)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: Option<LogCommand>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    Show(show::ShowArgs),
    Verify(chain::VerifyArgs),
    Head(chain::HeadArgs),
    Prune(prune::PruneArgs),
}

/// Runs the command.
pub(crate) fn run(arguments: &LogArgs) -> Result<ExitCode, Failure> {
    match &arguments.command {
        None => list::run(&arguments.list),
        Some(LogCommand::Show(arguments)) => show::run(arguments),
        Some(LogCommand::Verify(arguments)) => chain::verify(arguments),
        Some(LogCommand::Head(arguments)) => chain::head(arguments),
        Some(LogCommand::Prune(arguments)) => prune::run(arguments),
    }
}

/// The audit trail of the user, and how long its records are kept.
#[derive(Debug)]
pub(crate) struct Trail {
    pub(crate) audit: Audit,
    store: Store,
    settings: AuditSettings,
}

impl Trail {
    /// Finds the trail.
    pub(crate) fn open() -> Result<Self, Failure> {
        let session = SessionSettings::open(&SettingsFlags::default())?;
        let root = session.locations.state.clone().ok_or_else(|| {
            Failure::usage("there is no home directory, so nothing is recorded").with_hint("set HOME")
        })?;
        let store = portcullis_gate::stores::open(&session.loaded, root)?;
        Ok(Self { audit: store.audit(), store, settings: session.loaded.audit.clone() })
    }

    /// Returns which denials a person lifted since.
    pub(crate) fn allowed_since(&self) -> Result<AllowedSince, Failure> {
        AllowedSince::of_store(&self.store)
    }

    /// Reads the heads that were kept in a file; the error says what is wrong with them.
    fn kept_heads(&self) -> Result<Vec<Head>, String> {
        audit_head::kept_heads(&self.settings.head, self.store.root())
    }

    fn send_everywhere(&self) -> Vec<HeadDelivery> {
        audit_head::send_everywhere(&self.settings.head, &self.store)
    }

    fn send_elsewhere(&self) -> Vec<HeadDelivery> {
        audit_head::send_elsewhere(&self.settings.head, &self.store)
    }

    /// Removes what is older than settings say, then returns the trail. What cannot be removed is only told.
    pub(crate) fn pruned(&self) -> &Audit {
        let days = self.settings.retention_days;
        if days > 0 {
            let pruned = self.audit.prune(u64::from(days) * DAY_MS, now_ms(), false);
            print_notes(pruned.err().map(|error| format!("old records could not be removed: {error}")));
        }
        &self.audit
    }
}
