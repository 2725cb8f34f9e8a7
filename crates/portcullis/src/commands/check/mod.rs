//! `portcullis check`: what would be answered to a call, or to a stream of them.

mod arguments;
mod batch;
mod call_line;
mod line_reader;
mod remedy;
mod sessions;
mod single;

pub(crate) use arguments::{CheckArgs, make_call};
pub(crate) use call_line::{CallLine, Fields, LONGEST_LINE, parse_object, take_call, take_text};
pub(crate) use line_reader::{Reading, read_line};
pub(crate) use sessions::{Opener, Sessions};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// Runs the command.
pub(crate) fn run(arguments: &CheckArgs) -> Result<ExitCode, Failure> {
    if arguments.form.batch { batch::run(arguments) } else { single::run(arguments) }
}
