//! Descriptors and files: what is inherited, what is protected below the workspace, what is not there yet.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::process::Stdio;

use portcullis_fence::ProtectedName;

use crate::yard::{Who, Yard, text};

fn protect(yard: &mut Yard, names: &[&str]) {
    let names = names.iter().map(|name| ProtectedName::try_from((*name).to_owned()));
    yard.policy.protected = names.collect::<Result<_, _>>().expect("names");
}

#[test]
fn descriptors_do_not_lead_out() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let notes = yard.home("notes");
        let attack = yard.attack();
        let script = |redirect: &str, words: &str| {
            let runner = yard.fenced("all", &[]);
            let words_of_runner: Vec<String> = std::iter::once(runner.get_program())
                .chain(runner.get_args())
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            let line = format!("exec {redirect}; exec {} {attack} {words}", words_of_runner.join(" "));
            let mut command = std::process::Command::new("bash");
            command.args(["-c", &line]).current_dir(yard.workspace()).output().expect("it runs")
        };
        for (redirect, words) in [
            (format!("9>>{notes}"), "descriptor 9"),
            (format!("0<>{notes}"), "descriptor 0"),
            (format!("7<{}", yard.root().join("home").display()), "enter 7"),
            (format!("0<{}", yard.root().join("home").display()), "enter 0"),
            (format!("1<{}", yard.root().join("home").display()), "enter 1"),
        ] {
            let output = script(&redirect, words);
            assert_eq!(output.status.code(), Some(1), "{who:?} {redirect}: {}", text(&output));
        }
        assert_eq!(fs::read_to_string(&notes).expect("it is there"), "notes");
        assert!(!yard.root().join("home/entered").exists());
    }
}

/// A file that is read as standard input is no way to its mode, its times and its attributes, by whatever name.
#[test]
fn standard_input_cannot_be_changed() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let input = yard.root().join("home/notes");
        let before = fs::metadata(&input).expect("it is there");
        let line = "python3 - 9<&0 <<'END'
import os
for act in [lambda: os.fchmod(9, 0o777), lambda: os.chmod('/proc/self/fd/9', 0o777), lambda: os.utime(9, (1, 1)),
            lambda: os.setxattr(9, 'user.x', b'y'), lambda: os.utime('/proc/self/fd/9', (1, 1))]:
    try: act(); print('worked')
    except OSError as error: print(error.errno)
END
cat <&9; cat /dev/stdin";
        let mut command = yard.fenced("all", &["bash", "-c", &format!("exec 9<&0; {line}")]);
        let output = command.stdin(File::open(&input).expect("a file")).output().expect("it runs");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(shown, "30\n30\n30\n30\n30\nnotesnotes", "{who:?}: {}", text(&output));
        let after = fs::metadata(&input).expect("it is there");
        assert_eq!((before.mode(), before.mtime()), (after.mode(), after.mtime()), "{who:?}");
    }
}

/// A file that takes the output gets the bytes and nothing else; what was in it stays, and lines keep their order.
#[test]
fn standard_output_cannot_be_changed() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let log = yard.root().join("home/notes");
        let before = fs::metadata(&log).expect("it is there");
        let line = "python3 - <<'END'
import os
def again(): open('/proc/self/fd/1', 'r+').truncate(0)
for act in [lambda: os.fchmod(1, 0o777), lambda: os.chmod('/proc/self/fd/2', 0o777), lambda: os.utime(1, (1, 1)),
            lambda: os.setxattr(2, 'user.x', b'y'), lambda: os.ftruncate(1, 0), lambda: os.lseek(1, 0, 0), again,
            lambda: open('/dev/stdout').read(1) if not os.fstat(1).st_mode & 0o10000 else None]:
    try: act()
    except OSError: pass
END
for n in 1 2 3; do echo out $n; echo error $n >&2; done; (sleep 0.2; echo late) & exec 1>&-; exit 3";
        let mut command = yard.fenced("all", &["bash", "-c", line]);
        let file = File::options().append(true).open(&log).expect("a file");
        command.stdout(file.try_clone().expect("a file")).stderr(file);
        assert_eq!(command.status().expect("it runs").code(), Some(3), "{who:?}");
        let written = "notesout 1\nerror 1\nout 2\nerror 2\nout 3\nerror 3\n";
        assert_eq!(fs::read_to_string(&log).expect("it is there"), written, "{who:?}");
        let after = fs::metadata(&log).expect("it is there");
        assert_eq!(before.mode(), after.mode(), "{who:?}");
        assert!(after.mtime() > 1, "{who:?}");
    }
}

