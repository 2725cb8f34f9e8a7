//! `portcullis policy`: managed settings for a fleet, signed, published through the store, and taken from there.

mod key_file;
mod publish;
mod view;

use clap::{Args, Subcommand};
use portcullis_store::Store;

use crate::exit_code::{ExitCode, report_failure};
use portcullis_daemon::policy::{PullFailure, Pulled, pull};
use portcullis_gate::Failure;
use portcullis_gate::stores;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::terminal::print;

/// Sign, publish and take managed settings through the store that a fleet shares
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Make a key to sign policies with
    #[command(after_help = "Examples:
  portcullis policy keygen --out ~/ops.key
  portcullis policy keygen --out ~/ops.key --name ops-2026

The file holds the private key and is readable for you alone. The line that is printed is the public
key: write it into `store.policyKeys` of the managed settings of every machine.")]
    Keygen(key_file::KeygenArgs),
    /// Sign a settings file and publish it as the next version
    #[command(after_help = "Examples:
  portcullis policy publish policy.json --key ~/ops.key --note 'deny pushes to main'

The file is read as managed settings first; one with mistakes is refused.
Exit codes: 0 published, 64 wrong usage or settings with mistakes, 70 the store failed")]
    Publish(publish::PublishArgs),
    /// List the versions that were published, the newest first
    #[command(after_help = "Examples:
  portcullis policy list
  portcullis policy list --json")]
    List(view::ListArgs),
    /// Show one version, or the newest
    #[command(after_help = "Examples:
  portcullis policy show
  portcullis policy show 3 --json")]
    Show(view::ShowArgs),
    /// Check the signature of every version by the keys in `store.policyKeys`
    #[command(after_help = "Examples:
  portcullis policy verify
  portcullis policy verify --json

Exit codes: 0 all are fine, 1 at least one is not, 64 wrong usage, 70 the store failed")]
    Verify(view::VerifyArgs),
    /// Publish the settings of an earlier version again, as the next version
    #[command(after_help = "Examples:
  portcullis policy rollback 3 --key ~/ops.key

A version is never taken back: machines refuse one that is lower than what was in force.")]
    Rollback(publish::RollbackArgs),
    /// Take the newest version from the store now, as a daemon does every few seconds
    #[command(after_help = "Examples:
  portcullis policy pull

Exit codes: 0 it is in force, 1 there is none or it is not to be trusted, 70 the store failed")]
    Pull,
}

/// Runs the command.
pub(crate) fn run(arguments: &PolicyArgs) -> Result<ExitCode, Failure> {
    match &arguments.command {
        PolicyCommand::Keygen(arguments) => key_file::run(arguments),
        PolicyCommand::Publish(arguments) => publish::run(arguments),
        PolicyCommand::List(arguments) => view::list(arguments),
        PolicyCommand::Show(arguments) => view::show(arguments),
        PolicyCommand::Verify(arguments) => view::verify(arguments),
        PolicyCommand::Rollback(arguments) => publish::roll_back(arguments),
        PolicyCommand::Pull => take(),
    }
}

/// The settings of this machine and the store they choose.
#[derive(Debug)]
struct Fleet {
    session: SessionSettings,
    store: Store,
}

impl Fleet {
    fn open() -> Result<Self, Failure> {
        let session = SessionSettings::open(&SettingsFlags::default())?;
        let store = stores::open_for(&session)?;
        Ok(Self { session, store })
    }
}

fn take() -> Result<ExitCode, Failure> {
    let fleet = Fleet::open()?;
    let refuse = |message: String, hint: &str| {
        let _ = report_failure(&Failure::usage(message).with_hint(hint));
        Ok(ExitCode::Findings)
    };
    match pull(&fleet.session.locations, &fleet.session.loaded, &fleet.store) {
        Ok(Pulled::InForce(version, _)) => {
            print(&format!("policy version {version} is in force\n"))?;
            Ok(ExitCode::Success)
        }
        Ok(Pulled::Nothing) => refuse(
            format!("no policy was published at {}", fleet.store.backend().place()),
            "publish one with `portcullis policy publish`; until then nothing outside managed settings allows",
        ),
        Ok(Pulled::Ignored(_)) => refuse(
            "`store.policyKeys` names no key that can be used, so that no policy is taken".to_owned(),
            "write the line that `portcullis policy keygen` printed into the user or managed settings",
        ),
        Err(PullFailure::Store(error)) => Err(Failure::from(&error)),
        Err(failure) => refuse(
            failure.to_string(),
            "the policy in force stays as it is; find out who published this one: `portcullis policy verify`",
        ),
    }
}
