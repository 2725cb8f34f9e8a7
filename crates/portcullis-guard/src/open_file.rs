//! Open files: how many a process may have, and one without a name.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

/// Makes a file of bytes that no other process can find, read from its start: the standard input of the program that this
/// process turns into.
pub fn memory_file(bytes: &[u8]) -> io::Result<File> {
    let mut file = nameless()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn nameless() -> io::Result<File> {
    use std::os::fd::FromRawFd as _;

    // SAFETY: the name is a C string, and the flags are known.
    let descriptor = unsafe { libc::memfd_create(c"portcullis".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was made a line above and belongs to nobody else.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn nameless() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("portcullis-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Raises the number of files that may be open, of which a server has one for every connection, to the most that the system lets this process have. Where that cannot be
/// done, it stays as it is.
pub fn raise_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is live and writable.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    if is_known && limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: `limit` is complete.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}
