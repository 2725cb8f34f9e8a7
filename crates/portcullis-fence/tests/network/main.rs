//! The network by name: a listed host is reached without any setting, any other one is refused and noted, and no question
//! for a name ever leaves. Everything here stays on the loopback of this machine.
#![cfg(test)]
#![cfg(target_os = "linux")]

#[path = "../escape/yard.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod yard;

mod install;
mod session;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use portcullis_fence::NetworkAccess;
use pretty_assertions::assert_eq;
use yard::{Who, Yard, text};

/// A server outside that sends back what it was sent, and counts who came.
struct Echo {
    port: u16,
    visits: Arc<AtomicUsize>,
}

impl Echo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let visits = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&visits);
        std::thread::spawn(move || {
            for mut guest in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let mut said = Vec::new();
                let _ = guest.read_to_end(&mut said);
                let _ = guest.write_all(&said);
                let _ = guest.shutdown(Shutdown::Both);
            }
        });
        Self { port, visits }
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

/// Runs a line with these hosts listed; `server.test` is at the loopback outside.
fn with_hosts(who: Who, hosts: &[String], line: &str) -> Output {
    let mut yard = Yard::new(who);
    let hosts = hosts.iter().map(|host| host.parse().expect("a host")).collect();
    yard.policy.network = NetworkAccess::Hosts(hosts);
    run(&yard, line)
}

fn run(yard: &Yard, line: &str) -> Output {
    let mut command: Command = yard.fenced("all", &["bash", "-c", line]);
    command.env("FENCE_HOSTS", "server.test=127.0.0.1,other.test=127.0.0.1");
    command.env("FENCE_SHOW_OUTCOME", "1").output().expect("it runs")
}

/// Says bytes to a host and prints what comes back; both ways end one after the other.
fn talk(host: &str, port: u16) -> String {
    format!(
        "python3 -c 'import socket; s = socket.create_connection((\"{host}\", {port}), 5); s.sendall(b\"hello\"); \
         s.shutdown(socket.SHUT_WR); print(s.makefile().read())'"
    )
}

#[test]
fn a_listed_host_is_reached_by_its_name() {
    for who in Who::everybody() {
        let echo = Echo::start();
        let hosts = [format!("server.test:{}", echo.port), format!("127.0.0.1:{}", echo.port)];
        for name in ["server.test", "SERVER.Test", "server.test."] {
            let output = with_hosts(*who, &hosts, &talk(name, echo.port));
            assert_eq!(output.stdout, b"hello\n", "{who:?} {name}: {}", text(&output));
            let noted = format!("host: \"server.test\", port: Some({}), result: Reached", echo.port);
            assert!(text(&output).contains(&noted), "{}", text(&output));
        }
        assert_eq!(echo.visits(), 3);
    }
}

