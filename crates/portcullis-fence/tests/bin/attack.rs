//! Tries one way out of the fence and says whether it worked: exit code 0 if it did, 1 if it was refused.
#![expect(unsafe_code, reason = "attacks are system calls that no safe library makes")]
#![cfg_attr(not(target_os = "linux"), expect(unused_crate_dependencies, reason = "only Linux has the fence"))]

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::ExitCode;

use libc::c_long;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let target = arguments.next().unwrap_or_default();
    match attempt(&name, &target) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn attempt(name: &str, target: &str) -> io::Result<()> {
    match name {
        "write" => File::options().append(true).open(target)?.write_all(b"x"),
        "create" => File::create_new(target).map(drop),
        "chmod" => fs::set_permissions(target, fs::Permissions::from_mode(0o777)),
        "times" => File::open(target)?.set_modified(std::time::UNIX_EPOCH),
        "remove" => fs::remove_file(target),
        "read" => fs::read(target).and_then(|text| some(!text.is_empty())),
        "list" => fs::read_dir(target).and_then(|mut entries| some(entries.next().is_some())),
        "link" => fs::hard_link(target, "linked").and_then(|()| attempt("write", "linked")),
        "truncate" => call(libc::SYS_truncate, [text(target)?.as_ptr() as c_long, 0, 0, 0, 0]),
        "attribute" => set_attribute(target),
        "unix" => UnixStream::connect(target).map(drop),
        "abstract" => UnixStream::connect_addr(&SocketAddr::from_abstract_name(target)?).map(drop),
        "tcp" => TcpStream::connect(target).map(drop),
        "udp" => UdpSocket::bind("0.0.0.0:0")?.send_to(b"x", target).map(drop),
        "signal" => call(libc::SYS_kill, [number(target), 0, 0, 0, 0]),
        "trace" => call(libc::SYS_ptrace, [c_long::from(libc::PTRACE_SEIZE), number(target), 0, 0, 0]),
        "descriptor" => write_descriptor(target),
        "enter" => enter_descriptor(target),
        "terminal" => call(libc::SYS_ioctl, [0, 0x5412, b"x".as_ptr() as c_long, 0, 0]),
        // The one that it has, so that nothing changes where this works.
        "discipline" => {
            let now = [0_i32];
            call(libc::SYS_ioctl, [0, 0x5424, now.as_ptr() as c_long, 0, 0])?;
            call(libc::SYS_ioctl, [0, 0x5423, now.as_ptr() as c_long, 0, 0])
        }
        "device" => any_device(),
        "vsock" => socket(libc::AF_VSOCK, libc::SOCK_STREAM),
        // The kernel says first whether it knows the family; the filter says so before that.
        "tipc" => unless_unknown(socket(libc::AF_TIPC, libc::SOCK_STREAM)),
        "vsock_pair" => unless_unknown(socket_pair(libc::AF_VSOCK, libc::SOCK_STREAM)),
        "tipc_pair" => unless_unknown(socket_pair(libc::AF_TIPC, libc::SOCK_STREAM)),
        "netlink" => {
            let raw = c_long::from(libc::SOCK_RAW);
            call(
                libc::SYS_socket,
                [c_long::from(libc::AF_NETLINK), raw, c_long::from(libc::NETLINK_SOCK_DIAG), 0, 0],
            )
        }
        "packet" => socket(libc::AF_PACKET, libc::SOCK_DGRAM),
        "raw" => {
            call(libc::SYS_socket, [c_long::from(libc::AF_INET), c_long::from(libc::SOCK_RAW), 255, 0, 0])
        }
        "interface" => switch_interface_off(),
        "take_descriptor" => take_descriptor(target),
        "peek" => peek(target),
        "block_device" => make_node(target, libc::S_IFBLK | 0o600, libc::makedev(8, 0)),
        "whiteout" => make_node(target, libc::S_IFCHR, 0),
        "alg" => socket(libc::AF_ALG, libc::SOCK_SEQPACKET),
        _ => by_number(name),
    }
}

