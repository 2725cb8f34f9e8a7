//! `portcullis deny`: a person stops calls of a kind.

use clap::Args;
use portcullis_core::rule::Behavior;

use super::answer::{AllowTerm, AnswerArgs, run as answer};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// Deny a call that waits for a person, or calls of the kind of one that was denied
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis deny --last
  portcullis deny --last --always
  portcullis deny --id 5e1f --message 'push to a branch instead'
  portcullis deny 'Bash(git push *)' --minutes 60

Without a term it holds until the session ends. You see the rule first.
Without a call or a rule, the calls that were denied lately are listed.
An id without a hyphen is that of a question that waits (`portcullis questions`): without a term
this very call is denied, and the first answer counts.
Only a person can do that: it works in a terminal alone.

Exit codes: 0 done, 64 nothing to deny, answered already, no terminal, or a no, 70 internal failure")]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Runs the command.
pub(crate) fn run(arguments: &DenyArgs) -> Result<ExitCode, Failure> {
    answer(Behavior::Deny, &arguments.answer, AllowTerm::default())
}
