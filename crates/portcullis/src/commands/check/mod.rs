//! `portcullis check`: what would be answered to a call, or to a stream of them.

mod arguments;
mod batch;
mod line_reader;
mod remedy;
mod single;

pub(crate) use arguments::{CheckArgs, make_call};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Runs the command.
pub(crate) fn run(arguments: &CheckArgs) -> Result<ExitCode, Failure> {
    if arguments.form.batch { batch::run(arguments) } else { single::run(arguments) }
}
