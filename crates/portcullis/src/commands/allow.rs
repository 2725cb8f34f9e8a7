//! `portcullis allow`: a person lets a call run, or calls of its kind.

use clap::Args;
use portcullis_core::rule::Behavior;

use super::answer::{AllowTerm, AnswerArgs, run as answer};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// Let a call run that was denied or waits for a person, or calls of its kind
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis allow --last
  portcullis allow --id 3f9a1c-2 --session
  portcullis allow --id 5e1f
  portcullis allow --last --uses 3 --minutes 30
  portcullis allow 'Bash(npm run build *)' --minutes 60
  portcullis allow --last --always --source project

Without a term, the very same call (tool, input and directory, in the same session) is allowed once,
within an hour. With one, a rule for such calls holds, which you see first. Deny rules beat it, and
auto mode does not go by a rule that would pass its judge by, such as `Bash(*)`.
Without a call or a rule, the calls that were denied lately are listed.
An id without a hyphen is that of a question that waits (`portcullis questions`): the call goes on
at once, and the first answer counts.
Only a person can grant: it works in a terminal alone.

Exit codes: 0 done, 64 nothing to allow, answered already, no terminal, or a no, 70 internal failure")]
pub(crate) struct AllowArgs {
    #[command(flatten)]
    answer: AnswerArgs,
    /// This very call, once; what is meant unless another flag says so
    #[arg(long, conflicts_with_all = ["session", "minutes", "plan", "always", "uses"])]
    once: bool,
    /// Calls of the kind, so many of them
    #[arg(long, value_name = "N", conflicts_with = "always", value_parser = clap::value_parser!(u32).range(1..=1000))]
    uses: Option<u32>,
}

/// Runs the command.
pub(crate) fn run(arguments: &AllowArgs) -> Result<ExitCode, Failure> {
    let term = AllowTerm { once: arguments.once, uses: arguments.uses };
    answer(Behavior::Allow, &arguments.answer, term)
}
