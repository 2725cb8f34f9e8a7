//! Tools of the trade work inside the fence as they do outside. A tool that is not installed is not tried, and said so.
#![cfg(test)]
#![cfg(target_os = "linux")]

#[path = "escape/yard.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod yard;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use portcullis_fence::{FencePolicy, RunState, RunStore, protected_names};
use yard::{Who, Yard, text};

/// A yard with the policy that people get, in the home of whoever runs the tests.
fn usual() -> Yard {
    let mut yard = Yard::new(Who::Tester);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    yard.policy = FencePolicy::usual(yard.workspace(), home.as_deref(), Vec::new());
    yard
}

fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("{program} is not installed and was not tried");
    }
    found
}

/// Runs a line over a layer of its own and commits what it changed.
fn observe(yard: &Yard, line: &str) {
    let runner = yard.root().join("programs/portcullis-fence-runner");
    let store = yard.root().join("run");
    let output = Command::new(&runner)
        .arg("--observe")
        .args([&store, &yard.workspace()])
        .args(["bash", "-c", line])
        .current_dir(yard.workspace())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "`{line}`: {}", text(&output));
    let id = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned();
    if RunStore::at(store.clone()).find(&id).expect("a record").state == RunState::Held {
        let commit = Command::new(&runner).arg("--commit").arg(&store).arg(&id).output().expect("it runs");
        assert!(commit.status.success(), "`{line}`: {}", text(&commit));
    }
}

/// Runs a line directly and over a layer.
fn both(yard: &Yard, line: &str) {
    let output = yard.bash(line);
    assert!(output.status.success(), "`{line}`: {}", text(&output));
    observe(yard, line);
}

#[test]
fn git_works_and_its_repository_stays_whole() {
    let yard = usual();
    let workspace = yard.workspace();
    let plain = |line: &str| {
        Command::new("bash").args(["-c", line]).current_dir(&workspace).output().expect("it runs")
    };
    let begin = "git init -q -b main . && git config user.email a@example.org && git config user.name a \
                 && echo one > file && git add . && git commit -qm one";
    assert!(plain(begin).status.success());
    for line in [
        "echo two >> file && git commit -qam two && git log --oneline | grep -q two",
        "echo three > new && git add new && git stash -q && git stash pop -q && git commit -qm three",
        "git switch -qc side HEAD~1 && echo s > side && git add side && git commit -qm side && git rebase -q main",
        "git switch -q main && git merge -q side && git branch -D side",
        "git commit -q --amend -m again && git gc -q && git status --porcelain",
        "git worktree add -q tree -b tree && cd tree && echo w > w && git add w && git commit -qm w && cd .. \
         && git worktree remove tree && git branch -D tree",
    ] {
        observe(&yard, line);
        let checked = plain("git fsck --strict && git status --porcelain");
        assert!(checked.status.success(), "`{line}`: {}", text(&checked));
    }
    let log = plain("git log --oneline | wc -l");
    assert_eq!(String::from_utf8_lossy(&log.stdout).trim(), "4");
}

#[test]
fn git_works_directly_with_its_hooks_protected() {
    let mut yard = usual();
    let begin = "git init -q -b main . && git config user.email a@example.org && git config user.name a";
    assert!(
        Command::new("bash")
            .args(["-c", begin])
            .current_dir(yard.workspace())
            .status()
            .expect("it runs")
            .success()
    );
    yard.policy.protected = protected_names();
    let line = "echo one > file && git add . && git commit -qm one && echo two > file && git stash -q && git stash pop -q \
                && git commit -qam two && git branch side && git gc -q";
    let output = yard.bash(line);
    assert!(output.status.success(), "{}", text(&output));
    assert!(!yard.bash("git config core.pager x").status.success());
    assert!(!yard.bash("echo x > .git/hooks/pre-commit").status.success());
}

