//! The full program of the same package, which has what a hook hardly ever needs.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use portcullis_guard::{memory_file, unguarded};

/// What the program is called that agents and people start.
pub const SMALL_NAME: &str = "portcullis";

/// What the program is called that has everything in it.
pub const FULL_NAME: &str = "portcullis-full";

/// The command that lives for weeks, and what its allocator reads when a process begins: how long memory that is free is
/// kept, in milliseconds, and whether the kernel may fill it up to pages of two megabytes, which it does again and again
/// with what was given back. Other commands end before it would matter.
const LONG_LIVED: &str = "serve";
const ALLOCATOR_OPTIONS: [(&str, &str); 2] = [("MIMALLOC_PURGE_DELAY", "0"), ("MIMALLOC_ALLOW_THP", "0")];

/// Turns this process into the full program with these arguments; what was read of standard input already is given to it
/// again. Returns only if that failed, and says why.
pub fn become_full<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>, input: Option<&[u8]>) -> String {
    let path = match full_path() {
        Ok(path) => path,
        Err(error) => return format!("where this program is installed is not known: {error}"),
    };
    let mut command = Command::new(&path);
    // Help and errors name the program that was started.
    command.arg0(SMALL_NAME).args(arguments);
    if command.get_args().next().is_some_and(|first| first == LONG_LIVED) {
        command.envs(ALLOCATOR_OPTIONS);
    }
    if let Some(input) = input {
        match memory_file(input) {
            Ok(file) => command.stdin(Stdio::from(file)),
            Err(error) => return format!("standard input could not be handed on: {error}"),
        };
    }
    let error = unguarded(&mut command).exec();
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("`{}` is missing: install both programs in one directory", path.display())
        }
        _ => format!("`{}` could not be started: {error}", path.display()),
    }
}

/// Returns where the full program is: beside this one, links followed, so that nobody's `PATH` chooses it.
fn full_path() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.canonicalize()?.with_file_name(FULL_NAME))
}
