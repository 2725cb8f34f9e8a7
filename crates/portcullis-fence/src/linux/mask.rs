//! What the command must not see or reach: secrets, and sockets through which others would act for it.
//!
//! A mask hides a socket that is known when the fence goes up. One that is made later, was renamed or is known by a relative
//! path is found by the inode: a connection by path is made on behalf of the command, and only to what listens in the network
//! of the fence. On its behalf, because what it hands to the kernel it could change between a look and the call.
//!
//! INVARIANT: a mask that cannot be placed is an error, unless there is nothing to mask or no way to it. A mask that is
//! skipped in silence shows what it should hide.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use libc::MOUNT_ATTR_RDONLY;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with, sockopt,
};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::device::is_replaced;
use super::kernel::{self, MountDepth, StoppedCall};
use super::mount::DetachedMount;
use crate::error::FenceError;

/// Hides files and directories.
pub(super) fn mask(paths: &[PathBuf]) -> Result<(), FenceError> {
    for path in paths {
        // Most of them are missing, which takes one look.
        if fs::symlink_metadata(path).is_err_and(|error| is_out_of_reach(&error)) {
            continue;
        }
        let placed = match fs::canonicalize(path) {
            Ok(place) => match mask_one(&place) {
                // It went away just now, as sockets do.
                Err(error) if is_out_of_reach(&error) && fs::canonicalize(path).is_err() => Ok(()),
                other => other,
            },
            Err(error) if is_out_of_reach(&error) => Ok(()),
            Err(error) => Err(error),
        };
        placed.map_err(|error| FenceError::set_up_at("mask", path, &error))?;
    }
    Ok(())
}

fn mask_one(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        let mount = DetachedMount::empty(&[("mode", "0000"), ("size", "4k")])?;
        mount.restrict(MOUNT_ATTR_RDONLY, MountDepth::One)?;
        mount.attach(path)
    } else {
        DetachedMount::copy_of(Path::new("/dev/null"))?.attach(path)
    }
}

/// What does not exist, or lies where this user cannot go, is hidden as it is.
fn is_out_of_reach(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
    )
}

