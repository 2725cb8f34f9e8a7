//! Many writers at once, writers that are killed, and writers whose disk is full.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use portcullis_store::audit::Position;
use pretty_assertions::assert_eq;

use crate::sample::Trail;

const PROGRAM: &str = env!("CARGO_BIN_EXE_portcullis-store-process");

fn start(root: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.arg(root).arg("s").args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn finish(child: Child) -> Vec<String> {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn ids(trail: &Trail) -> Vec<String> {
    let read = trail.audit.read_after(Position::default(), usize::MAX).unwrap();
    read.records.into_iter().map(|record| record.id).collect()
}

#[test]
fn twenty_processes_append_ten_thousand_records_and_each_is_there_once() {
    let trail = Trail::new();
    let mut children: Vec<Child> =
        (0..20).map(|_| start(trail.directory.path(), &["append", "500"])).collect();
    for child in &mut children {
        drop(child.stdin.take());
    }
    let said: Vec<String> = children.into_iter().flat_map(finish).collect();
    let kept = ids(&trail);
    assert_eq!((said.len(), kept.len()), (10_000, 10_000));
    assert_eq!(BTreeSet::from_iter(&said), BTreeSet::from_iter(&kept));
    assert_eq!(BTreeSet::from_iter(&kept).len(), 10_000);
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.breaks, found.torn, found.records), (vec![], vec![], 10_000));
}

#[test]
fn no_acknowledged_record_is_lost_when_writers_are_killed() {
    let trail = Trail::new();
    let root = trail.directory.path();
    let steady: Vec<Child> = (0..2)
        .map(|_| {
            let mut child = start(root, &["append", "300"]);
            drop(child.stdin.take());
            child
        })
        .collect();
    let mut said = Vec::new();
    for kill in 0..40_u64 {
        let mut child = start(root, &["append", "100000"]);
        drop(child.stdin.take());
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        output.read_line(&mut first).unwrap();
        // Wherever it is by now: waiting, reading, writing.
        std::thread::sleep(Duration::from_micros(kill * 37 % 900));
        child.kill().unwrap();
        child.wait().unwrap();
        output.read_to_string(&mut first).unwrap();
        said.extend(first.lines().map(str::to_owned));
    }
    said.extend(steady.into_iter().flat_map(finish));
    let kept = ids(&trail);
    let missing: Vec<&String> = said.iter().filter(|id| !kept.contains(id)).collect();
    assert_eq!(missing, [] as [&String; 0]);
    assert!(kept.len() <= said.len() + 40, "{} kept, {} said", kept.len(), said.len());
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!(found.breaks, []);
    assert_eq!(found.records, u64::try_from(kept.len()).unwrap());
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing_torn() {
    let trail = Trail::of(3);
    let before = trail.current();
    // A limit on the size of files fails a write like a full disk does, here in the middle of a line.
    let blocks = before.len() / 512 + 1;
    let script = format!(r#"trap '' XFSZ; ulimit -f {blocks}; exec "$0" "$@""#);
    let mut command = Command::new("bash");
    command.args(["-c", &script, PROGRAM]).arg(trail.directory.path()).args(["s", "append", "100"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot write") && message.contains("current.jsonl"), "{message}");
    let said = String::from_utf8(output.stdout).unwrap().lines().count();
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.breaks, found.torn), (vec![], vec![]));
    assert_eq!(found.records, u64::try_from(said + 3).unwrap());
    assert!(trail.current().ends_with('\n'));
    trail.add(3..5);
    assert!(trail.audit.verify(&[], None).unwrap().is_whole());
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let trail = Trail::of(1);
    fs::remove_file(trail.file("current.jsonl")).unwrap();
    std::os::unix::fs::symlink("/dev/full", trail.file("current.jsonl")).unwrap();
    let refused = trail.audit.append(&crate::sample::entry(1)).unwrap_err();
    assert!(refused.to_string().contains("symbolic link"), "{refused}");
    fs::remove_file(trail.file("current.jsonl")).unwrap();
    fs::create_dir(trail.file("current.jsonl")).unwrap();
    assert!(trail.audit.append(&crate::sample::entry(1)).is_err());
}

#[test]
fn readers_that_come_at_once_make_one_index() {
    let trail = Trail::of(300);
    let mut children: Vec<Child> = (0..5).map(|_| start(trail.directory.path(), &["ingest"])).collect();
    for child in &mut children {
        drop(child.stdin.take());
    }
    let said: Vec<String> = children.into_iter().flat_map(finish).collect();
    assert_eq!(said, ["300"; 5]);
}
