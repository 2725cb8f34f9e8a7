//! The table of attempts: each is refused with everything up and with one of the walls missing, as far as it is claimed to
//! hold without it.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Stdio;

use crate::yard::{Who, Yard, text};

/// What holds an attempt back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeldBy {
    /// Namespaces and mounts, whatever else is missing.
    Namespaces,
    /// The filter of system calls, and nothing else.
    Filter,
    /// The filter, where the kernel does not refuse it to users anyway.
    FilterOrKernel,
}

fn attempts(yard: &Yard, addresses: &Addresses) -> Vec<(&'static str, String, HeldBy)> {
    use HeldBy::{Filter, FilterOrKernel, Namespaces};
    let home = |name: &str| yard.home(name);
    let process = std::process::id().to_string();
    let none = String::new;
    vec![
        ("write", home("notes"), Namespaces),
        ("create", home("made"), Namespaces),
        ("remove", home("notes"), Namespaces),
        ("truncate", home("notes"), Namespaces),
        ("chmod", home("notes"), Namespaces),
        ("times", home("notes"), Namespaces),
        ("attribute", home("notes"), Namespaces),
        ("link", home("notes"), Namespaces),
        ("read", home("token"), Namespaces),
        ("read", home(".ssh/id"), Namespaces),
        ("list", home(".ssh"), Namespaces),
        ("create", "/etc/fence-made".to_owned(), Namespaces),
        ("create", "/usr/fence-made".to_owned(), Namespaces),
        ("create", "/dev/fence-made".to_owned(), Namespaces),
        ("write", "/proc/sys/kernel/core_pattern".to_owned(), Namespaces),
        ("write", "/proc/sysrq-trigger".to_owned(), Namespaces),
        ("create", "/sys/fs/cgroup/fence-made".to_owned(), Namespaces),
        ("unix", home("socket"), Namespaces),
        ("abstract", addresses.name.clone(), Namespaces),
        ("tcp", addresses.tcp.clone(), Namespaces),
        ("tcp", "192.0.2.1:80".to_owned(), Namespaces),
        ("udp", "192.0.2.1:53".to_owned(), Namespaces),
        ("signal", process.clone(), Namespaces),
        ("trace", process.clone(), Namespaces),
        ("read", format!("/proc/{process}/cmdline"), Namespaces),
        ("read", format!("/proc/{process}/environ"), Namespaces),
        ("list", format!("/proc/{process}/root"), Namespaces),
        ("list", format!("/proc/{process}/fd"), Namespaces),
        ("peek", process.clone(), Namespaces),
        ("take_descriptor", process.clone(), Namespaces),
        ("trace", "1".to_owned(), Namespaces),
        ("peek", "1".to_owned(), Namespaces),
        ("take_descriptor", "1".to_owned(), Namespaces),
        ("read", "/proc/1/environ".to_owned(), Namespaces),
        ("list", "/proc/1/root".to_owned(), Namespaces),
        ("list", "/run".to_owned(), Namespaces),
        ("block_device", "disk".to_owned(), Namespaces),
        ("host_name", none(), Namespaces),
        ("raw", none(), Namespaces),
        ("interface", none(), Namespaces),
        ("tcp", "198.18.0.2:80".to_owned(), Namespaces),
        ("device", none(), Namespaces),
        ("raise", none(), Namespaces),
        ("mount", none(), Namespaces),
        ("umount", none(), Namespaces),
        ("fsopen", none(), Namespaces),
        ("open_tree", none(), Namespaces),
        ("chroot", none(), Namespaces),
        ("pivot_root", none(), Namespaces),
        ("move_mount", none(), Namespaces),
        ("mount_setattr", none(), Namespaces),
        ("setns", none(), Namespaces),
        ("packet", none(), Namespaces),
        ("unshare", none(), Filter),
        ("clone", none(), Filter),
        ("clone3", none(), Filter),
        ("keyctl", none(), Filter),
        ("add_key", none(), Filter),
        ("io_uring", none(), Filter),
        ("tipc", none(), Filter),
        ("vsock_pair", none(), Filter),
        ("tipc_pair", none(), Filter),
        ("netlink", none(), Filter),
        ("vsock", none(), FilterOrKernel),
        ("alg", none(), FilterOrKernel),
        ("userfaultfd", none(), FilterOrKernel),
        ("bpf", none(), FilterOrKernel),
        ("perf", none(), FilterOrKernel),
        ("kernel_log", none(), FilterOrKernel),
        ("open_by_handle", none(), FilterOrKernel),
        ("other_numbering", none(), FilterOrKernel),
    ]
}