#[test]
fn make_and_the_compiler_work() {
    if !is_there("make") || !is_there("cc") {
        return;
    }
    let yard = usual();
    fs::write(yard.workspace().join("main.c"), "int main(void) { return 7; }\n").expect("a file");
    fs::write(yard.workspace().join("Makefile"), "program: main.c\n\tcc -o program main.c\n")
        .expect("a file");
    both(&yard, "make -s -j2 && { ./program; test $? = 7; } && rm program");
}

#[test]
fn cargo_works_without_a_network() {
    if !is_there("cargo") {
        return;
    }
    let yard = usual();
    fs::create_dir(yard.workspace().join("src")).expect("a directory");
    // A workspace of its own: the yard may lie below the target folder of ours.
    let manifest = "[package]\nname = \"inside\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(yard.workspace().join("Cargo.toml"), manifest).expect("a file");
    let code = "fn main() {}\n#[test]\nfn it_works() { std::fs::write(\"target/seen\", \"x\").unwrap(); }\n";
    fs::write(yard.workspace().join("src/main.rs"), code).expect("a file");
    // Whoever runs these tests may keep their own outputs elsewhere.
    let line =
        "unset CARGO_TARGET_DIR; cargo test -q --offline && cargo build -q --offline && test -f target/seen";
    let output = yard.bash(line);
    assert!(output.status.success(), "{}", text(&output));
    observe(&yard, "unset CARGO_TARGET_DIR; touch src/main.rs && cargo test -q --offline");
}

#[test]
fn python_works_with_processes_sockets_and_databases() {
    if !is_there("python3") {
        return;
    }
    let yard = usual();
    let script = r#"
import multiprocessing, socket, sqlite3, subprocess, tempfile, threading, unittest

def double(number):
    return number * 2

class Inside(unittest.TestCase):
    def test_processes(self):
        with multiprocessing.Pool(2) as pool:
            self.assertEqual(pool.map(double, [1, 2]), [2, 4])

    def test_loopback(self):
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        server.accept()[0].send(b"x")
        self.assertEqual(client.recv(1), b"x")

    def test_own_sockets(self):
        server = socket.socket(socket.AF_UNIX)
        server.bind("own.socket")
        server.listen()
        socket.socket(socket.AF_UNIX).connect("own.socket")
        subprocess.run(["rm", "own.socket"], check=True)

    def test_database(self):
        database = sqlite3.connect("file.db")
        database.execute("pragma journal_mode = wal")
        database.execute("create table if not exists t (a)")
        database.execute("insert into t values (1)")
        database.commit()

    def test_temporary(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x")

    def test_threads(self):
        threads = [threading.Thread(target=double, args=[1]) for _ in range(20)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]

unittest.main()
"#;
    fs::write(yard.workspace().join("test_inside.py"), script).expect("a file");
    both(&yard, "python3 test_inside.py");
}

#[test]
fn node_works_with_its_own_servers() {
    if !is_there("node") {
        return;
    }
    let yard = usual();
    let script = r#"
const test = require("node:test"), http = require("node:http"), assert = require("node:assert");
test("a server", async () => {
    const server = http.createServer((_, answer) => answer.end("hello"));
    await new Promise(ready => server.listen(0, "127.0.0.1", ready));
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
    assert.equal(await answer.text(), "hello");
    server.close();
    server.closeAllConnections();
});
test("no way out", async () => {
    await assert.rejects(fetch("http://192.0.2.1/"));
});
"#;
    fs::write(yard.workspace().join("inside.test.js"), script).expect("a file");
    both(&yard, "node --test inside.test.js");
    if is_there("npm") {
        fs::write(
            yard.workspace().join("package.json"),
            r#"{"name":"inside","scripts":{"test":"node --test"}}"#,
        )
        .expect("a file");
        both(&yard, "npm test --silent && npm install --offline --silent --no-audit --no-fund");
    }
}

#[test]
fn what_reaches_the_machine_is_refused() {
    let yard = usual();
    for line in [
        "sudo -n true",
        "docker ps",
        "ssh -o BatchMode=yes localhost true",
        "mount -t tmpfs x /mnt",
        "unshare -Ur true",
    ] {
        assert!(!yard.bash(line).status.success(), "`{line}`");
    }
    assert!(Path::new("/").exists());
}