/// Returns the sockets with a path that somebody listens on now, but for those in places that the fence replaces.
pub(super) fn sockets_in_use() -> io::Result<Vec<PathBuf>> {
    let file = io::BufReader::new(fs::File::open("/proc/net/unix")?);
    let mut paths = Vec::new();
    for line in file.split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        let Some(start) = line.find(" /") else {
            continue;
        };
        let path = PathBuf::from(line.split_at(start + 1).1);
        let is_socket =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
        if !is_replaced(&path) && !paths.contains(&path) && is_socket(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// What makes connections on behalf of the command.
#[derive(Debug)]
pub(super) struct ConnectionGuard(Sender<OwnedFd>);

impl ConnectionGuard {
    /// Starts it on a thread of its own, before the filters that would hold it too.
    pub(super) fn start() -> Result<Self, FenceError> {
        let (hand_over, taken) = channel();
        let serve = move || taken.recv().map_or((), |listener: OwnedFd| serve(&Arc::new(listener)));
        Builder::new().spawn(serve).map_err(|error| FenceError::set_up("watch its connections", &error))?;
        Ok(Self(hand_over))
    }

    /// Stops connections of this thread, and of all that it starts, until they are made on its behalf. Where somebody else
    /// watches calls already, as some containers do, the kernel takes no second one, and where not even a parent may look
    /// into its children nothing can be done on their behalf; the masks hold alone then.
    pub(super) fn watch(self) -> Result<(), FenceError> {
        let may_look = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
        if may_look.is_ok_and(|scope| !matches!(scope.trim(), "0" | "1")) {
            return Ok(());
        }
        match kernel::stop_calls(libc::SYS_connect) {
            Ok(listener) => {
                // Nobody there would mean that no connection is ever answered.
                self.0.send(listener).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
            }
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(()),
            Err(error) => Err(error),
        }
        .map_err(|error| FenceError::set_up("watch its connections", &error))
    }
}

fn serve(listener: &Arc<OwnedFd>) {
    loop {
        match kernel::next_call(listener.as_fd()) {
            Ok(call) => {
                let own = Arc::clone(listener);
                // A connection may wait for whoever listens, and no other one waits with it.
                let answer = move || {
                    let answer = connect(own.as_fd(), &call);
                    kernel::answer_call(own.as_fd(), &call, answer);
                };
                if let Err(error) = Builder::new().stack_size(SMALL_STACK).spawn(answer) {
                    kernel::answer_call(listener.as_fd(), &call, Err(error));
                }
            }
            // It was killed before it was heard.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::ENOENT)) => {}
            Err(_) => return,
        }
    }
}

/// Room enough for one connection.
const SMALL_STACK: usize = 128 << 10;

/// The longest address that the kernel takes.
const LONGEST_ADDRESS: usize = 128;

fn connect(listener: BorrowedFd<'_>, call: &StoppedCall) -> io::Result<()> {
    let [number, place, length, ..] = call.arguments;
    let length = usize::try_from(length & 0xffff_ffff).unwrap_or(usize::MAX);
    if length > LONGEST_ADDRESS {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let thread = PathBuf::from(format!("/proc/{}", call.thread));
    let mut address = vec![0; length];
    File::open(thread.join("mem"))?
        .read_exact_at(&mut address, place)
        .map_err(|_| io::Error::from_raw_os_error(libc::EFAULT))?;
    // Mostly it is the first thread of its process, which has the same number.
    let first = i32::try_from(call.thread).ok().and_then(Pid::from_raw).ok_or(rustix::io::Errno::SRCH)?;
    let process = pidfd_open(first, PidfdFlags::empty())
        .or_else(|_| io::Result::Ok(pidfd_open(process_of(&thread)?, PidfdFlags::empty())?))?;
    let number = i32::try_from(number & 0xffff_ffff).map_err(|_| rustix::io::Errno::BADF)?;
    let socket = pidfd_getfd(process, number, PidfdGetfdFlags::empty())?;
    // What names a file does so from where the thread is; all of it is nobody else's only as long as that one waits.
    let found = match path_in(&address).filter(|_| sockopt::socket_domain(&socket) == Ok(AddressFamily::UNIX))
    {
        Some(path) => Some(open_from(&thread, path)?),
        None => None,
    };
    if !kernel::still_waits(listener, call) {
        return Err(io::Error::from_raw_os_error(libc::EINTR));
    }
    let Some(found) = found else {
        return kernel::connect(socket.as_fd(), &address);
    };
    if !listens_inside(&found)? {
        return Err(io::Error::from_raw_os_error(libc::EACCES));
    }
    let mut address = libc::sa_family_t::try_from(libc::AF_UNIX).unwrap_or_default().to_ne_bytes().to_vec();
    address.extend(format!("/proc/self/fd/{}\0", found.as_raw_fd()).bytes());
    kernel::connect(socket.as_fd(), &address)
}

/// Returns the process that a thread belongs to.
fn process_of(thread: &Path) -> io::Result<Pid> {
    let status = fs::read_to_string(thread.join("status"))?;
    let number = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    number.and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns the path in the address of a socket; names that are no paths belong to the network of the fence.
fn path_in(address: &[u8]) -> Option<&Path> {
    let name = address.get(2..)?.split(|byte| *byte == 0).next()?;
    (!name.is_empty()).then(|| Path::new(OsStr::from_bytes(name)))
}

/// Opens what a path leads to for a thread, which has the same root as this one.
fn open_from(thread: &Path, path: &Path) -> io::Result<OwnedFd> {
    let path = path.strip_prefix("/proc/self").map_or_else(|_| path.to_path_buf(), |rest| thread.join(rest));
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let directory = openat(CWD, thread.join("cwd"), flags | OFlags::DIRECTORY, Mode::empty())?;
    Ok(openat(directory, path, flags, Mode::empty())?)
}

/// Says whether the file of a socket was made by one in the network of this process. Nobody can bind another one to it.
fn listens_inside(file: &OwnedFd) -> io::Result<bool> {
    let known = file_of(file)?;
    let asked =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    send(&asked, &ALL_SOCKETS, SendFlags::empty())?;
    let mut room = vec![0_u8; 64 << 10];
    loop {
        let (_, length) = recv(&asked, &mut room, RecvFlags::empty())?;
        let mut messages = room.get(..length).unwrap_or_default();
        while let Some((message, rest)) = split_message(messages) {
            match message.get(4..6) {
                Some([20, 0]) => {
                    if files_in(message.get(32..).unwrap_or_default()).any(|file| file == known) {
                        return Ok(true);
                    }
                }
                // The end of the list, or an error instead of one.
                _ => return Ok(false),
            }
            messages = rest;
        }
    }
}

/// Asks for every socket with a path, and for the file that it made.
const ALL_SOCKETS: [u8; 40] = all_sockets();

const fn all_sockets() -> [u8; 40] {
    let mut message = [0; 40];
    message[0] = 40; // length
    message[4] = 20; // SOCK_DIAG_BY_FAMILY
    message[6] = 1; // NLM_F_REQUEST …
    message[7] = 3; // … and NLM_F_DUMP
    message[8] = 1; // sequence
    message[16] = 1; // AF_UNIX
    (message[20], message[21], message[22], message[23]) = (255, 255, 255, 255); // in every state
    message[28] = 2; // UDIAG_SHOW_VFS
    message
}

/// Splits the first message off, by its length at its beginning.
fn split_message(messages: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = usize::try_from(number_at(messages, 0)?).ok()?;
    let message = messages.get(..length.max(16))?;
    Some((message, messages.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// Returns the files in the attributes of a socket: numbers of the inode, cut to 32 bits, and of the device.
fn files_in(mut attributes: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        loop {
            let head = number_at(attributes, 0)?;
            let (length, kind) = (usize::try_from(head & 0xffff).ok()?, head >> 16);
            let attribute = attributes.get(..length.max(4))?;
            attributes = attributes.get(length.max(4).next_multiple_of(4)..).unwrap_or_default();
            if kind == 1 {
                return Some((number_at(attribute, 4)?, number_at(attribute, 8)?));
            }
        }
    })
}

/// Messages of the kernel to itself have the order of bytes of the machine; which is that of the structures above.
fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Returns the inode and the device of an open file as the kernel knows them, which over a layer are not those that `stat`
/// says.
fn file_of(file: &OwnedFd) -> io::Result<(u32, u32)> {
    let unknown = || io::Error::from(io::ErrorKind::InvalidData);
    let notes = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
    let note = |name: &str| {
        notes.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse::<u64>().ok())
    };
    // Kernels before 5.14 do not note it.
    let stated = || fs::metadata(format!("/proc/self/fd/{}", file.as_raw_fd())).map(|found| found.ino());
    let inode = note("ino").map_or_else(stated, Ok)?;
    let mount = note("mnt_id").ok_or_else(unknown)?.to_string();
    let table = fs::read("/proc/self/mountinfo")?;
    let table = String::from_utf8_lossy(&table);
    let mut lines = table.lines().map(|line| line.split(' '));
    let device = lines.find_map(|mut words| (words.next()? == mount).then(|| words.nth(1))?);
    let (major, minor) = device.and_then(|device| device.split_once(':')).ok_or_else(unknown)?;
    let number = |text: &str| text.parse::<u32>().map_err(io::Error::other);
    let device = number(major)? << 20 | number(minor)?;
    Ok((u32::try_from(inode & 0xffff_ffff).map_err(io::Error::other)?, device))
}
