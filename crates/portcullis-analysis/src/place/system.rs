//! Directories and devices that belong to the machine, not to a project, and the records of what happened on it.

use super::Scope;
use super::pattern::{any, any_ending};
use crate::lists::places::logs;
use crate::lists::places::system::{DEVICES, DIRECTORIES};
use crate::path::{below, normal};

/// Says whether a path is the root, a directory of the system, or lies in one.
pub fn is_system(path: &str) -> bool {
    let is_temporary = ["/var/tmp", "/var/folders", "/private/var/folders", "/private/var/tmp"];
    let normal = normal(path);
    let is_inside = |directory: &str| below(&normal, directory).is_some();
    if is_temporary.iter().any(|directory| path != *directory && is_inside(directory)) {
        return false;
    }
    path == "/" || DIRECTORIES.iter().any(|directory| is_inside(directory))
}

/// Says whether a path is a disk or the memory of the machine.
pub fn is_device(path: &str) -> bool {
    DEVICES.iter().any(|beginning| path.starts_with(beginning))
}

/// Devices and descriptors that may be read and written by anybody at any time.
pub fn is_free(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/zero"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/tty"
            | "/dev/random"
            | "/dev/urandom"
    ) || path.strip_prefix("/dev/fd/").is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit()))
}

/// Says whether a file records what happened on the machine or in a session.
pub fn is_log(path: &str, scope: &Scope) -> bool {
    any(logs::ABSOLUTE, path)
        || any_ending(logs::ANYWHERE, path)
        || scope.below_home(path).is_some_and(|below| any(logs::IN_HOME, below))
}
