//! What the small program does with its arguments.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use portcullis_hosts::Host;

use crate::{become_full, run};

/// The exit code for a failure of ours, as the full program has it.
const INTERNAL: u8 = 70;

/// Answers a hook, or turns into the full program. The first argument is the name of the program; what is returned is the
/// exit code of a program that could do neither.
pub fn run_small(mut arguments: Vec<OsString>) -> u8 {
    if let Some(host) = host_in_name(&arguments) {
        run(vec![host], None);
    }
    if arguments.get(1).is_some_and(|first| first == "hook") && !asks_for_help(&arguments) {
        let rest = arguments.split_off(2);
        run(rest, None);
    }
    let message = become_full(arguments.iter().skip(1), None);
    // Where standard error is closed, the exit code says it alone.
    let _ = writeln!(std::io::stderr(), "error: {message}");
    INTERNAL
}

/// Finds the host in the name the program was started by, `portcullis-HOST`: some hosts start programs by name alone.
fn host_in_name(arguments: &[OsString]) -> Option<OsString> {
    let name = Path::new(arguments.first()?).file_name()?.to_str()?;
    let host = name.strip_prefix("portcullis-")?;
    Host::find(host).map(|host| host.name().into())
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
