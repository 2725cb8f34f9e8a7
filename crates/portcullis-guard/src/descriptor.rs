//! Writing to a file descriptor with nothing but async-signal-safe calls.

use libc::c_int;

pub(crate) const STDOUT: c_int = libc::STDOUT_FILENO;
pub(crate) const STDERR: c_int = libc::STDERR_FILENO;

/// How long one wait for room in a full pipe lasts.
const WAIT_MILLISECONDS: c_int = 100;
/// How many such waits there are before the text counts as undeliverable.
const WAITS: u32 = 50;

/// Text that could not be written or a descriptor that could not be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undelivered;

/// Writes all of `bytes`, going on after interruptions and short writes.
pub(crate) fn write_all(descriptor: c_int, mut bytes: &[u8]) -> Result<(), Undelivered> {
    let mut waits = 0;
    while !bytes.is_empty() {
        // SAFETY: the pointer and the length describe a live slice.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = bytes.get(written..).unwrap_or_default(),
            Ok(_) => return Err(Undelivered),
            Err(_) => match last_error() {
                libc::EINTR => {}
                libc::EAGAIN if waits < WAITS => {
                    waits += 1;
                    wait_for_room(descriptor);
                }
                _ => return Err(Undelivered),
            },
        }
    }
    Ok(())
}

/// Closes a descriptor, which is when some file systems first report that a write was lost.
pub(crate) fn close(descriptor: c_int) -> Result<(), Undelivered> {
    // SAFETY: closing a descriptor touches no memory of ours, and the process ends right after.
    let status = unsafe { libc::close(descriptor) };
    if status == 0 { Ok(()) } else { Err(Undelivered) }
}

/// Says whether a descriptor leads to the null device, which is also what a closed one becomes at start-up.
pub(crate) fn is_null_device(descriptor: c_int) -> bool {
    match (device_of(descriptor), null_device()) {
        (Some(device), Some(null)) => device == null,
        _ => false,
    }
}

fn device_of(descriptor: c_int) -> Option<libc::dev_t> {
    let mut status = empty_status();
    // SAFETY: `status` is a live, writable `stat`.
    let outcome = unsafe { libc::fstat(descriptor, &raw mut status) };
    character_device(outcome, &status)
}

fn null_device() -> Option<libc::dev_t> {
    let mut status = empty_status();
    // SAFETY: the path is a C string and `status` is a live, writable `stat`.
    let outcome = unsafe { libc::stat(c"/dev/null".as_ptr(), &raw mut status) };
    character_device(outcome, &status)
}

fn character_device(outcome: c_int, status: &libc::stat) -> Option<libc::dev_t> {
    (outcome == 0 && status.st_mode & libc::S_IFMT == libc::S_IFCHR).then_some(status.st_rdev)
}

fn empty_status() -> libc::stat {
    // SAFETY: `stat` is made of integers, for which all zeroes is a value.
    unsafe { std::mem::zeroed() }
}

fn wait_for_room(descriptor: c_int) {
    let mut request = libc::pollfd { fd: descriptor, events: libc::POLLOUT, revents: 0 };
    // SAFETY: `request` is one live, writable `pollfd`.
    unsafe { libc::poll(&raw mut request, 1, WAIT_MILLISECONDS) };
}

fn last_error() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
