//! `portcullis deny`: a person stops calls of a kind.

use clap::Args;
use portcullis_core::rule::Behavior;

use super::grant::{GrantArgs, Term, run as grant};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// Stop calls of the kind of one that was denied or could not be asked about
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis deny --last
  portcullis deny --last --always
  portcullis deny 'Bash(git push *)' --minutes 60

Without a term it holds until the session ends. You see the rule first.
Without a call or a rule, the calls that were denied lately are listed.
Only a person can do that: it works in a terminal alone.

Exit codes: 0 done, 64 nothing to deny, no terminal, or a no, 70 internal failure")]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    grant: GrantArgs,
}

/// Runs the command.
pub(crate) fn run(arguments: &DenyArgs) -> Result<ExitCode, Failure> {
    grant(Behavior::Deny, &arguments.grant, Term::default())
}
