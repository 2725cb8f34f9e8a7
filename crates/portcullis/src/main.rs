//! The `portcullis` command: asks the core about tool calls and edits the settings it asks by.
//!
//! The hook road is taken before anything else is looked at, because a host waits for it before every tool call and
//! takes a crash for consent; it has a guard of its own. All other commands go through the argument parser, and a
//! panic in them ends in the exit code for internal failures.

mod cli;
mod commands;
mod exit_code;
#[cfg(debug_assertions)]
mod fault;
mod flags;
mod standard_input;
mod value_parser;

use std::ffi::OsString;
use std::panic::UnwindSafe;

use mimalloc::MiMalloc;
use portcullis_arena::ArenaFirst;

use crate::exit_code::ExitCode;

/// Every command begins with what a hook needs: little memory, at once. What lives longer works on many threads, and the
/// allocator of a static program lets one at a time in.
#[global_allocator]
static ALLOCATOR: ArenaFirst<MiMalloc> = ArenaFirst::before(MiMalloc);

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(host) = host_in_name(&arguments) {
        commands::hook::run(vec![host]);
    }
    if arguments.get(1).is_some_and(|first| first == "hook") && !asks_for_help(&arguments) {
        let rest = arguments.split_off(2);
        commands::hook::run(rest);
    }
    shielded(|| cli::run(arguments))
}

/// Runs a command; a panic in it is an internal failure.
fn shielded(command: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    std::panic::catch_unwind(command).unwrap_or(ExitCode::Internal)
}

/// Finds the host in the name the program was started by, `portcullis-HOST`: some hosts start programs by name alone.
fn host_in_name(arguments: &[OsString]) -> Option<OsString> {
    let name = std::path::Path::new(arguments.first()?).file_name()?.to_str()?;
    let host = name.strip_prefix("portcullis-")?;
    portcullis_hosts::Host::find(host).map(|host| host.name().into())
}

fn asks_for_help(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "--help" || argument == "-h")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_stand_in_the_name_of_the_program() {
        let host = |name: &str| host_in_name(&[OsString::from(name)]);
        assert_eq!(host("/usr/bin/portcullis-amp"), Some("amp".into()));
        for name in ["portcullis", "/x/portcullis-dev", "portcullis-amp/portcullis", ""] {
            assert_eq!(host(name), None, "{name}");
        }
    }

    #[test]
    fn a_panic_is_an_internal_failure() {
        assert_eq!(shielded(|| ExitCode::Success), ExitCode::Success);
        assert_eq!(shielded(|| panic!("the fault under test")), ExitCode::Internal);
    }
}
