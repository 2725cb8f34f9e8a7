//! The full program behind the `portcullis` command: asks the core about tool calls and edits the settings it asks by.
//!
//! The hook road is taken before anything else is looked at, because a host waits for it before every tool call and
//! takes a crash for consent; it has a guard of its own. All other commands go through the argument parser, and a
//! panic in them ends in the exit code for internal failures.

mod cli;
mod command_group;
mod commands;
mod exit_code;
mod flags;
mod value_parser;

use std::ffi::OsString;
use std::panic::UnwindSafe;

use mimalloc::MiMalloc;
use portcullis_arena::ArenaFirst;

use portcullis_gate::judge::ConfiguredConsultants;

use crate::exit_code::ExitCode;

/// Every command begins with what a hook needs: little memory, at once. What lives longer works on many threads, and the
/// allocator of a static program lets one at a time in.
#[global_allocator]
static ALLOCATOR: ArenaFirst<MiMalloc> = ArenaFirst::before(MiMalloc);

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "hook") && !asks_for_help(&arguments) {
        let rest = arguments.split_off(2);
        portcullis_hook::run(rest, Some(&ConfiguredConsultants));
    }
    shielded(|| cli::run(arguments))
}

/// Runs a command; a panic in it is an internal failure.
fn shielded(command: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    std::panic::catch_unwind(command).unwrap_or(ExitCode::Internal)
}

fn asks_for_help(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "--help" || argument == "-h")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_failure() {
        assert_eq!(shielded(|| ExitCode::Success), ExitCode::Success);
        assert_eq!(shielded(|| panic!("the fault under test")), ExitCode::Internal);
    }
}
