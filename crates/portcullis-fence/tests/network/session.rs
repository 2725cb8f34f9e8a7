//! Runs of one session share a network.

use std::io::Read as _;
use std::process::{Child, Stdio};

use portcullis_fence::NetworkAccess;
use pretty_assertions::assert_eq;

use crate::yard::{Who, Yard, text};
use crate::{Echo, run, talk};

/// A server inside a fence that greets whoever comes, until its input ends.
const GREETER: &str = "import socket, sys, threading
server = socket.create_server((\"127.0.0.1\", 8123))
print(\"up\", flush=True)
def greet():
    while True:
        server.accept()[0].sendall(b\"greetings\")
threading.Thread(target=greet, daemon=True).start()
sys.stdin.read()";

const VISIT: &str =
    "python3 -c 'import socket; print(socket.create_connection((\"127.0.0.1\", 8123), 5).recv(9))'";

fn with_session(who: Who) -> Yard {
    let mut yard = Yard::new(who);
    yard.policy.session = Some(yard.root().join("run/session"));
    yard
}

/// Starts a script that says when it is up, and goes on until its input is closed.
fn start(yard: &Yard, script: &str) -> Child {
    let mut command = yard.fenced("all", &["python3", "-c", script]);
    command.env("FENCE_HOSTS", "server.test=127.0.0.1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    child.stdout.as_mut().expect("a pipe").read_exact(&mut [0; 3]).expect("it says that it is up");
    child
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    child.wait().expect("it ends");
}

#[test]
fn the_next_call_finds_the_server_of_the_last_one() {
    for who in Who::everybody() {
        let yard = with_session(*who);
        let server = start(&yard, GREETER);
        for _ in 0..3 {
            let output = run(&yard, VISIT);
            assert_eq!(output.stdout, b"b'greetings'\n", "{who:?}: {}", text(&output));
            assert!(text(&output).contains("refused_connections: 0"), "{}", text(&output));
        }
        end(server);
        assert!(!run(&yard, VISIT).status.success());
    }
}

#[test]
fn other_sessions_and_other_hosts_have_other_networks() {
    let mut yard = with_session(Who::Tester);
    let server = start(&yard, GREETER);
    yard.policy.network = NetworkAccess::Hosts(vec!["server.test:80".parse().expect("a host")]);
    assert!(!run(&yard, VISIT).status.success(), "other hosts");
    yard.policy.network = NetworkAccess::None;
    yard.policy.session = Some(yard.root().join("run/other"));
    assert!(!run(&yard, VISIT).status.success(), "another session");
    yard.policy.session = None;
    assert!(!run(&yard, VISIT).status.success(), "no session");
    end(server);
}

/// Whoever began the network may be gone: the others serve it, and the next one finds them.
#[test]
fn a_network_lives_as_long_as_one_of_its_runs() {
    let echo = Echo::start();
    let mut yard = with_session(Who::Tester);
    let hosts = [format!("server.test:{}", echo.port), format!("127.0.0.1:{}", echo.port)];
    let hosts = hosts.iter().map(|host| host.parse().expect("a host")).collect();
    yard.policy.network = NetworkAccess::Hosts(hosts);
    let first = start(&yard, "import sys; print(\"up\", flush=True); sys.stdin.read()");
    let server = start(&yard, GREETER);
    end(first);
    let output = run(&yard, VISIT);
    assert_eq!(output.stdout, b"b'greetings'\n", "{}", text(&output));
    let output = run(&yard, &talk("server.test", echo.port));
    assert_eq!(output.stdout, b"hello\n", "{}", text(&output));
    end(server);
    // A socket that a killed run left does not stand in the way.
    let mut killed = start(&yard, "import sys; print(\"up\", flush=True); sys.stdin.read()");
    killed.kill().expect("it can be killed");
    killed.wait().expect("it ends");
    let output = run(&yard, &talk("server.test", echo.port));
    assert_eq!(output.stdout, b"hello\n", "{}", text(&output));
}

/// What shares a network shares nothing else.
#[test]
fn processes_of_another_call_are_out_of_sight() {
    for who in Who::everybody() {
        let yard = with_session(*who);
        let server = start(&yard, GREETER);
        let line = "test $(ls -d /proc/[0-9]* | wc -l) -lt 6 && ! grep -lq python /proc/[0-9]*/comm \
                    && grep -q '^CapEff:.0*$' /proc/self/status && grep -q '^NoNewPrivs:.1$' /proc/self/status";
        let output = run(&yard, line);
        assert_eq!(output.status.code(), Some(0), "{who:?}: {}", text(&output));
        let output = run(&yard, "echo x > ../home/notes");
        assert!(!output.status.success(), "{who:?}: {}", text(&output));
        end(server);
    }
}