/// Everything arrives in a file that was written, however much it is, and by both ways.
#[test]
fn long_output_arrives_as_a_whole() {
    let yard = Yard::new(Who::Tester);
    let (out, error) = (yard.root().join("home/out"), yard.root().join("home/error"));
    let line = "head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2";
    let mut command = yard.fenced("all", &["bash", "-c", line]);
    command.stdout(File::create(&out).expect("a file")).stderr(File::create(&error).expect("a file"));
    assert!(command.status().expect("it runs").success());
    let size = |path| fs::metadata(path).expect("it is there").len();
    assert_eq!((size(&out), size(&error)), (3_000_000, 2_000_000));
}

/// Devices are the machine's own, wherever they are found: as standard files, in `/dev` and as masks.
#[test]
fn devices_keep_their_modes() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        // Each mode is set to what it is, so that nothing happens to the machine where this works.
        let script = format!(
            "python3 -c 'import os, stat
for one in [0, 2, \"/dev/null\", \"/dev/tty\", \"{}\"]:
    try: os.chmod(one, stat.S_IMODE(os.stat(one).st_mode)); print(one, \"worked\")
    except OSError: pass'; echo x > /dev/null; echo y >&2; cat",
            yard.home("token")
        );
        let mut command = yard.fenced("all", &["bash", "-c", &script]);
        let null = || File::options().read(true).write(true).open("/dev/null").expect("it is there");
        let output = command.stdin(null()).stderr(null()).output().expect("it runs");
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]), "{who:?}");
    }
}

/// A socket that somebody outside listens on is not reached, however it is named: by a relative path, under another name than
/// it was made with, made while the command runs, or by messages without a connection. Those of the command itself are.
#[test]
fn sockets_outside_are_not_reached_by_any_name() {
    use std::os::unix::net::{UnixDatagram, UnixListener};
    for who in Who::everybody() {
        for place in ["home", "workspace"] {
            let yard = Yard::new(*who);
            let folder = yard.root().join(place);
            let socket = |name: &str| UnixListener::bind(folder.join(name)).expect("a socket");
            let _named = socket("named");
            let _first = socket("first");
            let far = UnixDatagram::bind(folder.join("messages")).expect("a socket");
            far.set_nonblocking(true).expect("no waiting");
            // Bound by a relative path, by a process that stands in the folder.
            let relative = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('relative'); s.listen(); \
                            print('up', flush=True); time.sleep(100)";
            let mut other = std::process::Command::new("python3")
                .args(["-c", relative])
                .current_dir(&folder)
                .stdout(Stdio::piped())
                .spawn()
                .expect("python3 runs");
            other.stdout.as_mut().expect("a pipe").read_exact(&mut [0; 3]).expect("it is up");
            yard.give_away();
            let script = "import os, socket, sys, time
folder = sys.argv[1]
print('up', flush=True)
while not os.path.exists(folder + '/go'): time.sleep(0.01)
os.chdir(folder)
for name in ['named', folder + '/named', 'relative', 'renamed', 'later', '/proc/self/cwd/later', 'again/later']:
    for kind in [socket.SOCK_STREAM, socket.SOCK_SEQPACKET]:
        try: socket.socket(socket.AF_UNIX, kind).connect(name); print(name, 'worked')
        except OSError: pass
try: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', 'datagrams'); print('sent')
except OSError: pass
try: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', 'datagrams'); print('sent')
except OSError: pass
os.chdir(sys.argv[2])
for name in ['own', '/tmp/own', sys.argv[2] + '/again']:
    own = socket.socket(socket.AF_UNIX); own.bind(name); own.listen()
    if name == 'own': os.rename('own', 'moved'); name = '/proc/self/cwd/moved'
    client = socket.socket(socket.AF_UNIX); client.connect(name); client.send(b'x')
    assert own.accept()[0].recv(1) == b'x'
own = socket.socket(socket.AF_UNIX); own.bind('\\0name'); own.listen()
socket.socket(socket.AF_UNIX).connect('\\0name')
try: socket.socket(socket.AF_UNIX).connect('missing')
except FileNotFoundError: print('missing')
try: socket.create_connection(('127.0.0.1', 9))
except ConnectionRefusedError: print('refused')";
            let workspace = yard.workspace().display().to_string();
            let words = ["python3", "-c", script, &folder.display().to_string(), &workspace];
            let mut command = yard.fenced("all", &words);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
            child.stdout.as_mut().expect("a pipe").read_exact(&mut [0; 3]).expect("it is up");
            for (before, after) in [("first", "renamed"), ("messages", "datagrams")] {
                fs::rename(folder.join(before), folder.join(after)).expect("a rename");
            }
            let _later = socket("later");
            yard.give_away();
            fs::write(folder.join("go"), "").expect("a file");
            let output = child.wait_with_output().expect("it ends");
            let (_, _) = (other.kill(), other.wait());
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(said, "missing\nrefused\n", "{who:?} {place}: {}", text(&output));
            assert!(far.recv(&mut [0; 1]).is_err(), "{who:?} {place}: a message arrived");
        }
    }
}

