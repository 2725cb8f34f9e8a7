//! The fence is not felt by what stays inside it: exit codes, output, signals, tools; and nothing runs without it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use portcullis_fence::FencePolicy;
use pretty_assertions::assert_eq;

use crate::yard::{Who, Yard, is_root, text};

#[test]
fn exit_codes_are_those_of_the_command() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        for (line, code) in [
            ("true", 0),
            ("exit 3", 3),
            ("exit 125", 125),
            ("kill -TERM $$", 143),
            ("kill -KILL $$", 137),
            ("no-such-program", 127),
            ("sleep 100 & exit 4", 4),
        ] {
            let output = yard.bash(line);
            assert_eq!(output.status.code(), Some(code), "{who:?} `{line}`: {}", text(&output));
        }
        let output = yard.fenced("all", &["no-such-program"]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(127), "{}", text(&output));
    }
}

#[test]
fn the_user_is_the_same_and_owns_what_it_makes() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let inside = yard.bash("id -u; touch made; stat -c %u made; umask");
        let outside = yard.plain(&["bash", "-c", "id -u; stat -c %u made; umask"]).output().expect("it runs");
        let words = |output: &std::process::Output| -> Vec<String> {
            String::from_utf8_lossy(&output.stdout).split_whitespace().map(ToOwned::to_owned).collect()
        };
        assert_eq!(words(&inside), words(&outside), "{}", text(&inside));
    }
}

#[test]
fn a_workspace_below_tmp_works() {
    for who in Who::everybody() {
        let yard = Yard::below(Path::new("/tmp"), *who);
        let output = yard.bash("pwd; echo x > made; ls -d ../home 2>&1");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.starts_with(&yard.workspace().display().to_string()), "{}", text(&output));
        assert!(shown.contains("cannot access"), "{shown}");
        assert_eq!(fs::read_to_string(yard.workspace().join("made")).expect("it is there"), "x\n");
    }
}

#[test]
fn the_directory_for_temporary_files_can_be_shared_by_runs() {
    let mut yard = Yard::new(Who::Tester);
    let shared = yard.root().join("run");
    yard.policy.temporary = Some(shared.clone());
    assert!(yard.bash("echo one > /tmp/file").status.success());
    assert_eq!(yard.bash("cat /tmp/file").stdout, b"one\n");
    assert_eq!(fs::read_to_string(shared.join("file")).expect("it is there"), "one\n");
}

#[test]
fn servers_on_its_own_loopback_work() {
    let yard = Yard::new(Who::Tester);
    let line = "exec 3<>/dev/udp/127.0.0.1/9 && echo x >&3; node -e '\
        const s = require(\"net\").createServer(c => c.end(\"hello\")).listen(0, \"127.0.0.1\", () => \
        require(\"net\").connect(s.address().port, \"127.0.0.1\").on(\"data\", d => { console.log(String(d)); process.exit(0) }))'";
    let output = yard.bash(line);
    assert_eq!(output.stdout, b"hello\n", "{}", text(&output));
}

#[test]
fn tries_to_leave_are_counted() {
    let yard = Yard::new(Who::Tester);
    let counted = |line: &str| {
        let mut command = yard.fenced("all", &["bash", "-c", line]);
        text(&command.env("FENCE_SHOW_OUTCOME", "1").output().expect("it runs"))
    };
    let refused = counted("exec 3<>/dev/tcp/192.0.2.1/80; exec 3<>/dev/udp/192.0.2.1/53");
    assert!(refused.contains("refused_connections: 2"), "{refused}");
    assert!(counted("true").contains("refused_connections: 0"));
}

