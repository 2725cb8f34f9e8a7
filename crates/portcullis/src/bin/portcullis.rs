//! The program that agents and people start: it answers hooks itself, and turns into the full program for everything else.
//!
//! A host starts it before every tool call, so nothing is linked in that a hook does not need.
#![cfg_attr(not(test), no_main)]

use std::ffi::OsString;
use std::io::Write as _;

use portcullis_hook::become_full;

/// The exit code for a failure of ours, as the full program has it.
const INTERNAL: u8 = 70;

#[cfg(not(test))]
portcullis_guard::begin_with!(run);

/// Does what the arguments say, the first of which is the name of the program.
fn run(mut arguments: Vec<OsString>) -> u8 {
    portcullis_memory::prepare();
    if let Some(host) = host_in_name(&arguments) {
        portcullis_hook::run(vec![host], None);
    }
    if arguments.get(1).is_some_and(|first| first == "hook") && !asks_for_help(&arguments) {
        let rest = arguments.split_off(2);
        portcullis_hook::run(rest, None);
    }
    let message = become_full(arguments.iter().skip(1), None);
    // Where standard error is closed, the exit code says it alone.
    let _ = writeln!(std::io::stderr(), "error: {message}");
    INTERNAL
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
}