fn by_number(name: &str) -> io::Result<()> {
    let user = c_long::from(libc::CLONE_NEWUSER);
    let child = c_long::from(libc::SIGCHLD);
    let room = vec![0_u8; 256];
    let memory = room.as_ptr() as c_long;
    match name {
        "io_uring" => call(libc::SYS_io_uring_setup, [4, memory, 0, 0, 0]),
        "keyctl" => call(libc::SYS_keyctl, [0, -4, 1, 0, 0]),
        "add_key" => call(
            libc::SYS_add_key,
            [c"user".as_ptr() as c_long, c"x".as_ptr() as c_long, c"x".as_ptr() as c_long, 1, -2],
        ),
        "bpf" => call(libc::SYS_bpf, [0, memory, 64, 0, 0]),
        "perf" => call(libc::SYS_perf_event_open, [memory, 0, -1, -1, 0]),
        "userfaultfd" => call(libc::SYS_userfaultfd, [1, 0, 0, 0, 0]),
        "unshare" => call(libc::SYS_unshare, [user, 0, 0, 0, 0]),
        "setns" => {
            let own = File::open("/proc/self/ns/user")?;
            call(libc::SYS_setns, [c_long::from(own.as_raw_fd()), 0, 0, 0, 0])
        }
        "mount" => call(
            libc::SYS_mount,
            [c"tmpfs".as_ptr() as c_long, c"/tmp".as_ptr() as c_long, c"tmpfs".as_ptr() as c_long, 0, 0],
        ),
        "fsopen" => call(libc::SYS_fsopen, [c"tmpfs".as_ptr() as c_long, 0, 0, 0, 0]),
        "open_tree" => {
            call(libc::SYS_open_tree, [c_long::from(libc::AT_FDCWD), c"/".as_ptr() as c_long, 1, 0, 0])
        }
        "umount" => {
            call(libc::SYS_umount2, [c"/proc".as_ptr() as c_long, c_long::from(libc::MNT_DETACH), 0, 0, 0])
        }
        "move_mount" => call(
            libc::SYS_move_mount,
            [
                c_long::from(libc::AT_FDCWD),
                c"/tmp".as_ptr() as c_long,
                c_long::from(libc::AT_FDCWD),
                c"/mnt".as_ptr() as c_long,
                0,
            ],
        ),
        "mount_setattr" => {
            let here = c_long::from(libc::AT_FDCWD);
            call(libc::SYS_mount_setattr, [here, c"/".as_ptr() as c_long, 0, memory, 32])
        }
        "pivot_root" => {
            call(libc::SYS_pivot_root, [c"/tmp".as_ptr() as c_long, c"/tmp".as_ptr() as c_long, 0, 0, 0])
        }
        "host_name" => call(libc::SYS_sethostname, [c"fenced".as_ptr() as c_long, 6, 0, 0, 0]),
        "kernel_log" => call(libc::SYS_syslog, [3, memory, 256, 0, 0]),
        "chroot" => call(libc::SYS_chroot, [c"/".as_ptr() as c_long, 0, 0, 0, 0]),
        "open_by_handle" => call(libc::SYS_open_by_handle_at, [0, memory, 0, 0, 0]),
        "clone" => split(libc::SYS_clone, [user | child, 0, 0, 0, 0]),
        "clone3" => {
            let mut arguments = [0_u64; 11];
            arguments[0] = user.unsigned_abs();
            arguments[4] = child.unsigned_abs();
            split(libc::SYS_clone3, [arguments.as_ptr() as c_long, 88, 0, 0, 0])
        }
        // The same call in the other numbering of x86-64.
        "other_numbering" => call(libc::SYS_getpid | 0x4000_0000, [0; 5]),
        "raise" => call(libc::SYS_setuid, [c_long::from(is_root()), 0, 0, 0, 0]),
        _ => Err(io::Error::other("no such attack")),
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|data| std::os::unix::fs::MetadataExt::uid(&data) == 0)
}

fn some(is_there: bool) -> io::Result<()> {
    if is_there { Ok(()) } else { Err(io::Error::other("it is empty")) }
}

fn text(path: &str) -> io::Result<CString> {
    Ok(CString::new(path)?)
}

fn number(target: &str) -> c_long {
    target.parse().unwrap_or(-2)
}

fn set_attribute(target: &str) -> io::Result<()> {
    let path = text(target)?;
    let name = c"user.portcullis";
    call(
        libc::SYS_setxattr,
        [path.as_ptr() as c_long, name.as_ptr() as c_long, name.as_ptr() as c_long, 1, 0],
    )
}

fn write_descriptor(target: &str) -> io::Result<()> {
    call(libc::SYS_write, [number(target), b"x".as_ptr() as c_long, 1, 0, 0])
}