/// A socket of the machine's network could be connected to somebody else: by it, only bytes come and go.
#[test]
fn sockets_as_standard_files_lead_nowhere_else() {
    use std::net::{TcpListener, TcpStream, UdpSocket};
    let yard = Yard::new(Who::Tester);
    let (near, far) = (TcpListener::bind("127.0.0.1:0"), TcpListener::bind("127.0.0.1:0"));
    let (near, far) = (near.expect("a port"), far.expect("a port"));
    let given = TcpStream::connect(near.local_addr().expect("an address")).expect("a line");
    let (mut other, _) = near.accept().expect("a line");
    let line = format!(
        "read -r heard; echo got $heard; python3 -c 'import ctypes, socket
for number in [0, 1, 2]:
    try:
        line = socket.socket(fileno=number)
        ctypes.CDLL(None).connect(number, bytes(16), 16)
        line.connect((\"127.0.0.1\", {}))
        line.send(b\"out\")
    except OSError: pass'",
        far.local_addr().expect("an address").port()
    );
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let as_file = |socket: &dyn std::os::fd::AsFd| socket.as_fd().try_clone_to_owned().expect("a file");
    let mut command = yard.fenced("all", &["bash", "-c", &line]);
    command.stdin(as_file(&given)).stdout(as_file(&given)).stderr(as_file(&datagrams));
    let mut child = command.spawn().expect("it runs");
    std::io::Write::write_all(&mut other, b"hello\n").expect("it is heard");
    assert!(child.wait().expect("it ends").code().is_some());
    drop((command, given));
    other.shutdown(std::net::Shutdown::Write).expect("an end");
    let mut said = String::new();
    other.read_to_string(&mut said).expect("it is heard");
    assert_eq!(said, "got hello\n");
    far.set_nonblocking(true).expect("no waiting");
    assert!(far.accept().is_err(), "it reached another service of the machine");
}

#[test]
fn standard_files_work_as_they_did() {
    let yard = Yard::new(Who::Tester);
    let input = yard.workspace().join("input");
    fs::write(&input, "abc").expect("a file");
    let log = yard.root().join("home/log");
    let mut command =
        yard.fenced("all", &["bash", "-c", "cat; echo out > /dev/stdout; echo error > /dev/stderr"]);
    command.stdin(File::options().read(true).write(true).open(&input).expect("a file"));
    command.stderr(File::create(&log).expect("a log"));
    let output = command.output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "abcout\n");
    assert_eq!(fs::read_to_string(&log).expect("a log"), "error\n");
}

#[test]
fn what_is_protected_stays_as_it_is_in_every_repository() {
    for who in Who::everybody() {
        let mut yard = Yard::new(*who);
        let workspace = yard.workspace();
        for directory in [".git/hooks", "deep/nested/.git/hooks"] {
            fs::create_dir_all(workspace.join(directory)).expect("a directory");
        }
        for file in [".git/config", "deep/nested/.git/config", "deep/.envrc"] {
            fs::write(workspace.join(file), "before").expect("a file");
        }
        yard.give_away();
        protect(&mut yard, &[".git/hooks", ".git/config", ".envrc"]);
        for line in [
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/config",
            "rm .git/config",
            "mv .git/config other",
            "mv .git .git2 && mkdir -p .git/hooks",
            "mv .git/hooks .git/hooks2",
            "echo x > deep/nested/.git/hooks/pre-commit",
            "mv deep deep2",
            "mv deep/nested deep/other",
            "rm -rf deep",
            "echo x > deep/.envrc",
            "ln -f /etc/hostname deep/.envrc",
            "ln deep/.envrc copy && echo x > copy",
            "chmod 777 deep/.envrc",
            "mkdir d && mount --bind d .git/hooks",
            "cd .git && rm -rf hooks",
        ] {
            let output = yard.bash(line);
            assert!(!output.status.success(), "{who:?} `{line}` worked: {}", text(&output));
            assert_eq!(fs::read_to_string(workspace.join("deep/.envrc")).expect("it is there"), "before");
            assert_eq!(fs::read_to_string(workspace.join(".git/config")).expect("it is there"), "before");
            assert_eq!(fs::read_dir(workspace.join(".git/hooks")).expect("it is there").count(), 0);
            assert_eq!(fs::read_dir(workspace.join("deep/nested/.git/hooks")).expect("there").count(), 0);
        }
        let output = yard.bash("echo x > .git/index && echo y > deep/nested/file && mkdir -p a/b && mv a c");
        assert!(output.status.success(), "{who:?}: {}", text(&output));
    }
}

#[test]
fn links_lead_to_what_the_fence_holds() {
    let yard = Yard::new(Who::Tester);
    symlink(yard.home("notes"), yard.workspace().join("link")).expect("a link");
    symlink(yard.home("token"), yard.workspace().join("key")).expect("a link");
    assert!(!yard.bash("echo x >> link").status.success());
    assert_eq!(yard.bash("cat key").stdout, b"");
    let output = yard.bash(&format!("ln -s {} own && cat own/notes", yard.root().join("home").display()));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "notes");
}

#[test]
fn a_mask_that_is_a_link_hides_what_it_leads_to() {
    let mut yard = Yard::new(Who::Tester);
    symlink(yard.home("notes"), yard.home("alias")).expect("a link");
    yard.policy.masked.push(yard.home("alias").into());
    yard.policy.masked.push(yard.home("missing").into());
    yard.policy.masked.push(yard.home("notes/below/a/file").into());
    let output = yard.bash(&format!("cat {} {}", yard.home("alias"), yard.home("notes")));
    assert_eq!(output.stdout, b"", "{}", text(&output));
}

/// Editors write a new file and rename it over the old one, and a mask goes with the old one. What is masked and missing may
/// be made meanwhile.
#[test]
fn a_secret_that_is_replaced_while_it_runs_stays_hidden() {
    for who in Who::everybody() {
        let mut yard = Yard::new(*who);
        for missing in ["later", "new/deep/later"] {
            yard.policy.masked.push(yard.home(missing).into());
        }
        symlink(yard.home("token"), yard.home("alias")).expect("a link");
        let home = yard.home("");
        let line = format!(
            "cd {home}; cat token; cat notes; echo up; while ! test -e {}/go; do sleep 0.01; done; \
             cat token alias later .ssh/id new/deep/later; cat notes; bash -c 'echo <token'; cp token /tmp/x; cat /tmp/x",
            yard.workspace().display()
        );
        let mut command = yard.fenced("all", &["bash", "-c", &line]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
        let mut before = [0; 8];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut before).expect("it is up");
        assert_eq!(&before, b"notesup\n", "{who:?}");
        let outside = "echo secret > x && mv x token && echo secret > later && mv .ssh old && mkdir .ssh && \
                       echo secret > .ssh/id && mkdir -p new/deep && echo secret > new/deep/later";
        let done = yard.plain(&["bash", "-c", outside]).current_dir(&home).status().expect("it runs");
        assert!(done.success());
        fs::write(yard.workspace().join("go"), "").expect("a file");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "notes", "{who:?}");
    }
}

