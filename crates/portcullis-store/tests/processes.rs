//! Many processes at once, processes that are killed, and processes whose disk is full: nothing is lost, nothing torn.
#![cfg(test)]
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use portcullis_core::Denials;
use portcullis_store::{DeniedCall, Store};
use pretty_assertions::assert_eq;

const PROGRAM: &str = env!("CARGO_BIN_EXE_portcullis-store-process");

fn start(root: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.arg(root).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts so many processes, lets them all go at once, and returns what each said.
fn run_at_once(count: usize, root: &Path, words: &[&str]) -> Vec<String> {
    let mut children: Vec<Child> = (0..count).map(|_| start(root, words)).collect();
    for child in &mut children {
        drop(child.stdin.take());
    }
    let finish = |child: Child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    children.into_iter().map(finish).collect()
}

fn denied(store: &Store) -> Vec<DeniedCall> {
    let recent = store.recently_denied(1_000, 1).unwrap();
    assert_eq!(recent.problems, []);
    recent.calls.into_iter().map(|(_, call)| call).collect()
}

/// The number at the end of an id.
fn number(id: &str) -> u64 {
    id.split_once('-').unwrap().1.parse().unwrap()
}

#[test]
fn fifty_processes_that_deny_at_once_count_exactly() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("state");
    let said = run_at_once(50, &root, &["s", "deny", "1"]);
    let store = Store::new(root);
    // Fifty in a row; the total began anew at twenty and at forty.
    assert_eq!(store.session("s").denials().unwrap(), Denials { in_a_row: 50, in_total: 10 });
    let count = |limit: &str| said.iter().filter(|line| line.trim_end().ends_with(limit)).count();
    assert_eq!((count(" None"), count("(InTotal)"), count("(InARow)")), (2, 2, 46));
    let ids: BTreeSet<&str> = said.iter().map(|line| line.split_whitespace().next().unwrap()).collect();
    let numbers: BTreeSet<u64> = ids.iter().map(|id| number(id)).collect();
    assert_eq!(numbers, (1..=50).collect());
    assert_eq!(denied(&store).len(), 50);
}

#[test]
fn processes_of_several_sessions_do_not_disturb_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let mut children = Vec::new();
    for session in ["a", "b", "c/../d"] {
        children.extend((0..4).map(|_| start(directory.path(), &[session, "deny", "5"])));
    }
    for mut child in children {
        drop(child.stdin.take());
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let store = Store::new(directory.path().to_path_buf());
    for session in ["a", "b", "c/../d"] {
        assert_eq!(store.session(session).denials().unwrap(), Denials { in_a_row: 20, in_total: 0 });
    }
    let ids: BTreeSet<String> = denied(&store).into_iter().map(|call| call.id).collect();
    assert_eq!(ids.len(), 60);
}

#[test]
fn of_twenty_processes_that_want_an_approval_one_gets_it() {
    let directory = tempfile::tempdir().unwrap();
    run_at_once(1, directory.path(), &["s", "deny", "1"]);
    let store = Store::new(directory.path().to_path_buf());
    let id = denied(&store).pop().unwrap().id;
    store.session("s").approve(&id, 1_500, 60_000).unwrap();
    let said = run_at_once(20, directory.path(), &["s", "take"]);
    let taken: Vec<&str> = said.iter().map(|line| line.trim_end()).filter(|line| *line != "none").collect();
    assert_eq!(taken, [id]);
}

#[test]
fn a_killed_process_loses_at_most_its_own_denial_and_breaks_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    let mut counted = 0;
    for kill in 0..40_u64 {
        let mut child = start(directory.path(), &["s", "deny", "100000"]);
        drop(child.stdin.take());
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut acknowledged = 0;
        for _ in 0..=kill % 5 {
            acknowledged += said.read_line(&mut String::new()).unwrap().min(1);
        }
        // Wherever it is by now: locking, reading, writing, renaming.
        std::thread::sleep(Duration::from_micros(kill * 37 % 900));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        acknowledged += rest.lines().count();
        assert!(acknowledged > 0);

        let denials = store.session("s").denials().unwrap();
        let now = usize::try_from(denials.in_a_row).unwrap();
        let beyond = now - counted - acknowledged;
        assert!(beyond <= 1, "{beyond} denials were counted that nobody heard of");
        let newest = number(&denied(&store).first().unwrap().id);
        assert_eq!(newest, u64::from(denials.in_a_row));
        counted = now;
    }
    run_at_once(1, directory.path(), &["s", "deny", "1"]);
    assert_eq!(store.session("s").denials().unwrap().in_a_row, u32::try_from(counted + 1).unwrap());
    let files: BTreeSet<_> = fs::read_dir(directory.path().join("sessions"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        files,
        BTreeSet::from(["s.json".to_owned(), "s.lock".to_owned()]),
        "something was left behind"
    );
}

#[test]
fn processes_that_are_killed_while_others_count_do_not_disturb_them() {
    let directory = tempfile::tempdir().unwrap();
    let start = |count: &str| {
        let mut child = start(directory.path(), &["s", "deny", count]);
        drop(child.stdin.take());
        child
    };
    let steady: Vec<Child> = (0..4).map(|_| start("60")).collect();
    let mut killed_said = 0;
    for kill in 0..20 {
        let mut child = start("100000");
        std::thread::sleep(Duration::from_micros(2_000 + kill * 131));
        child.kill().unwrap();
        killed_said += String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().lines().count();
    }
    for child in steady {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let store = Store::new(directory.path().to_path_buf());
    let counted = usize::try_from(store.session("s").denials().unwrap().in_a_row).unwrap();
    let said = 4 * 60 + killed_said;
    assert!((said..=said + 20).contains(&counted), "{counted} counted, {said} said");
}

#[test]
fn a_full_disk_is_an_error_and_leaves_the_old_state() {
    let directory = tempfile::tempdir().unwrap();
    run_at_once(1, directory.path(), &["s", "deny", "2"]);
    let before = fs::read(directory.path().join("sessions/s.json")).unwrap();
    // A limit on the size of files fails a write like a full disk does.
    let script = r#"trap '' XFSZ; ulimit -f 0; exec "$0" "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", script, PROGRAM]).arg(directory.path()).args(["s", "deny", "1"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()), "{message}");
    assert!(message.contains("cannot write") && message.contains("s.json"), "{message}");
    assert_eq!(fs::read(directory.path().join("sessions/s.json")).unwrap(), before);
    assert!(!directory.path().join("sessions/.s.json.tmp").exists());
}
