//! Starts the command of a fence.
//!
//! The program is looked for here and not by the C library: with a path it can be started without a copy of this process,
//! which is the cheaper way.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::fs::{Access, access};
use rustix::process::Pid;

use crate::error::FenceError;

/// Where programs are looked for if nobody says where.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A variable and its value.
pub(super) type Variable = (OsString, OsString);

/// Starts a command in a group of its own, and returns its number.
pub(super) fn start(words: &[OsString], environment: &[Variable]) -> Result<Pid, FenceError> {
    let (program, arguments) =
        words.split_first().ok_or_else(|| FenceError::Policy("there is no command".to_owned()))?;
    let child = find(program, environment).and_then(|path| {
        match spawn(Command::new(&path).arg0(program), arguments, environment) {
            // A script without a first line that says whose it is, as shells take it.
            Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => {
                spawn(Command::new("/bin/sh").arg(&path), arguments, environment)
            }
            other => other,
        }
    });
    let child = child.map_err(|error| FenceError::Start {
        program: program.to_string_lossy().into_owned(),
        reason: error.to_string(),
        is_missing: error.kind() == io::ErrorKind::NotFound,
    })?;
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    number.ok_or_else(|| FenceError::set_up("wait for the command", &io::ErrorKind::InvalidData.into()))
}

fn spawn(command: &mut Command, arguments: &[OsString], environment: &[Variable]) -> io::Result<Child> {
    command.args(arguments).env_clear().envs(environment.iter().cloned()).process_group(0).spawn()
}

/// Returns the path of a program: its name if that is one, or the first file of that name which may be started.
fn find(program: &OsStr, environment: &[Variable]) -> io::Result<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let is_program = |path: &PathBuf| path.is_file() && access(path.as_path(), Access::EXEC_OK).is_ok();
    let directories = std::env::split_paths(path.unwrap_or(OsStr::new(USUAL_PATH)));
    let mut found = directories.map(|directory| Path::new(".").join(directory).join(program));
    found.find(is_program).ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_its_name() {
        let path = [(OsString::from("PATH"), OsString::from("/no/such/place:/bin"))];
        assert_eq!(find(OsStr::new("sh"), &path).expect("it is there"), Path::new("/bin/sh"));
        assert_eq!(find(OsStr::new("./x"), &path).expect("as it is"), Path::new("./x"));
        assert!(find(OsStr::new("no-such-program"), &path).is_err());
        assert!(find(OsStr::new(""), &[]).is_err());
    }
}
