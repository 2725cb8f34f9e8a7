//! Real bash as an oracle. Only `bash -n`, which reads and never runs, sees texts that are not made of stubs.
#![expect(clippy::disallowed_methods, reason = "the oracle is a process")]

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Reads one NUL-ended script after another and prints the answer of `bash -n` on one line each: `0` if it was silent
/// or only warned.
const LOOP: &str = r#"
while IFS= read -r -d '' script; do
    message=$(printf '%s' "$script" | LC_ALL=C bash --norc -n 2>&1 >/dev/null) && status=0 || status=$?
    while IFS= read -r line; do
        case $line in '' | *': warning: '*) ;; *) status=1 ;; esac
    done <<< "$message"
    printf '%s\n' "$status"
done
"#;

/// Says for each script whether `bash -n` takes it.
pub(crate) fn validity(scripts: &[&str]) -> Vec<bool> {
    let workers = 2;
    let share = scripts.len().div_ceil(workers).max(1);
    let children: Vec<_> = scripts.chunks(share).map(start).collect();
    let mut answers = Vec::new();
    for child in children {
        let output = child.join().expect("the oracle's thread ends");
        answers.extend(output.lines().map(|line| line == "0"));
    }
    assert_eq!(answers.len(), scripts.len(), "bash answered for every script");
    answers
}

fn start(scripts: &[&str]) -> std::thread::JoinHandle<String> {
    let mut input = Vec::new();
    for script in scripts {
        assert!(!script.contains('\0'), "scripts are separated by NUL");
        input.extend_from_slice(script.as_bytes());
        input.push(0);
    }
    std::thread::spawn(move || run(&["--norc", "-c", LOOP], &input))
}

/// Runs bash with `arguments`, gives it `input`, and returns what it prints.
pub(crate) fn run(arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new("bash")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("these tests compare with bash: it must be installed");
    let mut pipe = child.stdin.take().expect("the pipe was asked for");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || pipe.write_all(&input));
    let output = child.wait_with_output().expect("bash ends");
    writer.join().expect("the writer ends").expect("bash reads its input");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
