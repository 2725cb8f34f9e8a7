//! What is mounted where, as the kernel lists it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Returns the first place below a directory on which something is mounted.
pub(super) fn find_mount_below(directory: &Path) -> io::Result<Option<PathBuf>> {
    let table = fs::read("/proc/self/mountinfo")?;
    let mut points = table.split(|byte| *byte == b'\n').filter_map(mount_point);
    Ok(points.find(|point| point != directory && point.starts_with(directory)))
}

/// The fifth word of a line, in which blanks are written as octal numbers.
fn mount_point(line: &[u8]) -> Option<PathBuf> {
    let word = line.split(|byte| *byte == b' ').nth(4)?;
    let mut parts = word.split(|byte| *byte == b'\\');
    let mut path = parts.next()?.to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(3)?;
        path.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()?);
        path.extend(rest);
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_is_read_with_its_blanks() {
        let line = b"36 35 98:0 / /mnt/a\\040b\\134c rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(mount_point(line).as_deref(), Some(Path::new("/mnt/a b\\c")));
        assert_eq!(mount_point(b"36 35"), None);
    }

    #[test]
    fn processes_are_mounted_below_the_root() {
        let found = find_mount_below(Path::new("/")).expect("the table can be read");
        assert!(found.is_some());
        assert_eq!(find_mount_below(Path::new("/no/such/place")).expect("the table can be read"), None);
    }
}