/// What listens outside.
struct Addresses {
    name: String,
    tcp: String,
    _listeners: (UnixListener, UnixListener, TcpListener),
}

impl Addresses {
    fn listen(yard: &Yard) -> Self {
        let name = format!("fence-{}", yard.root().display());
        let listen = SocketAddr::from_abstract_name(&name).and_then(|name| UnixListener::bind_addr(&name));
        let socket = UnixListener::bind(yard.home("socket")).expect("a socket");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        yard.give_away();
        let address = tcp.local_addr().expect("an address").to_string();
        Self { name, tcp: address, _listeners: (listen.expect("a socket"), socket, tcp) }
    }
}

fn is_refused(yard: &Yard, features: &str, name: &str, target: &str) -> bool {
    let mut command = yard.fenced(features, &[&yard.attack(), name, target]);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    match output.status.code() {
        Some(0) => false,
        Some(1) => true,
        _ => panic!("{name} {target} with {features}: {}", text(&output)),
    }
}

#[test]
fn every_attempt_is_refused() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let addresses = Addresses::listen(&yard);
        for (name, target, _) in attempts(&yard, &addresses) {
            assert!(is_refused(&yard, "all", name, &target), "{who:?}: {name} {target} worked");
        }
    }
}

#[test]
fn mounts_and_namespaces_hold_without_landlock_and_without_the_filter() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let addresses = Addresses::listen(&yard);
        for (name, target, held_by) in attempts(&yard, &addresses) {
            if held_by == HeldBy::Namespaces {
                assert!(
                    is_refused(&yard, "no-landlock", name, &target),
                    "{who:?}: {name} {target} without Landlock"
                );
                assert!(
                    is_refused(&yard, "no-filter", name, &target),
                    "{who:?}: {name} {target} without the filter"
                );
            }
        }
    }
}

/// The second wall round writes holds by itself. What it cannot refuse (modes, times, attributes) is the first one's alone.
#[test]
fn landlock_holds_writes_without_the_seal() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        for (name, held) in [
            ("write", true),
            ("create", true),
            ("truncate", true),
            ("link", true),
            ("remove", true),
            ("chmod", false),
            ("times", false),
        ] {
            let target = yard.home(if name == "create" { "made" } else { "notes" });
            assert_eq!(is_refused(&yard, "no-seal", name, &target), held, "{who:?}: {name}");
        }
    }
}

#[test]
fn the_filter_is_what_holds_the_calls_it_is_there_for() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let addresses = Addresses::listen(&yard);
        for (name, target, held_by) in attempts(&yard, &addresses) {
            if held_by != HeldBy::Namespaces {
                assert!(is_refused(&yard, "no-landlock", name, &target), "{who:?}: {name} without Landlock");
            }
            if held_by == HeldBy::Filter {
                assert!(!is_refused(&yard, "no-filter", name, &target), "{who:?}: {name} is refused anyway");
            }
        }
    }
}

/// The attempts are real: outside the fence they work.
#[test]
fn attempts_work_outside() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let addresses = Addresses::listen(&yard);
        let outside = [
            ("write", yard.home("notes")),
            ("create", yard.home("made")),
            ("chmod", yard.home("notes")),
            ("times", yard.home("notes")),
            ("attribute", yard.home("notes")),
            ("link", yard.home("notes")),
            ("read", yard.home("token")),
            ("list", yard.home(".ssh")),
            ("unix", yard.home("socket")),
            ("abstract", addresses.name.clone()),
            ("tcp", addresses.tcp.clone()),
            ("read", format!("/proc/{}/cmdline", std::process::id())),
            ("clone3", String::new()),
            ("unshare", String::new()),
            ("keyctl", String::new()),
        ];
        for (name, target) in outside {
            let output = yard.plain(&[&yard.attack(), name, &target]).output().expect("it runs");
            assert!(output.status.success(), "{who:?}: {name} {target}: {}", text(&output));
        }
    }
}

#[test]
fn udp_reaches_nobody_outside() {
    let yard = Yard::new(Who::Tester);
    let listener = UdpSocket::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("no waiting");
    let target = listener.local_addr().expect("an address").to_string();
    // Loopback takes the packet: it is another loopback.
    let _ = yard.fenced("all", &[&yard.attack(), "udp", &target]).output().expect("it runs");
    assert!(listener.recv(&mut [0; 1]).is_err());
}
