//! How a failure of a command is told to whoever typed it.

use crate::exit_code::ExitCode;
use portcullis_core::visible;
use portcullis_gate::Failure;
use portcullis_output::terminal::{ERROR, Painted, print_error};

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
