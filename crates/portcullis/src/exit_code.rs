//! The exit codes of the command line, a stable contract, and how a failure is told to whoever typed the command.
//!
//! INVARIANT: 0 is never the answer to a failure of any kind.

use std::process::Termination;

use portcullis_core::{Decision, visible};
use portcullis_gate::{Failure, FailureKind};
use portcullis_output::terminal::{ERROR, Painted, print_error};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// The command did what it was asked to; for `check`, the call is allowed.
    Success = 0,
    /// `rules lint` found something, `doctor` found a problem, `log verify` found that the record was changed, `eval
    /// --compare` found that something got worse, `auto-mode config` or `test` found that the model cannot be used or
    /// judges wrongly, `policy pull` or `verify` found a policy that is not to be trusted or none, or `store status` found
    /// that the store cannot be used.
    Findings = 1,
    /// `check`: the call is denied.
    Deny = 2,
    /// `check`: it needs a person's answer.
    Ask = 3,
    /// The call may run inside a fence, and nowhere else; `check` has none and says 3.
    Contained = 4,
    /// The command line or its input is wrong.
    Usage = 64,
    /// Something failed that should not have.
    Internal = 70,
    /// `run`: the fence did not go up, or no call of that id waits, and nothing was run.
    NotRun = 125,
}

impl From<Decision> for ExitCode {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Success,
            Decision::Contained => Self::Contained,
            Decision::Ask => Self::Ask,
            Decision::Deny => Self::Deny,
        }
    }
}

impl From<FailureKind> for ExitCode {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Usage => Self::Usage,
            FailureKind::Internal | FailureKind::Elsewhere => Self::Internal,
        }
    }
}

impl Termination for ExitCode {
    fn report(self) -> std::process::ExitCode {
        std::process::ExitCode::from(self as u8)
    }
}

/// Says what went wrong.
pub(crate) fn report_failure(failure: &Failure) -> ExitCode {
    if failure.message.is_empty() {
        return failure.kind.into();
    }
    print_error(&format!("{} {}\n", Painted(ERROR, "error:"), visible(&failure.message)));
    if let Some(hint) = &failure.hint {
        print_error(&format!("\nhint: {}\n", visible(hint)));
    }
    failure.kind.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_the_documented_ones() {
        let table = [
            (ExitCode::Success, 0),
            (ExitCode::Findings, 1),
            (ExitCode::Deny, 2),
            (ExitCode::Ask, 3),
            (ExitCode::Contained, 4),
            (ExitCode::Usage, 64),
            (ExitCode::Internal, 70),
            (ExitCode::NotRun, 125),
        ];
        for (code, number) in table {
            assert_eq!(code as u8, number);
        }
        assert_eq!(ExitCode::from(Decision::Allow), ExitCode::Success);
        assert_eq!(ExitCode::from(Decision::Ask), ExitCode::Ask);
        assert_eq!(ExitCode::from(Decision::Deny), ExitCode::Deny);
    }
}