/// Writes below a directory that is open as a descriptor.
fn enter_descriptor(target: &str) -> io::Result<()> {
    let flags = c_long::from(libc::O_CREAT | libc::O_WRONLY);
    call(libc::SYS_openat, [number(target), c"entered".as_ptr() as c_long, flags, 0o600, 0])
}

/// Switches the loopback off, as only whoever owns a network may.
fn switch_interface_off() -> io::Result<()> {
    // SAFETY: the call makes a descriptor and touches no memory.
    let socket = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW, 0) };
    let mut message = [0_u8; 32];
    (message[0], message[4], message[6], message[20], message[28]) = (32, 16, 5, 1, 1);
    call(libc::SYS_sendto, [c_long::from(socket), message.as_ptr() as c_long, 32, 0, 0])?;
    let answer = [0_u8; 256];
    call(libc::SYS_recvfrom, [c_long::from(socket), answer.as_ptr() as c_long, 256, 0, 0])?;
    some(answer[16..20] == [0; 4])
}

/// Takes standard error out of another process.
fn take_descriptor(target: &str) -> io::Result<()> {
    // SAFETY: the call makes a descriptor and touches no memory.
    let process = unsafe { libc::syscall(libc::SYS_pidfd_open, number(target), 0) };
    call(libc::SYS_pidfd_getfd, [process, 2, 0, 0, 0])
}

/// Reads a byte of this program's own address in another process, which a copy of it would have too.
fn peek(target: &str) -> io::Result<()> {
    let (byte, seen) = ([1_u8], [0_u8]);
    let own = libc::iovec { iov_base: seen.as_ptr() as *mut libc::c_void, iov_len: 1 };
    let other = libc::iovec { iov_base: byte.as_ptr() as *mut libc::c_void, iov_len: 1 };
    let (own, other) = (&raw const own as c_long, &raw const other as c_long);
    match call(libc::SYS_process_vm_readv, [number(target), own, 1, other, 1]) {
        // Whoever may look and finds nothing there may look.
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(()),
        other => other,
    }
}

fn make_node(target: &str, mode: libc::mode_t, device: libc::dev_t) -> io::Result<()> {
    let directory = c_long::from(libc::AT_FDCWD);
    let device = c_long::try_from(device).unwrap_or(0);
    call(libc::SYS_mknodat, [directory, text(target)?.as_ptr() as c_long, c_long::from(mode), device, 0])
}

/// Opens any disk for writing; a root without rights still owns them.
fn any_device() -> io::Result<()> {
    for entry in fs::read_dir("/dev")? {
        let path = entry?.path();
        let kind = fs::metadata(&path)?.file_type();
        if std::os::unix::fs::FileTypeExt::is_block_device(&kind)
            && File::options().write(true).open(&path).is_ok()
        {
            return Ok(());
        }
    }
    Err(io::Error::other("no disk can be opened"))
}

fn socket(family: libc::c_int, kind: libc::c_int) -> io::Result<()> {
    call(libc::SYS_socket, [c_long::from(family), c_long::from(kind), 0, 0, 0])
}

fn socket_pair(family: libc::c_int, kind: libc::c_int) -> io::Result<()> {
    let room = [0_i32; 2];
    let room = room.as_ptr() as c_long;
    call(libc::SYS_socketpair, [c_long::from(family), c_long::from(kind), 0, room, 0])
}

/// Takes every answer but a refusal for a success: that a kernel was built without a family is no wall of the fence.
fn unless_unknown(made: io::Result<()>) -> io::Result<()> {
    made.or_else(|error| if error.raw_os_error() == Some(libc::EPERM) { Err(error) } else { Ok(()) })
}

/// Makes a call that returns twice if it works; the new process ends at once.
fn split(number: c_long, arguments: [c_long; 5]) -> io::Result<()> {
    let [one, two, three, four, five] = arguments;
    // SAFETY: the address space is copied, not shared, and this program has one thread.
    let answer = unsafe { libc::syscall(number, one, two, three, four, five) };
    if answer == 0 {
        // SAFETY: it ends this process and touches nothing.
        unsafe { libc::_exit(0) }
    }
    if answer > 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn call(number: c_long, arguments: [c_long; 5]) -> io::Result<()> {
    let [one, two, three, four, five] = arguments;
    // SAFETY: pointers among the arguments lead to memory that lives until the call returns and is long enough for what
    // the kernel may write.
    let answer = unsafe { libc::syscall(number, one, two, three, four, five) };
    if answer >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
