//! The calls to the kernel that no library offers, and the only unsafe code of the crate.
#![expect(
    unsafe_code,
    reason = "clone, mount_setattr, close_range, filters that stop a call and addresses as they stand have no safe wrapper; \
              each block says why it holds"
)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

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

/// A call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoppedCall {
    id: u64,
    /// The thread that made it.
    pub(super) thread: u32,
    /// Its arguments.
    pub(super) arguments: [u64; 6],
}

/// Stops every call of a number that this thread, or what it starts, makes from now on, and returns where they are heard of.
/// The kernel must not refuse that for another one who listens already.
pub(super) fn stop_calls(number: libc::c_long) -> io::Result<OwnedFd> {
    let instruction = |code: u32, jump_false: u8, value: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap_or(u16::MAX),
        jt: 0,
        jf: jump_false,
        k: value,
    };
    let number = u32::try_from(number).map_err(io::Error::other)?;
    let mut lines = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_K | libc::BPF_JEQ, 1, number),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_USER_NOTIF),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: lines.as_mut_ptr() };
    // With the second flag no signal cuts a call short of which somebody has heard; older kernels do not know it.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let mut answer = -1;
    for flags in [flags | WAIT_KILLABLE, flags] {
        // SAFETY: the program has as many lines as it says, and lives until the call returns, which copies it.
        answer = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        if answer >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) {
            break;
        }
    }
    let Ok(number @ 0..) = i32::try_from(answer) else { return Err(io::Error::last_os_error()) };
    // SAFETY: the kernel has just made this descriptor, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Of the kernel's header; not every C library has it.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;

/// Waits for the next call that is stopped.
pub(super) fn next_call(listener: BorrowedFd<'_>) -> io::Result<StoppedCall> {
    let data = libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
    let mut call = libc::seccomp_notif { id: 0, pid: 0, flags: 0, data };
    // SAFETY: the structure is the one that the request is about, is all zeroes, and lives until the call returns.
    let answer = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(StoppedCall { id: call.id, thread: call.pid, arguments: call.data.args })
}

/// Says whether whoever made a call still waits for its answer, so that the number of its thread is nobody else's.
pub(super) fn still_waits(listener: BorrowedFd<'_>, call: &StoppedCall) -> bool {
    // SAFETY: the kernel reads a number that lives until the call returns.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const call.id) == 0 }
}

/// Answers a call in place of the kernel.
pub(super) fn answer_call(listener: BorrowedFd<'_>, call: &StoppedCall, answer: io::Result<()>) {
    let error = answer.map_or_else(|error| -error.raw_os_error().unwrap_or(libc::EACCES), |()| 0);
    let response = libc::seccomp_notif_resp { id: call.id, val: 0, error, flags: 0 };
    // SAFETY: the structure is the one that the request is about, and lives until the call returns. Whoever is gone meanwhile
    // needs no answer.
    unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response);
    }
}

/// Connects a socket to an address as it stands in memory.
pub(super) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads as many bytes as the slice has, in any form, and the slice lives until the call returns.
    let answer = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