#[test]
fn many_bytes_come_through_as_they_are() {
    let echo = Echo::start();
    let hosts = [format!("server.test:{}", echo.port), format!("127.0.0.1:{}", echo.port)];
    let line = format!(
        "python3 -c '
import socket, threading, os
sent = os.urandom(3000000)
def once():
    s = socket.create_connection((\"server.test\", {}))
    s.sendall(sent); s.shutdown(socket.SHUT_WR)
    got = s.makefile(\"rb\").read()
    same.append(got == sent)
same = []
threads = [threading.Thread(target=once) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]; print(same)'",
        echo.port
    );
    let output = with_hosts(Who::Tester, &hosts, &line);
    assert_eq!(output.stdout, b"[True, True, True, True]\n", "{}", text(&output));
}

#[test]
fn a_host_that_is_not_listed_is_refused_and_noted() {
    let echo = Echo::start();
    let listed = [format!("server.test:{}", echo.port), format!("127.0.0.1:{}", echo.port)];
    for hosts in [&listed[..], &[]] {
        let output = with_hosts(Who::Tester, hosts, &talk("other.test", echo.port));
        assert!(!output.status.success());
        let noted = "host: \"other.test\", port: None, result: NotListed";
        assert!(text(&output).contains(noted), "{}", text(&output));
    }
    assert_eq!(echo.visits(), 0);
}

#[test]
fn without_a_network_names_are_noted_too() {
    for who in Who::everybody() {
        let output =
            run(&Yard::new(*who), "getent hosts secret-words.evil.test; getent ahostsv4 x.evil.test");
        for name in ["secret-words.evil.test", "x.evil.test"] {
            let noted = format!("host: \"{name}\", port: None, result: NotListed");
            assert!(text(&output).contains(&noted), "{}", text(&output));
        }
        assert!(text(&output).contains("refused_connections: 0"), "{}", text(&output));
    }
}

#[test]
fn another_port_of_a_listed_host_is_refused() {
    let (echo, other) = (Echo::start(), Echo::start());
    let hosts = [format!("server.test:{}", echo.port), "127.0.0.1".to_owned()];
    let output = with_hosts(Who::Tester, &hosts, &talk("server.test", other.port));
    assert!(!output.status.success(), "{}", text(&output));
    assert_eq!(other.visits(), 0);
}

#[test]
fn a_name_that_leads_to_a_private_address_is_refused_unless_that_is_listed() {
    let echo = Echo::start();
    for address in ["", "127.0.0.2", "127.0.0.1:1"] {
        let mut hosts = vec![format!("server.test:{}", echo.port)];
        hosts.extend((!address.is_empty()).then(|| address.to_owned()));
        let output = with_hosts(Who::Tester, &hosts, &talk("server.test", echo.port));
        assert!(!output.status.success(), "{}", text(&output));
        assert!(text(&output).contains("result: PrivateAddress"), "{}", text(&output));
    }
    assert_eq!(echo.visits(), 0);
}

#[test]
fn an_address_is_no_way_round_the_list() {
    let echo = Echo::start();
    let hosts = [format!("server.test:{}", echo.port), format!("127.0.0.1:{}", echo.port)];
    // The loopback inside is another one, whatever is listed of the one outside.
    let output = with_hosts(Who::Tester, &hosts, &talk("127.0.0.1", echo.port));
    assert!(!output.status.success(), "{}", text(&output));
    let output = with_hosts(Who::Tester, &hosts, "exec 3<>/dev/tcp/192.0.2.1/80");
    assert!(text(&output).contains("refused_connections: 1"), "{}", text(&output));
    assert_eq!(echo.visits(), 0);
}

#[test]
fn a_name_with_a_null_byte_is_no_listed_name() {
    let echo = Echo::start();
    let hosts = [format!("server.test:{}", echo.port), format!("127.0.0.1:{}", echo.port)];
    let line = r#"python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
def ask(*labels):
    s.sendto(b"\1\2\1\0\0\1\0\0\0\0\0\0" + b"".join(bytes([len(l)]) + l for l in labels) + b"\0\0\1\0\1", ("127.0.0.1", 53))
    return s.recv(512)[3] & 15
print(ask(b"server", b"test"), ask(b"evil\0", b"server", b"test"), ask(b"server\0", b"test"), ask(b"x.server", b"test"))
s.sendto(b"rubbish", ("127.0.0.1", 53)); s.recv(512)'"#;
    let output = with_hosts(Who::Tester, &hosts, line);
    assert_eq!(output.stdout, b"0 3 3 3\n", "{}", text(&output));
    assert!(text(&output).contains(r#"host: "evil\\x00.server.test""#), "{}", text(&output));
}

/// A server at all addresses would stand at that of a listed host too; one at the loopback stands in nobody's way.
#[test]
fn servers_on_the_loopback_keep_their_ports() {
    let output = with_hosts(
        Who::Tester,
        &["server.test:8080".to_owned()],
        "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 8080)); \
         c = socket.create_connection((\"localhost\", 8080)); s.accept()[0].send(b\"own\"); print(c.recv(3))'",
    );
    assert_eq!(output.stdout, b"b'own'\n", "{}", text(&output));
}
