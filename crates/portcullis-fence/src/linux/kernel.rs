//! The three calls to the kernel that no library offers, and the only unsafe code of the crate.
#![expect(
    unsafe_code,
    reason = "clone, mount_setattr and close_range have no safe wrapper; each block says why it holds"
)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use rustix::process::Pid;

/// Which namespaces a process gets that is split off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewNamespaces {
    /// None: it is in those of its parent.
    None,
    /// All that a fence has.
    All,
    /// All but the user and the network, in which it is already; its parent is that of the process that splits it off.
    WithoutNetwork,
}

impl NewNamespaces {
    fn flags(self) -> libc::c_int {
        let own = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
        match self {
            Self::None => 0,
            Self::All => own | libc::CLONE_NEWUSER | libc::CLONE_NEWNET,
            Self::WithoutNetwork => own | libc::CLONE_PARENT,
        }
    }
}

/// Splits this process as `fork` does; the new one is the first of its new namespaces. Returns the id of the new process to
/// the old one, and nothing to the new one.
///
/// A process with several threads is not split: the others would be missing in the new one, with the locks they hold.
pub(super) fn clone_into(namespaces: NewNamespaces) -> io::Result<Option<Pid>> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has several threads"));
    }
    let none: libc::c_ulong = 0;
    let flags = libc::c_ulong::from((namespaces.flags() | libc::SIGCHLD).unsigned_abs());
    // SAFETY: without CLONE_VM, and with no stack of its own, the call copies the address space and returns twice, like
    // `fork`; all pointers are null and so not written. There is one thread, checked above, so every lock and every
    // allocation is in the state in which this thread left it. The C library's idea of the thread's id is the parent's
    // in the child, and nothing in this crate asks for it.
    let answer = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    match answer {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        id => Ok(i32::try_from(id).ok().and_then(Pid::from_raw)),
    }
}

/// Which mounts an attribute is set on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MountDepth {
    /// The mount itself.
    One,
    /// All mounts below it too.
    Tree,
}

/// Sets attributes (`MOUNT_ATTR_…`) of the mount that a descriptor leads to; what is not named stays as it is.
pub(super) fn set_mount_attributes(mount: BorrowedFd<'_>, set: u64, depth: MountDepth) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let recursive = if depth == MountDepth::Tree { libc::AT_RECURSIVE } else { 0 };
    let path: &CStr = c"";
    // SAFETY: the path is a string that ends in a null byte, the structure is as long as the size says, and both live until
    // the call returns. The kernel reads them and writes nothing.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            path.as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Of the kernel's header; not every C library has it.
const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;

/// Makes every descriptor above standard error close itself when the command starts.
pub(super) fn close_descriptors_on_exec() -> io::Result<()> {
    // SAFETY: with CLOEXEC nothing is closed now, so no descriptor that somebody owns becomes another one.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