#[test]
fn shared_memory_and_temporary_files_are_its_own() {
    let yard = Yard::new(Who::Tester);
    let name = format!("fence-test-{}", std::process::id());
    for place in ["/dev/shm", "/tmp", "/var/tmp"] {
        let outside = std::path::Path::new(place).join(&name);
        fs::write(&outside, "outside").expect("a file");
        let output = yard.bash(&format!("ls {place}; echo inside > {}", outside.display()));
        assert!(output.status.success(), "{}", text(&output));
        assert!(!String::from_utf8_lossy(&output.stdout).contains(&name));
        assert_eq!(fs::read_to_string(&outside).expect("it is there"), "outside");
        fs::remove_file(&outside).expect("it can be removed");
    }
}

#[test]
fn secrets_of_the_environment_stay_outside() {
    let yard = Yard::new(Who::Tester);
    let mut command = yard.fenced("all", &["env"]);
    command
        .env("ANTHROPIC_API_KEY", "secret")
        .env("SSH_AUTH_SOCK", "/x")
        .env("LANG", "C")
        .stdin(Stdio::null());
    let output = command.output().expect("it runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("LANG=C") && shown.contains("PATH=") && shown.contains("TMPDIR=/tmp"), "{shown}");
    assert!(!shown.contains("secret") && !shown.contains("SSH_AUTH_SOCK"), "{shown}");
}

/// What does not exist cannot be mounted over; at least it does not go unseen.
#[test]
fn protected_names_that_a_direct_run_makes_are_told() {
    let mut yard = Yard::new(Who::Tester);
    protect(&mut yard, &[".git/hooks", ".envrc"]);
    let mut command = yard.fenced("all", &["bash", "-c", "mkdir -p new/.git/hooks; touch .envrc plain"]);
    let told = text(&command.env("FENCE_SHOW_OUTCOME", "1").output().expect("it runs"));
    assert!(told.contains("workspace/.envrc\"") && told.contains("workspace/new/.git/hooks\""), "{told}");
    assert!(!told.contains("plain"), "{told}");
}

/// Whoever replaces a protected file outside takes its protection away, which at least does not go unseen.
#[test]
fn protected_files_that_are_replaced_meanwhile_are_told() {
    let mut yard = Yard::new(Who::Tester);
    let workspace = yard.workspace();
    for name in [".envrc", ".gdbinit"] {
        fs::write(workspace.join(name), "before").expect("a file");
    }
    protect(&mut yard, &[".envrc", ".gdbinit"]);
    let line = "echo up; until test -e go; do sleep 0.01; done; echo evil > .envrc; echo evil > .gdbinit";
    let mut command = yard.fenced("all", &["bash", "-c", line]);
    command.env("FENCE_SHOW_OUTCOME", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    child.stdout.as_mut().expect("a pipe").read_exact(&mut [0; 3]).expect("it is up");
    fs::write(workspace.join("new"), "outside").expect("a file");
    fs::rename(workspace.join("new"), workspace.join(".envrc")).expect("a rename");
    fs::write(workspace.join("go"), "").expect("a file");
    let told = text(&child.wait_with_output().expect("it ends"));
    assert!(told.contains("made_protected: [") && told.contains("/.envrc\"]"), "{told}");
    assert_eq!(fs::read_to_string(workspace.join(".gdbinit")).expect("it is there"), "before");
}

/// With a terminal as its input a command reads from it, but does not type into it.
#[test]
fn nothing_is_typed_into_the_terminal() {
    let yard = Yard::new(Who::Tester);
    let at_terminal = |words: &[&str]| {
        let fenced = yard.fenced("all", words);
        let words = std::iter::once(fenced.get_program()).chain(fenced.get_args());
        let line: Vec<String> = words.map(|word| format!("'{}'", word.to_string_lossy())).collect();
        let mut command = std::process::Command::new("script");
        command
            .args(["-qec", &line.join(" "), "/dev/null"])
            .current_dir(yard.workspace())
            .stdin(Stdio::null());
        command.output().expect("`script` of bsdutils is needed")
    };
    for attempt in ["terminal", "discipline"] {
        let typed = at_terminal(&[&yard.attack(), attempt]);
        assert_eq!(typed.status.code(), Some(1), "{attempt}: {}", text(&typed));
    }
    // It can be opened anew, and its mode, by which others could read along, stays.
    let mode = "echo x > /dev/stderr && python3 -c \"import os; os.fchmod(1, os.fstat(1).st_mode & 0o777)\"";
    let kept = at_terminal(&["bash", "-c", mode]);
    assert!(kept.status.code() == Some(1) && text(&kept).contains("Read-only"), "{}", text(&kept));
    let seen = at_terminal(&["bash", "-c", "test -t 0 && test -t 1 && exit 7"]);
    assert_eq!(seen.status.code(), Some(7), "{}", text(&seen));
}