#[test]
fn a_signal_ends_everything_inside() {
    for signal in ["TERM", "INT", "HUP"] {
        let yard = Yard::new(Who::Tester);
        let mut child = yard
            .fenced("all", &["bash", "-c", "sleep 1000 & echo up; wait; echo never"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        wait_for_line(&mut child);
        let sent =
            Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let status = child.wait().expect("it ends");
        assert_ne!(status.code(), Some(0), "{signal}");
    }
}

#[test]
fn killing_the_supervisor_ends_everything_inside() {
    let yard = Yard::new(Who::Tester);
    let script = "echo up; while :; do date +%s%N > beat; sleep 0.02; done";
    let mut child =
        yard.fenced("all", &["bash", "-c", script]).stdout(Stdio::piped()).spawn().expect("it runs");
    wait_for_line(&mut child);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let beat = yard.workspace().join("beat");
    let started = Instant::now();
    // The kernel ends the rest by itself; when two looks in a row are the same, nothing beats any more.
    loop {
        let before = fs::read(&beat).unwrap_or_default();
        std::thread::sleep(Duration::from_millis(200));
        if fs::read(&beat).unwrap_or_default() == before {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "it goes on without its supervisor");
    }
}

fn wait_for_line(child: &mut std::process::Child) {
    use std::io::Read as _;
    let output = child.stdout.as_mut().expect("a pipe");
    output.read_exact(&mut [0; 3]).expect("it says that it is up");
}

type SpoilPolicy = fn(&mut FencePolicy);

#[test]
fn nothing_runs_if_a_part_does_not_go_up() {
    let mut yard = Yard::new(Who::Tester);
    let good = yard.policy.clone();
    let marker = yard.workspace().join("ran");
    let broken: [(&str, SpoilPolicy); 5] = [
        ("missing workspace", |policy| policy.workspace = "/no/such/place".into()),
        ("missing grant", |policy| policy.writable = vec!["/no/such/place".into()]),
        ("relative", |policy| policy.masked = vec!["relative".into()]),
        ("too wide", |policy| policy.writable = vec!["/".into()]),
        ("masked grant", |policy| policy.masked = vec![policy.workspace.clone()]),
    ];
    for (name, spoil) in broken {
        yard.policy = good.clone();
        spoil(&mut yard.policy);
        let mut command = yard.fenced("all", &["touch", &marker.display().to_string()]);
        let output = command.current_dir("/").output().expect("it runs");
        assert_eq!(output.status.code(), Some(125), "{name}: {}", text(&output));
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            line.starts_with("portcullis: nothing was run: ") && line.lines().count() == 1,
            "{name}: {line}"
        );
        assert!(!marker.exists(), "{name}");
    }
}

/// Without user namespaces there is no fence, and so nothing runs.
#[test]
fn nothing_runs_without_namespaces() {
    let yard = Yard::new(Who::Tester);
    let marker = yard.workspace().join("ran");
    let command = yard.fenced("all", &["touch", &marker.display().to_string()]);
    // A fence in a fence: the filter of the outer one refuses new namespaces.
    let outer: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let words: Vec<&str> = outer.iter().map(String::as_str).collect();
    let output = yard.fenced("all", &words).output().expect("it runs");
    assert_eq!(output.status.code(), Some(125), "{}", text(&output));
    assert!(text(&output).contains("namespaces"), "{}", text(&output));
    assert!(!marker.exists());
}

/// Process 1 holds what the command must not have; nothing of it can be reached.
#[test]
fn process_one_is_closed() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        for line in [
            "readlink /proc/1/fd/0",
            "echo x > /proc/1/fd/1",
            "cat /proc/1/environ",
            "ls /proc/1/root/",
            "cat /proc/1/maps",
        ] {
            let output = yard.bash(&format!("{line} > /dev/null 2>&1"));
            assert_ne!(output.status.code(), Some(0), "{who:?} `{line}`: {}", text(&output));
        }
        // It does not die by a signal from inside, and what it passes on ends the command alone.
        assert_eq!(yard.bash("kill -9 1; echo on; exit 5").status.code(), Some(5));
        assert_eq!(yard.bash("kill -TERM 1; sleep 10; exit 5").status.code(), Some(143));
    }
}

/// A session of its own does not outlive the run.
#[test]
fn a_process_that_runs_away_ends_with_the_run() {
    let yard = Yard::new(Who::Tester);
    let line = "(setsid bash -c 'while :; do date +%s%N > beat; sleep 0.02; done' &) ; while ! test -s beat; do sleep 0.01; done";
    let mut command = yard.fenced("all", &["bash", "-c", line]);
    assert!(command.stdout(Stdio::null()).status().expect("it runs").success());
    let beat = yard.workspace().join("beat");
    let before = fs::read(&beat).expect("it beat");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fs::read(&beat).expect("it beat"), before);
}

/// When the end is told, nothing writes any more, whatever hid from the shell.
#[test]
fn nothing_writes_after_the_end() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let script = "for i in 1 2 3; do setsid -f bash -c 'trap \"\" TERM HUP INT; while :; do echo x >> beat; done'; \
                      done >/dev/null 2>&1; while ! test -s beat; do :; done";
        let output = yard.bash(script);
        assert!(output.status.success(), "{}", text(&output));
        let size = || fs::metadata(yard.workspace().join("beat")).expect("it is there").len();
        let at_end = size();
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(size(), at_end, "{who:?}");
    }
}

/// A program that belongs to root and says so gives nothing.
#[test]
fn programs_that_change_the_user_are_ordinary() {
    use std::os::unix::fs::PermissionsExt as _;
    if !is_root() {
        return;
    }
    let yard = Yard::new(Who::Nobody);
    let program = yard.root().join("programs/id");
    fs::copy("/usr/bin/id", &program).expect("a copy");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o6755)).expect("a mode");
    let program = program.display().to_string();
    let outside = yard.plain(&[&program, "-u"]).output().expect("it runs");
    let inside = yard.fenced("all", &[&program, "-u"]).output().expect("it runs");
    assert_eq!((text(&outside).contains("\n0\n"), inside.stdout.as_slice()), (true, &b"65534\n"[..]));
}

/// Sockets that services make while a command runs lie in places that it has of its own.
#[test]
fn a_socket_made_later_in_a_hidden_place_is_not_found() {
    let yard = Yard::new(Who::Tester);
    let folder = tempfile::tempdir_in("/tmp").expect("a folder");
    let path = folder.path().join("later");
    let line = format!(
        "echo up; for i in $(seq 100); do {0} unix {1} 2>/dev/null && exit 7; sleep 0.01; done",
        yard.attack(),
        path.display()
    );
    let mut child =
        yard.fenced("all", &["bash", "-c", &line]).stdout(Stdio::piped()).spawn().expect("it runs");
    wait_for_line(&mut child);
    let _listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn floods_end_at_the_limits() {
    let mut yard = Yard::new(Who::Tester);
    yard.policy.limits.file_bytes = 1 << 20;
    yard.policy.limits.temporary_bytes = 1 << 20;
    let output = yard.bash("head -c 2000000 /dev/zero > big");
    assert!(!output.status.success(), "{}", text(&output));
    let output = yard.bash("for i in 1 2 3; do head -c 900000 /dev/zero > /tmp/$i || exit 1; done");
    assert!(!output.status.success(), "{}", text(&output));
}
