//! `cargo dev`: the repository's own commands. Each lives in a file of its own under `command/`.

use std::process::ExitCode;

use portcullis_dev::command;
use portcullis_dev::output;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
